//! Reads stored analog samples.

use super::unfold;
use crate::container::{BlockRef, Container, Content};
use crate::segment::SegmentError;
use zstd::bulk;

/// A stored analog capture. Header and index have been checked; blocks are checked when they are
/// read.
#[derive(Clone, Debug)]
pub struct AnalogSegment<'a> {
    container: Container<'a>,
}

/// Lowest and highest count of some samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// First sample.
    pub start: u64,
    /// Number of samples.
    pub samples: u32,
    /// Lowest count.
    pub min: u16,
    /// Highest count.
    pub max: u16,
}

impl<'a> AnalogSegment<'a> {
    /// Opens a complete segment.
    ///
    /// # Errors
    /// The bytes are not an analog segment, or the segment is damaged or unfinished.
    pub fn open(bytes: &'a [u8]) -> Result<Self, SegmentError> {
        let container = Container::open(bytes, Content::Analog)?;
        Ok(Self { container })
    }

    /// Opens a segment whose writer died, up to its last complete block.
    ///
    /// # Errors
    /// The header is missing or damaged.
    pub fn recover(bytes: &'a [u8]) -> Result<Self, SegmentError> {
        let container =
            Container::recover(bytes, Content::Analog, |_, block| block.payload().is_ok())?;
        Ok(Self { container })
    }

    /// Samples per second.
    pub fn sample_rate_hz(&self) -> f64 {
        self.container.sample_rate_hz
    }

    /// Length in samples.
    pub fn samples(&self) -> u64 {
        self.container.samples()
    }

    /// Appends the samples `from..to`, as far as they exist, to `out`.
    ///
    /// # Errors
    /// A block is damaged; the samples before it have been appended.
    pub fn read(&self, from: u64, to: u64, out: &mut Vec<u16>) -> Result<(), SegmentError> {
        let to = to.max(from);
        let mut samples = Vec::new();
        for block in &self.container.blocks[self.container.find(from)..] {
            if block.start >= to {
                break;
            }
            samples.clear();
            unpack(block, &mut samples)?;
            let offset = |sample: u64| {
                let inside = sample.clamp(block.start, block.end()) - block.start;
                usize::try_from(inside).expect("a block is small")
            };
            out.extend_from_slice(&samples[offset(from)..offset(to)]);
        }
        Ok(())
    }

    /// Number of stored blocks.
    pub(crate) fn block_count(&self) -> usize {
        self.container.blocks.len()
    }

    /// Appends the samples of a block to `out`.
    pub(crate) fn read_block(&self, index: usize, out: &mut Vec<u16>) -> Result<(), SegmentError> {
        unpack(&self.container.blocks[index], out)
    }

    /// The block that holds a sample, and its samples.
    pub(crate) fn block_at(&self, sample: u64) -> Option<(usize, std::ops::Range<u64>)> {
        let index = self.container.find(sample);
        let block = self.container.blocks.get(index)?;
        Some((index, block.start..block.end()))
    }

    /// Lowest and highest count of each stored block, without unpacking any.
    ///
    /// # Errors
    /// A block is damaged.
    pub fn extents(&self) -> Result<Vec<Extent>, SegmentError> {
        let extent = |block: &BlockRef<'_>| {
            let (min, max, _) = parse(block)?;
            Ok(Extent {
                start: block.start,
                samples: block.samples,
                min,
                max,
            })
        };
        self.container.blocks.iter().map(extent).collect()
    }
}

const DAMAGED: SegmentError = SegmentError::Damaged { what: "a block" };

/// Lowest count, highest count, packed samples.
fn parse<'a>(block: &BlockRef<'a>) -> Result<(u16, u16, &'a [u8]), SegmentError> {
    let (extent, packed) = block.payload()?.split_first_chunk::<4>().ok_or(DAMAGED)?;
    let [a, b, c, d] = *extent;
    Ok((
        u16::from_le_bytes([a, b]),
        u16::from_le_bytes([c, d]),
        packed,
    ))
}

fn unpack(block: &BlockRef<'_>, out: &mut Vec<u16>) -> Result<(), SegmentError> {
    let (_, _, packed) = parse(block)?;
    let size = block.samples as usize * 2;
    let bytes = bulk::decompress(packed, size).map_err(|_| DAMAGED)?;
    if bytes.len() != size {
        return Err(DAMAGED);
    }
    unfold(&bytes, out);
    Ok(())
}
