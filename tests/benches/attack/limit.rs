//! How many files this process and its children may have open: the attack by silence needs more
//! than some systems grant at first.

use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{Context, Result};

/// How many files may be open; no limit where the number is not known.
pub(crate) fn open_files() -> u64 {
    limits().0
}

/// Restart this program with as high a limit as it may request, unless it has that already.
pub(crate) fn raise() -> Result<()> {
    let (soft, hard) = limits();
    if soft >= hard {
        return Ok(());
    }
    let raise = "ulimit -S -n \"$(ulimit -H -n)\" && exec \"$0\" \"$@\"";
    let mut shell = Command::new("sh");
    let program = std::env::current_exe().context("find this program")?;
    shell.args(["-c", raise]).arg(program);
    // Returns only when there is no shell.
    let error = shell.args(std::env::args().skip(1)).exec();
    Err(error).context("start a shell that raises the limit of open files")
}

/// The current limit, and the highest one that may be requested.
fn limits() -> (u64, u64) {
    let text = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("Max open files"));
    let words = line.unwrap_or_default().split_whitespace().skip(3);
    let mut limits = words.map(|word| word.parse().unwrap_or(u64::MAX));
    let mut next = || limits.next().unwrap_or(u64::MAX);
    (next(), next())
}
