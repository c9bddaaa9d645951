//! `GET /capture/{id}/measure`: frequency, pulses and levels of a channel.

use guest::measures::{self, Analog, Digital, Measured, Stats, Subject};
use guest::{ApiError, Openapi, Refusal, Request, Response, Route, members};
use schemars::JsonSchema;
use serde::Serialize;

use crate::subject::{self, StatsRecord, SubjectRecord};
use crate::{capture, export};

pub(crate) const ROUTE: Route = Route {
    name: "captures.measure",
    method: "GET",
    pattern: "/capture/{id}/measure",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: 0,
    summary: "Measure a channel of a capture",
    openapi: Openapi::of(|operation| {
        let (subject, measured) = example();
        operation
            .refusals(&[Refusal::WrongState])
            .path(capture::ID.0, capture::ID.1)
            .query::<Asked>()
            .reply(
                200,
                "One of `digital` and `analog`; docs/captures.md has the formulas. What a range is too short for is left out.",
                &Record::of(&subject, &measured),
            );
    }),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    struct Asked {
        /// Channel by its name, such as `ADC` or `LA1`.
        channel: String = required(subject::channel()),
        /// First sample.
        from: u64 = or(subject::sample(0), 0),
        /// The sample behind the last one; the end of the capture when it is left out.
        to: Option<u64> = optional(subject::sample(1)),
    }
}

/// A channel, measured.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Measured")]
struct Record<'a> {
    #[serde(flatten)]
    subject: SubjectRecord<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digital: Option<DigitalRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    analog: Option<AnalogRecord>,
}

/// A digital channel. Pulses and periods count when both of their edges are in the range.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DigitalMeasures")]
struct DigitalRecord {
    /// Rising edges.
    rising: u64,
    /// Falling edges.
    falling: u64,
    /// Samples at which it is high.
    high_samples: u64,
    /// Whole periods by the time that they take together.
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency_hz: Option<f64>,
    /// Part of that time at which it is high.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    duty: Option<f64>,
    /// From one rising edge to the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    period_s: Option<StatsRecord>,
    /// Widths of high pulses.
    #[serde(skip_serializing_if = "Option::is_none")]
    high_s: Option<StatsRecord>,
    /// Widths of low pulses.
    #[serde(skip_serializing_if = "Option::is_none")]
    low_s: Option<StatsRecord>,
}

/// An analog channel; values are in its unit.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AnalogMeasures")]
struct AnalogRecord {
    min: f64,
    max: f64,
    peak_to_peak: f64,
    mean: f64,
    /// Root of the mean square.
    rms: f64,
    /// Standard deviation.
    deviation: f64,
    /// The level at which the upper half of the signal dwells (IEEE 181).
    top: f64,
    /// The same of the lower half.
    base: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency_hz: Option<f64>,
    /// From 10 % to 90 % of the way from `base` to `top`.
    #[serde(skip_serializing_if = "Option::is_none")]
    rise_s: Option<StatsRecord>,
    /// From 90 % to 10 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    fall_s: Option<StatsRecord>,
    /// How far `max` is above `top`, as a part of `top - base`.
    #[serde(skip_serializing_if = "Option::is_none")]
    overshoot: Option<f64>,
    /// How far `min` is below `base`, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    undershoot: Option<f64>,
}

impl<'a> Record<'a> {
    fn of(subject: &'a Subject, measured: &Measured) -> Self {
        let (digital, analog) = match measured {
            Measured::Digital(found) => (Some(DigitalRecord::of(found)), None),
            Measured::Analog(found) => (None, Some(AnalogRecord::of(found))),
        };
        Self {
            subject: SubjectRecord::of(subject),
            digital,
            analog,
        }
    }
}

impl DigitalRecord {
    fn of(found: &Digital) -> Self {
        Self {
            rising: found.rising,
            falling: found.falling,
            high_samples: found.high_samples,
            frequency_hz: found.frequency_hz,
            duty: found.duty,
            period_s: StatsRecord::of(&found.period),
            high_s: StatsRecord::of(&found.high),
            low_s: StatsRecord::of(&found.low),
        }
    }
}

impl AnalogRecord {
    fn of(found: &Analog) -> Self {
        Self {
            min: found.min,
            max: found.max,
            peak_to_peak: found.peak_to_peak,
            mean: found.mean,
            rms: found.rms,
            deviation: found.deviation,
            top: found.top,
            base: found.base,
            frequency_hz: found.frequency_hz,
            rise_s: StatsRecord::of(&found.rise),
            fall_s: StatsRecord::of(&found.fall),
            overshoot: found.overshoot,
            undershoot: found.undershoot,
        }
    }
}

/// For the documentation.
fn example() -> (Subject, Measured) {
    let stats = |count, seconds| Stats {
        count,
        min: seconds,
        max: seconds,
        mean: seconds,
        p50: seconds,
        p99: seconds,
    };
    let digital = Digital {
        rising: 1000,
        falling: 1000,
        high_samples: 30_000,
        frequency_hz: Some(10_000.0),
        duty: Some(0.3),
        period: Some(stats(999, 0.0001)),
        high: Some(stats(1000, 0.000_03)),
        low: Some(stats(999, 0.000_07)),
    };
    (subject::example(), Measured::Digital(digital))
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let asked = parse(request)?;
    let id = capture::id(request);
    let measured = measures::measure(id, &asked.channel, Some(asked.from), asked.to);
    measured
        .map(|(subject, measured)| Response::json(200, &Record::of(&subject, &measured)))
        .map_err(|error| export::refusal(error, id))
}

fn parse(request: &Request) -> Result<Asked, ApiError> {
    request.query()?.read()
}

#[cfg(test)]
mod tests {
    use guest::measures::{Analog, Digital, Measured};
    use guest::testing::get;
    use serde_json::json;

    use super::{Asked, Record, example, parse};

    #[test]
    fn the_channel_is_needed_and_the_rest_has_bounds() {
        let asked = |query: &str| parse(&get(&["01X"], query));
        let whole = Asked {
            channel: "LA1".into(),
            from: 0,
            to: None,
        };
        assert_eq!(asked("channel=LA1").unwrap(), whole);
        for (query, field) in [
            ("", "channel"),
            ("channel=LA1&from=-1", "from"),
            ("channel=LA1&to=0", "to"),
            ("channel=LA1&points=3", "points"),
        ] {
            let error = asked(query).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn what_was_measured_is_written_and_the_rest_left_out() {
        let (mut subject, measured) = example();
        let record = json!(Record::of(&subject, &measured));
        assert_eq!(
            (&record["from"], &record["to"]),
            (&json!(0), &json!(100_000))
        );
        assert_eq!(record["digital"]["period_s"]["count"], 999);
        assert!(record.get("analog").is_none());
        let still = Measured::Digital(Digital {
            rising: 0,
            falling: 0,
            high_samples: 0,
            frequency_hz: None,
            duty: None,
            period: None,
            high: None,
            low: None,
        });
        assert_eq!(
            json!(Record::of(&subject, &still))["digital"],
            json!({"rising": 0, "falling": 0, "high_samples": 0})
        );
        subject.unit = "V".into();
        let flat = Measured::Analog(Analog {
            min: 1.0,
            max: 1.0,
            peak_to_peak: 0.0,
            mean: 1.0,
            rms: 1.0,
            deviation: 0.0,
            top: 1.0,
            base: 1.0,
            frequency_hz: None,
            rise: None,
            fall: None,
            overshoot: None,
            undershoot: None,
        });
        assert_eq!(
            json!(Record::of(&subject, &flat))["analog"],
            json!({"min": 1.0, "max": 1.0, "peak_to_peak": 0.0, "mean": 1.0, "rms": 1.0, "deviation": 0.0,
                "top": 1.0, "base": 1.0})
        );
    }
}
