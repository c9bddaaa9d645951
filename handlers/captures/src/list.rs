//! `GET /captures`: the organisation's captures, newest first.

use guest::captures::{self, Page};
use guest::{ApiError, Openapi, Request, Response, Route, id, integer, like, members};
use schemars::JsonSchema;
use serde::Serialize;

use crate::capture::{self, Record};
use crate::refusal;

/// Captures on a page when the caller does not say.
const LIMIT_DEFAULT: u32 = 50;

/// Most captures on a page.
const LIMIT_MAX: u32 = 200;

pub(crate) const ROUTE: Route = Route {
    name: "captures.list",
    method: "GET",
    pattern: "/captures",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: 0,
    summary: "List captures, newest first",
    openapi: Openapi::of(|operation| {
        let first = capture::example();
        let example = Listed {
            captures: vec![Record::new(&first)],
            next_cursor: Some("01JGZ5V9T3N8W2K4Q7R6D1M0XC"),
        };
        operation
            .query::<Filter>()
            .reply(200, "One page.", &example);
    }),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    struct Filter {
        /// Captures of this device alone.
        device_id: Option<String> = optional(id()),
        /// `next_cursor` of the page before; anything else is refused.
        cursor: Option<String> = optional(like::cursor()),
        /// Captures on a page.
        limit: u32 = or(integer(1..=LIMIT_MAX), LIMIT_DEFAULT),
    }
}

/// A page of captures.
#[derive(Serialize, JsonSchema)]
struct Listed<'a> {
    captures: Vec<Record<'a>>,
    /// Pass as `cursor` to go on; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'a str>,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let filter = parse(request)?;
    let (device, cursor) = (filter.device_id.as_deref(), filter.cursor.as_deref());
    captures::list(device, cursor, filter.limit)
        .map(|page| reply(&page))
        .map_err(|error| refusal::of(error, "device", device.unwrap_or_default()))
}

fn parse(request: &Request) -> Result<Filter, ApiError> {
    request.query()?.read()
}

fn reply(page: &Page) -> Response {
    let listed = Listed {
        captures: page.items.iter().map(Record::new).collect(),
        next_cursor: page.next.as_deref(),
    };
    Response::json(200, &listed)
}

#[cfg(test)]
mod tests {
    use guest::captures::Page;
    use guest::testing::{get, json};

    use super::{Filter, parse, reply};
    use crate::capture::example;

    #[test]
    fn query() {
        let filter = |query: &str| parse(&get(&[], query));
        assert_eq!(
            filter("").unwrap(),
            Filter {
                device_id: None,
                cursor: None,
                limit: 50
            }
        );
        assert_eq!(
            filter("limit=200&device_id=d&cursor=01JGZ5V9T3N8W2K4Q7R6D1M0XC").unwrap(),
            Filter {
                device_id: Some("d".into()),
                cursor: Some("01JGZ5V9T3N8W2K4Q7R6D1M0XC".into()),
                limit: 200
            }
        );
        for (query, field) in [
            ("limit=0", "limit"),
            ("limit=201", "limit"),
            ("cursor=", "cursor"),
            ("cursor=c", "cursor"),
            ("page=2", "page"),
        ] {
            let error = filter(query).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn pages() {
        let page = |next: Option<&str>| {
            json(&reply(&Page {
                items: vec![example(), example()],
                next: next.map(str::to_owned),
            }))
        };
        assert_eq!(page(Some("c"))["next_cursor"], "c");
        assert_eq!(page(None)["captures"].as_array().unwrap().len(), 2);
        assert!(page(None).get("next_cursor").is_none());
    }
}
