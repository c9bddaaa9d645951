//! The contents of the data folder: names shared by the server, its backups and its checks.

use std::fs;
use std::path::Path;

/// The store.
pub const STORE: &str = "hostd.redb";

/// Segment files of captures.
pub const CAPTURES: &str = "captures";

/// Files of builds and waveforms, named by their digest.
pub const BLOBS: &str = "blobs";

/// Logs and pipelines of jobs.
pub const JOBS: &str = "jobs";

/// The key under which secrets of organisations are sealed. No backup has it.
pub const SECRETS_KEY: &str = "secrets.key";

/// Places of running jobs, and their caches: nothing that must be kept.
pub const WORK: &str = "work";

/// Places of field solvers that run: nothing that must be kept.
pub const ANALYSES: &str = "analyses";

/// Everything about plugins that is not in the store.
pub const PLUGINS: &str = "plugins";

/// Components of plugins, named by their digest.
pub const PLUGIN_PACKAGES: &str = "plugins/packages";

/// What plugins are compiled to: nothing that must be kept, and nothing that another server may use.
pub const PLUGIN_CACHE: &str = "plugins/cache";

/// What versions have left there that did not keep it from others. What came later is made so.
pub(crate) const KEPT: [&str; 3] = [STORE, CAPTURES, BLOBS];

/// Prefix of folders that a backup or a restore has not finished.
pub const INCOMPLETE: &str = "incomplete-";

/// Prefix of the folder that a restore fills before anything is moved into place.
#[must_use]
pub fn restoring() -> String {
    format!("{INCOMPLETE}restore-")
}

/// Whether a restore into `data` was not finished. A server must not start on such a folder.
#[must_use]
pub fn is_half_restored(data: &Path) -> bool {
    let begun = fs::read_dir(data).is_ok_and(|entries| {
        let mut names = entries.flatten().map(|entry| entry.file_name());
        let start = restoring();
        names.any(|name| name.as_encoded_bytes().starts_with(start.as_bytes()))
    });
    begun && !data.join(STORE).exists()
}
