//! `pulse`: none is shorter or longer.

use pipeline::rules::{Polarity, Pulse};

use super::high_or_low;
use crate::evaluate::{Fault, Scene};
use crate::lane::Lane;
use crate::number::float;
use crate::report::{Margin, Sight, Wrong};
use crate::words::{counted, quantity};

/// A level between two edges, or between one and the end of the range.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    from: u64,
    to: u64,
    is_high: bool,
    /// It begins and ends with an edge.
    is_whole: bool,
}

/// Bounds in samples.
struct Bounds {
    min: Option<f64>,
    max: Option<f64>,
}

impl Bounds {
    /// How far a stretch is from its nearest bound, in samples; none if none judges it.
    fn margin(&self, stretch: Stretch) -> Option<f64> {
        let length = float(stretch.to - stretch.from);
        let over = self.min.filter(|_| stretch.is_whole);
        let over = over.map(|min| length - min);
        // What is cut off is longer than it looks: it can only be too long.
        let under = self.max.map(|max| max - length);
        let under = under.filter(|under| stretch.is_whole || *under < 0.0);
        match (over, under) {
            (Some(over), Some(under)) => Some(over.min(under)),
            (one, other) => one.or(other),
        }
    }
}

pub(super) fn sight(scene: &Scene<'_>, rule: &Pulse) -> Result<Sight, Fault> {
    let lane = scene.lane(&rule.channel)?;
    let bounds = Bounds {
        min: rule.min.map(|time| lane.range.samples(time)),
        max: rule.max.map(|time| lane.range.samples(time)),
    };
    let mut wrong = Wrong::default();
    let mut nearest: Option<(f64, Stretch)> = None;
    let (mut judged, mut bad) = (0, 0);
    each(&lane, &mut |stretch| {
        let is_meant = |level| (level == Polarity::High) == stretch.is_high;
        let margin = rule
            .level
            .is_none_or(is_meant)
            .then(|| bounds.margin(stretch));
        let Some(margin) = margin.flatten() else {
            return;
        };
        judged += 1;
        if margin < 0.0 {
            bad += 1;
            wrong.add(|| lane.place(stretch.from, stretch.to));
        }
        if nearest.is_none_or(|(other, _)| margin < other) {
            nearest = Some((margin, stretch));
        }
    })?;
    Ok(told(&lane, nearest, (judged, bad), wrong))
}

/// Every stretch of the range.
fn each(lane: &Lane<'_>, take: &mut dyn FnMut(Stretch)) -> Result<(), Fault> {
    let mut from = lane.range.from;
    let mut is_whole = false;
    let mut is_high = lane.first_level()?;
    for edge in lane.edges()? {
        let edge = edge?;
        take(Stretch {
            from,
            to: edge.at,
            is_high,
            is_whole,
        });
        (from, is_high, is_whole) = (edge.at, edge.rises, true);
    }
    take(Stretch {
        from,
        to: lane.range.to,
        is_high,
        is_whole: false,
    });
    Ok(())
}

fn told(
    lane: &Lane<'_>,
    nearest: Option<(f64, Stretch)>,
    (judged, bad): (u64, u64),
    wrong: Wrong,
) -> Sight {
    let lanes = vec![lane.name.to_owned()];
    let Some((margin, stretch)) = nearest else {
        return Sight {
            passed: true,
            seen: "no pulse".to_owned(),
            lanes,
            ..Sight::default()
        };
    };
    let seconds = |samples: f64| lane.range.seconds(samples);
    let length = quantity(seconds(float(stretch.to - stretch.from)), "s");
    let at = quantity(lane.range.time(stretch.from), "s");
    let word = high_or_low(stretch.is_high);
    let more = if stretch.is_whole { "" } else { " and more" };
    let pulses = counted(judged, "pulse", "pulses");
    let nearest = format!("{length}{more} {word}, at {at}");
    let seen = match bad {
        0 => format!("{pulses}; the nearest to its bound has {nearest}"),
        bad => format!("{bad} of {pulses} not so; the worst has {nearest}"),
    };
    Sight {
        passed: bad == 0,
        seen,
        place: Some(lane.place(stretch.from, stretch.to)),
        margin: Some(Margin {
            value: seconds(margin),
            unit: "s",
        }),
        wrong,
        lanes,
        ..Sight::default()
    }
}
