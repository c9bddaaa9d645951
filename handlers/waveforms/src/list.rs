//! `GET /bench/waveforms`: the organisation's waveforms, newest first.

use guest::waveforms::{self, Page};
use guest::{ApiError, Openapi, Request, Response, Route, integer, like, members};
use schemars::JsonSchema;
use serde::Serialize;

use crate::waveform::{self, Record};

/// Most waveforms on a page, and the number on one when the caller does not say: published clients
/// read only one page.
const LIMIT_MAX: u32 = 200;

pub(crate) const ROUTE: Route = Route {
    name: "waveforms.list",
    method: "GET",
    pattern: "/bench/waveforms",
    credentials: waveform::CREDENTIALS,
    scope: waveform::SCOPE,
    body_limit: 0,
    summary: "List waveforms, newest first",
    openapi: Openapi::of(|operation| {
        let example = Listed {
            waveforms: vec![waveform::example()],
            next_cursor: None,
        };
        operation
            .query::<Asked>()
            .reply(200, "One page, without samples.", &example);
    }),
    handle,
};

members! {
    struct Asked {
        /// `next_cursor` of the page before.
        cursor: Option<String> = optional(like::cursor()),
        /// Waveforms on a page.
        limit: u32 = or(integer(1..=LIMIT_MAX), LIMIT_MAX),
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Waveforms")]
struct Listed<'a> {
    waveforms: Vec<Record<'a>>,
    /// Pass as `cursor` to go on; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'a str>,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let asked = parse(request)?;
    waveforms::list(asked.cursor.as_deref(), asked.limit)
        .map(|page| reply(&page))
        .map_err(|error| waveform::refusal(error, ""))
}

fn parse(request: &Request) -> Result<Asked, ApiError> {
    request.query()?.read()
}

fn reply(page: &Page) -> Response {
    let listed = Listed {
        waveforms: page.items.iter().map(Record::from).collect(),
        next_cursor: page.next.as_deref(),
    };
    Response::json(200, &listed)
}

#[cfg(test)]
mod tests {
    use guest::testing::{get, json};
    use guest::waveforms::Page;

    use super::{parse, reply};
    use crate::waveform::kept;

    #[test]
    fn query() {
        let asked = parse(&get(&[], "")).unwrap();
        assert_eq!((asked.cursor, asked.limit), (None, 200));
        let asked = parse(&get(&[], "limit=7&cursor=01JGZ5V9T3N8W2K4Q7R6D1M0XC")).unwrap();
        assert_eq!(
            (asked.cursor.as_deref(), asked.limit),
            (Some("01JGZ5V9T3N8W2K4Q7R6D1M0XC"), 7)
        );
        for query in ["limit=0", "limit=201", "cursor=", "cursor=c", "page=1"] {
            let refused = parse(&get(&[], query)).err();
            assert_eq!(refused.map(|error| error.status), Some(400), "{query}");
        }
    }

    #[test]
    fn pages() {
        let items = vec![kept(), kept()];
        let next = Some("c".to_owned());
        let page = json(&reply(&Page { items, next }));
        assert_eq!(page["waveforms"].as_array().unwrap().len(), 2);
        assert_eq!(page["next_cursor"], "c");
    }
}
