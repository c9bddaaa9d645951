//! A plugin and the manifests of its versions, as they were at one moment.

use store::plugins::{Package, Plugin};

use super::InstalledError;
use crate::manifest::Manifest;

/// A plugin with what its versions say of themselves.
#[derive(Debug, Clone)]
pub struct Standing {
    /// Its record.
    pub plugin: Plugin,
    /// The manifest of the version that serves.
    pub active: Option<Manifest>,
    /// Of the version that waits for grants.
    pub staged: Option<Manifest>,
    /// Of the version that a rollback returns to.
    pub previous: Option<Manifest>,
}

impl Standing {
    pub(super) fn new(
        plugin: Plugin,
        [active, staged, previous]: [Option<Package>; 3],
    ) -> Result<Self, InstalledError> {
        let of = |package: Option<Package>| {
            let manifest = package.map(|package| Manifest::parse(package.manifest.as_bytes()));
            manifest.transpose()
        };
        Ok(Self {
            plugin,
            active: of(active)?,
            staged: of(staged)?,
            previous: of(previous)?,
        })
    }
}
