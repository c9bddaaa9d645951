//! Samples one by one, as the recorder saw them: chunk after chunk.

use super::super::reader::Reader;
use super::cut::Cut;
use super::{CHUNK_SAMPLES, ExportError};

/// Bytes of a logic sample: one bit for each channel.
pub(super) fn unit_bytes(channels: usize) -> usize {
    channels.div_ceil(8).max(1)
}

/// Show all logic samples to `take`, little-endian, bit `i` being channel `i`.
pub(super) fn logic(
    reader: &Reader,
    cut: &Cut,
    take: impl FnMut(&[u8]) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    logic_at(reader, cut, |sample| sample, take)
}

/// Likewise, each from its place in the file up to the place of the next.
pub(super) fn logic_at(
    reader: &Reader,
    cut: &Cut,
    place: impl Fn(u64) -> u64,
    mut take: impl FnMut(&[u8]) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    let segment = reader.logic()?;
    let mut chunk = Chunk {
        unit: unit_bytes(cut.width()),
        bytes: Vec::new(),
    };
    let mut word = cut.first_levels(reader)?;
    let mut at = 0;
    for edge in cut.edges(&segment) {
        let (sample, next) = edge?;
        let here = place(cut.moved(sample));
        chunk.fill(word, here - at, &mut take)?;
        (at, word) = (here, next);
    }
    chunk.fill(word, place(cut.logic_samples()) - at, &mut take)?;
    chunk.flush(&mut take)
}

/// Show all analog samples to `take`.
pub(super) fn analog(
    reader: &Reader,
    cut: &Cut,
    mut take: impl FnMut(&[u16]) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    let segment = reader.analog()?;
    let mut counts = Vec::new();
    let std::ops::Range { start: mut at, end } = cut.analog_range();
    while at < end {
        let to = end.min(at + CHUNK_SAMPLES as u64);
        counts.clear();
        segment.read(at, to, &mut counts)?;
        take(&counts)?;
        at = to;
    }
    Ok(())
}

/// Counts as bytes.
pub(super) fn le_bytes(counts: &[u16]) -> Vec<u8> {
    counts.iter().flat_map(|c| c.to_le_bytes()).collect()
}

/// Samples waiting to be written.
struct Chunk {
    unit: usize,
    bytes: Vec<u8>,
}

impl Chunk {
    /// Append `count` times the same sample.
    fn fill(
        &mut self,
        word: u64,
        count: u64,
        take: &mut impl FnMut(&[u8]) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let full = CHUNK_SAMPLES * self.unit;
        let sample = &word.to_le_bytes()[..self.unit];
        let mut left = count;
        while left > 0 {
            let from = self.bytes.len();
            let room = (full - from) / self.unit;
            let now = usize::try_from(left).unwrap_or(room).min(room);
            self.bytes.resize(from + now * self.unit, sample[0]);
            if self.unit > 1 {
                for place in self.bytes[from..].chunks_exact_mut(self.unit) {
                    place.copy_from_slice(sample);
                }
            }
            left -= now as u64;
            if self.bytes.len() == full {
                self.flush(take)?;
            }
        }
        Ok(())
    }

    fn flush(
        &mut self,
        take: &mut impl FnMut(&[u8]) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let taken = take(&self.bytes);
        self.bytes.clear();
        taken
    }
}
