//! SPI in parts of a stored capture, decoded side by side.
//!
//! A change of CS sets the whole state. So a part puts the bits before its first one aside, and decodes everything after it for
//! good; the join runs the bits put aside through the state in which the part before ended.

use super::machine::{Direct, Edges, Event, Finder, Machine, Rules, selection};
use crate::protocol::{self, Content, Splitter, run_active};
use crate::segment::{Reader, SegmentError};

/// Most bits without a change of CS that are put aside: three megabytes.
const ASIDE_MAX: usize = 1 << 17;

/// A part decoded without knowing what came before.
pub(crate) struct Stored {
    before: Vec<(u64, (u64, u64))>,
    is_known: bool,
    events: Vec<Event>,
    end: Machine,
}

impl Stored {
    /// Completes the part from the state in which the previous one ended.
    pub(super) fn join(self, known: &mut Direct<'_, false>) {
        for (at, bits) in self.before {
            known.bit(at, bits);
        }
        if self.is_known {
            known.out.extend_from_slice(&self.events);
            known.machine = self.end;
        }
    }
}

struct Unknown<'a> {
    rules: &'a Rules,
    part: Stored,
}

impl Edges for Unknown<'_> {
    #[inline(always)]
    fn select(&mut self, at: u64, selected: bool) {
        self.part.is_known = true;
        self.part.end = Machine::new();
        self.part.events.push(selection(at, selected));
    }

    #[inline(always)]
    fn bit(&mut self, at: u64, bits: (u64, u64)) {
        let part = &mut self.part;
        if part.is_known {
            part.end
                .bit::<false>(at, bits, self.rules, &mut part.events);
        } else {
            part.before.push((at, bits));
        }
    }
}

/// Decodes parts of a capture side by side.
pub(super) struct BySelections {
    pub(super) rules: Rules,
}

impl Splitter for BySelections {
    fn decode(
        &self,
        reader: &mut Reader<'_>,
        blocks: usize,
    ) -> Result<Option<protocol::Part>, SegmentError> {
        let part = Stored {
            before: Vec::new(),
            is_known: false,
            events: Vec::new(),
            end: Machine::new(),
        };
        let rules = &self.rules;
        let mut finder = Finder::new(rules, 0, Unknown { rules, part });
        let mut begun = None;
        let mut active = Vec::new();
        for _ in 0..blocks {
            let Some((at, count, levels)) = reader.next_block(&mut active)? else {
                break;
            };
            if begun.is_none() {
                begun = Some((at, levels));
                let Finder { edges, .. } = finder;
                finder = Finder::new(rules, levels, edges);
            }
            run_active(at, count, &active, &mut finder);
            if finder.edges.part.before.len() > ASIDE_MAX {
                return Ok(None);
            }
        }
        let last = finder.clk | finder.cs << 1;
        Ok(begun.map(|(at, first)| protocol::Part {
            at,
            levels: (first, last),
            content: Content::Spi(finder.edges.part),
        }))
    }
}
