//! The README's sessions, run as they stand: what a stranger copies must work.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

use tests::Server;

/// What a session of the README prints, and the lines that the README shows of that.
fn session(number: usize) -> (String, &'static str) {
    let readme = include_str!("../../README.md");
    let mark = "<!-- The end-to-end tests run this block as it stands. -->\n```sh\n";
    let after = readme.split(mark).nth(number).unwrap();
    let (session, after) = after.split_once("```").unwrap();
    let (_, after) = after.split_once("```text\n").unwrap();
    let (shown, _) = after.split_once("```").unwrap();
    let server = Server::demo().unwrap();
    let output = Command::new("bash")
        .args(["-e", "-o", "pipefail", "-c", session])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .env("HOSTD", format!("{}/api", server.url))
        .env("KEY", &server.api_key)
        .env("DEVICE", server.device())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}\n{printed}");
    (printed, shown)
}

#[test]
fn the_session_in_the_readme_works() {
    let (printed, shown) = session(1);
    for part in [
        "\"devices\":[",
        "\"status\":\"ok\"",
        "Address write: 68",
        "Address read: 68",
    ] {
        assert!(printed.contains(part), "no {part} in\n{printed}");
    }
    // The lines that the README shows are of the kind that was printed.
    for line in shown.lines() {
        let (_, text) = line.split_once(' ').unwrap();
        assert!(printed.lines().any(|l| l.ends_with(text)), "no {line}");
    }
}

#[test]
fn the_session_that_flashes_the_target_works() {
    let (printed, shown) = session(2);
    assert!(printed.contains("\"ok\":true"), "{printed}");
    for line in shown.lines() {
        let is_it = |printed: &str| printed.trim_end() == line;
        assert!(printed.lines().any(is_it), "no {line} in\n{printed}");
    }
}
