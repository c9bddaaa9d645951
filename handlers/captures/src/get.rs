//! `GET /capture/{id}`: the record of a capture with a page of its frames and, for I²C, its decoded
//! events.

use guest::captures::{self, Frames, Info, Kind, Status};
use guest::decode::{self, Format, Job};
use guest::{ApiError, Object, Request, Response, Route, choice, integer};

use crate::{capture, frames};

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
    openapi: guest::compact_json!(
        r#"{"parameters":"#,
        include_str!("get.parameters.json"),
        r#","responses":{"200":{"description":"The capture.","content":{"application/json":{"schema":"#,
        include_str!("get.schema.json"),
        r#","example":"#,
        include_str!("get.example.json"),
        "}}}}}",
    ),
    handle,
};

#[derive(Debug, PartialEq)]
struct View {
    from_seq: u32,
    max_bytes: u32,
    with_frames: bool,
}

/// Text of the events' JSON array, and whether there are more.
type Events = (String, bool);

fn handle(request: &Request) -> Result<Response, ApiError> {
    let view = parse(request)?;
    let id = capture::id(request);
    let refused = |error| capture::refusal(error, "capture", id);
    let info = captures::get(id).map_err(refused)?;
    let done = info.status == Status::Done;
    let page = match (view.with_frames, done) {
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
    let mut query = request.query()?;
    let view = View {
        from_seq: query.or("from_seq", integer(0..=u32::MAX), 0),
        max_bytes: query.or(
            "max_bytes",
            integer(1..=FRAME_BYTES_MAX),
            FRAME_BYTES_DEFAULT,
        ),
        with_frames: query.or("frames", choice(FRAMES), true),
    };
    query.finish()?;
    Ok(view)
}

/// What of an I²C capture is worth showing unasked: conditions, addresses, data and acknowledges, but
/// not each bit.
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
    })
}

fn reply(info: &Info, page: Option<&Frames>, events: Option<&Events>) -> Response {
    let mut body = Object::new();
    capture::head(info, &mut body);
    if let Some(page) = page {
        body.array("frames", &page.frames, frames::write)
            .some("next_seq", page.next_seq.as_ref());
    }
    if let Some((events, more)) = events {
        body.object("decoded", |decoded| {
            decoded.raw("i2c", events);
        })
        .field("decoded_truncated", more);
    }
    body.reply(200)
}

#[cfg(test)]
mod tests {
    use guest::captures::{Frame, FrameData, Frames, Kind};
    use guest::testing::{get, json, mutations};
    use serde_json::{Value, json};

    use super::{View, i2c_job, parse, reply};
    use crate::capture::example;

    #[test]
    fn query() {
        let view = |query: &str| parse(&get(&["01X"], query));
        assert_eq!(
            view("").unwrap(),
            View {
                from_seq: 0,
                max_bytes: 262_144,
                with_frames: true
            }
        );
        assert_eq!(
            view("from_seq=7&max_bytes=1048576&frames=none").unwrap(),
            View {
                from_seq: 7,
                max_bytes: 1_048_576,
                with_frames: false
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
    fn reply_is_the_documented_example() {
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
        let expected: Value = serde_json::from_str(include_str!("get.example.json")).unwrap();
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
