//! The contract item by item: each type, function, interface and world on a line of its own, by name.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::{Context, Result, bail};
use wit_parser::{Stability, WorldItem};

use super::{Contract, words};

/// Version numbers, as semantic versions order them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(pub(super) [u64; 3]);

/// What an item is, and since when it says that it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) definition: String,
    pub(super) since: Option<Version>,
}

/// All items of one version, by what they are and their name: `func devices.get`.
#[derive(Debug)]
pub(super) struct Listing {
    version: Version,
    items: BTreeMap<String, Item>,
}

impl Listing {
    pub(super) fn of(contract: &Contract) -> Result<Self> {
        let Contract { resolve, package } = contract;
        let package = &resolve.packages[*package];
        let version = package
            .name
            .version
            .as_ref()
            .context("the package has no version")?;
        let mut listing = Self {
            version: Version([version.major, version.minor, version.patch]),
            items: BTreeMap::new(),
        };
        for (name, id) in &package.worlds {
            let world = &resolve.worlds[*id];
            listing.add(format!("world {name}"), String::new(), &world.stability);
            for (way, items) in [("imports", &world.imports), ("exports", &world.exports)] {
                for (key, item) in items {
                    let what = resolve.name_world_key(key);
                    let what = what.rsplit('/').next().unwrap_or_default();
                    let what = what.split('@').next().unwrap_or_default();
                    let key = format!("{way} {name}.{what}");
                    listing.add(key, String::new(), stability(item));
                }
            }
        }
        for (name, id) in &package.interfaces {
            let interface = &resolve.interfaces[*id];
            listing.add(
                format!("interface {name}"),
                String::new(),
                &interface.stability,
            );
            for (own, id) in &interface.types {
                let definition = words::defined(resolve, *id);
                let stability = &resolve.types[*id].stability;
                listing.add(format!("type {name}.{own}"), definition, stability);
            }
            for (own, function) in &interface.functions {
                let definition = words::signature(resolve, function);
                listing.add(
                    format!("func {name}.{own}"),
                    definition,
                    &function.stability,
                );
            }
        }
        Ok(listing)
    }

    fn add(&mut self, key: String, definition: String, stability: &Stability) {
        let since = match stability {
            Stability::Stable { since, .. } => {
                Some(Version([since.major, since.minor, since.patch]))
            }
            Stability::Unknown | Stability::Unstable { .. } => None,
        };
        self.items.insert(key, Item { definition, since });
    }

    /// Read what `to_string` wrote.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let version = first.rsplit('@').next().and_then(Version::parse);
        let version = version.context("the first line names no version")?;
        let mut items = BTreeMap::new();
        for line in lines {
            let (key, definition) = line.split_once(" = ").unwrap_or((line, ""));
            let item = Item {
                definition: definition.to_owned(),
                since: None,
            };
            if key.is_empty() || items.insert(key.to_owned(), item).is_some() {
                bail!("the line {line:?} is empty or there twice");
            }
        }
        Ok(Self { version, items })
    }

    pub(super) fn version(&self) -> &Version {
        &self.version
    }

    pub(super) fn items(&self) -> BTreeMap<&str, &str> {
        let items = self.items.iter();
        items
            .map(|(key, item)| (key.as_str(), item.definition.as_str()))
            .collect()
    }

    pub(super) fn get(&self, key: &str) -> Option<&Item> {
        self.items.get(key)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&String, &Item)> {
        self.items.iter()
    }

    /// Interfaces that plugins export.
    pub(super) fn exported(&self) -> BTreeSet<&str> {
        let exports = self
            .items
            .keys()
            .filter_map(|key| key.strip_prefix("exports "));
        exports
            .filter_map(|key| key.split_once('.'))
            .map(|(_, name)| name)
            .collect()
    }
}

fn stability(item: &WorldItem) -> &Stability {
    match item {
        WorldItem::Interface { stability, .. } => stability,
        WorldItem::Function(function) => &function.stability,
        WorldItem::Type { .. } => &Stability::Unknown,
    }
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "hostd:plugin@{}", self.version)?;
        for (key, item) in &self.items {
            match item.definition.as_str() {
                "" => writeln!(f, "{key}")?,
                definition => writeln!(f, "{key} = {definition}")?,
            }
        }
        Ok(())
    }
}

impl Version {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.').map(|part| part.parse().ok());
        let version = Self([parts.next()??, parts.next()??, parts.next()??]);
        parts.next().is_none().then_some(version)
    }

    pub(super) fn major(&self) -> u64 {
        self.0[0]
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}
