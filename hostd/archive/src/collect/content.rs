//! The content of a file that somebody may be changing.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;

use rustix::fs::{self, FileType, Stat};

/// The unit of `st_blocks`, stat(2).
const BLOCK_BYTES: u64 = 512;

/// What distinguishes a file from another one, and from itself after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    device: u64,
    number: u64,
    pub(super) links: u64,
    pub(super) size: u64,
    changed: (i64, i64),
}

impl Seen {
    #[expect(
        clippy::useless_conversion,
        clippy::unnecessary_cast,
        reason = "the widths depend on the processor"
    )]
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev as u64,
            number: stat.st_ino as u64,
            links: u64::from(stat.st_nlink),
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }

    /// The identity of the file, whatever its names.
    pub(super) fn inode(&self) -> (u64, u64) {
        (self.device, self.number)
    }
}

/// Yields the bytes that the file had when it was found, or fails with
/// [`InvalidData`](io::ErrorKind::InvalidData) as soon as a change shows.
#[derive(Debug)]
pub struct Content {
    file: File,
    seen: Seen,
    left: u64,
}

impl Content {
    /// Takes what was opened at the path where `seen` was found.
    pub(super) fn new(opened: OwnedFd, seen: Seen) -> io::Result<Self> {
        let content = Self {
            file: File::from(opened),
            seen,
            left: seen.size,
        };
        content.check()?;
        Ok(content)
    }

    /// Bytes that the file takes on its disk, at most: fewer than it has where it has holes.
    #[must_use]
    pub fn disk_bytes(&self) -> u64 {
        let blocks = fs::fstat(&self.file).map_or(0, |stat| stat.st_blocks);
        let taken = u64::try_from(blocks)
            .unwrap_or(0)
            .saturating_mul(BLOCK_BYTES);
        taken.min(self.seen.size)
    }

    fn check(&self) -> io::Result<()> {
        let stat = fs::fstat(&self.file)?;
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        if is_file && Seen::of(&stat) == self.seen {
            return Ok(());
        }
        Err(changed())
    }
}

impl Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 || buffer.is_empty() {
            return Ok(0);
        }
        let wanted = usize::try_from(self.left).map_or(buffer.len(), |left| left.min(buffer.len()));
        let read = self.file.read(&mut buffer[..wanted])?;
        if read == 0 {
            return Err(changed());
        }
        self.left -= read as u64;
        // Checked before the last bytes are handed out, so that nobody takes them for the whole.
        if self.left == 0 {
            self.check()?;
        }
        Ok(read)
    }
}

fn changed() -> io::Error {
    let message = "the file changed while it was read";
    io::Error::new(io::ErrorKind::InvalidData, message)
}
