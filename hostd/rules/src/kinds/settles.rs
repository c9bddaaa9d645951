//! `settles`: a signal comes to a value in time, and stays there.

use pipeline::rules::Settles;

use crate::analog::Trace;
use crate::evaluate::{Fault, Scene};
use crate::number::{at_most, float, snap, whole};
use crate::report::{Margin, Sight, Wrong};
use crate::words::quantity;

pub(super) fn sight(scene: &Scene<'_>, rule: &Settles) -> Result<Sight, Fault> {
    let trace = scene.trace(&rule.channel, Some(rule.to.unit))?;
    let range = trace.range;
    let name = &trace.analog.name;
    let mut lanes = vec![name.clone()];
    let start = match &rule.after {
        None => range.from,
        Some(edge) => {
            let lane = scene.lane_of(edge)?;
            lanes.push(lane.name.to_owned());
            let first = lane.edges()?.find(|found| {
                found
                    .as_ref()
                    .map_or(true, |found| edge.direction.is(found.rises))
            });
            let Some(first) = first.transpose()? else {
                return Ok(Sight {
                    seen: format!("there is no `{edge}`"),
                    place: Some(lane.place(lane.range.from, lane.range.to - 1)),
                    lanes,
                    ..Sight::default()
                });
            };
            let seconds = float(first.at) / lane.range.rate_hz;
            let start = whole(snap(seconds * range.rate_hz).ceil());
            let start = start.filter(|start| (range.from..range.to).contains(start));
            start.ok_or_else(|| {
                Fault::Unfit(format!(
                    "`{name}` has no samples after `{edge}`: record more"
                ))
            })?
        }
    };
    let (value, off) = (rule.to.value(), rule.tolerance.of(rule.to));
    let last = last_outside(&trace, start, value, off)?;
    let settled = last.map_or(0, |last| last + 1 - start);
    let (most, unit) = (range.samples(rule.within), &trace.analog.unit);
    let stays = start + settled < range.to;
    let passed = stays && float(settled) <= most;
    let time = quantity(range.seconds(float(settled)), "s");
    let seen = match last {
        _ if stays => format!("there after {time}"),
        Some(last) => {
            let end = trace.values(last, last + 1)?.next();
            let end = quantity(end.map_or(0.0, |(_, value)| value), unit);
            format!("not there at the end of the range, but at {end}")
        }
        None => "no samples".to_owned(),
    };
    let place = trace.place(start, (start + settled).min(range.to - 1));
    let mut wrong = Wrong::default();
    if !passed {
        wrong.add(|| place.clone());
    }
    Ok(Sight {
        passed,
        seen,
        place: Some(place),
        // How late it would have been nobody knows.
        margin: stays.then(|| Margin {
            value: range.seconds(most - float(settled)),
            unit: "s",
        }),
        wrong,
        lanes,
        guides: vec![(name.clone(), value - off), (name.clone(), value + off)],
        ..Sight::default()
    })
}

/// The last sample from `start` on that is not within the tolerance.
fn last_outside(trace: &Trace<'_>, start: u64, value: f64, off: f64) -> Result<Option<u64>, Fault> {
    let is_there = |found: f64| at_most((found - value).abs(), off, value);
    let parts = trace.parts()?;
    for part in parts.iter().rev().filter(|part| start < part.to) {
        let is_whole = start <= part.from;
        if is_whole && is_there(part.low) && is_there(part.high) {
            continue;
        }
        let mut values = trace.values(part.from.max(start), part.to)?.rev();
        if let Some((at, _)) = values.find(|(_, found)| !is_there(*found)) {
            return Ok(Some(at));
        }
    }
    Ok(None)
}
