//! `frequency`: the mean one between the first and the last rising edge.

use pipeline::rules::Frequency;

use crate::evaluate::{Fault, Scene};
use crate::number::{at_most, float};
use crate::report::{Margin, Sight};
use crate::words::{counted, quantity};

pub(super) fn sight(scene: &Scene<'_>, rule: &Frequency) -> Result<Sight, Fault> {
    let lane = scene.lane(&rule.channel)?;
    let (mut first, mut last, mut periods) = (None, None, 0);
    // The period whose frequency is furthest from what is wanted.
    let mut worst: Option<(f64, u64, u64)> = None;
    for edge in lane.edges()? {
        let edge = edge?;
        if !edge.rises {
            continue;
        }
        if let Some(before) = last {
            periods += 1;
            let own = lane.range.rate_hz / float(edge.at - before);
            let off = (own - rule.value.hz()).abs();
            if worst.is_none_or(|(other, ..)| other < off) {
                worst = Some((off, before, edge.at));
            }
        }
        first = first.or(Some(edge.at));
        last = Some(edge.at);
    }
    let lanes = vec![lane.name.to_owned()];
    let (Some(first), Some(last), Some((_, from, to))) = (first, last, worst) else {
        let edges = counted(first.iter().len() as u64, "rising edge", "rising edges");
        return Ok(Sight {
            seen: format!("{edges}, and a frequency takes two"),
            place: Some(lane.place(lane.range.from, lane.range.to - 1)),
            lanes,
            ..Sight::default()
        });
    };
    let seen = float(periods) * lane.range.rate_hz / float(last - first);
    let (off, most) = (
        (seen - rule.value.hz()).abs(),
        rule.tolerance.hz(rule.value),
    );
    let passed = at_most(off, most, rule.value.hz());
    let mut sentence = format!(
        "{} over {}",
        quantity(seen, "Hz"),
        counted(periods, "period", "periods")
    );
    if !passed {
        let worst = quantity(lane.range.seconds(float(to - from)), "s");
        let at = quantity(lane.range.time(from), "s");
        sentence += &format!("; the period furthest off has {worst}, at {at}");
    }
    let mut wrong = crate::report::Wrong::default();
    if !passed {
        wrong.add(|| lane.place(from, to));
    }
    Ok(Sight {
        passed,
        seen: sentence,
        place: Some(lane.place(from, to)),
        margin: Some(Margin {
            value: most - off,
            unit: "Hz",
        }),
        wrong,
        lanes,
        ..Sight::default()
    })
}
