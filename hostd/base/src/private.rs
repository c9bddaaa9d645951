//! Folders and files for the one user that hostd runs as: they hold keys, measurements and firmware.
//!
//! New ones get their mode when they are made, whatever the umask. The modes of a data folder from
//! an earlier version, which others may read, are corrected at start: only for hostd's own files,
//! and nothing behind a symbolic link.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use tracing::{info, warn};

use crate::folder;

const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// The number of the user who may do everything.
pub const ROOT: u32 = 0;

/// Permission bits of everybody but the owner.
const OTHERS: u32 = 0o077;

/// Permission bits that let others change a folder's contents.
const OTHERS_WRITE: u32 = 0o022;

/// Folders below a folder of the data folder: blobs are two levels down.
const DEPTH_MAX: u32 = 2;

/// Largest file with a secret, in bytes.
const SECRET_BYTES_MAX: u64 = 4 << 10;

/// Why a file with a secret is not read.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    #[error("read {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(
        "read {}: others may read or change it (mode {mode:o}); make it private: chmod 600 {}",
        path.display(), path.display()
    )]
    Shared { path: PathBuf, mode: u32 },
    #[error("read {}: it is empty, not text, or over {SECRET_BYTES_MAX} bytes", path.display())]
    Content { path: PathBuf },
}

/// Reads a secret from a file that is its owner's alone, without spaces and line ends around it.
///
/// # Errors
/// It cannot be read, others may read or change it, or it holds no text.
pub fn read_secret(path: &Path) -> Result<String, SecretError> {
    let failed = |source| SecretError::Read {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(failed)?;
    let mode = file.metadata().map_err(failed)?.mode() & 0o7777;
    if mode & OTHERS != 0 {
        return Err(SecretError::Shared {
            path: path.to_owned(),
            mode,
        });
    }
    let mut bytes = Vec::new();
    let mut bounded = file.take(SECRET_BYTES_MAX + 1);
    bounded.read_to_end(&mut bytes).map_err(failed)?;
    let is_whole = bytes.len() as u64 <= SECRET_BYTES_MAX;
    let text = String::from_utf8(bytes).ok().filter(|_| is_whole);
    let text = text.map(|text| text.trim().to_owned());
    text.filter(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic()))
        .ok_or_else(|| SecretError::Content {
            path: path.to_owned(),
        })
}

/// Why a folder cannot be the data folder.
#[derive(Debug, thiserror::Error)]
pub enum PrivateError {
    #[error("make or open the folder {}", path.display())]
    Folder {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(
        "use the folder {}: it belongs to the user with number {owner}, hostd runs as {own}; run hostd as that user, or give the folder to this one (chown -R)",
        path.display()
    )]
    Foreign { path: PathBuf, owner: u32, own: u32 },
    #[error(
        "use the folder {}: others may write to it (mode {mode:o}); look whether all in it is yours, then make it private: chmod 700 {}",
        path.display(), path.display()
    )]
    Shared { path: PathBuf, mode: u32 },
    #[error("take the rights of others to {} away", path.display())]
    Mend {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Make a folder and its missing parents, for the owner alone. Existing ones stay as they are.
///
/// # Errors
/// It cannot be made.
pub fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(FOLDER_MODE)
        .create(path)
}

/// Make a new file for the owner alone.
///
/// # Errors
/// There is one already, or it cannot be made.
pub fn make_file(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(FILE_MODE)
        .open(path)
}

/// Write a file for the owner alone, in place of what is there: a file's mode is as if it was made now.
///
/// # Errors
/// What is there cannot be removed, or the file cannot be made or written.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = make_file(path)?;
    file.write_all(bytes)?;
    Ok(file)
}

/// Open a file that is only locked, which is made for the owner alone if it is not there.
///
/// # Errors
/// It cannot be opened or made.
pub fn lock_file(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(FILE_MODE)
        .open(path)
}

/// Make the data folder, or check that the existing one belongs to hostd's user alone.
///
/// # Errors
/// It cannot be made, belongs to somebody else, others may write to it, or its modes cannot be
/// corrected.
pub fn data_folder(path: &Path) -> Result<(), PrivateError> {
    let failed = |source| PrivateError::Folder {
        path: path.to_owned(),
        source,
    };
    make_folder(path).map_err(failed)?;
    // By its path, too: one that is private to another user cannot be opened.
    check_owner(path)?;
    let folder = File::open(path).map_err(failed)?;
    let meta = folder.metadata().map_err(failed)?;
    check_is_own(path, &meta)?;
    let mode = meta.mode() & 0o7777;
    if mode & OTHERS_WRITE != 0 {
        return Err(PrivateError::Shared {
            path: path.to_owned(),
            mode,
        });
    }
    if mode & OTHERS != 0 {
        set_mode(&folder, path, FOLDER_MODE)?;
        info!(path = %path.display(), "others could read the data folder; it is hostd's alone now");
    }
    for name in folder::KEPT {
        mend(&path.join(name), DEPTH_MAX)?;
    }
    Ok(())
}

/// Check that a folder that is there belongs to the user that this process runs as.
///
/// # Errors
/// It belongs to somebody else, or what it is cannot be read.
pub fn check_owner(path: &Path) -> Result<(), PrivateError> {
    let meta = fs::metadata(path).map_err(|source| PrivateError::Folder {
        path: path.to_owned(),
        source,
    })?;
    check_is_own(path, &meta)
}

fn check_is_own(path: &Path, meta: &Metadata) -> Result<(), PrivateError> {
    match own_user() {
        Some(own) if own != meta.uid() => Err(PrivateError::Foreign {
            path: path.to_owned(),
            owner: meta.uid(),
            own,
        }),
        _ => Ok(()),
    }
}

/// Whether what this open folder holds can be taken for that of this process's user: it belongs to them, or they are root,
/// to whom everything does.
///
/// # Errors
/// What it is cannot be read.
pub fn is_trusted(folder: &File) -> io::Result<bool> {
    let owner = folder.metadata()?.uid();
    Ok(own_user().is_some_and(|own| own == owner || own == ROOT))
}

/// The user that this process runs as; none if the system does not say.
fn own_user() -> Option<u32> {
    fs::metadata("/proc/self").ok().map(|meta| meta.uid())
}

/// Revoke others' permissions on a file or folder. A folder's own mode is changed last: in a folder
/// that is already private, others can reach nothing.
fn mend(path: &Path, depth: u32) -> Result<(), PrivateError> {
    let failed = |source| PrivateError::Mend {
        path: path.to_owned(),
        source,
    };
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    if meta.is_symlink() {
        warn!(path = %path.display(), "leads elsewhere; see that it is for hostd's user alone");
        return Ok(());
    }
    if meta.mode() & OTHERS == 0 || !(meta.is_dir() || meta.is_file()) {
        return Ok(());
    }
    if meta.is_dir() && depth > 0 {
        for entry in fs::read_dir(path).map_err(failed)? {
            mend(&entry.map_err(failed)?.path(), depth - 1)?;
        }
    }
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)
        .map_err(failed)?;
    let mode = if meta.is_dir() {
        FOLDER_MODE
    } else {
        FILE_MODE
    };
    set_mode(&opened, path, mode)
}

fn set_mode(opened: &File, path: &Path, mode: u32) -> Result<(), PrivateError> {
    opened
        .set_permissions(Permissions::from_mode(mode))
        .map_err(|source| PrivateError::Mend {
            path: path.to_owned(),
            source,
        })
}

#[cfg(test)]
mod tests;
