//! Times without an edge.
//!
//! They are found by jumps as long as the time: whether there is an edge within it is looked up backwards from its end, so
//! that a busy channel costs a few look-ups for each such time, however many edges it has.

use decode::segment::{Edge, Line};

use crate::edges::Channel;
use crate::length::{Length, whole};
use crate::run::{Done, Out, Scene};
use crate::words::time;

/// Stretches between edges, which the ends of the range may cut off.
#[derive(Clone, Debug)]
pub(crate) struct Gaps {
    /// None of these has an edge.
    pub(crate) channels: Vec<Channel>,
    /// The name of the only one; none: of all of the capture.
    pub(crate) name: Option<String>,
    pub(crate) edge: Edge,
    pub(crate) length: Length,
}

/// A channel, and its first edge behind the place that is looked at.
struct Lane<'s> {
    line: Line<'s>,
    next: Option<u64>,
}

impl Gaps {
    pub(crate) fn find(&self, scene: &Scene<'_>, out: &mut Out<'_>) -> Done {
        let range = scene.range.clone();
        let width = whole(self.length.samples(scene.rate_hz));
        let mut at = range.start;
        let mut lanes = Vec::new();
        for channel in &self.channels {
            let mut line = scene.segment.line(channel.number)?;
            let next = line.next_edge(at + 1, self.edge)?;
            lanes.push(Lane { line, next });
        }
        while let Some(reach) = at.checked_add(width).filter(|reach| *reach <= range.end) {
            out.look()?;
            let mut last = None;
            for lane in &mut lanes {
                if let Some(next) = lane.next.filter(|next| *next < reach) {
                    let found = lane.line.previous_edge(reach, self.edge)?;
                    last = last.max(Some(found.unwrap_or(next)));
                }
            }
            at = match last {
                Some(last) => last,
                None => {
                    let next = lanes.iter().filter_map(|lane| lane.next).min();
                    let end = next.unwrap_or(range.end).min(range.end);
                    out.hit(at, end, self.text(end - at, scene.rate_hz))?;
                    end
                }
            };
            for lane in &mut lanes {
                if lane.next.is_some_and(|next| next <= at) {
                    lane.next = lane.line.next_edge(at + 1, self.edge)?;
                }
            }
        }
        Ok(())
    }

    fn text(&self, samples: u64, rate_hz: f64) -> String {
        let kind = match self.edge {
            Edge::Rising => "rising ",
            Edge::Falling => "falling ",
            Edge::Either => "",
        };
        let time = time(samples, rate_hz);
        match &self.name {
            Some(name) => format!("no {kind}edge on {name} for {time}"),
            None => format!("no {kind}edge for {time}"),
        }
    }
}
