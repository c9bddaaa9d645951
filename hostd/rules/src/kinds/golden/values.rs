//! The values of an analog channel, beside those of the golden one.

use pipeline::rules::Time;

use super::Course;
use super::align::Aligned;
use crate::analog::Trace;
use crate::evaluate::{Fault, Scene};
use crate::golden::Points;
use crate::number::{at_most, float, snap, whole};
use crate::report::Margin;
use crate::words::quantity;

/// Samples that are read at once.
const CHUNK: u64 = 1 << 16;

/// Counts around a point, read in large pieces.
struct Near<'t, 'a> {
    trace: &'t Trace<'a>,
    from: u64,
    counts: Vec<u16>,
}

impl Near<'_, '_> {
    /// The lowest and the highest value from one sample to another.
    fn extent(&mut self, from: u64, to: u64) -> Result<Option<(f64, f64)>, Fault> {
        let end = self.from + self.counts.len() as u64;
        if from < self.from || end < to {
            self.counts = self.trace.counts(from, to.max(from + CHUNK))?;
            self.from = from;
        }
        let index = |sample: u64| usize::try_from(sample - self.from).unwrap_or(usize::MAX);
        let counts = self.counts.get(index(from)..).unwrap_or_default();
        let length = index(to).saturating_sub(index(from));
        let counts = &counts[..counts.len().min(length)];
        let (low, high) = (counts.iter().min(), counts.iter().max());
        let values = low.zip(high).map(|(low, high)| {
            let (one, other) = (
                self.trace.analog.value(*low),
                self.trace.analog.value(*high),
            );
            (one.min(other), one.max(other))
        });
        Ok(values)
    }
}

/// Compares every value: within the time that an edge may be off, the signal must come as near to it as the amplitude says.
pub(super) fn compare(
    scene: &Scene<'_>,
    points: &Points,
    aligned: &Aligned,
    (time_ns, off): (i64, Option<f64>),
    course: &mut Course,
) -> Result<(), Fault> {
    let trace = scene.trace_named(&points.name)?;
    let Some(most) = off else {
        return Err(Fault::Unfit(format!(
            "`{}` is analog, and nothing says how far its values may be off: give the rule an `amplitude`",
            points.name
        )));
    };
    if trace.analog.unit != points.unit {
        return Err(Fault::Unfit(format!(
            "`{}` is in {}, and was in {}: make the golden file again",
            points.name, trace.analog.unit, points.unit
        )));
    }
    let range = trace.range;
    let ratio = range.rate_hz / points.sample_rate_hz;
    let offset = snap(aligned.offset_s * range.rate_hz);
    let time = range.samples(Time(time_ns));
    let mut near = Near {
        trace: &trace,
        from: 0,
        counts: Vec::new(),
    };
    for (sample, value) in points.each() {
        let at = snap(offset + float(sample) * ratio);
        let from = whole((at - time).floor().max(float(range.from)));
        let to = whole(((at + time).ceil() + 1.0).min(float(range.to)));
        let (Some(from), Some(to)) = (from, to) else {
            continue;
        };
        if to <= from {
            continue;
        }
        let Some((low, high)) = near.extent(from, to)? else {
            continue;
        };
        course.values += 1;
        let away = (low - value).max(value - high).max(0.0);
        let place = trace.place(from, to - 1);
        let margin = Margin {
            value: most - away,
            unit: if points.unit == "A" { "A" } else { "V" },
        };
        if at_most(away, most, value) {
            course.right(away, most, margin, || place);
            course.right -= 1;
        } else {
            let words = || {
                let unit = &points.unit;
                let seen = quantity(if high < value { high } else { low }, unit);
                let (was, at) = (quantity(value, unit), quantity(place.from_s, "s"));
                format!("{} is {seen} at {at}, where it was {was}", points.name)
            };
            course.wrong(margin, words, &place);
        }
    }
    Ok(())
}
