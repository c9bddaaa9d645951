//! What dependencies are, by `cargo deny` and `deny.toml`. It takes longer to build than it saves, so it is
//! used where it is installed; `tidy` looks at licences and sources everywhere.

use anyhow::Result;

use crate::metadata::Metadata;
use crate::tool::{self, Tool};

/// Whether there is a cargo-deny.
pub(crate) fn is_installed() -> bool {
    tool::is_installed("cargo-deny")
}

/// Licences, sources, and packages that are had in two versions.
pub(crate) fn check(metadata: &Metadata) -> Result<()> {
    deny(
        metadata,
        &["--offline", "check", "licenses", "sources", "bans"],
    )
    .advice("the lines above name the package; `deny.toml` has the rules")
    .run()
}

/// Gets the database of known faults; fails without a network.
pub(crate) fn fetch_advisories(metadata: &Metadata) -> Result<()> {
    deny(metadata, &["fetch", "db"]).read().map(drop)
}

/// Known faults of what is used, when the database is there.
pub(crate) fn check_advisories(metadata: &Metadata) -> Result<()> {
    deny(metadata, &["--offline", "check", "advisories"])
        .advice("the lines above name the package; most faults end with `cargo update`")
        .run()
}

fn deny(metadata: &Metadata, words: &[&str]) -> Tool {
    Tool::cargo(&metadata.root).arg("deny").args(words)
}
