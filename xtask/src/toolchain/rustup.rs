//! The ordinary way: the standard library that rustup keeps beside the host's compiler.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};

use super::{TARGET, rustc};
use crate::progress;
use crate::tool::{self, Tool};

/// A library of 20 MB over the slowest link worth waiting for.
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(300);

/// Whether the host's compiler has the target's standard library, whoever installed it.
pub(crate) fn has_target() -> Result<bool> {
    let folder = rustc()
        .args(["--print", "target-libdir", "--target", TARGET])
        .read()?;
    Ok(Path::new(folder.trim()).is_dir())
}

/// Makes sure that the library is there, by asking rustup for it if need be.
pub(crate) fn find_or_add() -> Result<()> {
    if has_target()? {
        return Ok(());
    }
    if !tool::is_installed("rustup") {
        bail!("rustup is not installed");
    }
    progress::step(&format!("adding {TARGET} with rustup"));
    Tool::new("rustup")
        .args(["target", "add", TARGET])
        .run_within(DOWNLOAD_LIMIT)?;
    if !has_target()? {
        bail!("rustup added {TARGET} to another toolchain than the one in use");
    }
    Ok(())
}
