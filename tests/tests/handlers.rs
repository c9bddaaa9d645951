//! Components from a folder: they work like the built-in ones, and get no more than their world.

use std::path::{Path, PathBuf};
use std::process::Command;

use tests::Server;

/// The folder where `cargo xtask handlers` puts components.
fn built() -> PathBuf {
    let dir = PathBuf::from(env!("HOSTD_HANDLERS"));
    assert!(dir.join("auth.wasm").exists(), "run `cargo xtask handlers`");
    dir
}

/// Start on a folder that must be refused; returns what was printed.
fn refusal(handlers: &Path) -> String {
    let data = tempfile::tempdir().unwrap();
    let output = Command::new(tests::server::binary().unwrap())
        .args(["serve", "--demo", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(data.path())
        .arg("--handlers")
        .arg(handlers)
        .output()
        .unwrap();
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn heavy_components_from_a_folder_serve_the_same_api() {
    let folder = built();
    let from_folder = Server::demo_with(&["--handlers", folder.to_str().unwrap()]).unwrap();
    let embedded = Server::demo().unwrap();
    let document = |server: &Server| {
        let reply = server.anonymous().get("/api/openapi.json").unwrap();
        reply.expect(200)
    };
    assert_eq!(document(&from_folder), document(&embedded));
    let listed = from_folder
        .client()
        .get("/api/bench/devices")
        .unwrap()
        .expect(200);
    assert_eq!(listed["devices"][0]["name"], "demo");
}

#[test]
fn a_component_that_asks_for_more_than_its_world_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    // The auth handler under the name of a group that may not touch keys.
    std::fs::copy(
        built().join("auth.wasm"),
        folder.path().join("devices.wasm"),
    )
    .unwrap();
    let said = refusal(folder.path());
    assert!(
        said.contains("handler devices") && said.contains("hostd:host/"),
        "{said}"
    );
}

#[test]
fn folders_without_usable_components_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(refusal(folder.path()).contains("holds no handler component"));
    std::fs::write(folder.path().join("auth.wasm"), b"\0asm but not really").unwrap();
    assert!(refusal(folder.path()).contains("handler auth"));
    std::fs::remove_file(folder.path().join("auth.wasm")).unwrap();
    std::fs::copy(
        built().join("auth.wasm"),
        folder.path().join("mystery.wasm"),
    )
    .unwrap();
    assert!(refusal(folder.path()).contains("no world mystery-group"));
    assert!(refusal(&folder.path().join("nowhere")).contains("nowhere"));
}
