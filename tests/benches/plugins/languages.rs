//! The components that `cargo xtask plugins` leaves in `target/plugins`, each in a folder of its language.

use std::path::PathBuf;

use tests::package;

use crate::site::Site;

/// The name of each language with its component; says so if there is none.
pub(crate) fn languages() -> Vec<(String, Vec<u8>)> {
    let folder = package::handlers().unwrap().join("../plugins");
    let mut found: Vec<PathBuf> = match std::fs::read_dir(&folder) {
        Ok(entries) => entries.map(|entry| entry.unwrap().path()).collect(),
        Err(_) => Vec::new(),
    };
    found.retain(|path| path.join("plugin.wasm").is_file());
    found.sort();
    if found.is_empty() {
        println!("  other languages: skipped, since `cargo xtask plugins` has built none");
    }
    let read = found.into_iter().map(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, std::fs::read(path.join("plugin.wasm")).unwrap())
    });
    read.collect()
}

/// The first route without placeholders that answers a GET.
pub(crate) fn first_route(site: &Site, id: &str) -> String {
    let document = site
        .server
        .client()
        .get("/api/openapi.json")
        .unwrap()
        .expect(200);
    let prefix = format!("/api/x/{id}");
    let paths = document["paths"].as_object().unwrap();
    let mut own = paths.iter().filter_map(|(path, operations)| {
        let rest = path.strip_prefix(&prefix)?;
        (operations["get"].is_object() && !rest.contains('{')).then(|| rest.to_owned())
    });
    own.next().expect("a route that takes a GET")
}
