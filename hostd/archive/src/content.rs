//! The content of one file in an archive, exactly as many bytes as the archive says.

use std::io::{self, Read};

use crate::error::{ArchiveError, shown};

/// Bytes that are read at once by users of content.
pub(crate) const PIECE_BYTES: usize = 128 << 10;

/// The content of one entry, which is read once from its start.
pub(crate) struct Content<'a> {
    entry: &'a [u8],
    from: &'a mut dyn Read,
    size: u64,
    left: u64,
}

impl<'a> Content<'a> {
    /// The `size` bytes of `from`, which must end after them.
    pub(crate) fn new(entry: &'a [u8], size: u64, from: &'a mut dyn Read) -> Self {
        Self {
            entry,
            from,
            size,
            left: size,
        }
    }

    /// Bytes of the whole content.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// The next bytes; 0 of them at the end, which must be where the archive says.
    pub(crate) fn next(&mut self, buffer: &mut [u8]) -> Result<usize, ArchiveError> {
        if self.left == 0 {
            return Ok(0);
        }
        let wanted = usize::try_from(self.left).map_or(buffer.len(), |left| left.min(buffer.len()));
        match self.read(&mut buffer[..wanted])? {
            0 => Err(self.differs()),
            read => {
                self.left -= read as u64;
                Ok(read)
            }
        }
    }

    /// Reads the rest, and checks that nothing follows: only then has the checksum been compared.
    pub(crate) fn finish(mut self, buffer: &mut [u8]) -> Result<(), ArchiveError> {
        while self.next(buffer)? > 0 {}
        match self.read(&mut buffer[..1])? {
            0 => Ok(()),
            _ => Err(self.differs()),
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ArchiveError> {
        loop {
            match self.from.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other.map_err(ArchiveError::of_reading),
            }
        }
    }

    fn differs(&self) -> ArchiveError {
        ArchiveError::SizeDiffers {
            entry: shown(self.entry),
        }
    }
}
