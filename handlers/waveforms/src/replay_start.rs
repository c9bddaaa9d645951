//! `POST /dac/replay/start`: play a kept waveform, or one that comes with the request.

use guest::replay::{self, Error, Inline, Order, Playing, Source};
use guest::waveforms::{Mapping, Output};
use guest::{
    ApiError, Fields, JSON_BODY_BYTES_MAX, Object, Request, Response, Route, choice, flag, integer,
    number, text,
};

use crate::save_codes::{SAMPLES_CHARS_MAX, bits};
use crate::{fault, output, waveform};

/// Longest id of a device or waveform, in characters.
const ID_CHARS_MAX: usize = 64;

/// Fastest rate that makes sense as a number, in MHz. Pods take the nearest one they have.
const RATE_MHZ_MAX: f64 = 1000.0;

/// More samples than any waveform has.
const SAMPLES_MAX: u64 = 1 << 40;

/// Seconds after which it is worth asking a busy device again.
const BUSY_RETRY_AFTER_S: u32 = 1;

/// Members that only describe a waveform that comes with the request.
const INLINE_MEMBERS: [&str; 3] = ["sample_rate_hz", "bits", "full_scale_v"];

pub(crate) const ROUTE: Route = Route {
    name: "dac.replay_start",
    method: "POST",
    pattern: "/dac/replay/start",
    credentials: waveform::CREDENTIALS,
    scope: waveform::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Play a waveform on a DAC output",
    openapi: guest::compact_json!(include_str!("replay_start.json")),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let order = parse(request)?;
    replay::start(&order)
        .map(|playing| reply(&order, &playing))
        .map_err(|error| refusal(error, &order))
}

fn parse(request: &Request) -> Result<Order, ApiError> {
    let mut body = request.json()?;
    let order = Order {
        device: body.required("device_id", text(1..=ID_CHARS_MAX)),
        source: source(&mut body),
        output: body.or("dac_path", choice(output::OUTPUTS), Output::V3),
        mapping: body.or("mapping", choice(output::MAPPINGS), Mapping::Faithful),
        sample_rate_mhz: body.optional("sample_rate_mhz", number(0.0, RATE_MHZ_MAX)),
        window_start: body.or("window_start", integer(0..=SAMPLES_MAX), 0),
        window_len: counted(&mut body, "window_len"),
        target_samples: counted(&mut body, "target_samples"),
        on_capture: body.or("on_capture", flag(), false),
        fault: fault::read(&mut body),
    };
    body.finish()?;
    Ok(order)
}

/// A count where 0 stands for none.
fn counted(body: &mut Fields, name: &str) -> Option<u64> {
    body.optional(name, integer(0..=SAMPLES_MAX))
        .filter(|count| *count > 0)
}

/// Exactly one of a kept waveform and one that comes along.
fn source(body: &mut Fields) -> Source {
    let comes_along = body.has("samples_b64");
    match (body.has("waveform_id"), comes_along) {
        (true, true) => body.problem("samples_b64", "cannot come with waveform_id; give one"),
        (false, false) => body.problem("waveform_id", "is required, or samples_b64"),
        _ => {}
    }
    if comes_along {
        let given = Inline {
            samples_b64: body.required("samples_b64", text(1..=SAMPLES_CHARS_MAX)),
            sample_rate_hz: body.required("sample_rate_hz", waveform::rate_hz()),
            bits: bits(body),
            full_scale_v: body.optional("full_scale_v", waveform::full_scale()),
        };
        body.ignore("waveform_id");
        return Source::Inline(given);
    }
    for name in INLINE_MEMBERS {
        if body.has(name) {
            body.problem(
                name,
                "only goes with samples_b64; a kept waveform has its own",
            );
        }
        body.ignore(name);
    }
    let id = body.optional("waveform_id", text(1..=ID_CHARS_MAX));
    Source::Library(id.unwrap_or_default())
}

fn reply(order: &Order, playing: &Playing) -> Response {
    let mut body = Object::new();
    body.field("device_id", &order.device);
    if let Source::Library(id) = &order.source {
        body.field("waveform_id", id);
    }
    body.field("status", if playing.armed { "armed" } else { "playing" })
        .field("samples", &playing.samples)
        .field("source_samples", &playing.source_samples)
        .field("averaged", &playing.averaged)
        .field("sample_rate_hz", &playing.sample_rate_hz)
        .some("speed", playing.speed.as_ref())
        .field("dac_path", output::name(order.output))
        .field("mapping", output::mapping(order.mapping))
        .field("deep", &playing.deep)
        .field("cotrig", &playing.armed)
        .some(
            "warnings",
            (!playing.warnings.is_empty()).then_some(&playing.warnings),
        );
    body.reply(200)
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
        Error::Offline => ApiError::new(503, "device_offline", "the device is offline"),
        Error::Busy(text) => ApiError::new(409, "device_busy", format!("device is busy: {text}"))
            .retry_after(BUSY_RETRY_AFTER_S),
        Error::Held(busy) => ApiError::held(busy),
        Error::NotCapable(text) => ApiError::new(400, "not_capable", text),
        Error::Invalid((field, message)) => ApiError::field(field, message),
        Error::WrongState(text) => ApiError::new(409, "wrong_state", text),
        Error::Refused(text) => ApiError::new(502, "pod_refused", text),
        Error::TimedOut(ms) => ApiError::new(
            504,
            "device_timeout",
            format!("the device did not answer within {ms} ms; the waveform may play"),
        ),
        Error::Protocol(text) => ApiError::new(
            502,
            "pod_protocol",
            format!("the device answered outside the protocol: {text}"),
        ),
        Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
mod tests;
