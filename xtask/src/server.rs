//! Builds the server, and starts it for anybody who wants to see it.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::args::Options;
use crate::metadata::Metadata;
use crate::tool::Tool;
use crate::{cache, handlers, host, progress};

/// Builds the handlers and the server that embeds them, and returns the server's path.
pub(crate) fn build(options: &Options) -> Result<PathBuf> {
    handlers::build(options)?;
    let metadata = Metadata::load()?;
    progress::step("building hostd");
    host::build(&metadata.root, &["hostd"])?;
    cache::save();
    let binary = binary(&metadata);
    let bytes = fs::metadata(&binary)
        .with_context(|| format!("failed to find {}, which cargo built", binary.display()))?
        .len();
    progress::detail(&format!(
        "{}: {} KiB, stripped",
        binary.display(),
        bytes / 1024
    ));
    Ok(binary)
}

/// The server's path once it is built.
pub(crate) fn binary(metadata: &Metadata) -> PathBuf {
    metadata.target_directory.join("release/hostd")
}

/// Builds and starts the server with its simulated bench, until it is interrupted.
pub(crate) fn run(options: &Options) -> Result<()> {
    let binary = build(options)?;
    progress::step("starting hostd serve --demo (Ctrl-C ends it)");
    Tool::new(binary)
        .args(["serve", "--demo"])
        .args(&options.passed_on)
        .replace_this_process()
}
