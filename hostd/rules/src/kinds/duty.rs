//! `duty`: the part of the time that a signal is high, over whole periods.

use pipeline::rules::Duty;

use crate::evaluate::{Fault, Scene};
use crate::number::{at_most, float};
use crate::report::{Margin, Sight, Wrong};
use crate::words::{counted, percent, quantity};

/// From one rising edge to the next.
struct Period {
    from: u64,
    falls: u64,
    to: u64,
}

impl Period {
    fn duty(&self) -> f64 {
        float(self.falls - self.from) / float(self.to - self.from)
    }
}

pub(super) fn sight(scene: &Scene<'_>, rule: &Duty) -> Result<Sight, Fault> {
    let lane = scene.lane(&rule.channel)?;
    let value = rule.value.part();
    let (mut rose, mut fell) = (None, None);
    let (mut high, mut all, mut periods) = (0, 0, 0);
    let mut worst: Option<Period> = None;
    for edge in lane.edges()? {
        let edge = edge?;
        if !edge.rises {
            fell = rose.map(|_| edge.at);
            continue;
        }
        if let (Some(from), Some(falls)) = (rose, fell) {
            let to = edge.at;
            let period = Period { from, falls, to };
            (high, all, periods) = (high + falls - from, all + to - from, periods + 1);
            let off = |period: &Period| (period.duty() - value).abs();
            if worst.as_ref().is_none_or(|other| off(other) < off(&period)) {
                worst = Some(period);
            }
        }
        (rose, fell) = (Some(edge.at), None);
    }
    let lanes = vec![lane.name.to_owned()];
    let Some(worst) = worst else {
        return Ok(Sight {
            seen: "no whole period, and a duty takes one".to_owned(),
            place: Some(lane.place(lane.range.from, lane.range.to - 1)),
            lanes,
            ..Sight::default()
        });
    };
    let seen = float(high) / float(all);
    let (off, most) = ((seen - value).abs(), rule.tolerance.part());
    let passed = at_most(off, most, 1.0);
    let place = || lane.place(worst.from, worst.to);
    let mut sentence = format!(
        "{} over {}",
        percent(seen),
        counted(periods, "period", "periods")
    );
    let mut wrong = Wrong::default();
    if !passed {
        let at = quantity(lane.range.time(worst.from), "s");
        sentence += &format!(
            "; the period furthest off has {}, at {at}",
            percent(worst.duty())
        );
        wrong.add(place);
    }
    Ok(Sight {
        passed,
        seen: sentence,
        place: Some(place()),
        margin: Some(Margin {
            value: (most - off) * 100.0,
            unit: "%",
        }),
        wrong,
        lanes,
        ..Sight::default()
    })
}
