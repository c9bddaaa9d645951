//! What lies in the data folder: the names that the server, its backups and its checks agree on.

use std::fs;
use std::path::Path;

/// The store.
pub const STORE: &str = "hostd.redb";

/// Segment files of captures.
pub const CAPTURES: &str = "captures";

/// Files of builds and waveforms, named by their digest.
pub const BLOBS: &str = "blobs";

/// All that hostd keeps there.
pub(crate) const KEPT: [&str; 3] = [STORE, CAPTURES, BLOBS];

/// How the names of folders begin that a backup or a restore has not finished.
pub const INCOMPLETE: &str = "incomplete-";

/// How the name of the folder begins that a restore fills before anything gets its place.
#[must_use]
pub fn restoring() -> String {
    format!("{INCOMPLETE}restore-")
}

/// Whether a restore into `data` did not come to its end. Such a folder is not to be started on.
#[must_use]
pub fn is_half_restored(data: &Path) -> bool {
    let begun = fs::read_dir(data).is_ok_and(|entries| {
        let mut names = entries.flatten().map(|entry| entry.file_name());
        let start = restoring();
        names.any(|name| name.as_encoded_bytes().starts_with(start.as_bytes()))
    });
    begun && !data.join(STORE).exists()
}
