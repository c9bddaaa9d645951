//! `GET /captures`: the organisation's captures, those that fit, in an order.

use guest::captures::{self, Kind, Looked, Page, SortedBy, Status};
use guest::{
    ApiError, Like, Openapi, Refusal, Request, Response, Route, alike, flag, id, integer, like,
    members, text, words,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::capture::{self, KINDS, Record, STATES};
use crate::refusal;

/// Captures on a page when the caller does not say.
const LIMIT_DEFAULT: u32 = 50;

/// Most captures on a page.
const LIMIT_MAX: u32 = 200;

/// Longest text that is looked for, in characters.
const TEXT_CHARS_MAX: usize = 128;

pub(crate) const ROUTE: Route = Route {
    name: "captures.list",
    method: "GET",
    pattern: "/captures",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: 0,
    summary: "List captures",
    openapi: Openapi::of(|operation| {
        let first = capture::example();
        let example = Listed {
            captures: vec![Record::new(&first)],
            next_cursor: Some("01JGZ5V9T3N8W2K4Q7R6D1M0XC"),
        };
        operation
            .refusals(&[Refusal::WrongState])
            .query::<Filter>()
            .reply(200, "One page.", &example);
    }),
    handle,
};

words! {
    const SORTS: SortedBy = {
        Created = "created",
        Size = "size",
        Samples = "samples",
    };
}

words! {
    const ORDERS: Way = { Descending = "desc", Ascending = "asc" };
}

/// Which end comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Descending,
    Ascending,
}

static PLACE: Like = Like {
    pattern: "^[0-7][0-9A-HJKMNP-TV-Z]{25}(?:-[0-9a-f]{16})?$",
    fits: is_place,
    rule: "must be the next_cursor of a page of the same order",
    example: "01JGZ5V9T3N8W2K4Q7R6D1M0XC",
};

/// An id, and behind it how much the capture had of that by which they are sorted.
fn is_place(text: &str) -> bool {
    let is_hex = |b: u8| b.is_ascii_digit() || matches!(b, b'a'..=b'f');
    let (id, much) = match text.split_once('-') {
        Some((id, much)) => (id, Some(much)),
        None => (text, None),
    };
    like::is_ulid(id) && much.is_none_or(|much| much.len() == 16 && much.bytes().all(is_hex))
}

members! {
    #[derive(Debug, PartialEq)]
    struct Filter {
        /// Captures of this device alone.
        device_id: Option<String> = optional(id()),
        /// Of this job alone.
        job_id: Option<String> = optional(id()),
        /// Those with this in their name or id, whatever the case.
        text: Option<String> = optional(text(1..=TEXT_CHARS_MAX)),
        /// What was recorded.
        kind: Option<Kind> = optional(KINDS.shape()),
        /// How far they are.
        status: Option<Status> = optional(STATES.shape()),
        /// Whether they are pinned.
        pinned: Option<bool> = optional(flag()),
        /// Those not older than this: a day, or a second of it in UTC.
        since: Option<String> = optional(like::since()),
        /// By when they were begun, by their bytes on disk, or by the samples of the channel that has most.
        sort: SortedBy = or(SORTS.shape(), SortedBy::Created),
        /// `desc`: the newest or the largest first.
        order: Way = or(ORDERS.shape(), Way::Descending),
        /// `next_cursor` of the page before, whose other parameters stay; anything else is refused.
        cursor: Option<String> = optional(alike(26..=43, &PLACE)),
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
    let device = filter.device_id.clone().unwrap_or_default();
    let looked = Looked {
        device: filter.device_id,
        job: filter.job_id,
        text: filter.text,
        kind: filter.kind,
        status: filter.status,
        pinned: filter.pinned,
        since: filter.since,
        sort: filter.sort,
        is_ascending: filter.order == Way::Ascending,
    };
    captures::list(&looked, filter.cursor.as_deref(), filter.limit)
        .map(|page| reply(&page))
        .map_err(|error| refusal::of(error, "device", &device))
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
    use guest::captures::{Kind, Page, SortedBy, Status};
    use guest::testing::{get, json};

    use super::{Filter, Way, parse, reply};
    use crate::capture::example;

    #[test]
    fn query() {
        let filter = |query: &str| parse(&get(&[], query));
        let none = || Filter {
            device_id: None,
            job_id: None,
            text: None,
            kind: None,
            status: None,
            pinned: None,
            since: None,
            sort: SortedBy::Created,
            order: Way::Descending,
            cursor: None,
            limit: 50,
        };
        assert_eq!(filter("").unwrap(), none());
        assert_eq!(
            filter("limit=200&device_id=d&cursor=01JGZ5V9T3N8W2K4Q7R6D1M0XC").unwrap(),
            Filter {
                device_id: Some("d".into()),
                cursor: Some("01JGZ5V9T3N8W2K4Q7R6D1M0XC".into()),
                limit: 200,
                ..none()
            }
        );
        let all = "job_id=j&text=boot&kind=i2c&status=timed_out&pinned=true&since=2026-01-31&sort=size&order=asc\
                   &cursor=01JGZ5V9T3N8W2K4Q7R6D1M0XC-00000000000000ff";
        assert_eq!(
            filter(all).unwrap(),
            Filter {
                job_id: Some("j".into()),
                text: Some("boot".into()),
                kind: Some(Kind::I2c),
                status: Some(Status::TimedOut),
                pinned: Some(true),
                since: Some("2026-01-31".into()),
                sort: SortedBy::Size,
                order: Way::Ascending,
                cursor: Some("01JGZ5V9T3N8W2K4Q7R6D1M0XC-00000000000000ff".into()),
                ..none()
            }
        );
        for (query, field) in [
            ("limit=0", "limit"),
            ("limit=201", "limit"),
            ("cursor=", "cursor"),
            ("cursor=c", "cursor"),
            ("cursor=01JGZ5V9T3N8W2K4Q7R6D1M0XC-ff", "cursor"),
            ("text=", "text"),
            ("kind=logics", "kind"),
            ("status=new", "status"),
            ("pinned=1", "pinned"),
            ("since=yesterday", "since"),
            ("sort=name", "sort"),
            ("order=up", "order"),
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
