//! `GET /measurements`: what jobs of the organisation measured, and what all values of a name come to.

use guest::measurements::{self, Error, Page, Wanted};
use guest::{
    ApiError, Like, Openapi, Refusal, Request, Response, Route, alike, integer, like, members, text,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::measurement::{Record, Summary};
use crate::submit::REF_CHARS_MAX;
use crate::{example, job};

/// Longest name of a measurement, device or board that is looked for, in characters.
const TEXT_CHARS_MAX: usize = 120;

/// Measurements on a page when the caller does not say.
const LIMIT_DEFAULT: u32 = 50;

/// Most measurements on a page.
const LIMIT_MAX: u32 = 200;

/// Characters of a place in the list.
const PLACE_CHARS: usize = 38;

pub(crate) const ROUTE: Route = Route {
    name: "jobs.measurements",
    method: "GET",
    pattern: "/measurements",
    credentials: job::CREDENTIALS,
    scope: job::SCOPE,
    body_limit: 0,
    summary: "List what jobs measured, the newest job's first",
    openapi: Openapi::of(|operation| {
        let page = example::measurements();
        operation
            .refusals(&[Refusal::TooManyJobs])
            .query::<Asked>()
            .reply(
                200,
                "One page. The first one has a summary of all values that fit, by name.",
                &Listed::of(&page),
            );
    }),
    handle,
};

static PLACE: Like = Like {
    pattern: "^[0-7][0-9A-HJKMNP-TV-Z]{25}-[0-9]{5}-[0-9]{5}$",
    fits: is_place,
    rule: "must be the next_cursor of a page",
    example: "01JGZ5V9T3N8W2K4Q7R6D1M0XJ-00002-00041",
};

fn is_place(text: &str) -> bool {
    let is_number = |text: &str| text.len() == 5 && text.bytes().all(|b| b.is_ascii_digit());
    let parts: Vec<&str> = text.split('-').collect();
    match parts[..] {
        [job, attempt, number] => like::is_ulid(job) && is_number(attempt) && is_number(number),
        _ => false,
    }
}

members! {
    #[derive(Debug, PartialEq)]
    struct Asked {
        /// Measurements of this name alone.
        name: Option<String> = optional(text(1..=TEXT_CHARS_MAX)),
        /// Of this device alone, by its id or by its name then.
        device: Option<String> = optional(text(1..=TEXT_CHARS_MAX)),
        /// Of the board with this serial number alone.
        serial: Option<String> = optional(text(1..=TEXT_CHARS_MAX)),
        /// Of this job alone.
        job: Option<String> = optional(guest::id()),
        /// Of jobs of this branch or tag alone.
        r#ref: Option<String> = optional(text(1..=REF_CHARS_MAX)),
        /// From then on: a day, or a second in UTC.
        since: Option<String> = optional(like::since()),
        /// `next_cursor` of the page before; anything else is refused.
        cursor: Option<String> = optional(alike(PLACE_CHARS..=PLACE_CHARS, &PLACE)),
        /// Measurements on a page.
        limit: u32 = or(integer(1..=LIMIT_MAX), LIMIT_DEFAULT),
    }
}

/// A page of measurements.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Measurements")]
struct Listed<'a> {
    measurements: Vec<Record<'a>>,
    /// What all values that fit come to, by name and unit, the one that was measured last first; in the first page alone.
    names: Vec<Summary<'a>>,
    /// Whether there are more names than are told: ask for one of them.
    has_more_names: bool,
    /// How many measurements of the organisation gave way to newer ones.
    forgotten: u64,
    /// Pass as `cursor` to go on; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'a str>,
}

impl<'a> Listed<'a> {
    fn of(page: &'a Page) -> Self {
        Self {
            measurements: page.measurements.iter().map(Into::into).collect(),
            names: page.names.iter().map(Into::into).collect(),
            has_more_names: page.has_more_names,
            forgotten: page.forgotten,
            next_cursor: page.next.as_deref(),
        }
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let asked = parse(request)?;
    let wanted = Wanted {
        name: asked.name,
        device: asked.device,
        serial: asked.serial,
        job: asked.job,
        ref_: asked.r#ref,
        since: asked.since,
    };
    measurements::list(&wanted, asked.limit, asked.cursor.as_deref())
        .map(|page| Response::json(200, &Listed::of(&page)))
        .map_err(refusal)
}

fn parse(request: &Request) -> Result<Asked, ApiError> {
    request.query()?.read()
}

fn refusal(error: Error) -> ApiError {
    match error {
        Error::Invalid((field, rule)) => ApiError::field(field, rule),
        Error::Full(sentence) => crate::refusal::full(sentence),
        Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
mod tests {
    use guest::testing::{get, mutations};
    use serde_json::json;

    use super::{Asked, Listed, is_place, parse};
    use crate::example;

    #[test]
    fn query() {
        let asked = |query: &str| parse(&get(&[], query));
        let none = Asked {
            name: None,
            device: None,
            serial: None,
            job: None,
            r#ref: None,
            since: None,
            cursor: None,
            limit: 50,
        };
        assert_eq!(asked("").unwrap(), none);
        let all = asked(
            "name=3V3&device=bench-1&serial=B+7&job=01JGZ5V9T3N8W2K4Q7R6D1M0XJ&ref=main&since=2026-01-31\
             &cursor=01JGZ5V9T3N8W2K4Q7R6D1M0XJ-00002-00041&limit=200",
        )
        .unwrap();
        assert_eq!((all.serial.as_deref(), all.limit), (Some("B 7"), 200));
        for (query, field) in [
            ("limit=0", "limit"),
            ("limit=201", "limit"),
            ("name=", "name"),
            ("job=", "job"),
            ("since=yesterday", "since"),
            ("since=2026-13-01", "since"),
            ("cursor=01JGZ5V9T3N8W2K4Q7R6D1M0XJ", "cursor"),
            ("unit=V", "unit"),
        ] {
            let error = asked(query).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn places_are_read_strictly() {
        assert!(is_place("01JGZ5V9T3N8W2K4Q7R6D1M0XJ-00002-00041"));
        for wrong in [
            "81JGZ5V9T3N8W2K4Q7R6D1M0XJ-00002-00041",
            "01JGZ5V9T3N8W2K4Q7R6D1M0XU-00002-00041",
            "01JGZ5V9T3N8W2K4Q7R6D1M0XJ-0002-000041",
            "01JGZ5V9T3N8W2K4Q7R6D1M0XJ-00002-00041-",
        ] {
            assert!(!is_place(wrong), "{wrong}");
        }
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let mut page = example::measurements();
        let told = json!(Listed::of(&page));
        assert_eq!(told["measurements"][0]["serial"], "B-0017");
        assert_eq!(told["names"][0]["cpk"], 1.4);
        page.measurements[0].high = None;
        page.names[0].cpk = None;
        page.next = None;
        let told = json!(Listed::of(&page));
        assert!(told["measurements"][0].get("high").is_none());
        assert!(told["names"][0].get("cpk").is_none());
        assert!(told.get("next_cursor").is_none());
    }

    #[test]
    fn mutated_queries_never_panic() {
        mutations(
            0x11_58,
            b"name=a&since=2026-01-31T09:30:00Z&cursor=01JGZ5V9T3N8W2K4Q7R6D1M0XJ-00002-00041&limit=9",
            5000,
            |query| {
                if let Ok(query) = std::str::from_utf8(query)
                    && let Ok(asked) = parse(&get(&[], query))
                {
                    assert!((1..=200).contains(&asked.limit));
                }
            },
        );
    }
}
