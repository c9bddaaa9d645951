//! A plugin and its versions, as they were at one moment.

use store::plugins::{Package, Plugin};

use super::{InstalledError, Version};
use crate::manifest::Manifest;

/// A plugin with its versions.
#[derive(Debug, Clone)]
pub struct Standing {
    /// Its record.
    pub plugin: Plugin,
    /// The version that serves.
    pub active: Option<Version>,
    /// The version that waits for grants.
    pub staged: Option<Version>,
    /// The version that a rollback returns to.
    pub previous: Option<Version>,
}

impl Standing {
    pub(super) fn new(
        plugin: Plugin,
        [active, staged, previous]: [Option<Package>; 3],
    ) -> Result<Self, InstalledError> {
        let of = |package: Option<Package>| {
            let version = package.map(|package| {
                let manifest = Manifest::parse(package.manifest.as_bytes())?;
                Ok::<_, InstalledError>(Version { package, manifest })
            });
            version.transpose()
        };
        Ok(Self {
            plugin,
            active: of(active)?,
            staged: of(staged)?,
            previous: of(previous)?,
        })
    }
}
