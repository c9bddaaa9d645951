//! Single files on their way into the cache and out of it. Modification times stay: cargo compares them, and would
//! compile again what looks newer than its users.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::time::UNIX_EPOCH;

/// How much of a file is in memory at once.
const PIECE: usize = 1 << 20;

/// A file's size in bytes and its CRC-32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) size: u64,
    pub(super) crc: u32,
}

impl Sum {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self {
            size: bytes.len() as u64,
            crc: crc32fast::hash(bytes),
        }
    }

    pub(super) fn of_file(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let mut piece = vec![0; PIECE];
        let mut crc = crc32fast::Hasher::new();
        let mut size = 0;
        loop {
            let length = file.read(&mut piece)?;
            if length == 0 {
                break;
            }
            crc.update(&piece[..length]);
            size += length as u64;
        }
        Ok(Self {
            size,
            crc: crc.finalize(),
        })
    }
}

/// Gives a file a second name, or copies it where that cannot be: from one file system to another.
pub(super) fn link(from: &Path, to: &Path) -> io::Result<()> {
    make_folder_of(to)?;
    if fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    copy(from, to)
}

/// Copies a file with its permissions and modification time.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    make_folder_of(to)?;
    fs::copy(from, to)?;
    set_date(to, &fs::metadata(from)?)
}

/// Writes a file with the permissions and the modification time of another one.
pub(super) fn write(to: &Path, bytes: &[u8], like: &Metadata) -> io::Result<()> {
    make_folder_of(to)?;
    fs::write(to, bytes)?;
    fs::set_permissions(to, like.permissions())?;
    set_date(to, like)
}

/// A file's modification time in nanoseconds since 1970.
pub(super) fn date(metadata: &Metadata) -> io::Result<u64> {
    let since = metadata.modified()?.duration_since(UNIX_EPOCH);
    let nanoseconds = since.unwrap_or_default().as_nanos();
    Ok(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
}

fn set_date(path: &Path, like: &Metadata) -> io::Result<()> {
    File::open(path)?.set_modified(like.modified()?)
}

fn make_folder_of(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => fs::create_dir_all(folder),
        None => Ok(()),
    }
}
