//! Whose a package is. Only third-party packages are saved: version and checksum say all about their content, while our own
//! packages have the same names and versions in every clone, and different sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result};
use toml::{Table, Value};

use crate::metadata::{Metadata, Package};

/// The third-party packages, and what is ours.
#[derive(Debug, Default)]
pub(super) struct Owners {
    /// Names that only third-party packages have, each with its versions in `Cargo.lock`.
    third_party: BTreeMap<String, BTreeSet<String>>,
    /// Crates that our own packages make, as rustc names them.
    our_crates: BTreeSet<String>,
}

impl Owners {
    /// Reads `Cargo.lock`, and asks the workspace for what is ours.
    pub(super) fn of(metadata: &Metadata) -> Result<Self> {
        let path = metadata.root.join("Cargo.lock");
        let lock = fs::read_to_string(&path)
            .with_context(|| format!("failed to read {}", path.display()))?;
        let mut owners = Self::locked(&lock)?;
        let foreign: BTreeSet<&str> = metadata.sources.iter().map(|(name, _)| &**name).collect();
        let is_ours = |p: &&Package| p.folder.is_some() || !foreign.contains(&*p.name);
        for package in metadata.packages.iter().filter(is_ours) {
            owners.third_party.remove(&package.name);
            let crates = package.targets.iter().map(|t| t.name.replace('-', "_"));
            owners.our_crates.extend(crates);
        }
        Ok(owners)
    }

    /// A name is third-party if every package of that name has a checksum.
    fn locked(lock: &str) -> Result<Self> {
        let lock: Table = lock.parse().context("failed to read Cargo.lock")?;
        let packages = lock.get("package").and_then(Value::as_array);
        let (mut third_party, mut ours) = (BTreeMap::<_, BTreeSet<_>>::new(), BTreeSet::new());
        for package in packages.into_iter().flatten() {
            let text = |key| package.get(key).and_then(Value::as_str);
            let name = text("name").context("a package of Cargo.lock has no name")?;
            match (text("checksum"), text("version")) {
                (Some(_), Some(version)) => {
                    let versions = third_party.entry(name.to_owned()).or_default();
                    versions.insert(version.to_owned());
                }
                _ => {
                    ours.insert(name);
                }
            }
        }
        third_party.retain(|name, _| !ours.contains(&**name));
        Ok(Self {
            third_party,
            our_crates: BTreeSet::new(),
        })
    }

    /// As `of`, from the text of a lock file and the names of our crates.
    #[cfg(test)]
    pub(super) fn of_texts(lock: &str, our_crates: &[&str]) -> Self {
        let our_crates = our_crates.iter().map(|name| (*name).to_owned()).collect();
        let third_party = Self::locked(lock).unwrap().third_party;
        Self {
            third_party,
            our_crates,
        }
    }

    /// The versions of a third-party package.
    pub(super) fn versions(&self, package: &str) -> Option<&BTreeSet<String>> {
        self.third_party.get(package)
    }

    /// Whether one of our packages makes a crate of that name.
    pub(super) fn is_our_crate(&self, name: &str) -> bool {
        self.our_crates.contains(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_name_whose_every_package_has_a_checksum_is_third_party() {
        let lock = "[[package]]\nname = \"ours\"\nversion = \"0.1.0\"\n\n\
                    [[package]]\nname = \"both\"\nversion = \"0.1.0\"\n\n\
                    [[package]]\nname = \"both\"\nversion = \"1.0.0\"\nchecksum = \"00\"\n\n\
                    [[package]]\nname = \"theirs\"\nversion = \"1.0.0\"\nchecksum = \"01\"\n\n\
                    [[package]]\nname = \"theirs\"\nversion = \"2.0.0\"\nchecksum = \"02\"\n";
        let owners = Owners::locked(lock).unwrap();
        let versions = owners.versions("theirs").unwrap();
        assert!(versions.iter().eq(["1.0.0", "2.0.0"]));
        assert_eq!(owners.versions("both"), None);
        assert_eq!(owners.versions("ours"), None);
    }

    #[test]
    fn no_package_of_this_workspace_is_third_party() {
        let metadata = Metadata::load().unwrap();
        let owners = Owners::of(&metadata).unwrap();
        for package in metadata.members() {
            assert_eq!(owners.versions(&package.name), None, "{}", package.name);
        }
        assert!(owners.versions("serde_json").is_some());
        assert!(owners.is_our_crate("hostd") && owners.is_our_crate("hostd_plugin"));
        assert!(!owners.is_our_crate("serde_json"));
    }
}
