//! A digital channel within the range of a rule, from edge to edge.

use decode::segment::{Segment, Toggles};

use crate::evaluate::Fault;
use crate::number::{float, samples, whole};
use crate::report::Place;
use pipeline::rules::Time;

/// After so many edges somebody is asked whether time is over.
const EDGES_BETWEEN_LOOKS: u32 = 1 << 12;

/// Says whether time is over.
pub(crate) type Stop<'s> = &'s (dyn Fn() -> bool + Sync);

/// Samples that a rule looks at, of one rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    /// The first one.
    pub(crate) from: u64,
    /// The first one behind it; there is at least one in it.
    pub(crate) to: u64,
    /// Samples per second.
    pub(crate) rate_hz: f64,
    /// Where the trigger lies, in samples from the first one of the capture.
    pub(crate) trigger: f64,
}

impl Range {
    /// How many samples a time has.
    pub(crate) fn samples(&self, time: Time) -> f64 {
        samples(time, self.rate_hz)
    }

    /// The time of so many samples, in seconds.
    pub(crate) fn seconds(&self, samples: f64) -> f64 {
        samples / self.rate_hz
    }

    /// When a sample is, in seconds from the trigger.
    pub(crate) fn time(&self, sample: u64) -> f64 {
        self.seconds(float(sample) - self.trigger)
    }

    /// The first sample at or behind a time after one of the capture, if that is in the range.
    pub(crate) fn after(&self, sample: f64, time: Time) -> Option<u64> {
        let at = crate::number::snap(sample + self.samples(time)).ceil();
        whole(at).filter(|at| (self.from..self.to).contains(at))
    }

    pub(crate) fn place(&self, channel: &str, from: u64, to: u64) -> Place {
        Place {
            channel: channel.to_owned(),
            from_sample: from,
            to_sample: to,
            from_s: self.time(from),
            to_s: self.time(to),
        }
    }
}

/// A digital channel within a range.
#[derive(Clone, Copy)]
pub(crate) struct Lane<'a> {
    pub(crate) segment: &'a Segment<'a>,
    pub(crate) channel: usize,
    /// Its name in the capture.
    pub(crate) name: &'a str,
    pub(crate) range: Range,
    pub(crate) stop: Stop<'a>,
}

/// A change of level: `at` is the first sample that has the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) at: u64,
    /// It is high from there on.
    pub(crate) rises: bool,
}

impl<'a> Lane<'a> {
    /// The level at the first sample of the range.
    pub(crate) fn first_level(&self) -> Result<bool, Fault> {
        Ok(self.segment.level_at(self.channel, self.range.from)?)
    }

    /// Every edge between two samples of the range.
    pub(crate) fn edges(&self) -> Result<Edges<'a>, Fault> {
        let Range { from, to, .. } = self.range;
        Ok(Edges {
            level: self.first_level()?,
            toggles: self.segment.toggles(self.channel, from + 1, to),
            stop: self.stop,
            count: 0,
        })
    }

    pub(crate) fn place(&self, from: u64, to: u64) -> Place {
        self.range.place(self.name, from, to)
    }
}

/// The edges of a lane.
pub(crate) struct Edges<'a> {
    toggles: Toggles<'a>,
    level: bool,
    stop: Stop<'a>,
    count: u32,
}

impl Iterator for Edges<'_> {
    type Item = Result<Edge, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        self.count = self.count.wrapping_add(1);
        if self.count.is_multiple_of(EDGES_BETWEEN_LOOKS) && (self.stop)() {
            return Some(Err(Fault::Late));
        }
        let toggle = self.toggles.next()?;
        self.level = !self.level;
        let rises = self.level;
        Some(toggle.map(|at| Edge { at, rises }).map_err(Fault::from))
    }
}

/// Edges with a look at the next one.
pub(crate) struct Ahead<'a> {
    edges: Edges<'a>,
    next: Option<Edge>,
}

impl<'a> Ahead<'a> {
    pub(crate) fn new(mut edges: Edges<'a>) -> Result<Self, Fault> {
        let next = edges.next().transpose()?;
        Ok(Self { edges, next })
    }

    pub(crate) fn peek(&self) -> Option<Edge> {
        self.next
    }

    pub(crate) fn step(&mut self) -> Result<Option<Edge>, Fault> {
        let edge = self.next;
        if edge.is_some() {
            self.next = self.edges.next().transpose()?;
        }
        Ok(edge)
    }
}
