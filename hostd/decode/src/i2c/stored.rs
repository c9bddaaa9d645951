//! I²C from where the lines of a stored capture toggle: the fastest way, since nothing else is looked at.

use super::machine::{Edges, SCL, SDA};
use super::parallel::{Part, Unknown};
use crate::protocol::{self, Content, Splitter};
use crate::segment::{Reader, SegmentError};

/// Most clock rises without a START or STOP that are put aside: a fraction of a megabyte.
const ASIDE_MAX: usize = 1 << 14;

/// Behind all offsets.
const END: u32 = u32::MAX;

/// A line in a block: its level before, and where it toggles.
struct Line<'a> {
    level: bool,
    toggles: &'a [u32],
}

/// Shows the clock rises and conditions of a block that begins with sample `start`. Returns the levels of its last sample.
#[inline(always)]
fn show<E: Edges>(start: u64, scl: &Line<'_>, sda: &Line<'_>, edges: &mut E) -> u64 {
    let rises = match scl.level {
        false => scl.toggles,
        true => scl.toggles.get(1..).unwrap_or_default(),
    };
    let mut data = Data {
        start,
        toggles: sda.toggles,
        next: 0,
        level: sda.level,
    };
    if scl.level {
        data.conditions(scl.toggles.first().copied().unwrap_or(END), edges);
    }
    let mut pairs = rises.chunks_exact(2);
    for pair in &mut pairs {
        data.rise(pair[0], edges);
        data.conditions(pair[1], edges);
    }
    if let [rise] = *pairs.remainder() {
        data.rise(rise, edges);
        data.conditions(END, edges);
    }
    let level = scl.level ^ (scl.toggles.len() % 2 == 1);
    let data = sda.level ^ (sda.toggles.len() % 2 == 1);
    u64::from(level) << SCL | u64::from(data) << SDA
}

/// The data line, walked along.
struct Data<'a> {
    start: u64,
    toggles: &'a [u32],
    /// Toggles that were passed, and the level behind them.
    next: usize,
    level: bool,
}

impl Data<'_> {
    #[inline(always)]
    fn upcoming(&self) -> u32 {
        self.toggles.get(self.next).copied().unwrap_or(END)
    }

    #[inline(always)]
    fn pass(&mut self, is_passed: bool) {
        self.next += usize::from(is_passed);
        self.level ^= is_passed;
    }

    /// The clock rises.
    #[inline(always)]
    fn rise<E: Edges>(&mut self, at: u32, edges: &mut E) {
        // Once in every other bit, as chance has it: nothing branches on the first one.
        self.pass(self.upcoming() < at);
        while self.upcoming() < at {
            self.pass(true);
        }
        let moves = self.upcoming() == at;
        self.pass(moves);
        let fell = moves && !self.level;
        edges.rise(self.start + u64::from(at), self.level, fell);
    }

    /// The clock is high until it falls.
    #[inline(always)]
    fn conditions<E: Edges>(&mut self, fall: u32, edges: &mut E) {
        while self.upcoming() < fall {
            let at = self.start + u64::from(self.upcoming());
            self.pass(true);
            edges.condition(at, self.level);
        }
    }
}

/// Decodes parts of a capture side by side.
pub(super) struct ByToggles;

impl Splitter for ByToggles {
    fn decode(
        &self,
        reader: &mut Reader<'_>,
        blocks: usize,
    ) -> Result<Option<protocol::Part>, SegmentError> {
        let mut edges = Unknown::<false>(Part::new());
        let mut begun = None;
        let mut last = 0;
        for _ in 0..blocks {
            let Some((start, _, levels)) = reader.next_toggles()? else {
                break;
            };
            begun.get_or_insert((start, levels));
            let line = |lane: usize| Line {
                level: levels >> lane & 1 != 0,
                toggles: reader.toggles(lane),
            };
            last = show(start, &line(SCL), &line(SDA), &mut edges);
            if edges.0.put_aside() > ASIDE_MAX {
                return Ok(None);
            }
        }
        Ok(begun.map(|(at, first)| protocol::Part {
            at,
            levels: (first, last),
            content: Content::I2c(edges.0),
        }))
    }
}
