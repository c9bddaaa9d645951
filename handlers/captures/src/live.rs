//! `WS /ws/capture`: the captures of a device, frame by frame while they are received.

use guest::captures::{self, LiveDecoding};
use guest::{
    ApiError, Body, Openapi, Refusal, Request, Response, Route, choice, id, integer, members, text,
};

use crate::decode::{ANNOTATIONS_CHARS_MAX, Channels, PROTOCOL_CHARS_MAX, check};
use crate::{capture, refusal};

/// Whether there are frames.
const FRAMES: &[(&str, bool)] = &[("all", true), ("none", false)];

/// Whether a format is binary.
const FORMATS: &[(&str, bool)] = &[("json", false), ("binary", true)];

pub(crate) const ROUTE: Route = Route {
    name: "captures.live",
    method: "WS",
    pattern: "/ws/capture",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: 0,
    summary: "Live captures of a device",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::DeviceOffline, Refusal::WrongState])
            .query::<Query>()
            .other_queries(
                "options",
                "With `protocol`, any other parameter is an option of the decoder, named as in libsigrokdecode \
                 (`baudrate=115200`).",
            )
            .host_query("token", "Credential, where no header can be set.")
            .reply_empty(
                101,
                "Text messages are JSON objects with a `type`: `hello`, `capture.state`, `frame`, \
                 `gap`, `annotations`, `annotations.error`, `dropped`, `capture.done`, `capture.error`, `device.event`. Frames are those of \
                 `GET /capture/{id}`. The stream takes no messages. Close codes: 1001 the server stops, \
                 1003 a message was sent, 1008 the client takes or answers nothing, or `too_slow`, \
                 `revoked_credential`, `expired_credential`, 4002 the device was removed.",
            );
    }),
    handle,
};

members! {
    struct Query {
        /// Device whose captures are followed.
        device_id: String = required(id()),
        /// Capture of the device to go on with, finished or not; the captures after it follow.
        capture_id: Option<String> = optional(id()),
        /// First frame of it that is wanted; 0 when it is left out.
        from_seq: Option<u32> = optional(integer(0..=u32::MAX)),
        /// `binary` sends frames as binary messages behind a header of 32 bytes.
        format: bool = or(choice(FORMATS), false),
        /// Decode captures while they arrive: `i2c`, `uart` or `spi`. At most 8 clients of a device.
        protocol: Option<String> = optional(text(1..=PROTOCOL_CHARS_MAX)),
        /// Annotation classes or rows to keep, comma separated; absent = the decoder's default.
        annotations: Option<String> = optional(text(1..=ANNOTATIONS_CHARS_MAX)),
        /// With `protocol`: `none` leaves the frames out.
        frames: Option<bool> = optional(choice(FRAMES)),
        channels: Channels = inline(),
    }
}

#[derive(Debug)]
struct Asked {
    device: String,
    /// Capture and frame to go on with.
    resume: Option<(String, u32)>,
    binary: bool,
    decoding: Option<LiveDecoding>,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let asked = parse(request)?;
    let resume = asked.resume.as_ref().map(|(id, seq)| (id.as_str(), *seq));
    let upgrade = captures::follow(&asked.device, resume, asked.binary, asked.decoding.as_ref());
    let upgrade = upgrade.map_err(|error| match &asked.resume {
        Some((id, _)) => refusal::of(error, "device or capture", id),
        None => refusal::of(error, "device", &asked.device),
    })?;
    Ok(Response {
        status: 101,
        headers: Vec::new(),
        body: Body::Upgrade(upgrade),
    })
}

fn parse(request: &Request) -> Result<Asked, ApiError> {
    let (query, options): (Query, _) = request.query()?.read_open()?;
    check(&options)?;
    let from_seq = query.from_seq.unwrap_or(0);
    let channels = query.channels.given();
    let decoding = match query.protocol {
        Some(_) if from_seq > 0 => {
            let rule = "must be 0 with a protocol: a decoding begins with the first frame";
            return Err(ApiError::field("from_seq", rule));
        }
        Some(protocol) => Some(LiveDecoding {
            protocol,
            channels,
            options,
            annotations: query.annotations,
            frames: query.frames.unwrap_or(true),
        }),
        None => {
            let others = options
                .iter()
                .chain(&channels)
                .map(|(name, _)| name.as_str());
            let annotations = query.annotations.map(|_| "annotations");
            let frames = query.frames.map(|_| "frames");
            let mut given = others.chain(annotations).chain(frames);
            if let Some(name) = given.next() {
                return Err(ApiError::field(name, "needs a protocol beside it"));
            }
            None
        }
    };
    if query.from_seq.is_some() && query.capture_id.is_none() {
        return Err(ApiError::field("from_seq", "needs capture_id beside it"));
    }
    Ok(Asked {
        device: query.device_id,
        resume: query.capture_id.map(|id| (id, from_seq)),
        binary: query.format,
        decoding,
    })
}

#[cfg(test)]
mod tests {
    use guest::testing::{get, mutations};

    use super::parse;

    #[test]
    fn query() {
        let asked = |query: &str| parse(&get(&[], query));
        let resumed = asked("device_id=d&capture_id=c&from_seq=7&format=binary").unwrap();
        assert_eq!(resumed.device, "d");
        assert_eq!(
            (resumed.resume, resumed.binary),
            (Some(("c".into(), 7)), true)
        );
        assert!(resumed.decoding.is_none());
        let decoded =
            asked("device_id=d&protocol=uart&rx=LA3&baudrate=9600&annotations=rx-data&frames=none");
        let decoded = decoded.unwrap().decoding.unwrap();
        assert_eq!((decoded.protocol.as_str(), decoded.frames), ("uart", false));
        assert_eq!(decoded.channels, [("rx".to_owned(), "LA3".to_owned())]);
        assert_eq!(
            decoded.options,
            [("baudrate".to_owned(), "9600".to_owned())]
        );
        assert_eq!(decoded.annotations.as_deref(), Some("rx-data"));
        let plain = asked("device_id=d&capture_id=c").unwrap();
        assert_eq!((plain.resume, plain.binary), (Some(("c".into(), 0)), false));
        for (query, field) in [
            ("", "device_id"),
            ("device_id=", "device_id"),
            ("device_id=d&from_seq=1", "from_seq"),
            ("device_id=d&capture_id=c&from_seq=-1", "from_seq"),
            ("device_id=d&format=xml", "format"),
            ("device_id=d&x=1", "x"),
            ("device_id=d&rx=LA1", "rx"),
            ("device_id=d&frames=none", "frames"),
            ("device_id=d&protocol=i2c&frames=some", "frames"),
            (
                "device_id=d&capture_id=c&from_seq=1&protocol=i2c",
                "from_seq",
            ),
        ] {
            let error = asked(query).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn mutated_queries_never_panic() {
        let valid = b"device_id=d&capture_id=c&from_seq=7&format=binary";
        mutations(0x11fe, valid, 5000, |query| {
            if let Ok(query) = std::str::from_utf8(query)
                && let Ok(asked) = parse(&get(&[], query))
            {
                assert!(!asked.device.is_empty());
            }
        });
    }
}
