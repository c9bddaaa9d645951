//! Whether jobs can be isolated on this machine. Where they cannot, tests that need it are left out and
//! say why.

use std::process::{Command, Stdio};

use crate::server::binary;

/// Environment variable that makes it a failure when no jail can be made.
const NEEDED: &str = "TESTS_NEED_ISOLATION";

/// Whether jails can be made here. If not, says that tests are left out.
///
/// # Panics
/// They cannot, and `TESTS_NEED_ISOLATION` says that they must; or the binary is missing.
#[must_use]
#[allow(clippy::print_stderr, reason = "says why tests are left out")]
pub fn can_isolate() -> bool {
    let output = Command::new(binary().expect("the server is built"))
        .arg("doctor")
        .stdin(Stdio::null())
        .output()
        .expect("the server starts");
    if output.status.success() {
        return true;
    }
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(std::env::var_os(NEEDED).is_none(), "{told}");
    eprintln!("left out, since no jail can be made here:\n{told}");
    false
}

/// What the server says about this machine, as JSON.
///
/// # Panics
/// The server does not say it.
#[must_use]
pub fn doctor() -> serde_json::Value {
    let output = Command::new(binary().expect("the server is built"))
        .args(["doctor", "--json"])
        .stdin(Stdio::null())
        .output()
        .expect("the server starts");
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}
