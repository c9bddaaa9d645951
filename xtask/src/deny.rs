//! Checks of dependencies by `cargo deny` and `deny.toml`. Building it takes longer than it saves, so it
//! runs only where it is installed; `tidy` checks licences and sources everywhere.

use anyhow::Result;

use crate::metadata::Metadata;
use crate::tool::{self, Tool};

/// Whether cargo-deny is installed.
pub(crate) fn is_installed() -> bool {
    tool::is_installed("cargo-deny")
}

/// Licences, sources, and packages that are present in two versions.
pub(crate) fn check(metadata: &Metadata) -> Result<()> {
    deny(
        metadata,
        &["--offline", "check", "licenses", "sources", "bans"],
    )
    .advice("the lines above name the package; `deny.toml` has the rules")
    .run()
}

/// Downloads the database of known vulnerabilities; fails without a network.
pub(crate) fn fetch_advisories(metadata: &Metadata) -> Result<()> {
    deny(metadata, &["fetch", "db"]).read().map(drop)
}

/// Known vulnerabilities of the dependencies, if the database is there.
pub(crate) fn check_advisories(metadata: &Metadata) -> Result<()> {
    deny(metadata, &["--offline", "check", "advisories"])
        .advice("the lines above name the package; most faults end with `cargo update`")
        .run()
}

fn deny(metadata: &Metadata, words: &[&str]) -> Tool {
    Tool::cargo(&metadata.root).arg("deny").args(words)
}
