//! Measuring what was recorded.

use std::ops::Range;
use std::time::Instant;

use jobs::{BenchError, Quantity, Until};
use lab::captures::meter::{Analog, Digital, Measured, Stats, measured};
use lab::captures::reader::Reader;
use pipeline::CaptureKind;
use pipeline::plan::{Capture, Measure};
use store::captures::ChannelRecord;

use crate::device::{Rig, within};
use crate::errors::{lost, of_capture};
use crate::turn::Turn;

/// Nanoseconds of a second.
const SECOND_NS: f64 = 1e9;

impl Rig {
    pub(crate) fn measure_kept(
        &self,
        capture: &str,
        (recorded, measure): (&Capture, &Measure),
        until: &Until<'_>,
    ) -> Result<Option<Quantity>, BenchError> {
        let captures = &self.lab.captures;
        let reader = within(&self.lab.handle, until, async {
            let reader = captures.read(&self.hold.org, capture).await;
            reader.map_err(|error| of_capture(&error))
        })?;
        let index = channel(&reader, recorded, measure)?;
        let record = &reader.record().channels[index];
        let range = range(record, measure)?;
        let turn = Turn::take(&self.lab, until)?;
        let mut go_on = || {
            turn.pass(until);
            !until.cancel.is_set() && Instant::now() < until.at
        };
        let found = measured(&reader, index, range, &mut go_on).map_err(|error| lost(&error))?;
        let Some(found) = found else {
            crate::device::check(until.cancel)?;
            return Err(BenchError::TimedOut);
        };
        Ok(quantity(measure, &found, &record.unit))
    }
}

/// The channel that is measured, by its index in the capture.
fn channel(reader: &Reader, recorded: &Capture, measure: &Measure) -> Result<usize, BenchError> {
    let named = measure.channel.as_ref();
    let number = match named {
        Some(name) => recorded.channels.get(name),
        None => recorded.channels.values().next(),
    };
    let is_it = |channel: &ChannelRecord| match recorded.kind {
        CaptureKind::La => number.is_some() && channel.la.map(u64::from) == number.copied(),
        CaptureKind::Adc => channel.la.is_none(),
    };
    let found = reader.record().channels.iter().position(is_it);
    found.ok_or_else(|| {
        let name = named.map_or("there", String::as_str);
        BenchError::Refused(format!("measure a channel that was not recorded: {name}"))
    })
}

/// The samples that are measured.
fn range(channel: &ChannelRecord, measure: &Measure) -> Result<Range<u64>, BenchError> {
    let at = |ns: u64| first_at(ns, channel.sample_rate_hz);
    let from = measure.from_ns.map_or(0, at);
    let to = measure.to_ns.map_or(channel.samples, at);
    match from < to && to <= channel.samples {
        true => Ok(from..to),
        false => Err(BenchError::Refused(format!(
            "measure samples {from} to {to} of a capture that has {}: record more, or measure less",
            channel.samples
        ))),
    }
}

/// The first sample at or behind a time.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a capture has far fewer than 2^53 samples, and no time is negative"
)]
fn first_at(ns: u64, rate_hz: f64) -> u64 {
    let sample = ns as f64 * rate_hz / SECOND_NS;
    // A time that is meant to be that of a sample may come out a little behind it.
    (sample - sample.abs() * 1e-12).ceil() as u64
}

/// What a step asked for of what was measured; none if there is no such.
fn quantity(measure: &Measure, found: &Measured, channel_unit: &str) -> Option<Quantity> {
    let (name, of) = measure.quantity.parts();
    let (value, unit) = match (found, of) {
        (Measured::Digital(found), None) => digital(found, name)?,
        (Measured::Digital(found), Some(of)) => {
            let times = match name {
                "period_s" => found.period,
                "high_s" => found.high,
                "low_s" => found.low,
                _ => None,
            };
            of_times(&times?, of)?
        }
        (Measured::Analog(found), None) => {
            let (value, unit) = analog(found, name)?;
            (value, unit.unwrap_or(channel_unit))
        }
        (Measured::Analog(found), Some(of)) => {
            let times = match name {
                "rise_s" => found.rise,
                "fall_s" => found.fall,
                _ => None,
            };
            of_times(&times?, of)?
        }
    };
    value.is_finite().then(|| Quantity {
        value,
        unit: unit.to_owned(),
    })
}

fn digital(found: &Digital, name: &str) -> Option<(f64, &'static str)> {
    Some(match name {
        "rising" => (float(found.rising), ""),
        "falling" => (float(found.falling), ""),
        "high_samples" => (float(found.high_samples), ""),
        "frequency_hz" => (found.frequency_hz?, "Hz"),
        "duty" => (found.duty?, ""),
        _ => return None,
    })
}

/// The value, and its unit if that is not the channel's.
fn analog(found: &Analog, name: &str) -> Option<(f64, Option<&'static str>)> {
    Some(match name {
        "min" => (found.min, None),
        "max" => (found.max, None),
        "peak_to_peak" => (found.peak_to_peak, None),
        "mean" => (found.mean, None),
        "rms" => (found.rms, None),
        "deviation" => (found.deviation, None),
        "base" => (found.base, None),
        "top" => (found.top, None),
        "frequency_hz" => (found.frequency_hz?, Some("Hz")),
        "overshoot" => (found.overshoot?, Some("")),
        "undershoot" => (found.undershoot?, Some("")),
        _ => return None,
    })
}

fn of_times(times: &Stats, of: &str) -> Option<(f64, &'static str)> {
    Some(match of {
        "count" => (float(times.count), ""),
        "min" => (times.min, "s"),
        "max" => (times.max, "s"),
        "mean" => (times.mean, "s"),
        "p50" => (times.p50, "s"),
        "p99" => (times.p99, "s"),
        _ => return None,
    })
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a capture has far fewer than 2^53 edges"
)]
fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use pipeline::Measurand;

    use super::*;

    fn measure(quantity: Measurand) -> Measure {
        Measure {
            on: "boot".to_owned(),
            name: "a".to_owned(),
            quantity,
            channel: None,
            from_ns: None,
            to_ns: None,
            low: None,
            high: None,
        }
    }

    #[test]
    fn all_that_a_pipeline_may_ask_for_can_be_measured() {
        let times = Stats {
            count: 1,
            min: 1.0,
            max: 1.0,
            mean: 1.0,
            p50: 1.0,
            p99: 1.0,
        };
        let digital = Measured::Digital(Digital {
            frequency_hz: Some(1.0),
            duty: Some(1.0),
            period: Some(times),
            high: Some(times),
            low: Some(times),
            ..Digital::default()
        });
        let analog = Measured::Analog(Analog {
            frequency_hz: Some(1.0),
            rise: Some(times),
            fall: Some(times),
            overshoot: Some(1.0),
            undershoot: Some(1.0),
            ..Analog::default()
        });
        for (kind, found) in [(CaptureKind::La, digital), (CaptureKind::Adc, analog)] {
            for one in Measurand::all(kind) {
                let written = one.written();
                let found = quantity(&measure(one), &found, "V");
                let unit = found.expect(&written).unit;
                let ends = written.split('.').next().unwrap();
                match unit.as_str() {
                    "Hz" => assert!(ends.ends_with("_hz")),
                    "s" => assert!(ends.ends_with("_s")),
                    "V" => assert_eq!(kind, CaptureKind::Adc),
                    _ => assert!(unit.is_empty()),
                }
            }
        }
    }

    #[test]
    fn what_was_not_there_is_not_measured() {
        let still = Measured::Digital(Digital::default());
        for one in Measurand::all(CaptureKind::La).filter(|one| one.parts().1.is_some()) {
            assert_eq!(quantity(&measure(one), &still, ""), None);
        }
    }

    #[test]
    fn times_are_samples() {
        for (ns, rate_hz, sample) in [
            (0, 1e6, 0),
            (1, 1e6, 1),
            (10_000, 1e6, 10),
            (10_001, 1e6, 11),
            (1_000_000, 12e6, 12_000),
            (83, 12e6, 1),
            (84, 12e6, 2),
            (100_000_000, 4.8e6, 480_000),
        ] {
            assert_eq!(first_at(ns, rate_hz), sample, "{ns} ns at {rate_hz}");
        }
    }
}
