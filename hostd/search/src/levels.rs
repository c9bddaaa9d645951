//! A level for some time.

use crate::edges::Channel;
use crate::length::{Length, float};
use crate::run::{Done, Out, Scene};
use crate::words::{high_or_low, time};

/// Stretches of a level, which the ends of the range may cut off.
#[derive(Clone, Debug)]
pub(crate) struct Levels {
    pub(crate) channel: Channel,
    pub(crate) level: bool,
    pub(crate) length: Length,
}

impl Levels {
    pub(crate) fn find(&self, scene: &Scene<'_>, out: &mut Out<'_>) -> Done {
        let mut edges = self.channel.edges(scene)?;
        let mut from = scene.range.start;
        let mut level = edges.level();
        while let Some(edge) = edges.next(out)? {
            self.stretch(scene, (level, from, edge.at), out)?;
            (from, level) = (edge.at, edge.rises);
        }
        self.stretch(scene, (level, from, scene.range.end), out)
    }

    fn stretch(
        &self,
        scene: &Scene<'_>,
        (level, from, to): (bool, u64, u64),
        out: &mut Out<'_>,
    ) -> Done {
        let is_long = from < to && float(to - from) >= self.length.samples(scene.rate_hz);
        if level != self.level || !is_long {
            return Ok(());
        }
        let time = time(to - from, scene.rate_hz);
        let text = format!("{} {} for {time}", self.channel.name, high_or_low(level));
        out.hit(from, to, text)
    }
}
