//! Calls of a component in each language: what the server says each took, on one connection. `cargo xtask plugins` leaves the
//! components in `target/plugins`, each in a folder of its language with its manifest.

use std::path::{Path, PathBuf};
use std::time::Instant;

use tests::package;

use crate::site::{Site, median, ms};

const CALLS: usize = 2_000;

/// Before the first call that counts.
const WARM_CALLS: usize = 50;

/// What the tested component has, and the largest memory that a language's runtime needs.
const TABLES: &str = "[wants]\npublic = true\n[limits]\nmemory_mib = 64\n";

pub(crate) fn run() {
    println!("calls: GET of a plugin's first route over one connection, median in ms");
    println!(
        "  {:<14}{:>10}{:>10}{:>14}",
        "language", "fresh", "reused", "component, KB"
    );
    let own = package::component("guests/plugin.wasm").unwrap();
    row("rust (tests)", &own, "/mark");
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
    for path in found {
        let component = std::fs::read(path.join("plugin.wasm")).unwrap();
        row(&name(&path), &component, "");
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// `path`: of the route that is called; empty = the first that takes a plain GET.
fn row(language: &str, component: &[u8], path: &str) {
    let site = Site::start();
    let times = ["false", "true"].map(|reuse| {
        let id = format!("bench.reuse-{reuse}");
        let folder = site.folder(&id);
        let tables = format!("{TABLES}reuse = {reuse}\n");
        package::write(&folder, component, (&id, "1.0.0"), &tables).unwrap();
        site.install(&id, &folder);
        let route = if path.is_empty() {
            first_route(&site, &id)
        } else {
            path.to_owned()
        };
        call(&site, &format!("/api/x/{id}{route}"))
    });
    println!(
        "  {language:<14}{:>10.3}{:>10.3}{:>14}",
        times[0],
        times[1],
        component.len() / 1000
    );
}

/// The first route without placeholders that answers a GET.
fn first_route(site: &Site, id: &str) -> String {
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

fn call(site: &Site, path: &str) -> f64 {
    let mut kept = site.kept();
    let request = kept.request("GET", path);
    let mut times = Vec::new();
    for number in 0..WARM_CALLS + CALLS {
        let asked = Instant::now();
        let heard = kept.ask(&request).unwrap();
        assert!(heard.status < 500, "{}", heard.text());
        if number >= WARM_CALLS {
            times.push(asked.elapsed());
        }
    }
    ms(median(&mut times))
}
