//! A handler imports no more than its world grants. The host would refuse such a component when it
//! loads it; here the mistake shows before anything is started.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use wit_parser::Resolve;

use super::Finding;
use crate::component;

/// Checks every component in `components`, each named after its group, against the world of that
/// group. Components that have not been built are not checked.
pub(super) fn check(wit: &Path, components: &Path) -> Result<Vec<Finding>> {
    let worlds = Worlds::read(wit)?;
    let Ok(entries) = fs::read_dir(components) else {
        return Ok(Vec::new());
    };
    let mut findings = Vec::new();
    for entry in entries {
        let path = entry.context("failed to list the components")?.path();
        let group = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default();
        if path.extension().is_none_or(|extension| extension != "wasm") {
            continue;
        }
        let bytes =
            fs::read(&path).with_context(|| format!("failed to read {}", path.display()))?;
        let imports = component::imports(&bytes)
            .with_context(|| format!("failed to check {}", path.display()))?;
        findings.extend(compare(group, &imports, worlds.imports(group).as_ref()));
    }
    Ok(findings)
}

fn compare(
    group: &str,
    imports: &BTreeSet<String>,
    granted: Option<&BTreeSet<String>>,
) -> Vec<Finding> {
    let place = format!("handlers/{group}");
    let Some(granted) = granted else {
        return vec![Finding::violation(
            place,
            "has no world of its own in wit/world.wit",
        )];
    };
    imports
        .difference(granted)
        .map(|import| {
            let message =
                format!("imports {import}, which its world in wit/world.wit does not grant");
            Finding::violation(&place, message)
        })
        .collect()
}

/// The worlds of the contract.
struct Worlds(Resolve);

impl Worlds {
    fn read(wit: &Path) -> Result<Self> {
        let mut resolve = Resolve::default();
        resolve
            .push_dir(wit)
            .with_context(|| format!("failed to read {}", wit.display()))?;
        Ok(Self(resolve))
    }

    /// What the world of a group of endpoints grants.
    fn imports(&self, group: &str) -> Option<BTreeSet<String>> {
        // Interfaces and worlds share a namespace, so a group's world cannot just have the group's
        // name.
        let name = format!("{group}-group");
        let (_, world) = self.0.worlds.iter().find(|(_, world)| world.name == name)?;
        Some(
            world
                .imports
                .keys()
                .map(|key| self.0.name_world_key(key))
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTRACT: &str = "
        package a:b@0.1.0;
        interface x { f: func(); }
        interface y { f: func(); }
        world narrow-group { import x; }
    ";

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn what_the_world_grants_may_be_imported_and_nothing_else() {
        let mut resolve = Resolve::default();
        resolve.push_str("contract.wit", CONTRACT).unwrap();
        let granted = Worlds(resolve).imports("narrow");
        let narrow = |imports: &[&str]| compare("narrow", &set(imports), granted.as_ref());
        assert!(narrow(&["a:b/x@0.1.0"]).is_empty());
        assert!(narrow(&[]).is_empty());
        let findings = narrow(&["a:b/x@0.1.0", "a:b/y@0.1.0"]);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].message.starts_with("imports a:b/y@0.1.0"));
    }

    #[test]
    fn a_component_without_a_world_is_found() {
        assert_eq!(compare("nobody", &set(&[]), None).len(), 1);
    }
}
