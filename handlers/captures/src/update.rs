//! `PATCH /capture/{id}`: give a finished capture another name, labels of its channels, markers, and pin it.

use guest::captures::{self, Edit};
use guest::{
    ApiError, Openapi, Refusal, Request, Response, Route, flag, integer, list, members, nested,
    text,
};
use serde_json::json;

use crate::{capture, refusal, subject};

/// Longest name of a capture, in characters.
const NAME_CHARS_MAX: usize = 128;

/// Longest label of a channel, in characters.
const LABEL_CHARS_MAX: usize = 64;

/// Most channels of a capture.
const CHANNELS_MAX: u32 = 65;

/// Most markers of a capture.
const MARKERS_MAX: usize = 100;

/// Longest note of a marker, in characters.
const NOTE_CHARS_MAX: usize = 200;

/// Last sample that any capture can have.
const SAMPLE_MAX: u64 = subject::SAMPLES_MAX - 1;

pub(crate) const ROUTE: Route = Route {
    name: "captures.update",
    method: "PATCH",
    pattern: "/capture/{id}",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: 256 << 10,
    summary: "Name, label, mark or pin a capture",
    openapi: Openapi::of(|operation| {
        let changed = capture::example();
        operation
            .refusals(&[Refusal::WrongState])
            .path(capture::ID.0, capture::ID.1)
            .body::<Body>(json!({
                "name": "boot, cold",
                "pinned": true,
                "channels": [{"id": 0, "label": "SCL"}],
                "markers": [{"channel": 0, "sample": 60_000, "note": "the first START"}]
            }))
            .reply(
                200,
                "The changed capture, without its frames.",
                &capture::Full::new(&changed, capture::Kept::of(&changed)),
            );
    }),
    handle,
};

members! {
    /// What is left out stays as it is.
    #[derive(Debug, PartialEq)]
    struct Body {
        /// An empty one removes the name.
        name: Option<String> = optional(text(0..=NAME_CHARS_MAX)),
        /// A pinned capture is not deleted: not to make room, not when it is old, and by no request. It counts towards the
        /// quota like any other.
        pinned: Option<bool> = optional(flag()),
        /// Channels whose labels change.
        channels: Option<Vec<Label>> = optional(list(nested(), 0..=CHANNELS_MAX as usize)),
        /// All markers: these are in place of those that there were.
        markers: Option<Vec<Marker>> = optional(list(nested(), 0..=MARKERS_MAX)),
    }
}

members! {
    #[derive(Debug, PartialEq)]
    struct Label {
        /// Id of the channel.
        id: u32 = required(integer(0..=CHANNELS_MAX - 1)),
        /// Names the channel wherever its own name does, and in exported files. No other channel has it, and it is not a number
        /// alone. An empty one is removed.
        label: String = required(text(0..=LABEL_CHARS_MAX)),
    }
}

members! {
    #[derive(Debug, PartialEq)]
    struct Marker {
        /// Id of the channel whose samples are counted.
        channel: u32 = or(integer(0..=CHANNELS_MAX - 1), 0),
        /// In the capture.
        sample: u64 = required(integer(0..=SAMPLE_MAX)),
        note: String = required(text(1..=NOTE_CHARS_MAX)),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let body = parse(request)?;
    let id = capture::id(request);
    let labels = body.channels.unwrap_or_default().into_iter();
    let marker = |marker: Marker| captures::Marker {
        channel: marker.channel,
        sample: marker.sample,
        note: marker.note,
    };
    let markers = body.markers;
    let edit = Edit {
        name: body.name,
        pinned: body.pinned,
        labels: labels.map(|label| (label.id, label.label)).collect(),
        markers: markers.map(|markers| markers.into_iter().map(marker).collect()),
    };
    let changed = captures::update(id, &edit);
    let changed = changed.map_err(|error| refusal::of(error, "capture", id))?;
    let full = capture::Full::new(&changed, capture::Kept::of(&changed));
    Ok(Response::json(200, &full))
}

fn parse(request: &Request) -> Result<Body, ApiError> {
    let body: Body = request.json()?.read()?;
    let is_empty = body.name.is_none()
        && body.pinned.is_none()
        && body.channels.is_none()
        && body.markers.is_none();
    match is_empty {
        true => Err(ApiError::invalid(
            "give name, pinned, channels or markers: nothing else of a capture can be changed",
        )),
        false => Ok(body),
    }
}

#[cfg(test)]
mod tests {
    use guest::testing::{mutations, request};
    use serde_json::json;

    use super::{Label, Marker, parse};

    #[test]
    fn what_can_be_changed() {
        let body = parse(&request(
            r#"{"name":"","channels":[{"id":1,"label":"SDA"}],"markers":[{"sample":5,"note":"x"}]}"#,
        ));
        let body = body.unwrap();
        assert_eq!((body.name.as_deref(), body.pinned), (Some(""), None));
        let label = "SDA".to_owned();
        assert_eq!(body.channels.unwrap(), [Label { id: 1, label }]);
        let marker = Marker {
            channel: 0,
            sample: 5,
            note: "x".to_owned(),
        };
        assert_eq!(body.markers.unwrap(), [marker]);
        let many = json!({"markers": vec![json!({"sample": 0, "note": "x"}); 101]}).to_string();
        for bad in [
            "{}",
            "[]",
            r#"{"name":null}"#,
            r#"{"status":"done"}"#,
            r#"{"pinned":1}"#,
            r#"{"channels":[{"id":65,"label":"a"}]}"#,
            r#"{"channels":[{"label":"a"}]}"#,
            r#"{"markers":[{"sample":-1,"note":"x"}]}"#,
            r#"{"markers":[{"sample":0,"note":""}]}"#,
            &many,
        ] {
            assert_eq!(parse(&request(bad)).unwrap_err().status, 400, "{bad}");
        }
    }

    #[test]
    fn the_example_is_accepted() {
        let mut request = request("");
        request.body = guest::testing::request_example(&super::ROUTE);
        assert!(parse(&request).is_ok());
    }

    #[test]
    fn mutated_bodies_never_panic() {
        let valid = br#"{"name":"n","pinned":true,"markers":[{"sample":5,"note":"x"}]}"#;
        mutations(0xCA97, valid, 5000, |body| {
            let mut request = request("");
            request.body = body.to_vec();
            // Whatever it is, it is read or refused.
            let _ = parse(&request);
        });
    }
}
