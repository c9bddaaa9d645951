//! An entry that is inflated block by block.

use super::super::SrError;
use super::super::crc::Crc;
use super::super::runs::{Inflater, Part};
use super::super::zip::{Entry, Method};
use super::buffer::{Buffer, check, damaged, is_runs, wrong_size};
use flate2::{Decompress, FlushDecompress, Status};

/// Bytes that are written at a time: they stay in the second-level cache.
pub(super) const STREAM_BLOCK: usize = 256 << 10;

/// An entry in the middle of being inflated.
pub(super) struct Stream<'a> {
    entry: &'a Entry<'a>,
    rest: Rest<'a>,
    crc: Crc,
    written: u64,
}

/// What is left of it.
enum Rest<'a> {
    Stored(&'a [u8]),
    Deflated(&'a [u8], Decompress),
    Runs(Box<Inflater<'a>>),
}

impl<'a> Stream<'a> {
    pub(super) fn new(entry: &'a Entry<'a>, unit: usize) -> Self {
        let rest = match entry.method {
            Method::Stored => Rest::Stored(entry.packed),
            Method::Deflated if is_runs(entry) => {
                Rest::Runs(Box::new(Inflater::new(entry.packed, unit)))
            }
            Method::Deflated => Rest::Deflated(entry.packed, Decompress::new(false)),
        };
        Self {
            entry,
            rest,
            crc: Crc::default(),
            written: 0,
        }
    }

    /// Fills `buffer` as far as the entry goes; returns whether it ended.
    pub(super) fn read(&mut self, buffer: &mut Buffer) -> Result<bool, SrError> {
        if buffer.bytes.len() < STREAM_BLOCK {
            buffer.bytes.resize(STREAM_BLOCK, 0);
        }
        let ended = match &mut self.rest {
            Rest::Runs(inflater) => inflater
                .read(&mut buffer.bytes, &mut buffer.parts, STREAM_BLOCK)
                .map_err(|_| damaged(self.entry))?,
            Rest::Stored(rest) => {
                let (now, later) = rest.split_at(rest.len().min(STREAM_BLOCK));
                buffer.bytes[..now.len()].copy_from_slice(now);
                buffer.parts = vec![Part::Bytes(0..now.len())];
                *rest = later;
                later.is_empty()
            }
            Rest::Deflated(rest, inflater) => {
                let inflated = inflate(rest, inflater, &mut buffer.bytes[..STREAM_BLOCK]);
                let (used, ended) = inflated.ok_or_else(|| damaged(self.entry))?;
                buffer.parts = vec![Part::Bytes(0..used)];
                ended
            }
        };
        let sum = buffer.sum_up(&mut self.crc);
        self.written = self.written.saturating_add(sum);
        if self.written > self.entry.size || ended && self.written != self.entry.size {
            return Err(wrong_size(self.entry));
        }
        if ended {
            check(self.entry, self.crc)?;
        }
        Ok(ended)
    }
}

/// Fills `out` as far as the input goes; returns how many bytes there are and whether the input ended, none if it is damaged.
fn inflate(rest: &mut &[u8], inflater: &mut Decompress, out: &mut [u8]) -> Option<(usize, bool)> {
    let mut used = 0;
    while used < out.len() {
        let (read, written) = (inflater.total_in(), inflater.total_out());
        let status = inflater.decompress(rest, &mut out[used..], FlushDecompress::None);
        let read = usize::try_from(inflater.total_in() - read).ok()?;
        let written = usize::try_from(inflater.total_out() - written).ok()?;
        *rest = rest.get(read..)?;
        used += written;
        match status.ok()? {
            Status::StreamEnd => return Some((used, true)),
            _ if read == 0 && written == 0 => return None,
            Status::Ok | Status::BufError => {}
        }
    }
    Some((used, false))
}
