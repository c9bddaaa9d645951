//! The README's session, run as it stands: what a stranger copies must work.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;

use tests::Server;

#[test]
fn the_session_in_the_readme_works() {
    let readme = include_str!("../../README.md");
    let (_, after) = readme
        .split_once("<!-- The end-to-end tests run this block as it stands. -->\n```sh\n")
        .unwrap();
    let (session, after) = after.split_once("```").unwrap();
    let (_, after) = after.split_once("```text\n").unwrap();
    let (shown, _) = after.split_once("```").unwrap();
    let server = Server::demo().unwrap();
    let output = Command::new("bash")
        .args(["-e", "-o", "pipefail", "-c", session])
        .env("HOSTD", format!("{}/api", server.url))
        .env("KEY", &server.api_key)
        .env("DEVICE", server.device())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}\n{printed}");
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
