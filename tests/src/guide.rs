//! Sessions from the documents, run exactly as printed: what a stranger copies must work.

use std::path::Path;
use std::process::Command;

use crate::Server;
use crate::server::binary;

/// Precedes every block that is run.
const MARK: &str = "<!-- The end-to-end tests run this block as it stands. -->\n```sh\n";

/// The `number`th marked session of a document, from 1, and what the document says after it.
///
/// # Panics
/// There is none.
#[must_use]
pub fn session(document: &'static str, number: usize) -> (&'static str, &'static str) {
    let after = document.split(MARK).nth(number).expect("a marked block");
    after.split_once("```").expect("an end of the block")
}

/// The binary as the documents name it; the tests replace it with the one of their own build.
const BINARY: &str = "target/release/hostd";

/// The output of a session, with the variables that a server prints at its start.
///
/// # Panics
/// It fails.
#[must_use]
pub fn run(session: &str, server: &Server) -> String {
    run_with(session, server, &[])
}

/// As [`run`], with more variables. On the server's computer, `hostd` is on the path and finds the server's data folder.
///
/// # Panics
/// It fails.
#[must_use]
pub fn run_with(session: &str, server: &Server, variables: &[(&str, &str)]) -> String {
    let binary = binary().expect("a server to run");
    let session = session.replace(BINARY, &binary.to_string_lossy());
    let mut path = binary.parent().expect("a folder").as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let cache = tempfile::tempdir().expect("a folder for caches");
    let output = Command::new("bash")
        .args(["-e", "-o", "pipefail", "-c", &session])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .env("XDG_CACHE_HOME", cache.path())
        // Default tests need no network. What a session fetches is tried with those of the clients.
        .env("PIP_NO_INDEX", "1")
        .env("HOSTD_URL", &server.url)
        .env("HOSTD_KEY", &server.api_key)
        .env("HOSTD_DEVICE", server.device())
        .env("HOSTD_DATA_DIR", server.dir().join("data"))
        .env("PATH", path)
        .envs(variables.iter().copied())
        .output()
        .expect("bash starts");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}\n{printed}");
    printed
}
