//! Commands on the data folder of a stopped server.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::server::binary;

/// Run a command on the data of a stopped server, and return what it printed.
///
/// # Panics
/// The command fails.
pub fn offline(dir: &Path, args: &[&str], input: &str) -> String {
    let mut child = Command::new(binary().expect("the server is built"))
        .args(args)
        .arg("--data-dir")
        .arg(dir.join("data"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the server starts");
    let mut stdin = child.stdin.take().expect("it was piped just above");
    // A command that reads no input may have ended already.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("the command ends");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {complaint}");
    String::from_utf8(output.stdout).expect("it prints text")
}

/// Key of the owner of another organisation, made while the server is stopped.
///
/// # Panics
/// A command fails.
#[must_use]
pub fn stranger(dir: &Path) -> String {
    owner_of(dir, "acme", "eve")
}

/// Key of the owner, of this login, of a new organisation, made while the server is stopped.
///
/// # Panics
/// A command fails.
#[must_use]
pub fn owner_of(dir: &Path, org: &str, login: &str) -> String {
    offline(dir, &["org", "add", org], "");
    let owner = ["user", "add", login, "--org", org, "--role", "owner"];
    offline(dir, &owner, "");
    let mut create = vec!["key", "create", "--user", login];
    for scope in ["bench:control", "bench:admin", "jobs:submit", "emi:analyze"] {
        create.extend(["--scope", scope]);
    }
    let printed = offline(dir, &create, "");
    let key = printed.split_whitespace().find(|w| w.starts_with("bk_"));
    key.expect("the key is printed").to_owned()
}
