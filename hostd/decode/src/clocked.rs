//! Drives the decoder of a bus with a clock line. I²C and SPI differ in the meaning of an edge and
//! in how chunks that were decoded separately are joined; everything else is the same, and is here.

use crate::annotation::Annotation;
use crate::planes::{CodePath, Kernel, Taps, run};
use crate::protocol::{ActiveBlock, Chunk, Content, Part, Protocol, Splitter, chunks, run_active};

/// What is specific to a bus.
pub(crate) trait Bus: Send {
    /// Something that happened on it.
    type Event: Send;

    /// Channel numbers in the order of the lanes; `None` is not connected.
    fn lanes(&self) -> Vec<Option<usize>>;

    /// Whether single bits will be shown.
    fn wants_bits(&self) -> bool;

    /// Samples before the first one are not known.
    fn begin_inside(&mut self) {}

    /// The capture begins at sample `at` with these levels.
    fn begin(&mut self, _at: u64, _levels: u64, _out: &mut Vec<Self::Event>) {}

    /// Takes the samples after one with these levels; returns the levels of the last one.
    fn run<const BITS: bool>(
        &mut self,
        samples: &Samples<'_>,
        levels: u64,
        out: &mut Vec<Self::Event>,
    ) -> u64;

    /// Same as `run`, with the chunks spread over rayon's threads; `levels` come before the first.
    fn run_chunks<const BITS: bool>(
        &mut self,
        cut: Vec<Chunk<'_>>,
        taps: &Taps,
        levels: u64,
        out: &mut Vec<Self::Event>,
    );

    /// What decodes parts of stored captures side by side, as long as no single bits are shown.
    fn splitter(&self) -> Option<Box<dyn Splitter>> {
        None
    }

    /// Takes what the splitter decoded next.
    fn join(&mut self, _content: Content, _out: &mut Vec<Self::Event>) {}

    /// Turns events into annotations.
    fn annotate(&mut self, events: &[Self::Event], out: &mut Vec<Annotation>);
}

/// Samples in one of the forms that decoders accept.
pub(crate) enum Samples<'a> {
    Raw {
        raw: &'a [u8],
        taps: &'a Taps,
        at: u64,
        path: CodePath,
    },
    Stored {
        at: u64,
        count: u64,
        active: &'a [ActiveBlock],
    },
}

impl Samples<'_> {
    /// Passes them to the kernel.
    pub(crate) fn show<K: Kernel>(&self, kernel: &mut K) {
        match *self {
            Self::Raw {
                raw,
                taps,
                at,
                path,
            } => run(raw, taps, at, kernel, path),
            Self::Stored { at, count, active } => run_active(at, count, active, kernel),
        }
    }
}

/// The decoder of a bus in the middle of a capture.
pub(crate) struct Clocked<B: Bus> {
    bus: B,
    /// Levels of the lanes, lane 0 in bit 0; `None` before the first sample.
    levels: Option<u64>,
    events: Vec<B::Event>,
}

impl<B: Bus> Clocked<B> {
    pub(crate) fn new(bus: B) -> Self {
        Self {
            bus,
            levels: None,
            events: Vec::new(),
        }
    }

    /// Levels before sample `at`; at the start of a capture, those of its `first` sample.
    fn levels_before(&mut self, at: u64, first: impl FnOnce() -> u64) -> u64 {
        self.levels.unwrap_or_else(|| {
            let levels = first();
            self.bus.begin(at, levels, &mut self.events);
            levels
        })
    }

    fn run(&mut self, samples: &Samples<'_>, levels: u64, out: &mut Vec<Annotation>) {
        let (bus, events) = (&mut self.bus, &mut self.events);
        let last = if bus.wants_bits() {
            bus.run::<true>(samples, levels, events)
        } else {
            bus.run::<false>(samples, levels, events)
        };
        self.levels = Some(last);
        self.annotate(out);
    }

    fn annotate(&mut self, out: &mut Vec<Annotation>) {
        self.bus.annotate(&self.events, out);
        self.events.clear();
    }
}

impl<B: Bus> Protocol for Clocked<B> {
    fn lanes(&self) -> Vec<Option<usize>> {
        self.bus.lanes()
    }

    fn begin_inside(&mut self, _idle_from: &[u64]) {
        self.bus.begin_inside();
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
        let levels = self.levels_before(at, || taps.levels(raw));
        let samples = Samples::Raw {
            raw,
            taps,
            at,
            path,
        };
        self.run(&samples, levels, out);
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
        let levels = self.levels_before(at, || taps.levels(raw));
        let cut = chunks(raw, taps.unit(), at, chunk);
        let (bus, events) = (&mut self.bus, &mut self.events);
        if bus.wants_bits() {
            bus.run_chunks::<true>(cut, taps, levels, events);
        } else {
            bus.run_chunks::<false>(cut, taps, levels, events);
        }
        self.levels = Some(taps.levels(&raw[raw.len() - taps.unit()..]));
        self.annotate(out);
    }

    fn feed_active(
        &mut self,
        at: u64,
        count: u64,
        levels: u64,
        active: &[ActiveBlock],
        out: &mut Vec<Annotation>,
    ) {
        let levels = self.levels_before(at, || levels);
        self.run(&Samples::Stored { at, count, active }, levels, out);
    }

    fn splitter(&self) -> Option<Box<dyn Splitter>> {
        match self.bus.wants_bits() {
            true => None,
            false => self.bus.splitter(),
        }
    }

    fn join(&mut self, part: Part, out: &mut Vec<Annotation>) {
        let (first, last) = part.levels;
        self.levels_before(part.at, || first);
        self.bus.join(part.content, &mut self.events);
        self.levels = Some(last);
        self.annotate(out);
    }

    fn finish(&mut self, _end: u64, _out: &mut Vec<Annotation>) {}
}
