//! Memory for what was inflated.

use super::super::crc::Crc;
use super::super::runs::{Inflater, Part, SLACK};
use super::super::zip::{Entry, Method};
use super::super::{Piece, SrError};
use libdeflater::Decompressor;

/// From this many bytes per packed byte on, an entry consists of runs so much that our own code inflates it faster than a library.
const RUNS_RATIO: u64 = 250;

/// Memory for one inflated entry, or a part of a larger one, and the state of the decompressor.
#[derive(Default)]
pub(super) struct Buffer {
    /// Stays as long as the longest entry so far, so that later entries touch no new memory.
    pub(super) bytes: Vec<u8>,
    pub(super) parts: Vec<Part>,
    inflater: Option<Decompressor>,
}

impl Buffer {
    /// Bytes that it takes.
    pub(super) fn bytes_len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// What is in it.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        self.parts.iter().map(|part| match part {
            Part::Bytes(range) => Piece::Samples(&self.bytes[range.clone()]),
            Part::Run { block, times } => Piece::Repeated {
                samples: &self.bytes[block.clone()],
                times: *times,
            },
        })
    }

    /// Inflates a whole entry of samples of `unit` bytes.
    pub(super) fn inflate(&mut self, entry: &Entry<'_>, unit: usize) -> Result<(), SrError> {
        let size = usize::try_from(entry.size).expect("callers bound the size");
        match entry.method {
            Method::Stored => {
                self.reserve(size);
                self.bytes[..size].copy_from_slice(entry.packed);
                self.parts = vec![Part::Bytes(0..size)];
            }
            Method::Deflated if is_runs(entry) => {
                let mut inflater = Inflater::new(entry.packed, unit);
                let ended = inflater.read(&mut self.bytes, &mut self.parts, size + SLACK);
                let ended = ended.map_err(|_| damaged(entry))?;
                let total = self.parts.iter().map(Part::len);
                let total = total.fold(0, u64::saturating_add);
                if !ended || total != entry.size {
                    return Err(wrong_size(entry));
                }
            }
            Method::Deflated => {
                self.reserve(size);
                let inflater = self.inflater.get_or_insert_with(Decompressor::new);
                match inflater.deflate_decompress(entry.packed, &mut self.bytes[..size]) {
                    Ok(written) if written == size => {}
                    Err(libdeflater::DecompressionError::BadData) => return Err(damaged(entry)),
                    _ => return Err(wrong_size(entry)),
                }
                self.parts = vec![Part::Bytes(0..size)];
            }
        }
        let mut crc = Crc::default();
        self.sum_up(&mut crc);
        check(entry, crc)
    }

    /// Memory that is not written costs nothing.
    fn reserve(&mut self, size: usize) {
        if self.bytes.len() < size {
            self.bytes = vec![0; size];
        }
    }

    /// Adds what is in it to a sum; returns how many bytes that stands for.
    pub(super) fn sum_up(&self, crc: &mut Crc) -> u64 {
        let mut total: u64 = 0;
        for part in &self.parts {
            let (range, times) = match part {
                Part::Bytes(range) => (range, 1),
                Part::Run { block, times } => (block, *times),
            };
            let sum = libdeflater::crc32(&self.bytes[range.clone()]);
            crc.add(sum, range.len() as u64, times);
            total = total.saturating_add(part.len());
        }
        total
    }
}

/// Whether an entry is mostly runs.
pub(super) fn is_runs(entry: &Entry<'_>) -> bool {
    entry.method == Method::Deflated && has_ratio(entry, RUNS_RATIO)
}

/// Whether an entry has so many bytes per packed byte.
pub(super) fn has_ratio(entry: &Entry<'_>, ratio: u64) -> bool {
    entry.size / ratio > entry.packed.len() as u64
}

pub(super) fn damaged(entry: &Entry<'_>) -> SrError {
    SrError::Inflate {
        entry: entry.name.clone(),
    }
}

pub(super) fn wrong_size(entry: &Entry<'_>) -> SrError {
    SrError::WrongSize {
        entry: entry.name.clone(),
        size: entry.size,
    }
}

pub(super) fn check(entry: &Entry<'_>, crc: Crc) -> Result<(), SrError> {
    if crc.sum() == entry.crc32 {
        Ok(())
    } else {
        Err(SrError::Checksum {
            entry: entry.name.clone(),
        })
    }
}
