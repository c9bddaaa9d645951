//! What was taken from the folder, so that a restart takes nothing again that somebody has removed or replaced meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use base::folder::PLUGINS;
use serde::{Deserialize, Serialize};
use tracing::warn;

use super::entry::Identity;
use crate::own_file;

/// Name in the data folder's folder of plugins.
const FILE: &str = "folder.json";

/// Far more than packages that may be there take.
const BYTES_MAX: usize = 1 << 20;

/// What was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// Id of the plugin.
    pub plugin: String,
    /// Of the version, as [`Package::digest`](crate::package::Package::digest) has it.
    pub digest: String,
}

/// All that is remembered, of one folder.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    folder: PathBuf,
    /// Device and number: another folder in its place is another one.
    identity: Identity,
    /// By name.
    taken: BTreeMap<String, Taken>,
    /// Plugins that are off because their packages were removed.
    off: BTreeSet<String>,
}

#[derive(Debug)]
pub(super) struct Memory {
    data: PathBuf,
    kept: Kept,
}

impl Memory {
    /// What is remembered. Without it, what is there is compared with what is installed.
    pub(super) fn open(data: &Path) -> Self {
        let data = data.join(PLUGINS);
        let read = own_file::read(&data.join(FILE), BYTES_MAX);
        let parsed = read.and_then(|bytes| match bytes {
            Some(bytes) => serde_json::from_slice(&bytes).map_err(|error| error.to_string()),
            None => Ok(Kept::default()),
        });
        let kept = parsed.unwrap_or_else(|reason| {
            warn!(reason, "what was taken from plugins.folder is forgotten");
            Kept::default()
        });
        Self { data, kept }
    }

    /// Forget everything if it is of another folder: what is missing there is not gone.
    pub(super) fn of(&mut self, folder: &Path, identity: Identity) {
        if self.kept.folder != folder || self.kept.identity != identity {
            self.kept = Kept {
                folder: folder.to_owned(),
                identity,
                ..Kept::default()
            };
        }
    }

    pub(super) fn all(&self) -> &BTreeMap<String, Taken> {
        &self.kept.taken
    }

    /// Whether this very version was taken under this name.
    pub(super) fn has(&self, name: &str, digest: &str) -> bool {
        let known = self.kept.taken.get(name);
        known.is_some_and(|known| known.digest == digest)
    }

    /// Whether a package of another name is of this plugin.
    pub(super) fn has_other(&self, name: &str, plugin: &str) -> bool {
        let mut all = self.kept.taken.iter();
        all.any(|(other, taken)| other != name && taken.plugin == plugin)
    }

    pub(super) fn keep(&mut self, name: &str, taken: Taken) {
        self.kept.taken.insert(name.to_owned(), taken);
        self.write();
    }

    pub(super) fn forget(&mut self, name: &str) {
        self.kept.taken.remove(name);
        self.write();
    }

    pub(super) fn is_off(&self, plugin: &str) -> bool {
        self.kept.off.contains(plugin)
    }

    pub(super) fn set_off(&mut self, plugin: &str, is_off: bool) {
        let changed = if is_off {
            self.kept.off.insert(plugin.to_owned())
        } else {
            self.kept.off.remove(plugin)
        };
        if changed {
            self.write();
        }
    }

    fn write(&self) {
        let text = serde_json::to_vec(&self.kept).expect("names and numbers are JSON");
        if let Err(error) = own_file::write(&self.data, FILE, &[&text]) {
            warn!(%error, "failed to note what was taken from plugins.folder");
        }
    }
}
