//! What a tree takes of the disk, while somebody may be changing it.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};

use super::{DEPTH_MAX, ENTRIES_MAX};

/// The unit of `st_blocks`, stat(2).
const BLOCK_BYTES: u64 = 512;

/// Bytes of the disk that everything below a folder takes; none if there is more of it, or deeper, than is looked
/// through. What goes away meanwhile is not counted.
pub(crate) fn disk_use(folder: &Path) -> io::Result<Option<u64>> {
    let mut usage = Usage {
        bytes: 0,
        entries: 0,
    };
    let root = open(CWD, folder)?;
    let is_whole = usage.add(root, DEPTH_MAX)?;
    Ok(is_whole.then_some(usage.bytes))
}

struct Usage {
    bytes: u64,
    entries: usize,
}

impl Usage {
    /// False if there was too much. Holds one descriptor for each level.
    fn add(&mut self, folder: OwnedFd, depth: usize) -> io::Result<bool> {
        for entry in Dir::read_from(&folder)? {
            let Ok(entry) = entry else { break };
            let name = entry.file_name();
            if is_dots(name) {
                continue;
            }
            self.entries += 1;
            if ENTRIES_MAX < self.entries {
                return Ok(false);
            }
            let Ok(meta) = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            self.bytes += u64::try_from(meta.st_blocks).unwrap_or(0) * BLOCK_BYTES;
            if FileType::from_raw_mode(meta.st_mode) != FileType::Directory {
                continue;
            }
            if depth == 0 {
                return Ok(false);
            }
            if let Ok(below) = open(&folder, name)
                && !self.add(below, depth - 1)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn open(at: impl AsFd, name: impl rustix::path::Arg) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    Ok(openat(at, name, flags, Mode::empty())?)
}

fn is_dots(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}
