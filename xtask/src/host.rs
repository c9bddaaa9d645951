//! Builds programs for the host.

use std::path::Path;

use anyhow::Result;

use crate::tool::Tool;

/// Builds the named binaries of the workspace in release.
pub(crate) fn build(root: &Path, binaries: &[&str]) -> Result<()> {
    build_with(root, "release", binaries)
}

/// Builds all libraries and the named binaries in release: what can be built before there are handlers to embed. One
/// call for everything leaves a processor idle once, at its end, and not once for each program.
pub(crate) fn build_ahead(root: &Path, binaries: &[&str]) -> Result<()> {
    Tool::cargo(root)
        .args(["build", "--release", "--workspace", "--examples", "--lib"])
        .args(binaries.iter().flat_map(|name| ["--bin", name]))
        .run()
}

/// Builds the named binaries of the workspace with one of cargo's profiles.
///
/// Every call selects the whole workspace, and `--examples` makes cargo count the test-only
/// dependencies in: so each call, and the tests, agree on the features of every crate, and wasmtime
/// is compiled once instead of once for each set of features.
pub(crate) fn build_with(root: &Path, profile: &str, binaries: &[&str]) -> Result<()> {
    Tool::cargo(root)
        .args(["build", "--profile", profile])
        .args(["--workspace", "--examples"])
        .args(binaries.iter().flat_map(|name| ["--bin", name]))
        .run()
}
