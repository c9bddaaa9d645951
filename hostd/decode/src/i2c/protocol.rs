//! The I²C decoder, as the driver of clocked buses uses it.

use super::Config;
use super::machine::{Direct, Event, Finder, Machine};
use super::notes::Notes;
use super::parallel::Part;
use super::stored::ByToggles;
use crate::annotation::{Annotation, ClassSet};
use crate::clocked::{Bus, Samples};
use crate::planes::{CodePath, Taps};
use crate::protocol::{Chunk, Content, Splitter};
use rayon::prelude::*;

/// An I²C bus in the middle of a capture.
pub(crate) struct I2c {
    config: Config,
    wants_bits: bool,
    machine: Machine,
    notes: Notes,
}

impl I2c {
    pub(crate) fn new(config: Config, shown: ClassSet) -> Self {
        let notes = Notes::new(shown, config.unshifted);
        Self {
            config,
            wants_bits: shown.has(super::BIT),
            machine: Machine::new(),
            notes,
        }
    }
}

impl Bus for I2c {
    type Event = Event;

    fn lanes(&self) -> Vec<Option<usize>> {
        vec![Some(self.config.scl), Some(self.config.sda)]
    }

    fn wants_bits(&self) -> bool {
        self.wants_bits
    }

    fn begin_inside(&mut self) {
        self.machine = Machine::lost();
    }

    fn run<const BITS: bool>(
        &mut self,
        samples: &Samples<'_>,
        levels: u64,
        out: &mut Vec<Event>,
    ) -> u64 {
        let machine = self.machine;
        let edges = Direct::<BITS> { machine, out };
        let mut finder = Finder {
            scl: levels & 1,
            sda: levels >> 1 & 1,
            edges,
        };
        samples.show(&mut finder);
        self.machine = finder.edges.machine;
        finder.scl | finder.sda << 1
    }

    fn run_chunks<const BITS: bool>(
        &mut self,
        cut: Vec<Chunk<'_>>,
        taps: &Taps,
        levels: u64,
        out: &mut Vec<Event>,
    ) {
        let decode = |chunk: Chunk<'_>| {
            let levels = chunk.before.map_or(levels, |sample| taps.levels(sample));
            Part::decode::<BITS>(chunk.raw, taps, chunk.at, levels, CodePath::best())
        };
        let parts: Vec<Part> = cut.into_par_iter().map(decode).collect();
        let machine = self.machine;
        let mut known = Direct::<BITS> { machine, out };
        for part in parts {
            part.join(&mut known);
        }
        self.machine = known.machine;
    }

    fn splitter(&self) -> Option<Box<dyn Splitter>> {
        Some(Box::new(ByToggles))
    }

    fn join(&mut self, content: Content, out: &mut Vec<Event>) {
        let Content::I2c(part) = content else {
            unreachable!("the splitter is that of this bus");
        };
        let machine = self.machine;
        let mut known = Direct::<false> { machine, out };
        part.join(&mut known);
        self.machine = known.machine;
    }

    fn annotate(&mut self, events: &[Event], out: &mut Vec<Annotation>) {
        self.notes.take(events, out);
    }
}
