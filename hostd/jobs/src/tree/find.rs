//! Files that patterns name, found among however many others there are.

use std::fs;
use std::path::{Path, PathBuf};

use pipeline::Pattern;

use super::{CopyError, DEPTH_MAX, ENTRIES_MAX};
use crate::cancel::Cancel;

/// What one looks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'s> {
    /// Files that one of these matches, by their paths below the folder.
    pub(crate) patterns: &'s [Pattern],
    /// How many there may be: their paths are kept, and of nothing else is.
    pub(crate) files_max: usize,
    /// Ends it.
    pub(crate) cancel: Option<&'s Cancel>,
}

/// Files below `root` that are looked for, relative to it and sorted. Links are not followed. Holds one descriptor for
/// each level, and the paths of what it found.
///
/// # Errors
/// There are more of them than there may be; or the folder has more names than are looked at, or cannot be read.
pub(crate) fn matching(root: &Path, search: &Search<'_>) -> Result<Vec<PathBuf>, CopyError> {
    let failed = |path: &Path| {
        let path = root.join(path);
        move |source| CopyError::Io { path, source }
    };
    let mut found = Vec::new();
    let mut entries = 0;
    // Of the folder that is read and those that it is in.
    let mut open = vec![fs::read_dir(root).map_err(failed(Path::new("")))?];
    let mut folder = PathBuf::new();
    while let Some(level) = open.last_mut() {
        if search.cancel.is_some_and(Cancel::is_set) {
            return Err(CopyError::Cancelled);
        }
        let Some(entry) = level.next() else {
            open.pop();
            folder.pop();
            continue;
        };
        let entry = entry.map_err(failed(&folder))?;
        let kind = entry.file_type().map_err(failed(&folder))?;
        entries += 1;
        if ENTRIES_MAX < entries || DEPTH_MAX < open.len() - 1 {
            return Err(CopyError::Many {
                path: root.to_owned(),
            });
        }
        folder.push(entry.file_name());
        if kind.is_dir() {
            open.push(fs::read_dir(root.join(&folder)).map_err(failed(&folder))?);
            continue;
        }
        if kind.is_file() && search.fits(&folder) {
            if found.len() == search.files_max {
                return Err(CopyError::TooManyFit {
                    files: search.files_max,
                });
            }
            found.push(folder.clone());
        }
        folder.pop();
    }
    found.sort();
    Ok(found)
}

impl Search<'_> {
    fn fits(&self, path: &Path) -> bool {
        let path = path.to_string_lossy();
        self.patterns.iter().any(|pattern| pattern.matches(&path))
    }
}
