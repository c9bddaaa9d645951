//! Edges near another edge.

use crate::edges::{Channel, Edges, Found, OfKind};
use crate::length::{Length, float};
use crate::query::Side;
use crate::run::{Done, Halt, Out, Scene};
use crate::words::{rising_or_falling, time};

/// Edges that have another one near them, or have none.
#[derive(Clone, Debug)]
pub(crate) struct Nears {
    pub(crate) edge: Edges,
    pub(crate) other: Edges,
    pub(crate) side: Side,
    pub(crate) is_not: bool,
    pub(crate) length: Length,
}

/// The other edges on both sides of a place.
struct Around<'s> {
    edges: OfKind<'s>,
    /// The last one at the place or before it.
    before: Option<Found>,
    /// The first one behind that.
    after: Option<Found>,
    /// They are on the same channel, where no edge is near itself: the one at the place.
    is_same: bool,
    itself: Option<Found>,
}

impl Around<'_> {
    fn go_to(&mut self, at: u64, out: &mut Out<'_>) -> Done {
        self.before = self.itself.take().or(self.before);
        while let Some(next) = self.after.filter(|next| next.at <= at) {
            match self.is_same && next.at == at {
                true => self.itself = Some(next),
                false => self.before = Some(next),
            }
            self.after = self.edges.next(out)?;
        }
        Ok(())
    }

    /// The edges on a side of the place that may be near it.
    fn candidates(&self, at: u64, side: Side) -> [Option<Found>; 2] {
        let here = self.before.filter(|before| before.at == at);
        match side {
            Side::Either => [self.before, self.after],
            Side::After => [self.before, None],
            Side::Before => [here, self.after],
        }
    }
}

impl Nears {
    pub(crate) fn find(&self, scene: &Scene<'_>, out: &mut Out<'_>) -> Done {
        let bound = self.length.samples(scene.rate_hz);
        let is_near = |distance: u64| float(distance) <= bound;
        let mut around = self.around(scene, out)?;
        let mut edges = self.edge.edges(scene)?;
        while let Some(edge) = edges.next(out)? {
            around.go_to(edge.at, out)?;
            let candidates = around.candidates(edge.at, self.side);
            let distances = candidates
                .into_iter()
                .flatten()
                .map(|other| (other.at.abs_diff(edge.at), other));
            // Of two that are as near, the earlier one.
            let nearest = distances.min_by_key(|(distance, _)| *distance);
            match nearest.filter(|(distance, _)| is_near(*distance)) {
                Some((_, other)) if !self.is_not => {
                    let (from, to) = (edge.at.min(other.at), edge.at.max(other.at));
                    out.hit(from, to + 1, self.text(edge, other, scene.rate_hz))?;
                }
                None if self.is_not => {
                    let text = format!(
                        "{}, without {}",
                        named(&self.edge.channel, edge),
                        self.other.channel.name
                    );
                    out.hit(edge.at, edge.at + 1, text)?;
                }
                Some(_) | None => {}
            }
        }
        Ok(())
    }

    fn around<'s>(&self, scene: &Scene<'s>, out: &mut Out<'_>) -> Result<Around<'s>, Halt> {
        let mut edges = self.other.edges(scene)?;
        let after = edges.next(out)?;
        Ok(Around {
            edges,
            before: None,
            after,
            is_same: self.edge.channel.number == self.other.channel.number,
            itself: None,
        })
    }

    fn text(&self, edge: Found, other: Found, rate_hz: f64) -> String {
        let (one, another) = (
            named(&self.edge.channel, edge),
            named(&self.other.channel, other),
        );
        let distance = time(edge.at.abs_diff(other.at), rate_hz);
        match edge.at.cmp(&other.at) {
            std::cmp::Ordering::Less => format!("{one}, {distance} before {another}"),
            std::cmp::Ordering::Equal => format!("{one} with {another}"),
            std::cmp::Ordering::Greater => format!("{one}, {distance} after {another}"),
        }
    }
}

fn named(channel: &Channel, edge: Found) -> String {
    format!("{} edge on {}", rising_or_falling(edge.rises), channel.name)
}
