//! `cargo xtask docs`: writes the parts of `docs/` that are generated from code. Tests compare them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::excerpts;
use crate::metadata::Metadata;
use crate::tool::Tool;
use crate::wit::{Contract, reference};

/// The document that shows source files.
const SHOWS_SOURCES: &str = "docs/contributing.md";

/// Documents with generated tables, and the package and example that generate each: xtask, which is built
/// before everything else, need not link these crates.
const GENERATED: [(&str, &str, &str); 5] = [
    ("emi", "rules_page", "docs/emi-rules.md"),
    ("pod-protocol", "command_table", "docs/pod-protocol.md"),
    ("pipeline", "key_tables", "docs/pipelines.md"),
    ("pipeline", "rule_tables", "docs/assertions.md"),
    ("pipeline", "rule_schema", "docs/assertions.schema.json"),
];

/// Renews the source files that are shown, and the generated tables.
pub(crate) fn run() -> Result<()> {
    let root = Metadata::load()?.root;
    let document = root.join(SHOWS_SOURCES);
    let renewed = excerpts::renewed(&read(&document)?, |path| read(&root.join(path)))?;
    fs::write(&document, renewed)
        .with_context(|| format!("failed to write {}", document.display()))?;
    let page = reference::page(&Contract::read(&root)?);
    let document = root.join(reference::PAGE);
    fs::write(&document, page)
        .with_context(|| format!("failed to write {}", document.display()))?;
    for (package, example, document) in GENERATED {
        Tool::cargo(&root)
            .args(["run", "--release", "--quiet", "-p", package])
            .args(["--example", example, "--"])
            .arg(root.join(document))
            .run()?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))
}
