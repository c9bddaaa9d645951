//! Components of every published version of the contract, kept as they were built then: each loads, and its calls are
//! answered as they were.

use std::path::{Path, PathBuf};

use serde_json::json;
use tests::offline::offline;
use tests::{Server, package};

use super::Bench;

const ALL: &str = "[wants]
interfaces = [\"devices\", \"power\", \"secrets\", \"store\"]
scopes = [\"bench:control\"]
secrets = [\"TOKEN\"]
[config.greeting]
type = \"string\"
default = \"hello\"
";

fn folder(of: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(of)
}

/// Names of the entries of a folder, without what follows the last dot if that is `suffix`.
fn names(folder: &Path, suffix: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(suffix).map(str::to_owned))
        .collect();
    names.sort();
    names
}

#[test]
fn a_handler_of_each_published_version_still_does_what_it_did() {
    let mut bench = Bench::new();
    bench.server.stop().unwrap();
    let dir = bench.dir.path();
    offline(
        dir,
        &["secret", "set", "TOKEN", "--all-refs"],
        "a-long-secret-value",
    );
    bench.server = Server::demo_in(dir).unwrap();
    let client = bench.client();
    let versions = names(&folder("wit/published"), ".txt");
    assert!(!versions.is_empty());
    for version in versions {
        let fixtures = folder("plugins/fixtures").join(&version);
        let component = std::fs::read(fixtures.join("handler.wasm")).unwrap();
        let id = format!("test.handler-{version}");
        let package = bench.dir.path().join(&id);
        package::write(&package, &component, (&id, "1.0.0"), ALL).unwrap();
        bench.operator().install(&package).unwrap();
        bench.operator().approve(&id).unwrap();
        let path = format!("/api/x/{id}/all/demo");
        let answer = client.post(&path, &json!({"a": 1})).unwrap();
        let expected = std::fs::read_to_string(fixtures.join("handler.txt")).unwrap();
        assert_eq!((answer.status, answer.text), (200, expected), "{version}");
    }
}
