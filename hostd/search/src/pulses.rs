//! Pulses that are too short or too long.

use crate::edges::Channel;
use crate::length::{Length, float};
use crate::run::{Done, Out, Scene};
use crate::words::{high_or_low, time};

/// Pulses with both edges in the range.
#[derive(Clone, Debug)]
pub(crate) struct Pulses {
    pub(crate) channel: Channel,
    /// Of this level alone.
    pub(crate) level: Option<bool>,
    pub(crate) is_longer: bool,
    pub(crate) length: Length,
}

impl Pulses {
    pub(crate) fn find(&self, scene: &Scene<'_>, out: &mut Out<'_>) -> Done {
        let bound = self.length.samples(scene.rate_hz);
        let mut edges = self.channel.edges(scene)?;
        let mut begun = None;
        while let Some(edge) = edges.next(out)? {
            // The level that ends here.
            let level = !edge.rises;
            let Some(start) = begun.replace(edge.at) else {
                continue;
            };
            let samples = edge.at - start;
            let is_wrong = match self.is_longer {
                true => float(samples) > bound,
                false => float(samples) < bound,
            };
            if is_wrong && self.level.is_none_or(|wanted| wanted == level) {
                let text = format!(
                    "{} pulse on {}, {}",
                    high_or_low(level),
                    self.channel.name,
                    time(samples, scene.rate_hz)
                );
                out.hit(start, edge.at, text)?;
            }
        }
        Ok(())
    }
}
