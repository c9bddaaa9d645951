//! The UART decoder, as the rest of the crate uses it.

use super::line::{Event, Finder, Machine};
use super::merge::Queue;
use super::notes::Notes;
use super::parallel::{Part, Wire};
use super::timing::Timing;
use super::{Config, LineConfig};
use crate::annotation::{Annotation, ClassSet};
use crate::planes::{CodePath, Taps};
use crate::protocol::{ActiveBlock, Protocol, chunks, run_active};
use rayon::prelude::*;

/// One decoded line.
struct Line {
    lane: usize,
    flip: u64,
    /// `None` before the first sample.
    machine: Option<Machine>,
    /// The first sample at which a frame may begin.
    from: u64,
    notes: Notes,
}

/// A UART decoder in the middle of a capture.
pub(crate) struct Uart {
    lanes: [Option<usize>; 2],
    timing: Timing,
    lines: Vec<Line>,
    events: Vec<Event>,
    queue: Queue,
}

impl Uart {
    /// `None` when a bit is shorter than a sample.
    pub(crate) fn new(config: &Config, shown: ClassSet, sample_rate_hz: f64) -> Option<Self> {
        let timing = Timing::new(config, sample_rate_hz)?;
        let pair: [(u8, &LineConfig); 2] = [(0, &config.rx), (1, &config.tx)];
        let wired = pair.into_iter().filter(|(_, wire)| wire.channel.is_some());
        let lines = wired.map(|(line, wire)| Line {
            lane: line.into(),
            flip: if wire.invert { u64::MAX } else { 0 },
            machine: None,
            from: 0,
            notes: Notes::new(shown, line, config, wire),
        });
        let lines = lines.collect();
        let lanes = [config.rx.channel, config.tx.channel];
        Some(Self {
            lanes,
            timing,
            lines,
            events: Vec::new(),
            queue: Queue::default(),
        })
    }

    /// Runs `drive` for each line from its saved state, then annotates all samples before `end`.
    fn each_line(
        &mut self,
        levels: u64,
        end: u64,
        out: &mut Vec<Annotation>,
        mut drive: impl FnMut(&Line, &Timing, Machine, &mut Vec<Event>) -> Machine,
    ) {
        let mut ready = end;
        for line in &mut self.lines {
            let level = (levels >> line.lane ^ line.flip) & 1;
            let machine = line.machine;
            let machine = machine.unwrap_or(Machine::new(level, line.from));
            let machine = drive(line, &self.timing, machine, &mut self.events);
            line.machine = Some(machine);
            line.notes.take(&self.events, &self.timing, &mut self.queue);
            self.events.clear();
            ready = ready.min(machine.earliest(&self.timing, end));
        }
        self.queue.release(ready, out);
    }
}

impl Protocol for Uart {
    fn lanes(&self) -> Vec<Option<usize>> {
        self.lanes.to_vec()
    }

    /// As long as a frame, so that none is in progress at its end.
    fn idle(&self, lane: usize) -> Option<(bool, u64)> {
        let line = self.lines.iter().find(|line| line.lane == lane)?;
        Some((line.flip == 0, self.timing.frame()))
    }

    fn begin_inside(&mut self, idle_from: &[u64]) {
        for line in &mut self.lines {
            line.from = idle_from.get(line.lane).copied().unwrap_or_default();
        }
    }

    fn feed(
        &mut self,
        raw: &[u8],
        taps: &Taps,
        at: u64,
        path: CodePath,
        out: &mut Vec<Annotation>,
    ) {
        if raw.is_empty() {
            return;
        }
        let end = at + (raw.len() / taps.unit()) as u64;
        self.each_line(
            taps.levels(raw),
            end,
            out,
            |line, timing, machine, events| {
                let wire = Wire {
                    timing,
                    taps,
                    lane: line.lane,
                    flip: line.flip,
                    path,
                };
                wire.run(raw, at, machine, events, |_, _, _, _| false)
            },
        );
    }

    fn feed_chunks(
        &mut self,
        raw: &[u8],
        taps: &Taps,
        at: u64,
        chunk: usize,
        out: &mut Vec<Annotation>,
    ) {
        if raw.is_empty() {
            return;
        }
        let end = at + (raw.len() / taps.unit()) as u64;
        let first = taps.levels(raw);
        self.each_line(first, end, out, |line, timing, machine, events| {
            let wire = Wire {
                timing,
                taps,
                lane: line.lane,
                flip: line.flip,
                path: CodePath::best(),
            };
            let cut = chunks(raw, taps.unit(), at, chunk);
            let parts: Vec<Part> = cut
                .par_iter()
                .map(|chunk| {
                    // For the first chunk, this guesses that its first sample is no edge; the join
                    // corrects that.
                    let levels = chunk.before.map_or(first, |sample| taps.levels(sample));
                    Part::decode(&wire, chunk.raw, chunk.at, wire.level(levels))
                })
                .collect();
            let joined = parts.into_iter().zip(cut);
            joined.fold(machine, |machine, (part, chunk)| {
                part.join(&wire, chunk.raw, chunk.at, machine, events)
            })
        });
    }

    fn feed_active(
        &mut self,
        at: u64,
        count: u64,
        levels: u64,
        active: &[ActiveBlock],
        out: &mut Vec<Annotation>,
    ) {
        self.each_line(levels, at + count, out, |line, timing, machine, events| {
            let (lane, flip) = (line.lane, line.flip);
            let mut finder = Finder {
                timing,
                lane,
                flip,
                machine,
                out: events,
            };
            run_active(at, count, active, &mut finder);
            finder.machine
        });
    }

    fn finish(&mut self, _end: u64, out: &mut Vec<Annotation>) {
        for line in &mut self.lines {
            let rest = line.machine.as_ref().and_then(Machine::unfinished);
            line.notes
                .take(rest.as_slice(), &self.timing, &mut self.queue);
        }
        self.queue.release(u64::MAX, out);
    }
}
