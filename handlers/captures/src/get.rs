//! `GET /capture/{id}`: the record of a capture with a page of its frames and, for I²C, its decoded
//! events.

use guest::captures::{self, Frame, FrameData, Frames, Info, Kind, Status};
use guest::decode::{self, Format, Job};
use guest::{ApiError, Openapi, Operation, Request, Response, Route, choice, integer, members};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{capture, frames, refusal};

/// Bytes of sample data in a reply when the caller does not say.
const FRAME_BYTES_DEFAULT: u32 = 256 << 10;

/// Most bytes of sample data in a reply.
const FRAME_BYTES_MAX: u32 = 1 << 20;

/// Most decoded events in a record; `GET /capture/{id}/decode` streams all.
const EVENTS_MAX: u32 = 1000;

const FRAMES: &[(&str, bool)] = &[("all", true), ("none", false)];

pub(crate) const ROUTE: Route = Route {
    name: "captures.get",
    method: "GET",
    pattern: "/capture/{id}",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: 0,
    summary: "A capture with its frames",
    openapi: Openapi::of(describe),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    struct View {
        /// First frame of the page.
        from_seq: u32 = or(integer(0..=u32::MAX), 0),
        /// Most bytes of sample data in the page; one frame comes in any case.
        max_bytes: u32 = or(integer(1..=FRAME_BYTES_MAX), FRAME_BYTES_DEFAULT),
        /// `none` for the head alone.
        frames: bool = or(choice(FRAMES), true),
    }
}

capture::record! {
    /// A capture with a page of its samples.
    #[schemars(rename = "CaptureWithFrames")]
    Record {
        /// One page; empty until the capture is done.
        #[serde(skip_serializing_if = "Option::is_none")]
        frames: Option<Vec<frames::Record<'a>>>,
        /// Pass as `from_seq` to go on; absent on the last page.
        #[serde(skip_serializing_if = "Option::is_none")]
        next_seq: Option<u32>,
        /// First page of a finished I²C capture.
        #[serde(skip_serializing_if = "Option::is_none")]
        decoded: Option<Decoded<'a>>,
        /// There are more events; `GET /capture/{id}/decode` streams them all.
        #[serde(skip_serializing_if = "Option::is_none")]
        decoded_truncated: Option<bool>,
        #[serde(flatten)]
        kept: capture::Kept<'a>,
    }
}

/// What went over the bus.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Decoded<'a> {
    /// Conditions, addresses, data and acknowledges in order, at most 1000.
    i2c: Vec<Event<'a>>,
}

/// An annotation of a decoder.
#[derive(Serialize, JsonSchema)]
struct Event<'a> {
    /// First sample.
    start: u64,
    /// Last sample.
    end: u64,
    decoder: &'a str,
    /// Annotation class, named as in libsigrokdecode.
    class: &'a str,
    text: &'a str,
    /// Address, byte or bit, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<u64>>,
}

fn describe(operation: &mut Operation) {
    let info = capture::example();
    let frame = Frame {
        seq: 0,
        channel: 0,
        start_sample: 0,
        count: 100_000,
        data: FrameData::Runs((1, vec![60_000, 5, 39_995])),
    };
    let start = Event {
        start: 60_000,
        end: 60_000,
        decoder: "i2c",
        class: "start",
        text: "Start",
        value: None,
        values: None,
    };
    let example = Record::new(
        &info,
        Some(vec![(&frame).into()]),
        Some(1),
        Some(Decoded { i2c: vec![start] }),
        Some(false),
        capture::Kept::of(&info),
    );
    operation
        .path(capture::ID.0, capture::ID.1)
        .query::<View>()
        .reply(200, "The capture.", &example);
}

/// Text of the events' JSON array, and whether there are more.
type Events = (String, bool);

fn handle(request: &Request) -> Result<Response, ApiError> {
    let view = parse(request)?;
    let id = capture::id(request);
    let refused = |error| refusal::of(error, "capture", id);
    let info = captures::get(id).map_err(refused)?;
    let done = info.status == Status::Done;
    let page = match (view.frames, done) {
        (false, _) => None,
        (true, false) => Some(Frames {
            frames: Vec::new(),
            next_seq: None,
        }),
        (true, true) => {
            let opened = captures::open(id).map_err(refused)?;
            Some(
                opened
                    .frames(view.from_seq, view.max_bytes)
                    .map_err(refused)?,
            )
        }
    };
    let events = match i2c_job(&info) {
        // Later pages need not repeat what the first one told.
        Some(job) if done && view.from_seq == 0 => {
            Some(decode::events(id, &job, EVENTS_MAX).map_err(|e| crate::decode::refusal(e, id))?)
        }
        _ => None,
    };
    Ok(reply(&info, page.as_ref(), events.as_ref()))
}

fn parse(request: &Request) -> Result<View, ApiError> {
    request.query()?.read()
}

/// What is worth showing of an I²C capture without being asked: conditions, addresses, data and
/// acknowledges, but not each bit.
const I2C_ANNOTATIONS: &str = "addr-data";

/// How to decode an I²C capture; none for others.
fn i2c_job(info: &Info) -> Option<Job> {
    let (scl, sda) = info.i2c.filter(|_| info.kind == Kind::I2c)?;
    Some(Job {
        protocol: "i2c".to_owned(),
        channels: crate::decode::i2c_channels(scl, sda),
        options: Vec::new(),
        annotations: Some(I2C_ANNOTATIONS.to_owned()),
        format: Format::Json,
        first: None,
        end: None,
        limit: None,
        glitch_ns: None,
        thresholds: None,
    })
}

fn reply(info: &Info, page: Option<&Frames>, events: Option<&Events>) -> Response {
    let frames = page.map(|page| page.frames.iter().map(Into::into).collect());
    let next_seq = page.and_then(|page| page.next_seq);
    let truncated = events.map(|(_, more)| *more);
    let kept = capture::Kept::of(info);
    let record = Record::new(info, frames, next_seq, None, truncated, kept);
    match events {
        None => Response::json(200, &record),
        Some((events, _)) => {
            Response::json_with(200, &record, "decoded", &format!(r#"{{"i2c":{events}}}"#))
        }
    }
}

#[cfg(test)]
mod tests {
    use guest::captures::{Frame, FrameData, Frames, Kind};
    use guest::testing::{get, json, mutations};
    use serde_json::json;

    use super::{View, i2c_job, parse, reply};
    use crate::capture::{self, example};

    #[test]
    fn query() {
        let view = |query: &str| parse(&get(&["01X"], query));
        assert_eq!(
            view("").unwrap(),
            View {
                from_seq: 0,
                max_bytes: 262_144,
                frames: true
            }
        );
        assert_eq!(
            view("from_seq=7&max_bytes=1048576&frames=none").unwrap(),
            View {
                from_seq: 7,
                max_bytes: 1_048_576,
                frames: false
            }
        );
        for (query, field) in [
            ("max_bytes=0", "max_bytes"),
            ("max_bytes=1048577", "max_bytes"),
            ("from_seq=-1", "from_seq"),
            ("from_seq=4294967296", "from_seq"),
            ("frames=some", "frames"),
            ("seq=1", "seq"),
        ] {
            let error = view(query).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn frames_and_events_come_with_the_head() {
        let page = Frames {
            frames: vec![Frame {
                seq: 0,
                channel: 0,
                start_sample: 0,
                count: 100_000,
                data: FrameData::Runs((1, vec![60_000, 5, 39_995])),
            }],
            next_seq: Some(1),
        };
        let events = (
            r#"[{"start":60000,"end":60000,"decoder":"i2c","class":"start","text":"Start"}]"#
                .to_owned(),
            false,
        );
        let mut expected = json!(capture::Record::new(&example()));
        expected["markers"] = json!([]);
        expected["frames"] = json!([{
            "seq": 0, "channel": 0, "start_sample": 0, "count": 100_000,
            "encoding": "rle", "data": [1, 60_000, 5, 39_995]
        }]);
        expected["next_seq"] = json!(1);
        expected["decoded"] = json!({"i2c": [{
            "start": 60_000, "end": 60_000, "decoder": "i2c", "class": "start", "text": "Start"
        }]});
        expected["decoded_truncated"] = json!(false);
        assert_eq!(
            json(&reply(&example(), Some(&page), Some(&events))),
            expected
        );
    }

    #[test]
    fn head_alone_has_no_frames_and_the_last_page_no_next() {
        let body = json(&reply(&example(), None, None));
        assert!(body.get("frames").is_none() && body.get("decoded").is_none());
        let last = Frames {
            frames: Vec::new(),
            next_seq: None,
        };
        let body = json(&reply(&example(), Some(&last), Some(&("[]".into(), true))));
        assert_eq!(
            (&body["frames"], &body["decoded_truncated"]),
            (&json!([]), &json!(true))
        );
        assert!(body.get("next_seq").is_none());
    }

    #[test]
    fn only_i2c_captures_are_decoded_unasked() {
        let job = i2c_job(&example()).unwrap();
        let channels = [("scl", "LA1"), ("sda", "LA2")].map(|(r, c)| (r.to_owned(), c.to_owned()));
        assert_eq!(job.channels, channels);
        let mut info = example();
        info.kind = Kind::Logic;
        assert!(i2c_job(&info).is_none());
    }

    #[test]
    fn mutated_queries_never_panic() {
        mutations(
            0x6E7,
            b"from_seq=7&max_bytes=65536&frames=all",
            5000,
            |query| {
                if let Ok(query) = std::str::from_utf8(query)
                    && let Ok(view) = parse(&get(&["01X"], query))
                {
                    assert!((1..=1_048_576).contains(&view.max_bytes));
                }
            },
        );
    }
}
