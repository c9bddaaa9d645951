//! Decodes samples while they arrive.

use crate::annotation::Annotation;
use crate::engine::{PULSES_BEFORE_IDLE_MAX, build};
use crate::planes::LANES;
use crate::protocol::{ActiveBlock, Protocol};
use crate::run::DecodeError;
use crate::spec::Spec;

/// Edges that are kept behind a gap while an idle time is looked for; with more, the decoding begins at once.
const EDGES_BEFORE_IDLE_MAX: usize = 1 << 16;

/// Samples of a block.
const BLOCK: u64 = 64;

/// Decodes samples that arrive as edges, and says the same as a decoding of the whole capture afterwards, gaps included.
pub struct StreamDecoder {
    spec: Spec,
    sample_rate_hz: f64,
    protocol: Box<dyn Protocol>,
    /// Channel numbers of the lanes.
    lanes: Vec<Option<usize>>,
    /// Samples taken, or lost, so far.
    at: u64,
    /// Levels of the lanes at the last sample; none before the first.
    levels: Option<u64>,
    /// What is waited for behind a gap.
    waiting: Option<Waiting>,
}

/// Behind a gap, until it is known where lines were idle first.
struct Waiting {
    /// The first sample that is known.
    since: u64,
    /// Levels of the lanes there.
    levels: u64,
    /// By lane, of those whose decoder needs it.
    idle: Vec<Option<Idle>>,
    /// Changes behind it.
    edges: Vec<(u64, u64)>,
}

/// The search for the first idle time of a lane.
struct Idle {
    /// The level, and how many samples it has to last.
    wanted: (bool, u64),
    /// Where the present level began.
    begun: u64,
    level: bool,
    pulses: u32,
    /// Where the idle time begins, once that is known.
    found: Option<u64>,
}

impl StreamDecoder {
    /// A decoder at sample 0.
    ///
    /// # Errors
    /// The sample rate is too low for the spec, or its decoder is from elsewhere.
    pub fn new(spec: Spec, sample_rate_hz: f64) -> Result<Self, DecodeError> {
        let protocol = build(&spec, Some(sample_rate_hz))?;
        Ok(Self {
            lanes: protocol.lanes(),
            protocol,
            spec,
            sample_rate_hz,
            at: 0,
            levels: None,
            waiting: None,
        })
    }

    /// The job.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Channels that it looks at, by their numbers.
    pub fn channels(&self) -> impl Iterator<Item = usize> {
        self.lanes.iter().copied().flatten()
    }

    /// Samples taken so far.
    pub fn samples(&self) -> u64 {
        self.at
    }

    /// Samples of which all is said that can be so far. Behind a gap, what was decoded is held back until it is known where the
    /// decoder may begin.
    pub fn said(&self) -> u64 {
        self.waiting
            .as_ref()
            .map_or(self.at, |waiting| waiting.since)
    }

    /// Takes the samples before `upto`: pairs of a sample and the levels of all channels from there on, ascending, from the
    /// last `upto` on. A capture whose first edge is not at sample 0 begins with all channels low.
    pub fn feed(&mut self, edges: &[(u64, u64)], upto: u64, out: &mut Vec<Annotation>) {
        if upto <= self.at {
            return;
        }
        let mut edges: Vec<(u64, u64)> = edges
            .iter()
            .filter(|(sample, _)| (self.at..upto).contains(sample))
            .map(|&(sample, word)| (sample, self.picked(word)))
            .collect();
        let first = edges.first().filter(|(sample, _)| *sample == self.at);
        let first = first.map(|(_, levels)| *levels);
        if let Some(waiting) = &mut self.waiting {
            if self.at == waiting.since {
                waiting.begin(first.or(self.levels).unwrap_or_default());
                edges.retain(|(sample, _)| *sample != waiting.since);
            }
            self.levels = edges.last().map(|(_, levels)| *levels).or(self.levels);
            self.at = upto;
            waiting.take(&edges, upto);
            if waiting.is_over() {
                self.go_on(out);
            }
            return;
        }
        let levels = *self.levels.get_or_insert(first.unwrap_or_default());
        self.run(levels, &edges, upto, out);
    }

    /// The samples up to, but not including, `to` were lost.
    pub fn lose(&mut self, to: u64, out: &mut Vec<Annotation>) -> Result<(), DecodeError> {
        if to <= self.at {
            return Ok(());
        }
        self.end(out);
        self.protocol = build(&self.spec, Some(self.sample_rate_hz))?;
        let protocol = &self.protocol;
        let idle = (0..self.lanes.len()).map(|lane| {
            let wanted = self.lanes[lane].and(protocol.idle(lane))?;
            Some(Idle {
                wanted,
                begun: to,
                level: false,
                pulses: 0,
                found: None,
            })
        });
        self.waiting = Some(Waiting {
            since: to,
            levels: 0,
            idle: idle.collect(),
            edges: Vec::new(),
        });
        self.at = to;
        Ok(())
    }

    /// Ends the capture.
    pub fn finish(mut self, out: &mut Vec<Annotation>) {
        self.end(out);
    }

    fn end(&mut self, out: &mut Vec<Annotation>) {
        match self.waiting.is_some() {
            // Nothing is known of a gap that ends the capture.
            true if self.waiting.as_ref().is_some_and(|w| w.since == self.at) => {}
            true => {
                self.go_on(out);
                self.protocol.finish(self.at, out);
            }
            false => self.protocol.finish(self.at, out),
        }
    }

    /// The levels of the lanes in those of all channels.
    fn picked(&self, word: u64) -> u64 {
        let lanes = self.lanes.iter().enumerate();
        lanes.fold(0, |levels, (lane, channel)| match channel {
            Some(channel) if *channel < 64 => levels | (word >> channel & 1) << lane,
            _ => levels,
        })
    }

    /// Decodes what was kept behind a gap.
    fn go_on(&mut self, out: &mut Vec<Annotation>) {
        let Some(waiting) = self.waiting.take() else {
            return;
        };
        let from = waiting.since + 1;
        let idle_from = waiting.idle.iter().map(|idle| {
            let found = idle.as_ref().and_then(|idle| idle.found);
            found.map_or(from, |found| found.max(from))
        });
        self.protocol.begin_inside(&idle_from.collect::<Vec<_>>());
        let upto = self.at;
        self.at = from.min(upto);
        self.levels = Some(waiting.levels);
        self.run(waiting.levels, &waiting.edges, upto, out);
    }

    /// Passes samples on, as the blocks that have edges.
    fn run(&mut self, levels: u64, edges: &[(u64, u64)], upto: u64, out: &mut Vec<Annotation>) {
        let (from, mut now) = (self.at, levels);
        let mut active = Vec::new();
        let mut left = edges;
        while let Some((sample, _)) = left.first() {
            let at = (sample / BLOCK * BLOCK).max(from);
            let end = (at / BLOCK + 1) * BLOCK;
            let end = end.min(upto);
            let mut planes: [u64; LANES] =
                std::array::from_fn(|lane| (now >> lane & 1).wrapping_neg());
            while let Some((&(sample, word), rest)) = left.split_first()
                && sample < end
            {
                let moved = now ^ word;
                for (lane, plane) in planes.iter_mut().enumerate() {
                    if moved >> lane & 1 == 1 {
                        *plane ^= u64::MAX << (sample - at);
                    }
                }
                (now, left) = (word, rest);
            }
            let count = u32::try_from(end - at).expect("a block is short");
            active.push(ActiveBlock { at, count, planes });
        }
        self.protocol
            .feed_active(from, upto - from, levels, &active, out);
        self.levels = Some(now);
        self.at = upto;
    }
}

impl Waiting {
    /// The levels of the first sample that is known.
    fn begin(&mut self, levels: u64) {
        self.levels = levels;
        for (lane, idle) in self.idle.iter_mut().enumerate() {
            if let Some(idle) = idle {
                idle.level = levels >> lane & 1 == 1;
            }
        }
    }

    fn take(&mut self, edges: &[(u64, u64)], upto: u64) {
        let mut before = self.edges.last().map_or(self.levels, |(_, levels)| *levels);
        for &(sample, levels) in edges {
            for (lane, idle) in self.idle.iter_mut().enumerate() {
                if let Some(idle) = idle
                    && (levels ^ before) >> lane & 1 == 1
                {
                    idle.toggle(sample);
                }
            }
            before = levels;
        }
        self.edges.extend_from_slice(edges);
        for idle in self.idle.iter_mut().flatten() {
            idle.look(upto);
        }
    }

    fn is_over(&self) -> bool {
        let mut idle = self.idle.iter().flatten();
        EDGES_BEFORE_IDLE_MAX <= self.edges.len() || idle.all(|idle| idle.found.is_some())
    }
}

impl Idle {
    fn toggle(&mut self, sample: u64) {
        self.look(sample);
        (self.begun, self.level) = (sample, !self.level);
        self.pulses += 1;
        if self.pulses == PULSES_BEFORE_IDLE_MAX && self.found.is_none() {
            self.found = Some(0);
        }
    }

    /// Whether the level has lasted long enough before a sample.
    fn look(&mut self, sample: u64) {
        let (level, samples) = self.wanted;
        if self.found.is_none() && self.level == level && samples <= sample - self.begun {
            self.found = Some(self.begun);
        }
    }
}
