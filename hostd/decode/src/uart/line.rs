//! The state of one line and the inner loop that drives it.

use super::timing::Timing;
use crate::planes::{Block, Kernel};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Frame,
    /// The line was no longer active when the start bit was sampled.
    BadStart,
    Break,
}

/// What happened on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) kind: Kind,
    /// Bits sampled, the start bit included: the whole frame unless the capture or a break ended
    /// it.
    pub(super) sampled: u8,
    /// In the order in which they were sent, first bit in bit 0: data, parity, stop.
    pub(super) bits: u16,
    /// Where the frame began; for a break, where the last frame before its end began.
    pub(super) start: u64,
    /// For a break: where the line went idle.
    pub(super) end: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Waiting for a falling edge at `from` or later.
    Idle { from: u64 },
    /// Bit `index` is due to be sampled at `next`.
    Frame {
        start: u64,
        index: u32,
        next: u64,
        bits: u16,
    },
}

/// The line between two samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Machine {
    state: State,
    /// Level in the last sample; idle is 1.
    level: u64,
    /// Where the line fell, if it is low now. A line that is low from the beginning is not a break.
    fell_at: Option<u64>,
    /// Where the last frame began.
    frame_start: u64,
}

impl Machine {
    /// A line at `level` (idle is 1) of which nothing else is known; a frame begins at sample `from` or later.
    pub(super) const fn new(level: u64, from: u64) -> Self {
        Self {
            state: State::Idle { from },
            level,
            fell_at: None,
            frame_start: from,
        }
    }

    /// Whether both will behave the same from sample `at` on.
    pub(super) fn agrees(&self, other: &Self, at: u64) -> bool {
        let state = |state: State| match state {
            State::Idle { from } => State::Idle { from: from.max(at) },
            frame @ State::Frame { .. } => frame,
        };
        // The start of a frame matters only to a break in progress: the next break begins with the
        // next fall.
        let rest = |machine: &Self| {
            let low_since = machine
                .fell_at
                .map(|fell_at| (fell_at, machine.frame_start));
            (machine.level, low_since)
        };
        state(self.state) == state(other.state) && rest(self) == rest(other)
    }

    /// No future annotation is due before this sample, given that all samples before `end` were
    /// seen.
    pub(super) fn earliest(&self, timing: &Timing, end: u64) -> u64 {
        match self.state {
            State::Idle { .. } => end,
            State::Frame { start, .. } => timing.point(start, 0).min(end),
        }
    }

    /// What is left of a frame when the capture or a break ends it.
    pub(super) fn unfinished(&self) -> Option<Event> {
        match self.state {
            State::Frame {
                start, index, bits, ..
            } if index > 0 => {
                let sampled = u8::try_from(index).expect("a frame has 12 bits at most");
                Some(Event {
                    kind: Kind::Frame,
                    sampled,
                    bits,
                    start,
                    end: start,
                })
            }
            _ => None,
        }
    }
}

/// Finds frames and breaks in a block.
pub(super) struct Finder<'a> {
    pub(super) timing: &'a Timing,
    pub(super) lane: usize,
    /// XORed with the plane so that idle is high.
    pub(super) flip: u64,
    pub(super) machine: Machine,
    pub(super) out: &'a mut Vec<Event>,
}

impl Finder<'_> {
    /// Samples the bits that are due before `end`; `plane` holds the levels from sample `at` on.
    #[inline(always)]
    fn frames(&mut self, at: u64, end: u64, plane: u64, falls: u64) {
        loop {
            match self.machine.state {
                State::Idle { from } => {
                    let skip = from.saturating_sub(at);
                    let falls = if skip < 64 { falls >> skip << skip } else { 0 };
                    if falls == 0 {
                        return;
                    }
                    let start = at + u64::from(falls.trailing_zeros());
                    let next = self.timing.point(start, 0);
                    self.machine.state = State::Frame {
                        start,
                        index: 0,
                        next,
                        bits: 0,
                    };
                    self.machine.frame_start = start;
                }
                State::Frame {
                    start,
                    index,
                    next,
                    bits,
                } => {
                    if !self.frame(start, (index, next, bits), (at, end, plane)) {
                        return;
                    }
                }
            }
        }
    }

    /// Continues a frame; returns whether it ended.
    #[inline(always)]
    fn frame(
        &mut self,
        start: u64,
        (mut index, mut next, mut bits): (u32, u64, u16),
        (at, end, plane): (u64, u64, u64),
    ) -> bool {
        let stop = self.timing.stop();
        while next < end {
            let level = plane >> ((next - at) & 63) & 1 != 0;
            if index == 0 && level {
                let event = Event {
                    kind: Kind::BadStart,
                    sampled: 0,
                    bits: 0,
                    start,
                    end: start,
                };
                return self.end_frame(event, next);
            }
            if index > 0 {
                bits |= u16::from(level) << (index - 1);
            }
            if index == stop {
                let sampled = self.timing.points();
                let event = Event {
                    kind: Kind::Frame,
                    sampled,
                    bits,
                    start,
                    end: start,
                };
                return self.end_frame(event, next);
            }
            index += 1;
            next = self.timing.point(start, index);
        }
        self.machine.state = State::Frame {
            start,
            index,
            next,
            bits,
        };
        false
    }

    #[inline(always)]
    fn end_frame(&mut self, event: Event, at: u64) -> bool {
        self.out.push(event);
        self.machine.state = State::Idle { from: at + 1 };
        true
    }

    /// Follows the edges of a block, from index `skip` on; returns the first one that ends a break.
    #[inline(always)]
    fn break_end(&mut self, at: u64, falls: u64, rises: u64, skip: u32) -> Option<u32> {
        let mut edges = falls | rises;
        if self.timing.break_min() >= 64 {
            // A break cannot begin and end within one block: only the first and the last edge
            // matter.
            let first = edges & edges.wrapping_neg();
            edges = first | 1 << (63 - edges.leading_zeros());
        }
        edges = edges >> skip << skip;
        while edges != 0 {
            let index = edges.trailing_zeros();
            let now = at + u64::from(index);
            if falls >> index & 1 != 0 {
                self.machine.fell_at = Some(now);
            } else if let Some(start) = self.machine.fell_at.take()
                && now - start >= self.timing.break_min()
            {
                return Some(index);
            }
            edges &= edges - 1;
        }
        None
    }

    /// Samples a block in which the line changes.
    #[inline(always)]
    fn moving(&mut self, at: u64, end: u64, plane: u64, (falls, rises): (u64, u64)) {
        let mut skip = 0;
        while skip < 64
            && let Some(index) = self.break_end(at, falls, rises, skip)
        {
            self.end_break(at, index, plane, falls);
            skip = index + 1;
        }
        self.frames(at, end, plane, falls);
    }

    /// The line rose after a break. A frame in progress ends with it.
    #[cold]
    fn end_break(&mut self, at: u64, index: u32, plane: u64, falls: u64) {
        let now = at + u64::from(index);
        self.frames(at, now + 1, plane, falls & (u64::MAX >> (63 - index)));
        self.out.extend(self.machine.unfinished());
        // In the middle of a capture, the first frame may begin later.
        let start = self.machine.frame_start.min(now);
        self.out.push(Event {
            kind: Kind::Break,
            sampled: 0,
            bits: 0,
            start,
            end: now,
        });
        self.machine.state = State::Idle { from: now + 1 };
    }
}

impl Kernel for Finder<'_> {
    #[inline(always)]
    fn block<B: Block>(&mut self, at: u64, count: u32, block: &B) -> bool {
        let plane = block.plane(self.lane) ^ self.flip;
        let before = plane << 1 | self.machine.level;
        let falls = before & !plane;
        let rises = plane & !before;
        self.machine.level = plane >> 63;
        let end = at + u64::from(count);
        if falls | rises == 0 {
            self.frames(at, end, plane, 0);
            return false;
        }
        self.moving(at, end, plane, (falls, rises));
        true
    }

    #[inline(always)]
    fn quiet(&mut self, at: u64, count: u64) {
        let plane = self.machine.level.wrapping_neg();
        self.frames(at, at + count, plane, 0);
    }
}
