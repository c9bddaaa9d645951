//! `cargo xtask docs`: writes the parts of `docs/` that are generated from code. Tests compare them.

use anyhow::Result;

use crate::metadata::Metadata;
use crate::tool::Tool;

/// Renews the table of pod commands. An example of `pod-protocol` does it, so that xtask, which is
/// built before everything else, need not link that crate.
pub(crate) fn run() -> Result<()> {
    let root = Metadata::load()?.root;
    Tool::cargo(&root)
        .args(["run", "--release", "--quiet", "-p", "pod-protocol"])
        .args(["--example", "command_table", "--"])
        .arg(root.join("docs/pod-protocol.md"))
        .run()
}
