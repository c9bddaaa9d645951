//! Edges of a channel.

use decode::segment::{Edge, Toggles};

use crate::run::{Done, Halt, Out, Scene};
use crate::words::rising_or_falling;

/// A channel of a capture.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    /// Its number in the segment.
    pub(crate) number: usize,
    /// What the capture calls it.
    pub(crate) name: String,
}

/// Edges of a kind.
#[derive(Clone, Debug)]
pub(crate) struct Edges {
    pub(crate) channel: Channel,
    pub(crate) edge: Edge,
}

/// A change of level: `at` is the first sample that has the new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) at: u64,
    /// It is high from there on.
    pub(crate) rises: bool,
}

/// All edges of a channel in a range.
pub(crate) struct All<'s> {
    toggles: Toggles<'s>,
    level: bool,
}

/// Those of a kind.
pub(crate) struct OfKind<'s> {
    all: All<'s>,
    edge: Edge,
}

impl Channel {
    pub(crate) fn edges<'s>(&self, scene: &Scene<'s>) -> Result<All<'s>, Halt> {
        // Sample 0 is no edge.
        let from = scene.range.start.max(1);
        Ok(All {
            level: scene.segment.level_at(self.number, from - 1)?,
            toggles: scene.segment.toggles(self.number, from, scene.range.end),
        })
    }
}

impl Edges {
    pub(crate) fn edges<'s>(&self, scene: &Scene<'s>) -> Result<OfKind<'s>, Halt> {
        Ok(OfKind {
            all: self.channel.edges(scene)?,
            edge: self.edge,
        })
    }

    pub(crate) fn find(&self, scene: &Scene<'_>, out: &mut Out<'_>) -> Done {
        let mut edges = self.edges(scene)?;
        while let Some(edge) = edges.next(out)? {
            let kind = rising_or_falling(edge.rises);
            let text = format!("{kind} edge on {}", self.channel.name);
            out.hit(edge.at, edge.at + 1, text)?;
        }
        Ok(())
    }
}

impl All<'_> {
    /// Level before the next edge.
    pub(crate) fn level(&self) -> bool {
        self.level
    }

    #[inline]
    pub(crate) fn next(&mut self, out: &mut Out<'_>) -> Result<Option<Found>, Halt> {
        out.step()?;
        let Some(at) = self.toggles.next().transpose()? else {
            return Ok(None);
        };
        self.level = !self.level;
        let rises = self.level;
        Ok(Some(Found { at, rises }))
    }
}

impl OfKind<'_> {
    #[inline]
    pub(crate) fn next(&mut self, out: &mut Out<'_>) -> Result<Option<Found>, Halt> {
        while let Some(edge) = self.all.next(out)? {
            let is_wanted = match self.edge {
                Edge::Rising => edge.rises,
                Edge::Falling => !edge.rises,
                Edge::Either => true,
            };
            if is_wanted {
                return Ok(Some(edge));
            }
        }
        Ok(None)
    }
}
