//! Stretches of `1 << level` samples of several channels, at any level: from a pyramid, and below its finest level from the
//! capture itself.

use super::cells::{append, folded, folded_counts};
use super::{FINEST_LEVEL, Pyramid};
use crate::analog::AnalogSegment;
use crate::segment::{BLOCK_SAMPLES, Lane, Segment, SegmentError};
use std::ops::Range;

/// The coarsest level that is made from blocks directly: a block.
const BLOCK_LEVEL: u32 = BLOCK_SAMPLES.ilog2();

/// Cells of a machine word at level 0.
const WORD_SAMPLES: u64 = 64;

/// States of logic channels in the stretches of a level, by channel: [`LOW`](super::LOW), [`HIGH`](super::HIGH) or both, a
/// byte each. Stretches behind the end of the capture are left out. Without a pyramid, all blocks in the range are read.
///
/// # Errors
/// The capture or the pyramid is damaged, or there is no such channel.
pub fn logic_stretches(
    segment: &Segment<'_>,
    pyramid: Option<&Pyramid<'_>>,
    channels: &[usize],
    level: u32,
    stretches: Range<u64>,
) -> Result<Vec<Vec<u8>>, SegmentError> {
    for &channel in channels {
        segment.check_channel(channel)?;
    }
    let wanted = clipped(segment.samples(), level, &stretches);
    if wanted.is_empty() {
        return Ok(vec![Vec::new(); channels.len()]);
    }
    let stored = pyramid.and_then(|pyramid| Some((pyramid, pyramid.level_for(level)?)));
    let Some((pyramid, stored)) = stored else {
        return channels
            .iter()
            .map(|&channel| from_blocks(segment, channel, level, &wanted))
            .collect();
    };
    let (cells, by) = finer(&wanted, level - stored, pyramid.cells(stored));
    let found = pyramid.logic_cells(channels, stored, &cells)?;
    Ok(found
        .iter()
        .map(|cells| folded(cells, by).collect())
        .collect())
}

/// Lowest and highest counts of an analog channel in the stretches of a level. Stretches behind the end of the capture are
/// left out.
///
/// # Errors
/// The capture or the pyramid is damaged.
pub fn analog_stretches(
    segment: &AnalogSegment<'_>,
    pyramid: Option<&Pyramid<'_>>,
    level: u32,
    stretches: Range<u64>,
) -> Result<(Vec<u16>, Vec<u16>), SegmentError> {
    let wanted = clipped(segment.samples(), level, &stretches);
    if wanted.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let stored = pyramid.and_then(|pyramid| Some((pyramid, pyramid.level_for(level)?)));
    if let Some((pyramid, stored)) = stored {
        let (cells, by) = finer(&wanted, level - stored, pyramid.cells(stored));
        let (min, max) = pyramid.analog_cells(stored, &cells)?;
        let min = folded_counts(&min, by, u16::min).collect();
        return Ok((min, folded_counts(&max, by, u16::max).collect()));
    }
    let own = level.min(BLOCK_LEVEL);
    let count = segment.samples().div_ceil(1 << own);
    let (cells, by) = finer(&wanted, level - own, count);
    let (mut min, mut max) = (Vec::new(), Vec::new());
    let mut samples = Vec::new();
    // A block at a time, however many there are, and however wide a stretch is.
    let step = u64::from(BLOCK_SAMPLES) >> own;
    let mut first = cells.start;
    while first < cells.end {
        let end = (first + step).min(cells.end);
        samples.clear();
        segment.read(first << own, end << own, &mut samples)?;
        min.extend(folded_counts(&samples, 1 << own, u16::min));
        max.extend(folded_counts(&samples, 1 << own, u16::max));
        first = end;
    }
    let min = folded_counts(&min, by, u16::min).collect();
    Ok((min, folded_counts(&max, by, u16::max).collect()))
}

/// The stretches that there are.
fn clipped(samples: u64, level: u32, stretches: &Range<u64>) -> Range<u64> {
    let count = samples.div_ceil(1 << level);
    let start = stretches.start.min(count);
    start..stretches.end.clamp(start, count)
}

/// Cells of a level that is `by` levels finer, as far as there are any, and how many of them make a stretch.
fn finer(stretches: &Range<u64>, by: u32, count: u64) -> (Range<u64>, usize) {
    let cells = stretches.start << by..(stretches.end << by).min(count);
    (cells, 1 << by)
}

/// One channel, from the blocks of the capture.
fn from_blocks(
    segment: &Segment<'_>,
    channel: usize,
    level: u32,
    wanted: &Range<u64>,
) -> Result<Vec<u8>, SegmentError> {
    let own = level.min(BLOCK_LEVEL);
    let cells = wanted.start << (level - own)..wanted.end << (level - own);
    // The first cell of a machine word, since toggles come in words.
    let in_word = (WORD_SAMPLES >> own).max(1);
    let surplus = cells.start % in_word;
    let first = (cells.start - surplus) << own;
    let end = (cells.end << own).min(segment.samples());
    let mut out = Vec::new();
    let mut lane = Lane::default();
    let mut words = Vec::new();
    for index in segment.blocks_in(first, end) {
        let (start, samples) = (segment.block_start(index), segment.block_samples(index));
        let from = offset(first, start);
        let to = offset(end, start).min(samples);
        segment.unpack(index, channel, &mut lane)?;
        words.clear();
        words.resize(samples.div_ceil(64) as usize, 0);
        lane.mark(&mut words);
        let words = &words[(from / 64) as usize..];
        append(words, to - from, own, lane.level_before(from), &mut out);
    }
    out.drain(..usize::try_from(surplus).expect("a word has few cells"));
    let by = 1 << (level - own);
    Ok(match by {
        1 => out,
        _ => folded(&out, by).collect(),
    })
}

fn offset(sample: u64, start: u64) -> u32 {
    u32::try_from(sample.saturating_sub(start)).unwrap_or(u32::MAX)
}

const _: () = assert!(FINEST_LEVEL <= BLOCK_LEVEL);
