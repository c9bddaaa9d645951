//! The published contract with plugins is kept, and its page is what its comments say: see `crate::wit`.

use std::path::Path;

use anyhow::Result;

use super::Finding;
use crate::wit::{self, Contract, reference};

/// Checks the contract of the repository at `root`.
pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings: Vec<_> = wit::check(root)?
        .into_iter()
        .map(|sentence| Finding::violation("wit/plugin", sentence))
        .collect();
    let contract = Contract::read(root)?;
    let page = std::fs::read_to_string(root.join(reference::PAGE)).unwrap_or_default();
    if page != reference::page(&contract) {
        let message = "is not what wit/plugin says; run `cargo xtask docs`";
        findings.push(Finding::violation(reference::PAGE, message));
    }
    let silent = reference::without_rights(&contract).into_iter();
    findings.extend(silent.map(|name| {
        let message =
            "needs a comment at its import in the world all-imports: what must be granted for it";
        Finding::violation(format!("wit/plugin/{name}.wit"), message)
    }));
    Ok(findings)
}
