//! Where the first sample of a golden capture lies in another one.

use pipeline::rules::{Align, Time};

use super::Pair;
use crate::evaluate::{Fault, Scene};
use crate::golden::{Golden, check, first_edges};
use crate::number::{float, samples};

/// Edges of a golden channel, and of the capture's, whose distances are tried as alignments.
const TRIED: (usize, usize) = (16, 256);

/// Edges of each channel that are counted for an alignment.
const COUNTED: (usize, usize) = (512, 4096);

/// What was laid over each other, and where that puts the golden capture's first sample.
pub(super) struct Aligned {
    pub(super) align: Align,
    /// In seconds from the first sample.
    pub(super) offset_s: f64,
}

pub(super) fn aligned(
    scene: &Scene<'_>,
    golden: &Golden,
    asked: Option<Align>,
    time_ns: i64,
    pairs: &[Pair<'_>],
) -> Result<Aligned, Fault> {
    let align = asked.unwrap_or(golden.align);
    let offset_s = match align {
        Align::Trigger => scene.capture.trigger_s - golden.trigger_s,
        Align::FirstEdge => first_edge(pairs)?,
        Align::Best => best(scene, time_ns, pairs)?,
    };
    Ok(Aligned { align, offset_s })
}

/// No channel that is compared has edges in both captures.
fn no_edges() -> Fault {
    Fault::Unfit(
        "the golden file and the capture have no edges to lay over each other: use `align: trigger`"
            .to_owned(),
    )
}

fn first_edge(pairs: &[Pair<'_>]) -> Result<f64, Fault> {
    let (mut due, mut seen) = (f64::INFINITY, f64::INFINITY);
    for pair in pairs {
        let rate = pair.lane.range.rate_hz;
        due = pair.due.first().map_or(due, |(at, _)| due.min(at / rate));
        let first = first_edges(&pair.lane, 1)?;
        seen = first
            .first()
            .map_or(seen, |(at, _)| seen.min(float(*at) / rate));
    }
    match due.is_finite() && seen.is_finite() {
        true => Ok(seen - due),
        false => Err(no_edges()),
    }
}

/// What was seen of a channel, and what is due, as far as edges are counted.
struct Counted<'p> {
    due: &'p [(f64, bool)],
    seen: Vec<(u64, bool)>,
    most: f64,
    rate_hz: f64,
}

impl Counted<'_> {
    /// How many edges fit, and how far they are off together, in seconds.
    fn fit(&self, offset_s: f64) -> (u64, f64) {
        let offset = offset_s * self.rate_hz;
        let (mut count, mut off) = (0, 0.0);
        for (due, rises) in self.due {
            let at = due + offset;
            let from = self
                .seen
                .partition_point(|(seen, _)| float(*seen) < at - self.most - 1e-6);
            let near = self.seen[from..].iter();
            let near = near.take_while(|(seen, _)| float(*seen) <= at + self.most + 1e-6);
            let near = near.filter(|(_, own)| own == rises);
            let distance = near.map(|(seen, _)| (float(*seen) - at).abs());
            if let Some(least) = distance.min_by(f64::total_cmp) {
                count += 1;
                off += least / self.rate_hz;
            }
        }
        (count, off)
    }
}

/// The distance of two edges that makes most edges fit; of those the one that fits best, and then the least.
fn best(scene: &Scene<'_>, time_ns: i64, pairs: &[Pair<'_>]) -> Result<f64, Fault> {
    let mut counted = Vec::new();
    for pair in pairs {
        counted.push(Counted {
            due: &pair.due[..pair.due.len().min(COUNTED.0)],
            seen: first_edges(&pair.lane, COUNTED.1)?,
            most: samples(Time(time_ns), pair.lane.range.rate_hz),
            rate_hz: pair.lane.range.rate_hz,
        });
    }
    let has_both = |counted: &&Counted<'_>| !counted.due.is_empty() && !counted.seen.is_empty();
    let reference = counted.iter().find(has_both).ok_or_else(no_edges)?;
    let mut best: Option<(u64, f64, f64)> = None;
    for (due, rises) in reference.due.iter().take(TRIED.0) {
        check(scene.stop)?;
        let seen = reference.seen.iter().take(TRIED.1);
        for (seen, _) in seen.filter(|(_, own)| own == rises) {
            let offset = (float(*seen) - due) / reference.rate_hz;
            let (mut count, mut off) = (0, 0.0);
            for channel in &counted {
                let (own, further) = channel.fit(offset);
                (count, off) = (count + own, off + further);
            }
            let is_better = best.is_none_or(|(most, least, at)| {
                let order = count.cmp(&most).reverse();
                let order = order.then(off.total_cmp(&least));
                order.then(offset.abs().total_cmp(&at.abs())).is_lt()
            });
            if is_better {
                best = Some((count, off, offset));
            }
        }
    }
    best.map(|(_, _, offset)| offset).ok_or_else(no_edges)
}
