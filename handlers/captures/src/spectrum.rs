//! `GET /capture/{id}/spectrum`: amplitudes of an analog channel by frequency.

use guest::measures::{self, Peak, Spectrum, Subject, Window};
use guest::{ApiError, Openapi, Refusal, Request, Response, Route, integer, members, words};
use schemars::JsonSchema;
use serde::Serialize;

use crate::subject::{self, SubjectRecord};
use crate::{capture, export};

/// Amplitudes when the caller does not say how many.
const POINTS_DEFAULT: u32 = 1000;

/// Most amplitudes.
const POINTS_MAX: u32 = 10_000;

/// Most peaks.
const PEAKS_MAX: u32 = 16;

words! {
    const WINDOWS: Window = {
        Rectangular = "rectangular",
        Hann = "hann",
        Hamming = "hamming",
        BlackmanHarris = "blackman-harris",
        Flattop = "flattop",
    };
}

pub(crate) const ROUTE: Route = Route {
    name: "captures.spectrum",
    method: "GET",
    pattern: "/capture/{id}/spectrum",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: 0,
    summary: "Spectrum of an analog channel of a capture",
    openapi: Openapi::of(|operation| {
        let (subject, spectrum) = example();
        operation
            .refusals(&[Refusal::WrongState])
            .path(capture::ID.0, capture::ID.1)
            .query::<Asked>()
            .reply(
                200,
                "Amplitude `i` is the highest of the frequencies from `i * step_hz` on; docs/captures.md has the formulas.",
                &Record::of(&subject, &spectrum),
            );
    }),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    struct Asked {
        /// Analog channel by its name, such as `ADC`.
        channel: String = required(subject::channel()),
        /// First sample.
        from: u64 = or(subject::sample(0), 0),
        /// The sample behind the last one; the end of the capture when it is left out.
        to: Option<u64> = optional(subject::sample(1)),
        /// What samples are multiplied with.
        window: Window = or(WINDOWS.shape(), Window::Hann),
        /// Most amplitudes to answer; of more, the highest of neighbours stands for them.
        points: u32 = or(integer(1..=POINTS_MAX), POINTS_DEFAULT),
    }
}

/// The spectrum of a channel. Amplitudes are those of sines, in the channel's unit; the first one is that of the mean.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Spectrum")]
struct Record<'a> {
    #[serde(flatten)]
    subject: SubjectRecord<'a>,
    /// Samples of a transform; longer ranges are cut into pieces.
    length: u32,
    /// Pieces whose power was averaged.
    averages: u32,
    /// From one amplitude to the next.
    step_hz: f64,
    /// From one step of the transform to the next.
    resolution_hz: f64,
    #[schemars(length(max = POINTS_MAX))]
    amplitudes: &'a [f64],
    /// The highest first.
    #[schemars(length(max = PEAKS_MAX))]
    peaks: Vec<PeakRecord>,
}

/// A tone that stands out.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Peak")]
struct PeakRecord {
    frequency_hz: f64,
    amplitude: f64,
}

impl<'a> Record<'a> {
    fn of(subject: &'a Subject, spectrum: &'a Spectrum) -> Self {
        let peak = |peak: &Peak| PeakRecord {
            frequency_hz: peak.frequency_hz,
            amplitude: peak.amplitude,
        };
        Self {
            subject: SubjectRecord::of(subject),
            length: spectrum.length,
            averages: spectrum.averages,
            step_hz: spectrum.step_hz,
            resolution_hz: spectrum.resolution_hz,
            amplitudes: &spectrum.amplitudes,
            peaks: spectrum.peaks.iter().map(peak).collect(),
        }
    }
}

/// For the documentation.
fn example() -> (Subject, Spectrum) {
    let subject = Subject {
        name: "ADC".into(),
        unit: "V".into(),
        sample_rate_hz: 4000.0,
        end: 4,
        ..subject::example()
    };
    let spectrum = Spectrum {
        length: 4,
        averages: 1,
        step_hz: 1000.0,
        resolution_hz: 1000.0,
        amplitudes: vec![0.5, 1.25, 0.0],
        peaks: vec![Peak {
            frequency_hz: 1000.0,
            amplitude: 1.25,
        }],
    };
    (subject, spectrum)
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let asked = parse(request)?;
    let id = capture::id(request);
    let Asked {
        channel,
        from,
        to,
        window,
        points,
    } = asked;
    let found = measures::spectrum_of(id, &channel, Some(from), to, window, points);
    found
        .map(|(subject, spectrum)| Response::json(200, &Record::of(&subject, &spectrum)))
        .map_err(|error| export::refusal(error, id))
}

fn parse(request: &Request) -> Result<Asked, ApiError> {
    request.query()?.read()
}

#[cfg(test)]
mod tests {
    use guest::measures::Window;
    use guest::testing::get;
    use serde_json::json;

    use super::{Record, example, parse};

    #[test]
    fn the_channel_is_needed_and_the_rest_has_bounds() {
        let asked = |query: &str| parse(&get(&["01X"], query));
        let plain = asked("channel=ADC").unwrap();
        assert_eq!((plain.window, plain.points), (Window::Hann, 1000));
        let flat = asked("channel=ADC&window=flattop&points=10000&from=5&to=9").unwrap();
        assert_eq!(
            (flat.window, flat.from, flat.to),
            (Window::Flattop, 5, Some(9))
        );
        for (query, field) in [
            ("", "channel"),
            ("channel=ADC&window=kaiser", "window"),
            ("channel=ADC&points=0", "points"),
            ("channel=ADC&points=10001", "points"),
        ] {
            let error = asked(query).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn everything_found_is_written() {
        let (subject, spectrum) = example();
        assert_eq!(
            json!(Record::of(&subject, &spectrum)),
            json!({
                "channel": 0, "name": "ADC", "unit": "V", "sample_rate_hz": 4000.0, "from": 0, "to": 4,
                "length": 4, "averages": 1, "step_hz": 1000.0, "resolution_hz": 1000.0,
                "amplitudes": [0.5, 1.25, 0.0], "peaks": [{"frequency_hz": 1000.0, "amplitude": 1.25}]
            })
        );
    }
}
