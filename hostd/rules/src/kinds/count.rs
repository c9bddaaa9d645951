//! `count`: so many edges.

use pipeline::rules::Count;

use crate::evaluate::{Fault, Scene};
use crate::report::{Margin, Sight, Wrong};
use crate::words::counted;

pub(super) fn sight(scene: &Scene<'_>, rule: &Count) -> Result<Sight, Fault> {
    let lane = scene.lane_of(&rule.edge)?;
    let (min, max) = (rule.min(), rule.max());
    let mut found = 0;
    let mut wrong = Wrong::default();
    let mut last = None;
    for edge in lane.edges()? {
        let edge = edge?;
        if !rule.edge.direction.is(edge.rises) {
            continue;
        }
        found += 1;
        last = Some(edge.at);
        if max.is_some_and(|max| max < found) {
            wrong.add(|| lane.place(edge.at, edge.at));
        }
    }
    let passed = min <= found && max.is_none_or(|max| found <= max);
    // Too few are nowhere in particular.
    let place = match (wrong.places.first(), last) {
        (Some(first), _) => first.clone(),
        (None, Some(last)) if passed => lane.place(last, last),
        _ => lane.place(lane.range.from, lane.range.to - 1),
    };
    if found < min {
        wrong.found = 1;
    }
    Ok(Sight {
        passed,
        seen: counted(found, "edge", "edges"),
        place: Some(place),
        margin: Some(count_margin(found, min, max)),
        wrong,
        lanes: vec![lane.name.to_owned()],
        ..Sight::default()
    })
}

/// How many more or fewer there may be: one that is on its bound has 0.
pub(super) fn count_margin(found: u64, min: u64, max: Option<u64>) -> Margin {
    let signed = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let over = signed(found).saturating_sub(signed(min));
    let under = max.map(|max| signed(max).saturating_sub(signed(found)));
    // No lower bound is no bound to be near to.
    let value = match under {
        Some(under) if min == 0 => under,
        Some(under) => under.min(over),
        None => over,
    };
    Margin {
        value: value as f64,
        unit: "count",
    }
}
