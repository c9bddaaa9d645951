//! `POST /dac/replay/start`: play a kept waveform, or one that comes with the request.

use guest::codes::{self, BITS_DEFAULT, Bits, SAMPLES_MAX};
use guest::replay::{self, Error, Fault, Inline, Order, Playing, Source};
use guest::waveforms::{Mapping, Output};
use guest::{
    ApiError, JSON_BODY_BYTES_MAX, Members, Openapi, Refusal, Request, Response, Route, Shape,
    flag, id, integer, members, nested, number, words,
};
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::{Value, json};

use crate::fault::Wanted;
use crate::output::{MAPPINGS, OUTPUTS};
use crate::waveform;

/// Fastest rate that makes sense as a number, in MHz. Pods take the nearest one they have.
const RATE_MHZ_MAX: f64 = 1000.0;

/// Seconds after which it is worth asking a busy device again.
const BUSY_RETRY_AFTER_S: u32 = 1;

pub(crate) const ROUTE: Route = Route {
    name: "dac.replay_start",
    method: "POST",
    pattern: "/dac/replay/start",
    credentials: waveform::CREDENTIALS,
    scope: waveform::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Play a waveform on a DAC output",
    openapi: Openapi::of(|operation| {
        let order = json!({
            "device_id": "01JGZ5V9T3N8W2K4Q7R6D1M0XA",
            "waveform_id": "01JGZ5V9T3N8W2K4Q7R6D1M0XD",
            "dac_path": "5v",
            "target_samples": 1024
        });
        operation
            .refusals(&[Refusal::DeviceOffline, Refusal::LeaseHeld, Refusal::NotCapable])
            .content("application/json", body(), order)
            .reply(
                200,
                "It plays again and again, until the command `dac_stop` or another waveform. Refusals of its \
                 own: `not_capable` (400) when the board has no AC waveform DAC, no 4-20 mA output, or \
                 cannot start it with a capture; `wrong_state` (409) while DAC output limits are set on the \
                 device.",
                &example(),
            );
    }),
    handle,
};

members! {
    #[derive(Debug)]
    struct Ask {
        /// Device id, from the device list.
        device_id: String = required(id()),
        /// A kept waveform; either this or `samples_b64`.
        waveform_id: Option<String> = optional(id()),
        /// Standard base64 of one or more codes, u8 or little-endian u16 as `bits` says.
        samples_b64: Option<String> = optional(codes::samples_b64()),
        /// With `samples_b64`: samples per second.
        sample_rate_hz: Option<f64> = optional(codes::rate_hz()),
        /// With `samples_b64`: of one code.
        bits: Option<u8> = or(Bits, None),
        /// With `samples_b64`: volts of the highest code, 0 V being code 0. Without it the codes are the
        /// output's own and are played as they are, 8-bit ones widened.
        full_scale_v: Option<f64> = optional(codes::full_scale()),
        dac_path: Output = or(OUTPUTS.shape(), Output::V3),
        /// `faithful`: each level as it is, as far as the output reaches; `fit`: the lowest level at the
        /// output's low end, the highest at its high end.
        mapping: Mapping = or(MAPPINGS.shape(), Mapping::Faithful),
        /// Rate of the codes in MHz; the nearest that the DAC has is taken. Without it, the waveform's own
        /// rate divided by `averaged`; the highest if that is not known.
        sample_rate_mhz: Option<f64> = optional(number(0.0, RATE_MHZ_MAX)),
        /// First sample that is used.
        window_start: u64 = or(integer(0..=SAMPLES_MAX), 0),
        /// Samples that are used; 0: to the end.
        window_len: Option<u64> = or(Count, None),
        /// Most codes to play; 0: what the device holds, 2048, or `cap.dac_replay_max_samples` (4194304)
        /// with the deep-replay image. More samples are averaged in blocks.
        target_samples: Option<u64> = or(Count, None),
        /// Start with sample 0 of the next capture.
        on_capture: bool = or(flag(), false),
        /// A stretch of the played codes that is replaced by one level.
        fault: Option<Wanted> = optional(nested()),
    }
}

/// A count where 0 stands for none.
struct Count;

impl Shape for Count {
    type Value = Option<u64>;

    fn read(&self, value: &Value) -> Result<Option<u64>, String> {
        let count = integer(0..=SAMPLES_MAX).read(value)?;
        Ok((count > 0).then_some(count))
    }

    fn schema(&self) -> Schema {
        integer(0..=SAMPLES_MAX).schema()
    }

    fn written(&self, value: &Option<u64>) -> Option<Value> {
        Some(value.unwrap_or(0).into())
    }
}

/// A body that names exactly one waveform.
fn body() -> Schema {
    let mut schema = Ask::schema();
    let one_of = json!([
        {"required": ["waveform_id"]},
        {"required": ["samples_b64", "sample_rate_hz"]}
    ]);
    schema.insert("oneOf".to_owned(), one_of);
    schema
}

#[derive(Clone, Copy, PartialEq)]
enum Status {
    Playing,
    Armed,
}

words! {
    const STATUSES: Status = { Playing = "playing", Armed = "armed" };
}

/// What plays, or will.
#[derive(Serialize, JsonSchema)]
struct Started<'a> {
    device_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    waveform_id: Option<&'a str>,
    /// `armed`: it waits for the next capture.
    #[schemars(extend("enum" = STATUSES.all()))]
    status: &'static str,
    /// Codes of one pass.
    samples: u64,
    /// Samples that they were made of.
    source_samples: u64,
    /// Samples that each code is the mean of.
    averaged: u64,
    /// Rate of the codes, as the DAC's clock divides.
    sample_rate_hz: f64,
    /// How fast it plays beside the waveform's own rate; absent when that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    speed: Option<f64>,
    #[schemars(extend("enum" = OUTPUTS.all()))]
    dac_path: &'static str,
    #[schemars(extend("enum" = MAPPINGS.all()))]
    mapping: &'static str,
    /// It plays from the deep memory, which captures share.
    deep: bool,
    /// As `status` is `armed`.
    cotrig: bool,
    /// A sentence for each number of the order that the device changes, such as a rate that it does not
    /// have. Absent when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<&'a [String]>,
}

fn example() -> Started<'static> {
    Started {
        device_id: "01JGZ5V9T3N8W2K4Q7R6D1M0XA",
        waveform_id: Some("01JGZ5V9T3N8W2K4Q7R6D1M0XD"),
        status: STATUSES.word(Status::Playing),
        samples: 1024,
        source_samples: 2048,
        averaged: 2,
        sample_rate_hz: 50_000.0,
        speed: Some(1.0),
        dac_path: OUTPUTS.word(Output::V5),
        mapping: MAPPINGS.word(Mapping::Faithful),
        deep: false,
        cotrig: false,
        warnings: None,
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let order = parse(request)?;
    replay::start(&order)
        .map(|playing| reply(&order, &playing))
        .map_err(|error| refusal(error, &order))
}

fn parse(request: &Request) -> Result<Order, ApiError> {
    request.json()?.read::<Ask>()?.order()
}

impl Ask {
    fn order(self) -> Result<Order, ApiError> {
        Ok(Order {
            source: self.source()?,
            device: self.device_id,
            output: self.dac_path,
            mapping: self.mapping,
            sample_rate_mhz: self.sample_rate_mhz,
            window_start: self.window_start,
            window_len: self.window_len,
            target_samples: self.target_samples,
            on_capture: self.on_capture,
            fault: self.fault.map(Fault::from),
        })
    }

    /// The one source that the body names: a kept waveform, or samples in the request.
    fn source(&self) -> Result<Source, ApiError> {
        match (&self.waveform_id, &self.samples_b64) {
            (Some(_), Some(_)) => Err(ApiError::field(
                "samples_b64",
                "cannot come with waveform_id; give one",
            )),
            (None, None) => Err(ApiError::field(
                "waveform_id",
                "is required, or samples_b64",
            )),
            (Some(id), None) => {
                let of_codes = [
                    ("sample_rate_hz", self.sample_rate_hz.is_some()),
                    ("bits", self.bits.is_some()),
                    ("full_scale_v", self.full_scale_v.is_some()),
                ];
                match of_codes.iter().find(|(_, is_given)| *is_given) {
                    None => Ok(Source::Library(id.clone())),
                    Some((name, _)) => Err(ApiError::field(
                        *name,
                        "only goes with samples_b64; a kept waveform has its own",
                    )),
                }
            }
            (None, Some(samples_b64)) => {
                let rate = self.sample_rate_hz;
                Ok(Source::Inline(Inline {
                    samples_b64: samples_b64.clone(),
                    sample_rate_hz: rate
                        .ok_or_else(|| ApiError::field("sample_rate_hz", "is required"))?,
                    bits: self.bits.unwrap_or(BITS_DEFAULT),
                    full_scale_v: self.full_scale_v,
                }))
            }
        }
    }
}

fn reply(order: &Order, playing: &Playing) -> Response {
    let status = if playing.armed {
        Status::Armed
    } else {
        Status::Playing
    };
    let started = Started {
        device_id: &order.device,
        waveform_id: match &order.source {
            Source::Library(id) => Some(id),
            Source::Inline(_) => None,
        },
        status: STATUSES.word(status),
        samples: playing.samples,
        source_samples: playing.source_samples,
        averaged: playing.averaged,
        sample_rate_hz: playing.sample_rate_hz,
        speed: playing.speed,
        dac_path: OUTPUTS.word(order.output),
        mapping: MAPPINGS.word(order.mapping),
        deep: playing.deep,
        cotrig: playing.armed,
        warnings: (!playing.warnings.is_empty()).then_some(&playing.warnings),
    };
    Response::json(200, &started)
}

fn refusal(error: Error, order: &Order) -> ApiError {
    match error {
        Error::NoDevice => ApiError::not_found("device", &order.device),
        Error::NoWaveform => {
            let id = match &order.source {
                Source::Library(id) => id,
                Source::Inline(_) => "",
            };
            ApiError::not_found("waveform", id)
        }
        Error::Offline => ApiError::of(Refusal::DeviceOffline, "the device is offline"),
        Error::Busy(text) => ApiError::of(Refusal::DeviceBusy, format!("device is busy: {text}"))
            .retry_after(BUSY_RETRY_AFTER_S),
        Error::Held(busy) => ApiError::held(busy),
        Error::NotCapable(text) => ApiError::of(Refusal::NotCapable, text),
        Error::Invalid((field, message)) => ApiError::field(field, message),
        Error::WrongState(text) => ApiError::of(Refusal::WrongState, text),
        Error::Refused(text) => ApiError::of(Refusal::PodRefused, text),
        Error::TimedOut(ms) => ApiError::of(
            Refusal::DeviceTimeout,
            format!("the device did not answer within {ms} ms; the waveform may play"),
        ),
        Error::Protocol(text) => ApiError::of(
            Refusal::PodProtocol,
            format!("the device answered outside the protocol: {text}"),
        ),
        Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
mod tests;
