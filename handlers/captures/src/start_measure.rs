//! `POST /scope/measure/start`: play a stimulus on the DAC and sample the ADC in phase with it.

use guest::captures::{Generated, Given, Measure, Order, Plan, Stimulus};
use guest::codes::{self, BITS_DEFAULT, Bits};
use guest::{
    ApiError, Fields, JSON_BODY_BYTES_MAX, Members, Openapi, Request, Route, Shape, choice, id,
    integer, members, nested, number,
};
use schemars::{Schema, json_schema};
use serde_json::{Value, json};

use crate::capture;
use crate::order::{self, Shared};
use crate::start;

/// Highest frequency that a pod generates, in Hz.
const FREQ_HZ_MAX: f64 = 1_000_000.0;

/// Longest wait between routing and sampling.
const SETTLE_MS_MAX: u32 = 10_000;

const WAVEFORMS: &[(&str, &str)] = &[
    ("sine", "sine"),
    ("square", "square"),
    ("sawtooth", "sawtooth"),
];

/// The forms of a stimulus; a body has one of them.
const FORMS: [&str; 3] = ["generate", "waveform_id", "samples_b64"];

pub(crate) const ROUTE: Route = Route {
    name: "captures.start_measure",
    method: "POST",
    pattern: "/scope/measure/start",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Start a capture of the answer to a stimulus",
    openapi: Openapi::of(|operation| {
        operation.body::<Ask>(json!({
            "device_id": "01JGZ5V9T3N8W2K4Q7R6D1M0XA",
            "samples": 256,
            "sample_rate_mhz": 0.256,
            "stimulus": {
                "generate": {"waveform": "sine", "freq": 1000, "amplitude": 127, "offset": 128}
            }
        }));
        start::describe(operation);
    }),
    handle: |request| start::start(&parse(request)?),
};

members! {
    struct Ask {
        shared: Shared = inline(),
        /// What the DAC plays on its 5 V output while the ADC samples it there, inside the pod; exactly
        /// one form.
        stimulus: Stimulus = required(Stimuli),
        /// Bounded by what the device reports.
        samples: u64 = required(order::samples()),
        /// Megasamples per second. The ADC takes the nearest rate that it has, at most 0.4.
        sample_rate_mhz: f64 = required(order::adc_rate_mhz()),
        /// Wait between routing and sampling.
        settle_ms: u32 = or(integer(0..=SETTLE_MS_MAX), 0),
    }
}

members! {
    /// A signal that the pod generates.
    struct Generate {
        /// One period, as long as the capture; at most 2048 samples.
        generate: Signal = required(nested()),
    }
}

members! {
    struct Signal {
        waveform: &'static str = required(choice(WAVEFORMS)),
        /// Hertz.
        freq: f64 = required(number(0.0, FREQ_HZ_MAX)),
        /// Peak deviation in 8-bit DAC levels.
        amplitude: u32 = required(integer(1..=255)),
        /// Centre in 8-bit DAC levels.
        offset: u32 = required(integer(0..=255)),
    }
}

members! {
    /// A waveform that is kept.
    struct Kept {
        /// A kept waveform, in volts or plain codes. It starts with the first sample and is repeated; more
        /// than 2048 samples of it are averaged in blocks.
        waveform_id: String = required(id()),
    }
}

members! {
    /// Samples that come along.
    struct Samples {
        /// Standard base64 of one or more codes, u8 or little-endian u16 as `bits` says; played as a kept
        /// waveform is.
        samples_b64: String = required(codes::samples_b64()),
        /// Samples per second; the nearest that the DAC has is taken.
        sample_rate_hz: f64 = required(codes::rate_hz()),
        /// Of one code.
        bits: Option<u8> = or(Bits, None),
        /// Volts of the highest code, 0 V being code 0; without it the codes are the output's own.
        full_scale_v: Option<f64> = optional(codes::full_scale()),
    }
}

/// An object in one of the forms, recognised by the member that only this form has.
struct Stimuli;

impl Shape for Stimuli {
    type Value = Stimulus;

    fn read(&self, _: &Value) -> Result<Stimulus, String> {
        Err("must be a member of its own".to_owned())
    }

    fn read_member(&self, name: &str, mut value: Value, fields: &mut Fields) -> Option<Stimulus> {
        let given = |form: &&str| value.get(form).is_some_and(|value| !value.is_null());
        let given: Vec<&str> = FORMS.into_iter().filter(given).collect();
        let (form, others) = given.split_first().unwrap_or((&"", &[]));
        for other in others {
            let rule = format!("cannot come with {form}; give one");
            fields.problem(&format!("{name}.{other}"), &rule);
            value.as_object_mut()?.remove(*other);
        }
        match *form {
            "samples_b64" => {
                let samples = nested::<Samples>().read_member(name, value, fields)?;
                Some(Stimulus::Given(samples.into()))
            }
            "waveform_id" => {
                let kept = nested::<Kept>().read_member(name, value, fields)?;
                Some(Stimulus::Library(kept.waveform_id))
            }
            "" if value.is_object() => {
                let rule = "is required, or waveform_id, or samples_b64";
                fields.problem(&format!("{name}.generate"), rule);
                None
            }
            _ => {
                let generate = nested::<Generate>().read_member(name, value, fields)?;
                Some(Stimulus::Generate(generate.generate.into()))
            }
        }
    }

    fn schema(&self) -> Schema {
        let forms = [Generate::schema(), Kept::schema(), Samples::schema()];
        json_schema!({"oneOf": forms})
    }
}

impl From<Signal> for Generated {
    fn from(signal: Signal) -> Self {
        Self {
            waveform: signal.waveform.to_owned(),
            freq: signal.freq,
            amplitude: signal.amplitude,
            offset: signal.offset,
        }
    }
}

impl From<Samples> for Given {
    fn from(samples: Samples) -> Self {
        Self {
            samples_b64: samples.samples_b64,
            sample_rate_hz: samples.sample_rate_hz,
            bits: samples.bits.unwrap_or(BITS_DEFAULT),
            full_scale_v: samples.full_scale_v,
        }
    }
}

pub(crate) fn parse(request: &Request) -> Result<Order, ApiError> {
    let ask: Ask = request.json()?.read()?;
    Ok(ask.shared.order(Plan::Measure(Measure {
        stimulus: ask.stimulus,
        samples: ask.samples,
        sample_rate_mhz: ask.sample_rate_mhz,
        settle_ms: ask.settle_ms,
    })))
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
