//! `GET /capture/{id}/decode`: protocol events of a finished capture, streamed by the host.
//!
//! Channels and decoder options share the query string. The channels of all decoders have fixed
//! names, so what is not one of them is an option, and the host knows which options there are.

use guest::captures;
use guest::decode::{self, EngineTrouble, Error, Format, Job};
use guest::{
    ApiError, Body, Openapi, Refusal, Request, Response, Route, Shape, integer, members, number,
    text, words,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;

use crate::capture;
use crate::refusal;
use crate::subject;

/// Longest glitch, in nanoseconds: a second.
const GLITCH_NS_MAX: f64 = 1e9;

/// Farthest threshold from 0, in the channel's unit.
const LEVEL_MAX: f64 = 1e6;

/// Most stretches of a summary.
const STRETCHES_MAX: u32 = 10_000;

/// Longest name of a channel, in characters.
const CHANNEL_CHARS_MAX: usize = 64;

/// Longest name or value of an option, in characters: as long as a plugin may declare them.
const OPTION_CHARS_MAX: usize = 128;

/// Longest list of annotation classes, in characters.
pub(crate) const ANNOTATIONS_CHARS_MAX: usize = 512;

/// Longest name of a decoder: that of a plugin, a slash, and its own; or several of sigrok-cli.
pub(crate) const PROTOCOL_CHARS_MAX: usize = 64 + 1 + 32;

/// Begins the names of decoders of sigrok-cli where the host reads them.
const SIGROK: &str = "sigrok:";

words! {
    pub(crate) const ENGINES: Engine = {
        Hostd = "hostd",
        Sigrok = "sigrok",
    };
}

/// Whose decoders are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Hostd,
    Sigrok,
}

/// How a program of others with many decoders refuses.
pub(crate) const ENGINE_REFUSALS: [Refusal; 4] = [
    Refusal::NotCapable,
    Refusal::Overloaded,
    Refusal::DecoderFailed,
    Refusal::DecoderTimeout,
];

/// Decoders of the bus whose lines an I²C capture knows.
const I2C: [&str; 2] = ["i2c", "i2c-registers"];

words! {
    const FORMATS: Format = {
        Json = "json",
        Sigrok = "sigrok",
        Csv = "csv",
    };
}

pub(crate) const ROUTE: Route = Route {
    name: "captures.decode",
    method: "GET",
    pattern: "/capture/{id}/decode",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: 0,
    summary: "Decode a capture's protocol",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[
                Refusal::WrongState,
                Refusal::NotGranted,
                Refusal::PluginFailed,
                Refusal::PluginUnavailable,
            ])
            .refusals(&ENGINE_REFUSALS)
            .path(capture::ID.0, capture::ID.1)
            .query::<Asked>()
            .other_queries(
                "options",
                "Any other parameter is an option of the decoder, named as in libsigrokdecode \
                 (`baudrate=115200`), or a channel of a decoder of a plugin or of sigrok-cli.",
            );
        let lines = json!({"type": "string", "description": "One JSON object a line."});
        let text = || json!({"type": "string"});
        for (media_type, schema, example) in [
            (
                "application/x-ndjson",
                lines,
                r#"{"start":60000,"end":60000,"decoder":"i2c","class":"start","text":"Start"}"#,
            ),
            ("text/plain", text(), "60000-60000 i2c-1: Start"),
            (
                "text/csv",
                text(),
                "start,end,decoder,class,text\n60000,60000,i2c,start,Start",
            ),
        ] {
            let example = json!(format!("{example}\n"));
            operation.reply_content(200, "The events, streamed.", media_type, schema, example);
        }
        operation.reply(200, "The events, streamed, or a summary.", &example());
    }),
    handle,
};

members! {
    struct Asked {
        /// Decoder: `i2c`, `i2c-registers`, `spi`, `uart`, `uart-conversation`, or `<plugin id>/<decoder id>`; `GET /decoders`
        /// lists them.
        protocol: String = required(text(1..=PROTOCOL_CHARS_MAX)),
        /// Whose decoder: `sigrok` takes all that an installed sigrok-cli has, also on top of each other: `protocol=i2c,ds1307`.
        engine: Engine = or(ENGINES.shape(), Engine::Hostd),
        /// JSON lines, the lines that sigrok-cli prints, or CSV.
        format: Format = or(FORMATS.shape(), Format::Json),
        /// Annotation classes or rows to keep, comma separated; absent = the decoder's default.
        annotations: Option<String> = optional(text(1..=ANNOTATIONS_CHARS_MAX)),
        /// First sample. Inside a capture, a decoding begins where the decoder knows where it is; docs/captures.md says where.
        from: Option<u64> = optional(subject::sample(0)),
        /// The sample behind the last one; the end of the capture when it is left out.
        to: Option<u64> = optional(subject::sample(1)),
        /// Events at most.
        limit: Option<u64> = optional(integer(1..=subject::SAMPLES_MAX)),
        /// Pulses shorter than so many nanoseconds are left out.
        glitch: Option<f64> = optional(number(0.0, GLITCH_NS_MAX)),
        /// The analog channel is read as logic, high above this value of its unit; the roles of the decoder then take that
        /// channel.
        threshold: Option<f64> = optional(number(-LEVEL_MAX, LEVEL_MAX)),
        /// With `threshold`: it rises half of this above it, and falls half of this below.
        hysteresis: Option<f64> = optional(number(0.0, LEVEL_MAX)),
        /// In place of events, how many of each class begin in each of so many equal stretches: `application/json`.
        summary: Option<u32> = optional(integer(1..=STRETCHES_MAX)),
        channels: Channels = inline(),
    }
}

members! {
    /// Channels of the decoders, named as in libsigrokdecode.
    pub(crate) struct Channels {
        /// I²C clock: capture channel by its name, such as `LA1`. An I²C analyzer capture knows its own.
        scl: Option<String> = optional(value()),
        /// I²C data: capture channel by its name, such as `LA1`. An I²C analyzer capture knows its own.
        sda: Option<String> = optional(value()),
        /// UART receive: capture channel by its name, such as `LA1`.
        rx: Option<String> = optional(value()),
        /// UART transmit: capture channel by its name, such as `LA1`.
        tx: Option<String> = optional(value()),
        /// SPI clock: capture channel by its name, such as `LA1`.
        clk: Option<String> = optional(value()),
        /// SPI data to the device: capture channel by its name, such as `LA1`.
        mosi: Option<String> = optional(value()),
        /// SPI data from the device: capture channel by its name, such as `LA1`.
        miso: Option<String> = optional(value()),
        /// SPI select: capture channel by its name, such as `LA1`.
        cs: Option<String> = optional(value()),
    }
}

/// How many events there are, from afar.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DecodeSummary")]
struct Summary {
    /// First sample.
    from: u64,
    /// The sample behind the last one.
    to: u64,
    /// Fewer than were asked for where there are fewer samples.
    stretches: u32,
    /// Samples of the range that were lost; absent when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gaps: Vec<capture::GapRecord>,
    /// For each class that is there, how many begin in each stretch.
    classes: BTreeMap<&'static str, Vec<u32>>,
}

/// For the documentation.
fn example() -> Summary {
    Summary {
        from: 0,
        to: 1_000_000,
        stretches: 3,
        gaps: Vec::new(),
        classes: BTreeMap::from([("start", vec![4, 0, 2])]),
    }
}

fn value() -> impl Shape<Value = String> {
    text(1..=CHANNEL_CHARS_MAX)
}

impl Channels {
    /// The channels that are given.
    pub(crate) fn given(self) -> Vec<(String, String)> {
        let all = [
            ("scl", self.scl),
            ("sda", self.sda),
            ("rx", self.rx),
            ("tx", self.tx),
            ("clk", self.clk),
            ("mosi", self.mosi),
            ("miso", self.miso),
            ("cs", self.cs),
        ];
        let given = all
            .into_iter()
            .filter_map(|(role, channel)| Some((role.to_owned(), channel?)));
        given.collect()
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let (mut job, summary) = parse(request)?;
    let id = capture::id(request);
    if I2C.contains(&job.protocol.as_str()) && job.channels.is_empty() {
        let info = captures::get(id).map_err(|error| refusal::of(error, "capture", id))?;
        if let Some((scl, sda)) = info.i2c {
            job.channels = i2c_channels(scl, sda);
        }
    }
    if let Some(stretches) = summary {
        let told = decode::density(id, &job, stretches).map_err(|error| refusal(error, id))?;
        return Ok(Response {
            status: 200,
            headers: vec![("content-type".to_owned(), SUMMARY.to_owned())],
            body: Body::Bytes(told.into_bytes()),
        });
    }
    let stream = decode::run(id, &job).map_err(|error| refusal(error, id))?;
    Ok(Response {
        status: 200,
        headers: vec![("content-type".to_owned(), media_type(job.format).to_owned())],
        body: Body::Stream(stream),
    })
}

/// Media type of a summary.
const SUMMARY: &str = "application/json";

/// The job, and the stretches of a summary.
fn parse(request: &Request) -> Result<(Job, Option<u32>), ApiError> {
    let (asked, options): (Asked, _) = request.query()?.read_open()?;
    check(&options)?;
    let half = asked.hysteresis.unwrap_or_default() / 2.0;
    if asked.threshold.is_none() && asked.hysteresis.is_some() {
        return Err(ApiError::field("hysteresis", "needs a threshold"));
    }
    let protocol = match asked.engine {
        Engine::Hostd => asked.protocol,
        Engine::Sigrok => format!("{SIGROK}{}", asked.protocol),
    };
    let job = Job {
        protocol,
        channels: asked.channels.given(),
        options,
        annotations: asked.annotations,
        format: asked.format,
        first: asked.from,
        end: asked.to,
        limit: asked.limit,
        glitch_ns: asked.glitch,
        thresholds: asked.threshold.map(|at| (at + half, at - half)),
    };
    Ok((job, asked.summary))
}

/// Refuse options that are too long to be any.
pub(crate) fn check(options: &[(String, String)]) -> Result<(), ApiError> {
    let long = |text: &str| text.chars().count() > OPTION_CHARS_MAX;
    match options
        .iter()
        .find(|(name, value)| long(name) || long(value))
    {
        None => Ok(()),
        Some((name, _)) => Err(ApiError::field(
            name.chars().take(OPTION_CHARS_MAX).collect::<String>(),
            format!("is no option: names and values have at most {OPTION_CHARS_MAX} characters"),
        )),
    }
}

/// Channels of the two lines of an I²C capture.
pub(crate) fn i2c_channels(scl: u8, sda: u8) -> Vec<(String, String)> {
    vec![
        ("scl".to_owned(), format!("LA{scl}")),
        ("sda".to_owned(), format!("LA{sda}")),
    ]
}

fn media_type(format: Format) -> &'static str {
    match format {
        Format::Json => "application/x-ndjson",
        Format::Sigrok => "text/plain; charset=utf-8",
        Format::Csv => "text/csv; charset=utf-8",
    }
}

pub(crate) fn refusal(error: Error, id: &str) -> ApiError {
    match error {
        Error::NotFound => ApiError::not_found("capture", id),
        Error::WrongState(message) => ApiError::of(Refusal::WrongState, message),
        Error::NotGranted(message) => ApiError::of(Refusal::NotGranted, message),
        Error::Unavailable(message) => ApiError::of(Refusal::PluginUnavailable, message),
        Error::Failed(message) => ApiError::of(Refusal::PluginFailed, message),
        Error::Engine((trouble, message)) => match trouble {
            EngineTrouble::NotInstalled => ApiError::of(Refusal::NotCapable, message),
            EngineTrouble::Unfit => ApiError::field("protocol", message),
            EngineTrouble::Busy => ApiError::of(Refusal::Overloaded, message),
            EngineTrouble::TimedOut => ApiError::of(Refusal::DecoderTimeout, message),
            EngineTrouble::Failed => ApiError::of(Refusal::DecoderFailed, message),
        },
        Error::Invalid((field, cause)) => {
            let message = format!("failed to {cause}");
            let mut error = ApiError::field(field, &message);
            error.message = message;
            error
        }
        Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
mod tests {
    use guest::decode::{EngineTrouble, Error, Format};
    use guest::testing::{get, mutations};

    use super::{CHANNEL_CHARS_MAX, OPTION_CHARS_MAX, media_type, parse, refusal};

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|&(a, b)| (a.to_owned(), b.to_owned()))
            .collect()
    }

    #[test]
    fn channels_and_options_are_told_apart() {
        let (job, _) = parse(&get(
            &["01X"],
            "protocol=uart&baudrate=115200&rx=LA3&parity=odd&annotations=rx-data%2Crx-warning&format=csv",
        ))
        .unwrap();
        assert_eq!(job.protocol, "uart");
        assert_eq!(job.channels, pairs(&[("rx", "LA3")]));
        assert_eq!(
            job.options,
            pairs(&[("baudrate", "115200"), ("parity", "odd")])
        );
        assert_eq!(job.annotations.as_deref(), Some("rx-data,rx-warning"));
        assert_eq!(job.format, Format::Csv);
        let (job, _) = parse(&get(&["01X"], "sda=LA2&scl=LA1&protocol=i2c")).unwrap();
        assert_eq!(job.channels, pairs(&[("scl", "LA1"), ("sda", "LA2")]));
        assert!(job.options.is_empty() && job.annotations.is_none());
        assert_eq!(job.format, Format::Json);
    }

    #[test]
    fn bad_queries_are_told() {
        let long = format!("protocol=i2c&{}=1", "x".repeat(OPTION_CHARS_MAX + 1));
        let far = format!("protocol=i2c&scl={}", "x".repeat(CHANNEL_CHARS_MAX + 1));
        for (query, field) in [
            ("scl=LA1", "protocol"),
            ("protocol=", "protocol"),
            ("protocol=i2c&format=xml", "format"),
            ("protocol=i2c&scl=", "scl"),
            ("protocol=i2c&protocol=spi", "protocol"),
            (long.as_str(), &long[13..13 + OPTION_CHARS_MAX]),
            (far.as_str(), "scl"),
        ] {
            let error = parse(&get(&["01X"], query)).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn decoders_of_sigrok_are_marked_for_the_host() {
        let query = "protocol=i2c%2Cds1307&engine=sigrok&scl=LA1&sda=LA2&can_rx=LA3";
        let (job, _) = parse(&get(&["01X"], query)).unwrap();
        assert_eq!(job.protocol, "sigrok:i2c,ds1307");
        assert_eq!(job.options, pairs(&[("can_rx", "LA3")]));
        let error = parse(&get(&["01X"], "protocol=i2c&engine=other")).unwrap_err();
        assert_eq!((error.status, &*error.fields[0].field), (400, "engine"));
    }

    #[test]
    fn an_option_is_as_long_as_a_plugin_may_declare() {
        let value = "x".repeat(OPTION_CHARS_MAX);
        let (job, _) = parse(&get(&["01X"], &format!("protocol=a.b/c&mode={value}"))).unwrap();
        assert_eq!(job.options, pairs(&[("mode", value.as_str())]));
    }

    #[test]
    fn a_part_of_a_capture_can_be_asked_for() {
        let query = "protocol=uart&rx=ADC&from=5&to=9&limit=2&glitch=41.7&threshold=1.5&hysteresis=0.5&summary=100";
        let (job, summary) = parse(&get(&["01X"], query)).unwrap();
        assert_eq!((job.first, job.end, job.limit), (Some(5), Some(9), Some(2)));
        assert_eq!(
            (job.glitch_ns, job.thresholds),
            (Some(41.7), Some((1.75, 1.25)))
        );
        assert_eq!((summary, job.options), (Some(100), Vec::new()));
        for (query, field) in [
            ("protocol=i2c&hysteresis=0.1", "hysteresis"),
            ("protocol=i2c&glitch=0", "glitch"),
            ("protocol=i2c&limit=0", "limit"),
            ("protocol=i2c&to=0", "to"),
            ("protocol=i2c&summary=10001", "summary"),
        ] {
            let error = parse(&get(&["01X"], query)).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn media_types() {
        assert_eq!(media_type(Format::Json), "application/x-ndjson");
        assert!(media_type(Format::Sigrok).starts_with("text/plain"));
        assert!(media_type(Format::Csv).starts_with("text/csv"));
    }

    #[test]
    fn refusals() {
        for (error, status, code, message) in [
            (Error::NotFound, 404, "not_found", "capture not found: 01X"),
            (
                Error::WrongState("it runs".into()),
                409,
                "wrong_state",
                "it runs",
            ),
            (
                Error::Invalid(("protocol".into(), "find protocol `x`; known are i2c".into())),
                400,
                "invalid_request",
                "failed to find protocol `x`; known are i2c",
            ),
            (
                Error::Engine((EngineTrouble::NotInstalled, "none".into())),
                400,
                "not_capable",
                "none",
            ),
            (
                Error::Engine((EngineTrouble::TimedOut, "too long".into())),
                504,
                "decoder_timeout",
                "too long",
            ),
            (
                Error::Engine((EngineTrouble::Busy, "full".into())),
                503,
                "overloaded",
                "full",
            ),
        ] {
            let error = refusal(error, "01X");
            assert_eq!(
                (error.status, error.code, error.message.as_str()),
                (status, code, message)
            );
        }
        assert_eq!(refusal(Error::Other("disk".into()), "01X").status, 500);
    }

    #[test]
    fn mutated_queries_never_panic() {
        let valid = b"protocol=spi&clk=LA1&mosi=LA2&cpol=1&annotations=mosi-data&format=json";
        mutations(0xDEC0, valid, 10_000, |query| {
            if let Ok(query) = std::str::from_utf8(query)
                && let Ok((job, _)) = parse(&get(&["01X"], query))
            {
                assert!(!job.protocol.is_empty());
                assert!(job.options.len() + job.channels.len() <= 64);
            }
        });
    }
}
