//! Decoders on top of decoders: they take annotations where others take samples.

use crate::annotation::{Annotation, ClassSet};
use crate::planes::{CodePath, Taps};
use crate::protocol::{ActiveBlock, Part, Protocol, Splitter};

/// What makes annotations of annotations. It goes by their order alone, so the result is the same however samples arrive.
pub(crate) trait Stage: Send {
    /// The decoder below has found this.
    fn take(&mut self, found: Annotation, out: &mut Vec<Annotation>);

    /// There is no more.
    fn finish(&mut self, out: &mut Vec<Annotation>);
}

/// A decoder and the stage on top of it.
pub(crate) struct Staged<S> {
    below: Box<dyn Protocol>,
    stage: S,
    shown: ClassSet,
    found: Vec<Annotation>,
    made: Vec<Annotation>,
}

impl<S: Stage> Staged<S> {
    /// The stage makes annotations of all its classes; those of `shown` are kept.
    pub(crate) fn new(below: Box<dyn Protocol>, stage: S, shown: ClassSet) -> Self {
        Self {
            below,
            stage,
            shown,
            found: Vec::new(),
            made: Vec::new(),
        }
    }

    fn pass(&mut self, out: &mut Vec<Annotation>) {
        for found in self.found.drain(..) {
            self.stage.take(found, &mut self.made);
        }
        self.give(out);
    }

    fn give(&mut self, out: &mut Vec<Annotation>) {
        let shown = self.shown;
        out.extend(self.made.drain(..).filter(|made| shown.has(made.class)));
    }
}

impl<S: Stage> Protocol for Staged<S> {
    fn lanes(&self) -> Vec<Option<usize>> {
        self.below.lanes()
    }

    fn idle(&self, lane: usize) -> Option<(bool, u64)> {
        self.below.idle(lane)
    }

    fn begin_inside(&mut self, idle_from: &[u64]) {
        self.below.begin_inside(idle_from);
    }

    fn feed(
        &mut self,
        raw: &[u8],
        taps: &Taps,
        at: u64,
        path: CodePath,
        out: &mut Vec<Annotation>,
    ) {
        self.below.feed(raw, taps, at, path, &mut self.found);
        self.pass(out);
    }

    fn feed_chunks(
        &mut self,
        raw: &[u8],
        taps: &Taps,
        at: u64,
        chunk: usize,
        out: &mut Vec<Annotation>,
    ) {
        self.below
            .feed_chunks(raw, taps, at, chunk, &mut self.found);
        self.pass(out);
    }

    fn feed_active(
        &mut self,
        at: u64,
        count: u64,
        levels: u64,
        active: &[ActiveBlock],
        out: &mut Vec<Annotation>,
    ) {
        self.below
            .feed_active(at, count, levels, active, &mut self.found);
        self.pass(out);
    }

    fn splitter(&self) -> Option<Box<dyn Splitter>> {
        self.below.splitter()
    }

    fn join(&mut self, part: Part, out: &mut Vec<Annotation>) {
        self.below.join(part, &mut self.found);
        self.pass(out);
    }

    fn finish(&mut self, end: u64, out: &mut Vec<Annotation>) {
        self.below.finish(end, &mut self.found);
        self.pass(out);
        self.stage.finish(&mut self.made);
        self.give(out);
    }
}
