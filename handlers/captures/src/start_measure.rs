//! `POST /scope/measure/start`: play a stimulus on the DAC and sample the ADC in phase with it.

use guest::captures::{Measure, Order, Plan, Stimulus};
use guest::{ApiError, Fields, JSON_BODY_BYTES_MAX, Request, Route, choice, integer, number};

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

/// Other forms of a stimulus that the API names, and why they do not work.
const OTHER_STIMULI: [&str; 2] = ["waveform_id", "samples_b64"];

pub(crate) const ROUTE: Route = Route {
    name: "captures.start_measure",
    method: "POST",
    pattern: "/scope/measure/start",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Start a capture of the answer to a stimulus",
    openapi: guest::compact_json!(
        r#"{"refusals":["device_offline","device_busy","lease_held","not_capable"],"requestBody":"#,
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
    for name in OTHER_STIMULI {
        if body.has(name) {
            body.problem(
                name,
                "is not supported by this version: describe the stimulus with generate",
            );
            body.ignore(name);
        }
    }
    body.nested_required("generate", |generate| Stimulus {
        waveform: generate.required("waveform", choice(WAVEFORMS)).to_owned(),
        freq: generate.required("freq", number(0.0, FREQ_HZ_MAX)),
        amplitude: generate.required("amplitude", integer(1..=255u32)),
        offset: generate.required("offset", integer(0..=255u32)),
    })
}

#[cfg(test)]
mod tests {
    use guest::captures::{Measure, Plan};
    use guest::testing::request;

    use super::parse;

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
        let measure =
            read(r#"{"generate":{"waveform":"sine","freq":1000,"amplitude":127,"offset":128}}"#)
                .unwrap();
        let stimulus = measure.stimulus;
        assert_eq!(
            (stimulus.waveform.as_str(), stimulus.freq),
            ("sine", 1000.0)
        );
        assert_eq!((stimulus.amplitude, stimulus.offset), (127, 128));
        assert_eq!(measure.settle_ms, 0);
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
            ("{}", "stimulus.generate"),
            ("null", "stimulus"),
            ("[]", "stimulus"),
        ] {
            assert_eq!(read(stimulus).unwrap_err(), [field]);
        }
    }

    #[test]
    fn other_stimuli_are_refused_in_words() {
        let told = |stimulus: &str| {
            let body = format!(
                r#"{{"device_id":"d","samples":1,"sample_rate_mhz":1,"stimulus":{stimulus}}}"#
            );
            parse(&request(&body)).unwrap_err().message
        };
        assert!(told(r#"{"waveform_id":"w"}"#).starts_with(
            "stimulus.waveform_id is not supported by this version: describe the stimulus with \
             generate"
        ));
        assert!(told(r#"{"samples_b64":"AAA="}"#).starts_with("stimulus.samples_b64 is not supp"));
    }
}
