//! `GET /jobs`: the organisation's jobs, newest first.

use guest::jobs::{self, Filter, Job, State, Verdict};
use guest::{ApiError, Openapi, Refusal, Request, Response, Route, integer, like, members, text};
use schemars::JsonSchema;
use serde::Serialize;

use crate::job::{self, Record, STATES, VERDICTS};
use crate::submit::{NAME_CHARS_MAX, REF_CHARS_MAX};
use crate::{example, refusal};

/// Jobs on a page when the caller does not say.
const LIMIT_DEFAULT: u32 = 50;

/// Most jobs on a page.
const LIMIT_MAX: u32 = 200;

/// Longest text that is looked for, in characters.
const TEXT_CHARS_MAX: usize = 128;

pub(crate) const ROUTE: Route = Route {
    name: "jobs.list",
    method: "GET",
    pattern: "/jobs",
    credentials: job::CREDENTIALS,
    scope: job::SCOPE,
    body_limit: 0,
    summary: "List jobs, newest first",
    openapi: Openapi::of(|operation| {
        let first = example::job();
        let example = Listed {
            jobs: vec![Record::head(&first)],
            next_cursor: Some("01JGZ5V9T3N8W2K4Q7R6D1M0XJ"),
        };
        operation
            .refusals(&[Refusal::TooManyJobs])
            .query::<Asked>()
            .reply(200, "One page, without runs and attempts.", &example);
    }),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    struct Asked {
        /// Jobs in this state alone.
        state: Option<State> = optional(STATES.shape()),
        /// Jobs that say this of the firmware alone.
        verdict: Option<Verdict> = optional(VERDICTS.shape()),
        /// Jobs of this name alone.
        name: Option<String> = optional(text(1..=NAME_CHARS_MAX)),
        /// Jobs of this branch or tag alone.
        r#ref: Option<String> = optional(text(1..=REF_CHARS_MAX)),
        /// Those with this in their name, branch or tag, commit or id, whatever the case.
        text: Option<String> = optional(text(1..=TEXT_CHARS_MAX)),
        /// Those not older than this: a day, or a second of it in UTC.
        since: Option<String> = optional(like::since()),
        /// `next_cursor` of the page before; anything else is refused.
        cursor: Option<String> = optional(like::cursor()),
        /// Jobs on a page.
        limit: u32 = or(integer(1..=LIMIT_MAX), LIMIT_DEFAULT),
    }
}

/// A page of jobs.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Jobs")]
struct Listed<'a> {
    jobs: Vec<Record<'a>>,
    /// Pass as `cursor` to go on; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'a str>,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let asked = parse(request)?;
    let filter = Filter {
        state: asked.state,
        verdict: asked.verdict,
        name: asked.name,
        ref_: asked.r#ref,
        text: asked.text,
        since: asked.since,
    };
    jobs::list(&filter, asked.limit, asked.cursor.as_deref())
        .map(|(page, next)| reply(&page, next.as_deref()))
        .map_err(|error| refusal::of(error, "job", ""))
}

fn parse(request: &Request) -> Result<Asked, ApiError> {
    request.query()?.read()
}

fn reply(page: &[Job], next: Option<&str>) -> Response {
    let listed = Listed {
        jobs: page.iter().map(Record::head).collect(),
        next_cursor: next,
    };
    Response::json(200, &listed)
}

#[cfg(test)]
mod tests {
    use guest::jobs::{State, Verdict};
    use guest::testing::{get, json, mutations};

    use super::{Asked, parse, reply};
    use crate::example;

    #[test]
    fn query() {
        let asked = |query: &str| parse(&get(&[], query));
        let none = Asked {
            state: None,
            verdict: None,
            name: None,
            r#ref: None,
            text: None,
            since: None,
            cursor: None,
            limit: 50,
        };
        assert_eq!(asked("").unwrap(), none);
        assert_eq!(
            asked(
                "limit=200&state=stopping&name=a+b&ref=v1%2Fx&cursor=01JGZ5V9T3N8W2K4Q7R6D1M0XC\
                 &verdict=failure&text=c0ffee&since=2026-01-31"
            )
            .unwrap(),
            Asked {
                state: Some(State::Stopping),
                verdict: Some(Verdict::Failure),
                text: Some("c0ffee".into()),
                since: Some("2026-01-31".into()),
                name: Some("a b".into()),
                r#ref: Some("v1/x".into()),
                cursor: Some("01JGZ5V9T3N8W2K4Q7R6D1M0XC".into()),
                limit: 200
            }
        );
        for (query, field) in [
            ("limit=0", "limit"),
            ("limit=201", "limit"),
            ("cursor=", "cursor"),
            ("cursor=c", "cursor"),
            ("state=done", "state"),
            ("ref=", "ref"),
            ("verdict=broken", "verdict"),
            ("text=", "text"),
            ("since=now", "since"),
            ("status=new", "status"),
        ] {
            let error = asked(query).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn pages() {
        let jobs = [example::job(), example::queued()];
        let body = json(&reply(&jobs, Some("c")));
        assert_eq!(body["next_cursor"], "c");
        assert_eq!(body["jobs"][1]["state"], "queued");
        assert!(body["jobs"][0].get("runs").is_none());
        assert!(json(&reply(&jobs, None)).get("next_cursor").is_none());
    }

    #[test]
    fn mutated_queries_never_panic() {
        mutations(
            0x11_57,
            b"limit=200&state=running&name=a&ref=b&cursor=c",
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
