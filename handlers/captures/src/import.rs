//! `POST /captures/import`: a recording of another tool becomes a capture. Its bytes go from the connection to
//! disk without passing through here.

use super::subject::CHANNELS_CHARS_MAX;
use guest::recordings::{self, Reading};
use guest::{
    ApiError, Openapi, Refusal, Request, Response, Route, form, id, members, number, streamed,
    text, uploads,
};
use schemars::json_schema;
use serde_json::json;

use crate::{capture, export, order};

/// Highest rate that a file can be read at, in hertz.
const RATE_MAX: f64 = 1e12;

/// Largest file; the host unpacks no more than 2 GiB of it.
const BYTES_MAX: u32 = 256 << 20;

pub(crate) const ROUTE: Route = Route {
    name: "captures.import",
    method: "POST",
    pattern: "/captures/import",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: streamed(BYTES_MAX),
    summary: "Import a recording",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::QuotaExceeded])
            .query::<Asked>()
            .content(
                "application/octet-stream",
                json_schema!({
                    "type": "string",
                    "contentMediaType": "application/octet-stream",
                    "description": BODY,
                }),
                json!("PK"),
            )
            .reply(
                201,
                "The capture. It is done, and read, decoded and exported like any other.",
                &Imported::new(&capture::example(), &[]),
            );
    }),
    handle,
};

/// What the body may be.
const BODY: &str = "A file, of whatever kind its content says: sigrok session (`.sr`), value change dump (VCD), \
    fast signal trace (FST, of GTKWave and others), \
    comma-separated values (those exported here, by Saleae's Logic 2 or by sigrok, and others with a column of times or \
    with `rate`), binary export of Logic 2 (version 0 or 1), or WAV. At most 64 logic channels and one analog channel.";

capture::record! {
    /// An imported capture.
    #[schemars(rename = "ImportedCapture")]
    Imported {
        /// A sentence for each thing that was left out or taken for something else. Absent when there is none.
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        notes: &'a [String],
    }
}

members! {
    #[derive(Debug, PartialEq)]
    struct Asked {
        /// Name of the capture.
        name: Option<String> = optional(order::name()),
        /// Device whose capture it shall be; nobody's when it is left out. A session that is restricted to
        /// devices has to name one.
        device_id: Option<String> = optional(id()),
        /// Samples per second, for files that say when something changes rather than a rate. When it is left out, it is
        /// what the file says, or the lowest rate at which no time is lost.
        rate: Option<f64> = optional(number(0.0, RATE_MAX)),
        /// Names of the channels to take, comma separated, in the order of the capture's; all when it is left out.
        channels: Option<String> = optional(text(1..=CHANNELS_CHARS_MAX)),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let asked = parse(request)?;
    let (name, device) = (asked.name.as_deref(), asked.device_id.as_deref());
    let channels = asked.channels.as_deref().unwrap_or_default();
    let reading = Reading {
        rate_hz: asked.rate,
        channels: export::names(channels),
    };
    let file = uploads::receive(recordings::load_bytes_max()).map_err(form::refusal)?;
    let id = device.unwrap_or_default();
    let made = recordings::load(file, name, device, &reading).map_err(|error| match error {
        recordings::Error::NotFound => ApiError::not_found("device", id),
        other => export::refusal(other, id),
    })?;
    let imported = Imported::new(&made.capture, &made.notes);
    Ok(Response::json(201, &imported))
}

fn parse(request: &Request) -> Result<Asked, ApiError> {
    request.query()?.read()
}

#[cfg(test)]
mod tests {
    use guest::testing::get;

    use super::{Asked, parse};

    #[test]
    fn name_and_device_may_be_given() {
        let none = Asked {
            name: None,
            device_id: None,
            rate: None,
            channels: None,
        };
        assert_eq!(parse(&get(&[], "")).unwrap(), none);
        let given = parse(&get(
            &[],
            "name=boot&device_id=01X&rate=2.5e6&channels=SCL,%20SDA",
        ))
        .unwrap();
        let all = Asked {
            name: Some("boot".into()),
            device_id: Some("01X".into()),
            rate: Some(2.5e6),
            channels: Some("SCL, SDA".into()),
        };
        assert_eq!(given, all);
        for query in ["rate=0", "rate=2e12", "channels=", "rate=fast"] {
            assert_eq!(parse(&get(&[], query)).unwrap_err().status, 400, "{query}");
        }
        assert_eq!(parse(&get(&[], "title=x")).unwrap_err().status, 400);
    }
}
