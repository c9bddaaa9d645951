//! Runs a search.

use std::ops::{ControlFlow, Range};

use decode::DecodeError;
use decode::gaps::{Gaps, Part};
use decode::segment::{Segment, SegmentError};

use crate::edges::Edges;
use crate::error::SearchError;
use crate::gaps as quiet;
use crate::hit::Hit;
use crate::levels::Levels;
use crate::limits::STEPS_BETWEEN_LOOKS;
use crate::near::Nears;
use crate::pulses::Pulses;
use crate::seen::Bus;

/// A query that fits a capture's channels.
#[derive(Debug)]
pub struct Search {
    pub(crate) plan: Plan,
    gaps: Gaps,
}

#[derive(Debug)]
pub(crate) enum Plan {
    Pulses(Pulses),
    Gaps(quiet::Gaps),
    Edges(Edges),
    Near(Nears),
    Levels(Levels),
    Bus(Box<Bus>),
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The range was looked through.
    Whole,
    /// Who took the hits had enough.
    Enough,
    /// Nobody waited any more.
    Cancelled,
}

/// Says whether to go on.
pub(crate) type GoOn<'o> = &'o (dyn Fn() -> bool + Sync);

/// Takes what is found.
pub(crate) type Each<'o> = &'o mut (dyn FnMut(Hit) -> ControlFlow<()> + Send);

impl Search {
    pub(crate) fn new(plan: Plan) -> Self {
        Self {
            plan,
            gaps: Gaps::default(),
        }
    }

    /// The same where samples were lost: the parts between are looked through one by one, so that nothing is found that reaches
    /// over lost samples.
    #[must_use]
    pub fn apart_from(self, gaps: Gaps) -> Self {
        Self { gaps, ..self }
    }

    /// Whether it can be put to this capture, which the channels that it was fitted to belong to.
    ///
    /// # Errors
    /// The capture's rate is too low for the decoder.
    pub fn check(&self, segment: &Segment<'_>) -> Result<(), SearchError> {
        match &self.plan {
            Plan::Bus(bus) => bus.check(segment),
            Plan::Pulses(_) | Plan::Gaps(_) | Plan::Edges(_) | Plan::Near(_) | Plan::Levels(_) => {
                Ok(())
            }
        }
    }

    /// Looks through the samples of a range, as far as the segment has them, and gives what it finds to `each`, which may end
    /// the search: signals in the order in which they begin, what decoders say in the order in which it ends. `go_on` is
    /// asked now and then. Memory is bounded whatever is found.
    ///
    /// An edge is at the first sample that has the new level, and counts if that is in the range. Decoders begin as
    /// [`decode::Decoding::within`] says.
    ///
    /// # Errors
    /// The capture is damaged, or its rate is too low for the decoder.
    pub fn run(
        &self,
        segment: &Segment<'_>,
        range: Range<u64>,
        go_on: GoOn<'_>,
        each: Each<'_>,
    ) -> Result<Ended, SearchError> {
        let end = range.end.min(segment.samples());
        let mut out = Out {
            go_on,
            each,
            steps: 0,
        };
        for part in self.gaps.parts(&(range.start.min(end)..end)) {
            let Part::Known { range, since } = part else {
                continue;
            };
            let scene = Scene {
                segment,
                range,
                since,
                rate_hz: segment.sample_rate_hz(),
            };
            match self.find(&scene, &mut out) {
                Ok(()) => {}
                Err(Halt::Enough) => return Ok(Ended::Enough),
                Err(Halt::Cancelled) => return Ok(Ended::Cancelled),
                Err(Halt::Failed(error)) => return Err(error),
            }
        }
        Ok(Ended::Whole)
    }

    fn find(&self, scene: &Scene<'_>, out: &mut Out<'_>) -> Done {
        match &self.plan {
            Plan::Pulses(pulses) => pulses.find(scene, out),
            Plan::Gaps(gaps) => gaps.find(scene, out),
            Plan::Edges(edges) => edges.find(scene, out),
            Plan::Near(near) => near.find(scene, out),
            Plan::Levels(levels) => levels.find(scene, out),
            Plan::Bus(bus) => bus.find(scene, out),
        }
    }
}

/// Where to look.
pub(crate) struct Scene<'s> {
    pub(crate) segment: &'s Segment<'s>,
    /// Within the segment.
    pub(crate) range: Range<u64>,
    /// Samples before this one are not known.
    pub(crate) since: u64,
    pub(crate) rate_hz: f64,
}

/// Why a search ends early.
pub(crate) enum Halt {
    Enough,
    Cancelled,
    Failed(SearchError),
}

pub(crate) type Done = Result<(), Halt>;

impl From<SegmentError> for Halt {
    fn from(error: SegmentError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<DecodeError> for Halt {
    fn from(error: DecodeError) -> Self {
        Self::Failed(match error {
            DecodeError::Segment(error) => error.into(),
            other => other.into(),
        })
    }
}

/// Where hits go.
pub(crate) struct Out<'o> {
    go_on: GoOn<'o>,
    each: Each<'o>,
    steps: u32,
}

impl Out<'_> {
    pub(crate) fn hit(&mut self, from: u64, to: u64, text: String) -> Done {
        if !(self.go_on)() {
            return Err(Halt::Cancelled);
        }
        match (self.each)(Hit { from, to, text }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Halt::Enough),
        }
    }

    /// Another edge was looked at.
    #[inline]
    pub(crate) fn step(&mut self) -> Done {
        self.steps = self.steps.wrapping_add(1);
        match self.steps.is_multiple_of(STEPS_BETWEEN_LOOKS) {
            true => self.look(),
            false => Ok(()),
        }
    }

    /// Whether to go on, now.
    pub(crate) fn look(&mut self) -> Done {
        match (self.go_on)() {
            true => Ok(()),
            false => Err(Halt::Cancelled),
        }
    }
}
