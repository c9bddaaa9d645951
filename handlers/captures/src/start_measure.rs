//! `POST /scope/measure/start`: play a stimulus on the DAC and sample the ADC in phase with it.

use guest::captures::{Generated, Given, Measure, Order, Plan, Stimulus};
use guest::{
    ApiError, Fields, JSON_BODY_BYTES_MAX, Request, Route, Shape, choice, integer, number, text,
};

use crate::{capture, order};

/// Highest frequency that makes sense as a number, in Hz. The board's own bound is the host's.
const FREQ_HZ_MAX: f64 = 10_000_000.0;

/// Longest wait between routing and sampling.
const SETTLE_MS_MAX: u32 = 10_000;

const WAVEFORMS: &[(&str, &str)] = &[
    ("sine", "sine"),
    ("square", "square"),
    ("sawtooth", "sawtooth"),
];

/// The forms of a stimulus; a body has one of them.
const STIMULI: [&str; 3] = ["generate", "waveform_id", "samples_b64"];

/// Members that only describe samples that come along.
const SAMPLES_MEMBERS: [&str; 3] = ["sample_rate_hz", "bits", "full_scale_v"];

/// Longest waveform id, in characters.
const ID_CHARS_MAX: usize = 64;

/// Highest sample rate of a waveform that makes sense as a number, in Hz.
const RATE_HZ_MAX: f64 = 1e9;

/// Highest full scale that makes sense as a number, in volts.
const FULL_SCALE_MAX: f64 = 1e6;

pub(crate) const ROUTE: Route = Route {
    name: "captures.start_measure",
    method: "POST",
    pattern: "/scope/measure/start",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Start a capture of the answer to a stimulus",
    openapi: guest::compact_json!(
        r#"{"refusals":["device_offline","device_busy","lease_held","not_capable","quota_exceeded"],"requestBody":"#,
        include_str!("start_measure.json"),
        r#","responses":"#,
        include_str!("started.json"),
        "}",
    ),
    handle: |request| capture::start(&parse(request)?),
};

pub(crate) fn parse(request: &Request) -> Result<Order, ApiError> {
    order::parse(request, |body| {
        Plan::Measure(Measure {
            stimulus: body.nested_required("stimulus", stimulus),
            samples: body.required("samples", order::samples()),
            sample_rate_mhz: body.required("sample_rate_mhz", order::rate_mhz()),
            settle_ms: body.or("settle_ms", integer(0..=SETTLE_MS_MAX), 0),
        })
    })
}

fn stimulus(body: &mut Fields) -> Stimulus {
    let given: Vec<&str> = STIMULI.into_iter().filter(|name| body.has(name)).collect();
    match given[..] {
        [] => body.problem("generate", "is required, or waveform_id, or samples_b64"),
        [_] => {}
        [first, ref others @ ..] => {
            for other in others {
                body.problem(other, &format!("cannot come with {first}; give one"));
                body.ignore(other);
            }
        }
    }
    match given.first() {
        Some(&"samples_b64") => Stimulus::Given(samples(body)),
        form => {
            for name in SAMPLES_MEMBERS {
                if body.has(name) {
                    body.problem(name, "only goes with samples_b64");
                }
                body.ignore(name);
            }
            if form == Some(&"waveform_id") {
                return Stimulus::Library(body.required("waveform_id", text(1..=ID_CHARS_MAX)));
            }
            body.nested("generate", generated)
                .map_or_else(|| Stimulus::Library(String::new()), Stimulus::Generate)
        }
    }
}

fn generated(generate: &mut Fields) -> Generated {
    Generated {
        waveform: generate.required("waveform", choice(WAVEFORMS)).to_owned(),
        freq: generate.required("freq", number(0.0, FREQ_HZ_MAX)),
        amplitude: generate.required("amplitude", integer(1..=255u32)),
        offset: generate.required("offset", integer(0..=255u32)),
    }
}

fn samples(body: &mut Fields) -> Given {
    let given = Given {
        samples_b64: body.required("samples_b64", text(1..=JSON_BODY_BYTES_MAX as usize)),
        sample_rate_hz: body.required("sample_rate_hz", rate_hz()),
        bits: body.or("bits", integer(1..=64u8), 8),
        full_scale_v: body.optional("full_scale_v", number(0.0, FULL_SCALE_MAX)),
    };
    if !matches!(given.bits, 8 | 16) {
        body.problem("bits", "must be 8 or 16");
    }
    given
}

fn rate_hz() -> impl Shape<Value = f64> {
    number(0.0, RATE_HZ_MAX)
}

#[cfg(test)]
mod tests {
    use guest::captures::{Measure, Plan, Stimulus};
    use guest::testing::request;

    use super::parse;

    const SINE: &str = r#"{"waveform":"sine","freq":1000,"amplitude":127,"offset":128}"#;

    fn read(stimulus: &str) -> Result<Measure, Vec<String>> {
        let body = format!(
            r#"{{"device_id":"d","samples":256,"sample_rate_mhz":0.4,"stimulus":{stimulus}}}"#
        );
        match parse(&request(&body)).map(|order| order.plan) {
            Ok(Plan::Measure(measure)) => Ok(measure),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.fields.into_iter().map(|p| p.field).collect()),
        }
    }

    #[test]
    fn generated_stimulus() {
        let measure = read(&format!(r#"{{"generate":{SINE}}}"#)).unwrap();
        let Stimulus::Generate(stimulus) = measure.stimulus else {
            panic!("{:?}", measure.stimulus);
        };
        assert_eq!(
            (stimulus.waveform.as_str(), stimulus.freq),
            ("sine", 1000.0)
        );
        assert_eq!((stimulus.amplitude, stimulus.offset), (127, 128));
        assert_eq!(measure.settle_ms, 0);
    }

    #[test]
    fn waveforms_as_stimulus() {
        let kept = read(r#"{"waveform_id":"w"}"#).unwrap().stimulus;
        assert!(matches!(kept, Stimulus::Library(id) if id == "w"));
        let given = r#"{"samples_b64":"AAA=","sample_rate_hz":1000,"bits":16,"full_scale_v":5}"#;
        let Stimulus::Given(given) = read(given).unwrap().stimulus else {
            panic!("another form than was read");
        };
        assert_eq!((given.samples_b64.as_str(), given.bits), ("AAA=", 16));
        assert!(given.full_scale_v.is_some());
    }

    #[test]
    fn exactly_one_form() {
        let both = format!(r#"{{"generate":{SINE},"waveform_id":"w"}}"#);
        for (stimulus, field) in [
            (both.as_str(), "stimulus.waveform_id"),
            (
                r#"{"waveform_id":"w","samples_b64":"AA=="}"#,
                "stimulus.samples_b64",
            ),
            (r#"{"waveform_id":"w","bits":8}"#, "stimulus.bits"),
            (r#"{"samples_b64":"AA=="}"#, "stimulus.sample_rate_hz"),
            (
                r#"{"samples_b64":"AA==","sample_rate_hz":1,"bits":9}"#,
                "stimulus.bits",
            ),
            ("{}", "stimulus.generate"),
        ] {
            assert_eq!(read(stimulus).unwrap_err(), [field], "{stimulus}");
        }
    }

    #[test]
    fn bounds_are_told_by_path() {
        for (stimulus, field) in [
            (
                r#"{"generate":{"waveform":"noise","freq":1,"amplitude":1,"offset":0}}"#,
                "stimulus.generate.waveform",
            ),
            (
                r#"{"generate":{"waveform":"sine","freq":0,"amplitude":1,"offset":0}}"#,
                "stimulus.generate.freq",
            ),
            (
                r#"{"generate":{"waveform":"sine","freq":1,"amplitude":0,"offset":0}}"#,
                "stimulus.generate.amplitude",
            ),
            (
                r#"{"generate":{"waveform":"sine","freq":1,"amplitude":1,"offset":256}}"#,
                "stimulus.generate.offset",
            ),
            (r#"{"generate":1}"#, "stimulus.generate"),
        ] {
            assert_eq!(read(stimulus).unwrap_err(), [field]);
        }
        for stimulus in ["null", "[]"] {
            assert_eq!(read(stimulus).unwrap_err()[0], "stimulus");
        }
    }
}
