//! `GET /capture/{id}/search`: where a query finds something in a capture.

use guest::searches::{self, Found, Hit};
use guest::{
    ApiError, Body, Openapi, Refusal, Request, Response, Route, Shape, integer, members, text,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::{capture, export, subject};

/// Longest query, in characters.
const QUERY_CHARS_MAX: usize = 512;

/// Most places of an answer, and as many as there are when the caller does not say.
const LIMIT_MAX: u32 = 10_000;
const LIMIT_DEFAULT: u32 = 1000;

/// A line for each place.
const LINES: &str = "application/x-ndjson";

const REPLY: &str = "Where it is found: as one object, or as a JSON object a line, streamed as they are found, where \
                     `Accept` asks for `application/x-ndjson`.";

pub(crate) const ROUTE: Route = Route {
    name: "captures.search",
    method: "GET",
    pattern: "/capture/{id}/search",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: 0,
    summary: "Search in a capture",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::WrongState])
            .path(capture::ID.0, capture::ID.1)
            .query::<Asked>()
            .header(
                "accept",
                "`application/x-ndjson` for lines as they are found.",
            )
            .reply(200, REPLY, &Record::of(&example()))
            .reply_content(
                200,
                REPLY,
                LINES,
                json!({"type": "string", "description": "One JSON object a line."}),
                json!("{\"from\":14400,\"to\":14496,\"text\":\"low pulse on LA2, 8 us\"}\n"),
            );
    }),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    struct Asked {
        /// What to look for: `pulse on LA3 shorter than 1 us`, `i2c 0x76 nack with scl=LA1 sda=LA2`; docs/captures.md has the
        /// language.
        q: String = required(query()),
        /// First sample.
        from: u64 = or(subject::sample(0), 0),
        /// The sample behind the last one; the end of the capture when it is left out.
        to: Option<u64> = optional(subject::sample(1)),
        /// Places to leave out: the `next` of the page before, whose `from` and `to` stay. Lines have no pages.
        skip: u64 = or(integer(0..=subject::SAMPLES_MAX), 0),
        /// Places of the answer at most; when it is left out, 1000, and all of them as lines.
        limit: Option<u32> = optional(integer(1..=LIMIT_MAX)),
    }
}

/// A query.
pub(crate) fn query() -> impl Shape<Value = String> {
    text(1..=QUERY_CHARS_MAX)
}

/// What was found.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CaptureSearch")]
struct Record<'a> {
    #[schemars(extend("exclusiveMinimum" = 0))]
    sample_rate_hz: f64,
    results: Vec<HitRecord<'a>>,
    /// Pass as `skip` for the next page; null when all was looked through.
    next: Option<u64>,
}

/// A place in a capture.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CaptureSearchResult")]
pub(crate) struct HitRecord<'a> {
    /// First sample.
    from: u64,
    /// The sample behind the last one.
    to: u64,
    /// What is there.
    text: &'a str,
}

impl<'a> HitRecord<'a> {
    pub(crate) fn of(hit: &'a Hit) -> Self {
        Self {
            from: hit.first,
            to: hit.end,
            text: &hit.text,
        }
    }
}

impl<'a> Record<'a> {
    fn of(found: &'a Found) -> Self {
        Self {
            sample_rate_hz: found.sample_rate_hz,
            results: found.hits.iter().map(HitRecord::of).collect(),
            next: found.next,
        }
    }
}

/// For the documentation.
pub(crate) fn example_hit() -> Hit {
    Hit {
        first: 14_400,
        end: 14_496,
        text: "low pulse on LA2, 8 us".to_owned(),
    }
}

fn example() -> Found {
    Found {
        sample_rate_hz: 12_000_000.0,
        hits: vec![example_hit()],
        next: None,
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let asked = parse(request)?;
    let id = capture::id(request);
    let Asked {
        q,
        from,
        to,
        skip,
        limit,
    } = asked;
    if wants_lines(request) {
        if skip > 0 {
            return Err(ApiError::field(
                "skip",
                "is refused for lines, which have no pages",
            ));
        }
        let stream = searches::lines(id, &q, Some(from), to, limit);
        let stream = stream.map_err(|error| export::refusal(error, id))?;
        return Ok(Response {
            status: 200,
            headers: vec![
                ("content-type".to_owned(), LINES.to_owned()),
                ("vary".to_owned(), "accept".to_owned()),
            ],
            body: Body::Stream(stream),
        });
    }
    let found = searches::find(id, &q, Some(from), to, skip, limit.unwrap_or(LIMIT_DEFAULT));
    found
        .map(|found| Response::json(200, &Record::of(&found)))
        .map_err(|error| export::refusal(error, id))
}

fn parse(request: &Request) -> Result<Asked, ApiError> {
    request.query()?.read()
}

fn wants_lines(request: &Request) -> bool {
    request
        .header("accept")
        .is_some_and(|accept| accept.contains(LINES))
}

#[cfg(test)]
mod tests {
    use guest::testing::get;
    use serde_json::json;

    use super::{Asked, QUERY_CHARS_MAX, Record, example, parse, wants_lines};

    #[test]
    fn a_query_is_needed_and_the_rest_has_bounds() {
        let asked = |query: &str| parse(&get(&["01X"], query));
        let whole = Asked {
            q: "edge on LA1".into(),
            from: 0,
            to: None,
            skip: 0,
            limit: None,
        };
        assert_eq!(asked("q=edge+on+LA1").unwrap(), whole);
        let part = asked("q=edge%20on%20LA1&from=5&to=9&skip=3&limit=10000").unwrap();
        assert_eq!((part.from, part.to, part.limit), (5, Some(9), Some(10_000)));
        assert_eq!(part.skip, 3);
        let long = format!("q={}", "x".repeat(QUERY_CHARS_MAX + 1));
        for (query, field) in [
            ("", "q"),
            ("q=", "q"),
            (long.as_str(), "q"),
            ("q=a&from=-1", "from"),
            ("q=a&to=0", "to"),
            ("q=a&skip=-1", "skip"),
            ("q=a&limit=0", "limit"),
            ("q=a&limit=10001", "limit"),
            ("q=a&channel=LA1", "channel"),
        ] {
            let error = asked(query).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn lines_are_sent_where_they_are_asked_for() {
        let mut request = get(&["01X"], "q=a");
        assert!(!wants_lines(&request));
        request.headers = vec![("accept".to_owned(), "application/x-ndjson".to_owned())];
        assert!(wants_lines(&request));
        assert_eq!(
            json!(Record::of(&example())),
            json!({"sample_rate_hz": 12e6, "next": null, "results": [
                {"from": 14400, "to": 14496, "text": "low pulse on LA2, 8 us"}
            ]})
        );
    }
}
