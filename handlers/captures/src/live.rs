//! `WS /ws/capture`: the captures of a device, frame by frame while they are received.

use guest::captures;
use guest::{
    ApiError, Body, Openapi, Refusal, Request, Response, Route, choice, id, integer, members,
};

use crate::{capture, refusal};

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
            .refusals(&[Refusal::DeviceOffline])
            .query::<Query>()
            .host_query("token", "Credential, where no header can be set.")
            .reply_empty(
                101,
                "Text messages are JSON objects with a `type`: `hello`, `capture.state`, `frame`, \
                 `dropped`, `capture.done`, `capture.error`, `device.event`. Frames are those of \
                 `GET /capture/{id}`. The stream takes no messages. Close codes: 1001 the server stops, \
                 1003 a message was sent, 1008 the client takes or answers nothing, or \
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
    }
}

#[derive(Debug, PartialEq)]
struct Asked {
    device: String,
    /// Capture and frame to go on with.
    resume: Option<(String, u32)>,
    binary: bool,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let asked = parse(request)?;
    let resume = asked.resume.as_ref().map(|(id, seq)| (id.as_str(), *seq));
    let upgrade = captures::follow(&asked.device, resume, asked.binary);
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
    let query: Query = request.query()?.read()?;
    if query.from_seq.is_some() && query.capture_id.is_none() {
        return Err(ApiError::field("from_seq", "needs capture_id beside it"));
    }
    let from_seq = query.from_seq.unwrap_or(0);
    Ok(Asked {
        device: query.device_id,
        resume: query.capture_id.map(|id| (id, from_seq)),
        binary: query.format,
    })
}

#[cfg(test)]
mod tests {
    use guest::testing::{get, mutations};

    use super::{Asked, parse};

    #[test]
    fn query() {
        let asked = |query: &str| parse(&get(&[], query));
        assert_eq!(
            asked("device_id=d&capture_id=c&from_seq=7&format=binary").unwrap(),
            Asked {
                device: "d".into(),
                resume: Some(("c".into(), 7)),
                binary: true
            }
        );
        let plain = asked("device_id=d&capture_id=c").unwrap();
        assert_eq!((plain.resume, plain.binary), (Some(("c".into(), 0)), false));
        for (query, field) in [
            ("", "device_id"),
            ("device_id=", "device_id"),
            ("device_id=d&from_seq=1", "from_seq"),
            ("device_id=d&capture_id=c&from_seq=-1", "from_seq"),
            ("device_id=d&format=xml", "format"),
            ("device_id=d&x=1", "x"),
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
