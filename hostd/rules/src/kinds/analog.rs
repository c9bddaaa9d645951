//! `analog`: a signal stays within bounds.

use pipeline::rules::Analog;

use crate::analog::{Part, Trace};
use crate::evaluate::{Fault, Scene};
use crate::number::at_most;
use crate::report::{Margin, Place, Sight, Wrong};
use crate::words::{counted, quantity};

/// Bounds, and which size values have.
struct Bounds {
    min: Option<f64>,
    max: Option<f64>,
}

impl Bounds {
    fn holds(&self, value: f64) -> bool {
        let size = value;
        self.min.is_none_or(|min| at_most(min, value, size))
            && self.max.is_none_or(|max| at_most(value, max, size))
    }

    /// How far a value is from its nearest bound.
    fn margin(&self, value: f64) -> f64 {
        let over = self.min.map_or(f64::INFINITY, |min| value - min);
        let under = self.max.map_or(f64::INFINITY, |max| max - value);
        over.min(under)
    }
}

pub(super) fn sight(scene: &Scene<'_>, rule: &Analog) -> Result<Sight, Fault> {
    let unit = rule.min.or(rule.max).map(|bound| bound.unit);
    let trace = scene.trace(&rule.channel, unit)?;
    let bounds = Bounds {
        min: rule.min.map(|min| min.value()),
        max: rule.max.map(|max| max.value()),
    };
    let parts = trace.parts()?;
    let low = parts
        .iter()
        .map(|part| part.low)
        .fold(f64::INFINITY, f64::min);
    let high = parts
        .iter()
        .map(|part| part.high)
        .fold(f64::NEG_INFINITY, f64::max);
    // The value that is nearest to its bound, or furthest behind it.
    let extreme = match bounds.margin(low) <= bounds.margin(high) {
        true => low,
        false => high,
    };
    let mut wrong = Wrong::default();
    let worst = excursions(&trace, &parts, &bounds, extreme, &mut wrong)?;
    let passed = wrong.found == 0;
    let place = match worst {
        Some(place) => Some(place),
        None => find(&trace, &parts, extreme)?,
    };
    let unit = &trace.analog.unit;
    let mut seen = format!("{} to {}", quantity(low, unit), quantity(high, unit));
    if !passed {
        let times = counted(wrong.found, "time", "times");
        let at = place.as_ref().map_or(0.0, |place| place.from_s);
        let at = quantity(at, "s");
        seen += &format!("; out of bounds {times}, worst at {at}");
    }
    let guides = [bounds.min, bounds.max].into_iter().flatten();
    let name = &trace.analog.name;
    Ok(Sight {
        passed,
        seen,
        place,
        margin: Some(Margin {
            value: bounds.margin(extreme),
            unit: if unit == "A" { "A" } else { "V" },
        }),
        wrong,
        lanes: vec![name.clone()],
        guides: guides.map(|value| (name.clone(), value)).collect(),
        ..Sight::default()
    })
}

/// Every stretch that is out of bounds; the one that has `extreme`, if there is one.
fn excursions(
    trace: &Trace<'_>,
    parts: &[Part],
    bounds: &Bounds,
    extreme: f64,
    wrong: &mut Wrong,
) -> Result<Option<Place>, Fault> {
    let mut worst = None;
    // Where it began, and whether it has the extreme.
    let mut open: Option<(u64, bool)> = None;
    let mut close = |open: &mut Option<(u64, bool)>, end: u64| {
        if let Some((from, has_extreme)) = open.take() {
            wrong.add(|| trace.place(from, end - 1));
            if has_extreme && worst.is_none() {
                worst = Some(trace.place(from, end - 1));
            }
        }
    };
    for part in parts {
        if bounds.holds(part.low) && bounds.holds(part.high) {
            close(&mut open, part.from);
            continue;
        }
        for (at, value) in trace.values(part.from, part.to)? {
            if bounds.holds(value) {
                close(&mut open, at);
            } else {
                let (_, has_extreme) = open.get_or_insert((at, false));
                *has_extreme |= value.to_bits() == extreme.to_bits();
            }
        }
    }
    if let Some(last) = parts.last() {
        close(&mut open, last.to);
    }
    Ok(worst)
}

/// The first sample of a value that one of the blocks has.
fn find(trace: &Trace<'_>, parts: &[Part], value: f64) -> Result<Option<Place>, Fault> {
    let is_it = |other: f64| other.to_bits() == value.to_bits();
    let part = parts
        .iter()
        .find(|part| is_it(part.low) || is_it(part.high));
    let Some(part) = part else {
        return Ok(None);
    };
    let mut values = trace.values(part.from, part.to)?;
    let found = values.find(|(_, other)| is_it(*other));
    Ok(found.map(|(at, _)| trace.place(at, at)))
}
