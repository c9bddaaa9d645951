//! `GET /captures/search`: where a query finds something in many captures, newest first.

use guest::searches::{self, Many, WithHits};
use guest::{ApiError, Openapi, Request, Response, Route, id, integer, like, members};
use schemars::JsonSchema;
use serde::Serialize;

use crate::capture;
use crate::export;
use crate::search::{HitRecord, example_hit, query};

/// Captures that a request looks at, when the caller does not say and at most.
const LIMIT_DEFAULT: u32 = 20;
const LIMIT_MAX: u32 = 100;

/// Places of each capture, likewise.
const RESULTS_DEFAULT: u32 = 10;
const RESULTS_MAX: u32 = 1000;

pub(crate) const ROUTE: Route = Route {
    name: "captures.search_many",
    method: "GET",
    pattern: "/captures/search",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: 0,
    summary: "Search in many captures, newest first",
    openapi: Openapi::of(|operation| {
        operation.query::<Asked>().reply(
            200,
            "Captures in which something is found. A request looks for ten seconds at most, and then says where to go on.",
            &Record::of(&example()),
        );
    }),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    struct Asked {
        /// What to look for, as in one capture.
        q: String = required(query()),
        /// Captures of this device alone.
        device_id: Option<String> = optional(id()),
        /// Captures of this job alone.
        job_id: Option<String> = optional(id()),
        /// `next_cursor` of the page before; anything else is refused.
        cursor: Option<String> = optional(like::cursor()),
        /// Captures to look at.
        limit: u32 = or(integer(1..=LIMIT_MAX), LIMIT_DEFAULT),
        /// Places of each capture at most.
        results: u32 = or(integer(1..=RESULTS_MAX), RESULTS_DEFAULT),
    }
}

/// What was found in many captures.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CapturesSearch")]
struct Record<'a> {
    captures: Vec<CaptureRecord<'a>>,
    /// Captures that were looked through.
    searched: u32,
    /// Captures that lack what the query needs: not done, without digital channels, or without one of its channels.
    skipped: u32,
    /// Pass as `cursor` to go on; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'a str>,
}

/// A capture in which something is found.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CapturesSearchResult")]
struct CaptureRecord<'a> {
    id: &'a str,
    device_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[schemars(with = "guest::Time")]
    created_at: &'a str,
    results: Vec<HitRecord<'a>>,
    /// There are more in it, or the time of the request was over.
    more: bool,
}

impl<'a> Record<'a> {
    fn of(many: &'a Many) -> Self {
        Self {
            captures: many.items.iter().map(CaptureRecord::of).collect(),
            searched: many.searched,
            skipped: many.skipped,
            next_cursor: many.next.as_deref(),
        }
    }
}

impl<'a> CaptureRecord<'a> {
    fn of(found: &'a WithHits) -> Self {
        let info = &found.capture;
        Self {
            id: &info.id,
            device_id: &info.device_id,
            name: info.name.as_deref(),
            created_at: &info.created_at,
            results: found.hits.iter().map(HitRecord::of).collect(),
            more: found.more,
        }
    }
}

/// For the documentation.
fn example() -> Many {
    Many {
        items: vec![WithHits {
            capture: capture::example(),
            hits: vec![example_hit()],
            more: false,
        }],
        searched: 19,
        skipped: 1,
        next: Some("01JGZ5V9T3N8W2K4Q7R6D1M0XC".to_owned()),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let asked = parse(request)?;
    let (device, job) = (asked.device_id.as_deref(), asked.job_id.as_deref());
    let cursor = asked.cursor.as_deref();
    let found = searches::find_in_many(&asked.q, device, job, cursor, asked.limit, asked.results);
    found
        .map(|many| Response::json(200, &Record::of(&many)))
        .map_err(|error| match error {
            guest::recordings::Error::NotFound => {
                ApiError::not_found("device", device.unwrap_or_default())
            }
            other => export::refusal(other, ""),
        })
}

fn parse(request: &Request) -> Result<Asked, ApiError> {
    request.query()?.read()
}

#[cfg(test)]
mod tests {
    use guest::testing::get;
    use serde_json::json;

    use super::{Record, example, parse};

    #[test]
    fn a_query_is_needed_and_the_rest_has_bounds() {
        let asked = |query: &str| parse(&get(&[], query));
        let plain = asked("q=no+edge+for+1+s").unwrap();
        assert_eq!((plain.limit, plain.results), (20, 10));
        let part = asked("q=a&device_id=d&job_id=j&cursor=01JGZ5V9T3N8W2K4Q7R6D1M0XC&results=1000");
        assert_eq!(part.unwrap().job_id.as_deref(), Some("j"));
        for (query, field) in [
            ("", "q"),
            ("q=a&limit=101", "limit"),
            ("q=a&results=0", "results"),
            ("q=a&cursor=c", "cursor"),
            ("q=a&from=1", "from"),
        ] {
            let error = asked(query).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn captures_come_with_what_is_found() {
        let record = json!(Record::of(&example()));
        assert_eq!(record["captures"][0]["results"][0]["from"], 14_400);
        assert_eq!(record["next_cursor"], "01JGZ5V9T3N8W2K4Q7R6D1M0XC");
    }
}
