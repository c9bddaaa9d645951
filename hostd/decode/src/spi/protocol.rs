//! The SPI decoder, as the driver of clocked buses uses it.

use super::Config;
use super::machine::{Direct, Event, Finder, Kind, Machine, Rules, selection};
use super::notes::Notes;
use super::parallel::{Count, Part};
use super::stored::BySelections;
use crate::annotation::{Annotation, ClassSet};
use crate::clocked::{Bus, Samples};
use crate::planes::{CodePath, Taps};
use crate::protocol::{Chunk, Content, Splitter};
use rayon::prelude::*;

/// An SPI bus in the middle of a capture.
pub(crate) struct Spi {
    lanes: [Option<usize>; 4],
    rules: Rules,
    wants_bits: bool,
    machine: Machine,
    notes: Notes,
    /// The chip was selected before the first sample: nothing is known before CS changes.
    is_lost: bool,
    is_inside: bool,
}

impl Spi {
    pub(crate) fn new(config: &Config, shown: ClassSet) -> Self {
        Self {
            lanes: [Some(config.clk), config.cs, config.mosi, config.miso],
            rules: Rules::new(config),
            wants_bits: shown.has(super::MISO_BITS) || shown.has(super::MOSI_BITS),
            machine: Machine::new(),
            notes: Notes::new(shown, config),
            is_lost: false,
            is_inside: false,
        }
    }
}

impl Bus for Spi {
    type Event = Event;

    fn lanes(&self) -> Vec<Option<usize>> {
        self.lanes.to_vec()
    }

    fn wants_bits(&self) -> bool {
        self.wants_bits
    }

    fn begin_inside(&mut self) {
        self.is_inside = true;
    }

    /// If the chip is selected when a capture begins, a transfer begins there.
    fn begin(&mut self, at: u64, levels: u64, out: &mut Vec<Event>) {
        if self.rules.selects(levels) {
            self.is_lost = self.is_inside;
            out.push(selection(at, true));
        }
    }

    fn run<const BITS: bool>(
        &mut self,
        samples: &Samples<'_>,
        levels: u64,
        out: &mut Vec<Event>,
    ) -> u64 {
        let (rules, machine) = (&self.rules, self.machine);
        let edges = Direct::<BITS> {
            rules,
            machine,
            out,
        };
        let mut finder = Finder::new(rules, levels, edges);
        samples.show(&mut finder);
        self.machine = finder.edges.machine;
        finder.clk | finder.cs << 1
    }

    fn run_chunks<const BITS: bool>(
        &mut self,
        cut: Vec<Chunk<'_>>,
        taps: &Taps,
        levels: u64,
        out: &mut Vec<Event>,
    ) {
        let (rules, path) = (&self.rules, CodePath::best());
        let before = |sample: Option<&[u8]>| sample.map_or(levels, |sample| taps.levels(sample));
        let counts: Vec<Count> = cut
            .par_iter()
            .map(|chunk| Count::of(chunk.raw, taps, before(chunk.before), rules, path))
            .collect();
        let mut phase = u64::from(self.machine.count());
        let mut phases = Vec::with_capacity(counts.len());
        for count in &counts {
            phases.push(phase);
            phase = count.phase_after(phase, rules);
        }
        let parts: Vec<Part> = cut
            .into_par_iter()
            .zip(phases)
            .map(|(chunk, phase)| {
                let levels = before(chunk.before);
                let known = (rules, phase);
                Part::decode::<BITS>(chunk.raw, taps, chunk.at, levels, known, path)
            })
            .collect();
        let machine = self.machine;
        let mut known = Direct::<BITS> {
            rules,
            machine,
            out,
        };
        for part in parts {
            part.join(&mut known);
        }
        self.machine = known.machine;
    }

    /// Without CS, nothing but the first sample says where a word begins.
    fn splitter(&self) -> Option<Box<dyn Splitter>> {
        let rules = self.rules;
        match rules.has_cs() {
            true => Some(Box::new(BySelections { rules })),
            false => None,
        }
    }

    fn join(&mut self, content: Content, out: &mut Vec<Event>) {
        let Content::Spi(part) = content else {
            unreachable!("the splitter is that of this bus");
        };
        let (rules, machine) = (&self.rules, self.machine);
        let mut known = Direct::<false> {
            rules,
            machine,
            out,
        };
        part.join(&mut known);
        self.machine = known.machine;
    }

    fn annotate(&mut self, events: &[Event], out: &mut Vec<Annotation>) {
        let known = match self.is_lost {
            false => events,
            true => {
                let is_end = |event: &Event| event.kind == Kind::Deselect;
                let Some(end) = events.iter().position(is_end) else {
                    return;
                };
                self.is_lost = false;
                &events[end..]
            }
        };
        self.notes.take(known, out);
    }
}
