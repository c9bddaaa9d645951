//! `cargo xtask docs`: writes the parts of `docs/` that are generated from code. Tests compare them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::excerpts;
use crate::metadata::Metadata;
use crate::tool::Tool;

/// The document that shows source files.
const SHOWS_SOURCES: &str = "docs/contributing.md";

/// Renews the sources that are shown, and the table of pod commands. An example of `pod-protocol` does
/// the latter, so that xtask, which is built before everything else, need not link that crate.
pub(crate) fn run() -> Result<()> {
    let root = Metadata::load()?.root;
    let document = root.join(SHOWS_SOURCES);
    let renewed = excerpts::renewed(&read(&document)?, |path| read(&root.join(path)))?;
    fs::write(&document, renewed)
        .with_context(|| format!("failed to write {}", document.display()))?;
    Tool::cargo(&root)
        .args(["run", "--release", "--quiet", "-p", "pod-protocol"])
        .args(["--example", "command_table", "--"])
        .arg(root.join("docs/pod-protocol.md"))
        .run()
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))
}
