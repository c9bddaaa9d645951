//! Runs the build of a plugin.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process_group};

/// The longest build.
const WAIT: Duration = Duration::from_secs(30 * 60);

/// Pause between two looks at whether it has ended.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Run a shell command in a folder; false if `stop` came first. What it prints goes where our own output goes.
///
/// # Errors
/// It fails, or takes too long.
pub(super) fn run(command: &str, folder: &Path, stop: &AtomicBool) -> anyhow::Result<bool> {
    let child = Command::new("sh")
        .args(["-e", "-c", command])
        .current_dir(folder)
        .env("PATH", search_path())
        .stdin(Stdio::null())
        .process_group(0)
        .spawn();
    let mut child = child.context("start sh, which builds it")?;
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().context("wait for the build")? {
            if status.success() {
                return Ok(true);
            }
            bail!("build it: the command ended with {status}");
        }
        if stop.load(Ordering::Relaxed) {
            end(&mut child);
            return Ok(false);
        }
        if started.elapsed() > WAIT {
            end(&mut child);
            bail!(
                "build it: the command did not end within {} s",
                WAIT.as_secs()
            );
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Ours, with this program in front, so that `hostd` in a build is the one that runs it.
fn search_path() -> OsString {
    let others = std::env::var_os("PATH").unwrap_or_default();
    let folders = super::own_folder()
        .into_iter()
        .chain(std::env::split_paths(&others));
    // Folders of an existing path can be in one again; only our own could have a colon.
    std::env::join_paths(folders).unwrap_or(others)
}

/// End a build with everything that it started.
fn end(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may have ended at this very moment.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}
