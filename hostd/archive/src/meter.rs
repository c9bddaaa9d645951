//! Counts what passes through: how far an archive has been read, and how much came out of it.

use std::cell::Cell;
use std::io::{self, Read, Seek, SeekFrom};

use crate::Limits;
use crate::error::ArchiveError;

/// Most bytes that a tar may spend on headers for each of its entries: its own block, names and extended
/// attributes, and the padding of its content.
const HEADER_BYTES_MAX: u64 = 4 << 10;

/// What has passed through so far.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    packed: Cell<u64>,
    unpacked: Cell<u64>,
    /// Bytes that no archive has and every disk: the holes of sparse files.
    holes: Cell<u64>,
}

impl Meter {
    /// Bytes that came out.
    pub(crate) fn unpacked(&self) -> u64 {
        self.unpacked.get()
    }

    /// Counts the holes of a file.
    pub(crate) fn add_holes(&self, bytes: u64, limits: &Limits) -> Result<(), ArchiveError> {
        self.holes.update(|holes| holes.saturating_add(bytes));
        self.check(limits)
    }

    fn check(&self, limits: &Limits) -> Result<(), ArchiveError> {
        let whole = self.unpacked.get().saturating_add(self.holes.get());
        check_ratio(whole, self.packed.get(), limits)
    }
}

/// Refuses a ratio of `unpacked` to `packed` bytes that no honest archive has.
pub(crate) fn check_ratio(unpacked: u64, packed: u64, limits: &Limits) -> Result<(), ArchiveError> {
    let allowed = packed.saturating_mul(limits.ratio_max);
    if unpacked > allowed.max(limits.ratio_free_bytes) {
        let max = limits.ratio_max;
        return Err(ArchiveError::TooDense { max });
    }
    Ok(())
}

/// The archive's own bytes. Its errors can be told from those of damaged content.
pub(crate) struct Source<'m, R> {
    inner: R,
    meter: &'m Meter,
}

impl<'m, R> Source<'m, R> {
    pub(crate) fn new(inner: R, meter: &'m Meter) -> Self {
        Self { inner, meter }
    }
}

impl<R: Read> Read for Source<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer).map_err(marked)?;
        self.meter.packed.update(|packed| packed + read as u64);
        Ok(read)
    }
}

impl<R: Seek> Seek for Source<'_, R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        // Damaged archives cause seeks before the start.
        self.inner.seek(to).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput => error,
            _ => marked(error),
        })
    }
}

fn marked(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::Interrupted {
        return error;
    }
    io::Error::other(ArchiveError::Read(error))
}

/// What comes out of the gzip, within the bounds.
pub(crate) struct Inflated<'m, R> {
    inner: R,
    meter: &'m Meter,
    limits: &'m Limits,
}

impl<'m, R> Inflated<'m, R> {
    pub(crate) fn new(inner: R, meter: &'m Meter, limits: &'m Limits) -> Self {
        Self {
            inner,
            meter,
            limits,
        }
    }
}

impl<R: Read> Read for Inflated<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let unpacked = self.meter.unpacked.get() + read as u64;
        self.meter.unpacked.set(unpacked);
        let max = self.limits.unpacked_bytes_max;
        let headers = (self.limits.entries_max as u64 + 1).saturating_mul(HEADER_BYTES_MAX);
        if unpacked > max.saturating_add(headers) {
            return Err(io::Error::other(ArchiveError::UnpackedTooLarge { max }));
        }
        self.meter.check(self.limits).map_err(io::Error::other)?;
        Ok(read)
    }
}
