//! Cuts samples into frames as they arrive: the same frames, in the same order, as later read from
//! the files.

use std::collections::VecDeque;
use std::iter::Peekable;

use super::layout::{FRAME_SAMPLES, Span, Spans};
use super::reader::Data;
use store::captures::ChannelRecord;

/// One frame of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub span: Span,
    pub data: Data,
}

/// Cuts the channels of one capture.
#[derive(Debug)]
pub(crate) struct Framer {
    /// Frames that are still to come, in order.
    spans: Peekable<Spans>,
    /// By channel.
    cutters: Vec<Cutter>,
}

#[derive(Debug)]
struct Cutter {
    digital: bool,
    samples: u64,
    /// Samples taken so far.
    taken: u64,
    /// Bytes of the current frame's counts.
    counts: Vec<u8>,
    /// Level at the current sample, and at the start of the current frame.
    level: bool,
    first: bool,
    /// Where the current run begins, and the runs before it in this frame.
    run_from: u64,
    runs: Vec<u32>,
    ready: VecDeque<Data>,
}

impl Framer {
    /// For a capture with these `channels`.
    #[must_use]
    pub(crate) fn new(channels: &[ChannelRecord]) -> Self {
        let samples: Vec<u64> = channels.iter().map(|c| c.samples).collect();
        let cutter = |channel: &ChannelRecord| Cutter {
            digital: channel.la.is_some(),
            samples: channel.samples,
            taken: 0,
            counts: Vec::new(),
            level: false,
            first: false,
            run_from: 0,
            runs: Vec::new(),
            ready: VecDeque::new(),
        };
        Self {
            spans: Spans::new(samples).peekable(),
            cutters: channels.iter().map(cutter).collect(),
        }
    }

    /// Linear counts of the analog channel.
    pub(crate) fn counts(&mut self, counts: &[u16]) {
        if let Some(cutter) = self.cutters.iter_mut().find(|c| !c.digital) {
            for count in counts {
                cutter.count(*count);
            }
        }
    }

    /// Words of the logic channels, one bit per channel in order, each valid from the sample paired
    /// with it; the last holds up to, but not including, `upto`.
    pub(crate) fn edges(&mut self, edges: &[(u64, u64)], upto: u64) {
        let logic = self.cutters.iter_mut().filter(|c| c.digital);
        for (bit, cutter) in logic.enumerate() {
            for (sample, word) in edges {
                cutter.level_at(*sample, word >> bit & 1 == 1);
            }
            cutter.advance(upto);
        }
    }

    /// The next frame in order, once it has all its samples.
    pub(crate) fn take(&mut self) -> Option<Frame> {
        let span = *self.spans.peek()?;
        let data = self.cutters.get_mut(span.channel)?.ready.pop_front()?;
        self.spans.next();
        Some(Frame { span, data })
    }
}

impl Cutter {
    fn count(&mut self, count: u16) {
        if self.taken == self.samples {
            return;
        }
        self.counts.extend_from_slice(&count.to_le_bytes());
        self.taken += 1;
        if self.taken.is_multiple_of(FRAME_SAMPLES) || self.taken == self.samples {
            let counts = std::mem::take(&mut self.counts);
            self.ready.push_back(Data::Counts(counts));
        }
    }

    fn level_at(&mut self, sample: u64, level: bool) {
        if sample >= self.samples || level == self.level && sample > 0 {
            return;
        }
        self.advance(sample);
        if sample.is_multiple_of(FRAME_SAMPLES) {
            self.first = level;
        } else {
            self.runs.push(length(self.run_from, sample));
            self.run_from = sample;
        }
        self.level = level;
    }

    /// Close what ends at or before `upto`.
    fn advance(&mut self, upto: u64) {
        while self.taken < upto.min(self.samples) {
            let end = (self.taken / FRAME_SAMPLES + 1) * FRAME_SAMPLES;
            let end = end.min(self.samples);
            if end > upto {
                self.taken = upto;
                return;
            }
            self.runs.push(length(self.run_from, end));
            let runs = std::mem::take(&mut self.runs);
            let level = u8::from(self.first);
            self.ready.push_back(Data::Runs { level, runs });
            self.run_from = end;
            self.first = self.level;
            self.taken = end;
        }
    }
}

fn length(from: u64, to: u64) -> u32 {
    u32::try_from(to - from).expect("a run is within one frame")
}
