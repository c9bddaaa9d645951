//! What must stay free on a disk, bytes and files, and whether there is room for more.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use base::space;
use rustix::fs::{StatVfs, fstatvfs, statvfs};

/// What attempts leave free on the disk that they use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Floor {
    bytes: u64,
}

/// Bytes and files of a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amount {
    pub(crate) bytes: u64,
    /// Files, folders and links.
    pub(crate) files: u64,
}

/// What is free, and how much of the floor is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) free: Amount,
    pub(crate) missing: Amount,
}

/// Why something is not written, inside an [`io::Error`] of the kind `StorageFull`.
#[derive(Debug, thiserror::Error)]
#[error("write {bytes} bytes: {free} are free, and {floor} of them must stay so")]
struct NoRoom {
    bytes: u64,
    free: u64,
    floor: u64,
}

impl Amount {
    pub(crate) fn is_none(self) -> bool {
        self == Self::default()
    }
}

impl Floor {
    /// Bytes that stay free, and a tenth of the files that the disk can have. 0: neither.
    pub(crate) fn of(bytes: u64) -> Self {
        Self { bytes }
    }

    /// Looks at the disk of a folder.
    pub(crate) fn look(self, folder: &Path) -> io::Result<Room> {
        Ok(self.room(&statvfs(folder)?))
    }

    /// Whether so many bytes may be written to the disk of an open file.
    ///
    /// # Errors
    /// They may not: `StorageFull`.
    pub(crate) fn admit(self, file: impl AsFd, bytes: u64) -> io::Result<()> {
        let Room { free, missing } = self.room(&fstatvfs(file)?);
        if missing.is_none() && self.bytes.saturating_add(bytes) <= free.bytes {
            return Ok(());
        }
        let refusal = NoRoom {
            bytes,
            free: free.bytes,
            floor: self.bytes,
        };
        Err(io::Error::new(io::ErrorKind::StorageFull, refusal))
    }

    fn room(self, disk: &StatVfs) -> Room {
        // Some file systems have as many files as there is room for, and say that they have none.
        let files = match disk.f_files {
            0 => u64::MAX,
            _ => disk.f_favail,
        };
        let free = Amount {
            bytes: disk.f_bavail.saturating_mul(disk.f_frsize),
            files,
        };
        let files_floor = match self.bytes {
            0 => 0,
            _ => space::files_floor(disk.f_files),
        };
        Room {
            free,
            missing: Amount {
                bytes: self.bytes.saturating_sub(free.bytes),
                files: files_floor.saturating_sub(free.files),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn disk(free_bytes: u64, files: u64, free_files: u64) -> StatVfs {
        let mut disk = statvfs("/").unwrap();
        (disk.f_frsize, disk.f_bavail) = (1, free_bytes);
        (disk.f_files, disk.f_favail) = (files, free_files);
        disk
    }

    #[test]
    fn bytes_and_files_that_are_missing_are_told_apart() {
        let floor = Floor::of(GIB);
        let missing = |disk: &StatVfs| {
            let missing = floor.room(disk).missing;
            (missing.bytes, missing.files)
        };
        assert_eq!(missing(&disk(GIB, 1000, 100)), (0, 0));
        assert_eq!(missing(&disk(GIB - 5, 1000, 100)), (5, 0));
        assert_eq!(missing(&disk(GIB, 1000, 93)), (0, 7));
        // A big disk, and one that does not count files.
        assert_eq!(missing(&disk(GIB, 1 << 30, 50_000)), (0, 0));
        assert_eq!(missing(&disk(GIB, 1 << 30, 49_999)), (0, 1));
        assert_eq!(missing(&disk(GIB, 0, 0)), (0, 0));
        assert_eq!(
            Floor::of(0).room(&disk(0, 10, 0)).missing,
            Amount::default()
        );
    }

    #[test]
    fn what_finds_no_room_is_a_full_disk() {
        let folder = tempfile::tempdir().unwrap();
        let file = std::fs::File::open(folder.path()).unwrap();
        Floor::of(1).admit(&file, 1).unwrap();
        for (floor, bytes) in [(1, u64::MAX), (u64::MAX, 0)] {
            let error = Floor::of(floor).admit(&file, bytes).unwrap_err();
            assert!(space::is_full(&error), "{error}");
        }
    }
}
