//! A plugin and its versions, as they were at one moment.

use store::Snapshot;
use store::plugins::{self as table, Plugin};

use super::{InstalledError, Version};

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
    /// A plugin's, as this source has it.
    pub(super) fn read(from: &Snapshot, plugin: Plugin) -> Result<Self, InstalledError> {
        let of = |digest: &Option<String>| {
            let Some(digest) = digest else {
                return Ok(None);
            };
            let package = table::package(from, &plugin.id, digest)?;
            package.map(Version::of).transpose()
        };
        Ok(Self {
            active: of(&plugin.active)?,
            staged: of(&plugin.staged)?,
            previous: of(&plugin.previous)?,
            plugin,
        })
    }
}
