//! `tests/clients/expected.txt`: the minimum number of items of each tier that pass.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};

use super::tiers::TIERS;

/// The ratchet as it was when xtask was built.
pub(super) const FILE: &str = include_str!("../../../tests/clients/expected.txt");

/// Reads lines of `tier number`; every tier appears exactly once.
pub(super) fn read(text: &str) -> Result<BTreeMap<&'static str, u32>> {
    let mut minimums = BTreeMap::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let (name, number) = line
            .split_once(char::is_whitespace)
            .with_context(|| format!("`{line}` is not `tier number`"))?;
        let Some(tier) = TIERS.iter().find(|tier| tier.name == name) else {
            bail!("there is no tier `{name}`");
        };
        let number = number
            .trim()
            .parse()
            .with_context(|| format!("`{line}` does not end in a number"))?;
        if minimums.insert(tier.name, number).is_some() {
            bail!("the tier `{name}` is listed twice");
        }
    }
    match TIERS.iter().find(|tier| !minimums.contains_key(tier.name)) {
        Some(tier) => bail!("the tier `{}` is not listed", tier.name),
        None => Ok(minimums),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_in_the_tree_names_every_tier() {
        let minimums = read(FILE).unwrap();
        assert_eq!(minimums.len(), TIERS.len());
        assert!(minimums["pod"] > 0 && minimums["digital"] > 0);
    }

    #[test]
    fn mistakes_in_the_list_are_named() {
        let error = |text: &str| format!("{:#}", read(text).unwrap_err());
        assert!(error("pot 3").contains("no tier `pot`"));
        assert!(error("pod").contains("`pod` is not"));
        assert!(error("pod many").contains("number"));
        assert!(error("pod 1\npod 2 # again").contains("twice"));
        assert!(error("# nothing").contains("is not listed"));
    }
}
