//! Copies of trees.

use std::fs::{self, File, FileTimes, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};
use std::path::{Path, PathBuf};

use base::private;

use super::{DEPTH_MAX, ENTRIES_MAX, copy_sparse};
use crate::cancel::Cancel;
use crate::disk::Floor;

/// The unit of `st_blocks`, stat(2).
const BLOCK_BYTES: u64 = 512;

/// Bytes of the disk that are copied between two looks at the room that is left.
const LOOK_EVERY: u64 = 16 << 20;

/// Of a file's mode: no setuid, no setgid, no sticky bit.
const MODE_KEPT: u32 = 0o777;

/// How a tree is copied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'r> {
    /// User and group that everything belongs to; none: whoever copies.
    pub(crate) owner: Option<u32>,
    /// Bytes of all files together.
    pub(crate) bytes_max: u64,
    /// What stays free on the disk that is copied to.
    pub(crate) floor: Floor,
    /// Folders and files, absolute and sorted, that are not copied.
    pub(crate) leave_out: &'r [PathBuf],
    /// Ends it.
    pub(crate) cancel: &'r Cancel,
}

/// Why a tree was not copied.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CopyError {
    #[error("copy {}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("copy {}: there are more than {bytes} bytes", path.display())]
    Large { path: PathBuf, bytes: u64 },
    #[error("copy {}: there are more than {ENTRIES_MAX} files, or folders deeper than {DEPTH_MAX}", path.display())]
    Many { path: PathBuf },
    #[error("read what fits: there are more than {files} files; name fewer by the pattern")]
    TooManyFit { files: usize },
    #[error("copy: it was cancelled")]
    Cancelled,
}

/// Copies a folder with everything below it, or a file. `to` must not be there, or be a folder. Times of files are
/// kept, since build tools compare them. Returns how many bytes the files have. Holds one descriptor for each level, and
/// no more names than that.
pub(crate) fn copy(from: &Path, to: &Path, rules: &Rules<'_>) -> Result<u64, CopyError> {
    let mut copied = Copied {
        rules,
        root: from,
        bytes: 0,
        entries: 0,
        unlooked: 0,
        open: Vec::new(),
    };
    copied.entry(from.to_owned(), to.to_owned())?;
    while let Some(level) = copied.open.last_mut() {
        let Some(entry) = level.entries.next() else {
            copied.open.pop();
            continue;
        };
        let entry = entry.map_err(|source| CopyError::Io {
            path: level.from.clone(),
            source,
        })?;
        let to = level.to.join(entry.file_name());
        copied.entry(entry.path(), to)?;
    }
    Ok(copied.bytes)
}

struct Copied<'r> {
    rules: &'r Rules<'r>,
    root: &'r Path,
    bytes: u64,
    entries: usize,
    /// Bytes of the disk that were copied since there was a look at the room that is left.
    unlooked: u64,
    /// Folders that are being copied, each in the one before it.
    open: Vec<Level>,
}

/// A folder that is being copied.
struct Level {
    entries: fs::ReadDir,
    from: PathBuf,
    to: PathBuf,
}

impl Copied<'_> {
    fn entry(&mut self, from: PathBuf, to: PathBuf) -> Result<(), CopyError> {
        let rules = self.rules;
        if rules.cancel.is_set() {
            return Err(CopyError::Cancelled);
        }
        let by_path = |path: &PathBuf| path.cmp(&from);
        if rules.leave_out.binary_search_by(by_path).is_ok() {
            return Ok(());
        }
        self.entries += 1;
        if ENTRIES_MAX < self.entries || DEPTH_MAX < self.open.len() {
            return Err(CopyError::Many {
                path: self.root.to_owned(),
            });
        }
        let failed = |source| CopyError::Io {
            path: from.clone(),
            source,
        };
        let meta = from.symlink_metadata().map_err(failed)?;
        if !meta.is_dir() {
            clear_way(&to).map_err(failed)?;
        }
        if meta.is_symlink() {
            let target = fs::read_link(&from).map_err(failed)?;
            symlink(target, &to).map_err(failed)?;
        } else if meta.is_dir() {
            make_folder(&to).map_err(failed)?;
        } else if meta.is_file() {
            self.bytes += meta.len();
            if rules.bytes_max < self.bytes {
                return Err(CopyError::Large {
                    path: self.root.to_owned(),
                    bytes: rules.bytes_max,
                });
            }
            self.copy_file(&from, &to, &meta).map_err(failed)?;
        } else {
            // Sockets, pipes and devices are nothing to build from.
            return Ok(());
        }
        if let Some(owner) = rules.owner {
            lchown(&to, Some(owner), Some(owner)).map_err(failed)?;
        }
        if meta.is_dir() {
            let entries = fs::read_dir(&from).map_err(failed)?;
            self.open.push(Level { entries, from, to });
        }
        Ok(())
    }

    /// Asks for room before a large file, and again whenever as much has been copied.
    fn copy_file(&mut self, from: &Path, to: &Path, meta: &fs::Metadata) -> io::Result<()> {
        let on_disk = meta.blocks().saturating_mul(BLOCK_BYTES);
        self.unlooked = self.unlooked.saturating_add(on_disk);
        if LOOK_EVERY <= self.unlooked {
            let folder = to.parent().unwrap_or(to);
            self.rules.floor.admit(File::open(folder)?, on_disk)?;
            self.unlooked = 0;
        }
        if on_disk < meta.len() {
            let new = private::make_file(to)?;
            copy_sparse(File::open(from)?, &new, on_disk, self.rules.floor, |_| {})?;
        } else {
            fs::copy(from, to)?;
        }
        take_over(to, meta)
    }
}

/// Removes a file or link that is in the way: writing to a link would write to what it leads to.
fn clear_way(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(meta) if !meta.is_dir() => fs::remove_file(path),
        _ => Ok(()),
    }
}

fn make_folder(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            match path.symlink_metadata()?.is_dir() {
                true => Ok(()),
                false => Err(error),
            }
        }
        made => made,
    }?;
    fs::set_permissions(path, Permissions::from_mode(0o755))
}

/// Gives a copy the times and the mode of what it is a copy of.
fn take_over(to: &Path, meta: &fs::Metadata) -> io::Result<()> {
    let to = File::options().write(true).open(to);
    // A file that its owner may not write is copied too; its times matter less than its mode.
    if let (Ok(to), Ok(modified)) = (&to, meta.modified()) {
        to.set_times(FileTimes::new().set_modified(modified))?;
    }
    let mode = Permissions::from_mode(meta.permissions().mode() & MODE_KEPT);
    match to {
        Ok(to) => to.set_permissions(mode),
        Err(_) => Ok(()),
    }
}
