//! Folders with everything below them: copied, looked through and removed, though strangers filled them.
//!
//! No link is followed and nothing but folders, files and links is taken. What a job filled is touched only when
//! none of its processes is left.

mod copy;
mod find;
mod remove;
mod sparse;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Component, Path, PathBuf};

pub(crate) use copy::{CopyError, Rules, copy};
pub(crate) use find::{Search, matching};
pub(crate) use remove::remove;
pub(crate) use sparse::copy_sparse;

/// Folders within each other that are gone through.
pub(crate) const DEPTH_MAX: usize = jail::COUNTED_DEPTH_MAX;

/// Files, folders and links of one tree.
pub(crate) const ENTRIES_MAX: usize = jail::COUNTED_ENTRIES_MAX;

/// The path of something below `root`, or none if a part of the way there is no folder.
pub(crate) fn beneath(root: &Path, relative: &Path) -> io::Result<Option<PathBuf>> {
    let mut path = root.to_owned();
    let mut parts = relative
        .components()
        .filter(|part| *part != Component::CurDir)
        .peekable();
    while let Some(part) = parts.next() {
        let Component::Normal(name) = part else {
            return Ok(None);
        };
        path.push(name);
        if parts.peek().is_none() {
            break;
        }
        match path.symlink_metadata() {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Ok(Some(path))
}
