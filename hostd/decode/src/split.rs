//! Decodes a stored capture in parts, side by side, and puts them together in their order.
//!
//! Parts are decoded on rayon's threads while the thread of the caller passes on what was decoded before: what takes
//! annotations may wait, and holds up none of those threads.

use crate::engine::StoredDecoder;
use crate::protocol::{Part, Splitter};
use crate::run::Sink;
use crate::segment::{Reader, Segment, SegmentError};
use std::ops::{ControlFlow, Range};

/// A part ends with the block in which its lanes toggle so often in all.
const PART_TOGGLES: u64 = 1 << 16;

/// Blocks of the longest part.
const PART_BLOCKS_MAX: usize = 64;

/// Most parts that are decoded at once: each takes the memory of a block.
const JOBS_MAX: usize = 4;

/// A part, being decoded.
struct Job<'a> {
    reader: Reader<'a>,
    blocks: Range<usize>,
    decoded: Result<Option<Part>, SegmentError>,
}

/// A part that waits to be put behind the ones before it.
type Waiting = (Range<usize>, Result<Option<Part>, SegmentError>);

/// Decodes samples of a segment; returns the sample behind the last one that was decoded, and whether the sink ended it.
pub(crate) fn run(
    segment: &Segment<'_>,
    decoder: &mut StoredDecoder,
    splitter: &dyn Splitter,
    range: &Range<u64>,
    sink: Sink<'_>,
) -> Result<(u64, ControlFlow<()>), SegmentError> {
    let lanes = decoder.lanes();
    let reader = || segment.reader(&lanes).within(range);
    let count = rayon::current_num_threads().min(JOBS_MAX);
    let mut jobs: Vec<Job<'_>> = (0..count)
        .map(|_| Job {
            reader: reader(),
            blocks: 0..0,
            decoded: Ok(None),
        })
        .collect();
    let mut again = reader();
    let mut left = again.left();
    let mut waiting: Vec<Waiting> = Vec::new();
    loop {
        jobs.iter_mut()
            .for_each(|job| job.blocks = part(segment, &lanes, &mut left));
        let delivered = rayon::in_place_scope(|scope| {
            for job in jobs.iter_mut().filter(|job| !job.blocks.is_empty()) {
                scope.spawn(|_| job.decode(splitter));
            }
            deliver(&mut waiting, decoder, &mut again, sink)
        })?;
        if let Some(blocks) = delivered {
            let end = segment.block_end(blocks).min(range.end);
            return Ok((end, ControlFlow::Break(())));
        }
        let begun = jobs.iter_mut().filter(|job| !job.blocks.is_empty());
        waiting.extend(begun.map(|job| {
            let decoded = std::mem::replace(&mut job.decoded, Ok(None));
            (job.blocks.clone(), decoded)
        }));
        if waiting.is_empty() {
            return Ok((range.end, ControlFlow::Continue(())));
        }
    }
}

impl Job<'_> {
    fn decode(&mut self, splitter: &dyn Splitter) {
        self.reader.seek(self.blocks.start);
        self.decoded = splitter.decode(&mut self.reader, self.blocks.len());
    }
}

/// Takes the blocks of the next part off those that are left.
fn part(segment: &Segment<'_>, lanes: &[Option<usize>], left: &mut Range<usize>) -> Range<usize> {
    let from = left.start;
    let mut toggles = 0;
    while left.start < left.end && toggles < PART_TOGGLES && left.start - from < PART_BLOCKS_MAX {
        let block = left.start;
        let counts = lanes.iter().flatten();
        let counts = counts.map(|&lane| segment.toggles_of_block(block, lane));
        // Where that is not known, a block is a part.
        let all: Option<u64> = counts.sum();
        toggles += all.unwrap_or(PART_TOGGLES);
        left.start += 1;
    }
    from..left.start
}

/// Puts parts together. If the sink ends it: the last block whose annotations it was given.
fn deliver(
    waiting: &mut Vec<Waiting>,
    decoder: &mut StoredDecoder,
    again: &mut Reader<'_>,
    sink: Sink<'_>,
) -> Result<Option<usize>, SegmentError> {
    for (blocks, decoded) in waiting.drain(..) {
        let mut flow = match decoded? {
            Some(part) => decoder.join(part, sink),
            None => in_sequence(&blocks, decoder, again, sink)?,
        };
        if flow.is_continue() {
            flow = sink(&[]);
        }
        if flow.is_break() {
            return Ok(Some(blocks.end - 1));
        }
    }
    Ok(None)
}

fn in_sequence(
    blocks: &Range<usize>,
    decoder: &mut StoredDecoder,
    reader: &mut Reader<'_>,
    sink: Sink<'_>,
) -> Result<ControlFlow<()>, SegmentError> {
    let mut active = Vec::new();
    reader.seek(blocks.start);
    for _ in blocks.clone() {
        let Some((at, samples, levels)) = reader.next_block(&mut active)? else {
            break;
        };
        let flow = decoder.feed(at, samples, levels, &active, sink);
        if flow.is_break() {
            return Ok(flow);
        }
    }
    Ok(ControlFlow::Continue(()))
}
