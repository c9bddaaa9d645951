//! `GET /bench/waveforms`: the organisation's waveforms, newest first.

use guest::waveforms::{self, Page};
use guest::{ApiError, Object, Request, Response, Route, integer, text};

use crate::waveform;

/// Most waveforms on a page, and those on one when the caller does not say: published clients look
/// at one page only.
const LIMIT_MAX: u32 = 200;

/// Longest cursor, in characters.
const CURSOR_CHARS_MAX: usize = 128;

pub(crate) const ROUTE: Route = Route {
    name: "waveforms.list",
    method: "GET",
    pattern: "/bench/waveforms",
    credentials: waveform::CREDENTIALS,
    scope: waveform::SCOPE,
    body_limit: 0,
    summary: "List waveforms, newest first",
    openapi: guest::compact_json!(
        r#"{"parameters":"#,
        include_str!("list.parameters.json"),
        r#","responses":{"200":{"description":"One page, without samples.","content":{"application/json":{"schema":{"type":"object","required":["waveforms"],"properties":{"next_cursor":{"type":"string","description":"Pass as `cursor` to go on; absent at the end."},"waveforms":{"type":"array","items":"#,
        include_str!("waveform.schema.json"),
        r#"}}},"example":{"waveforms":["#,
        include_str!("waveform.example.json"),
        "]}}}}}}",
    ),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let (cursor, limit) = parse(request)?;
    waveforms::list(cursor.as_deref(), limit)
        .map(|page| reply(&page))
        .map_err(|error| waveform::refusal(error, ""))
}

fn parse(request: &Request) -> Result<(Option<String>, u32), ApiError> {
    let mut query = request.query()?;
    let cursor = query.optional("cursor", text(1..=CURSOR_CHARS_MAX));
    let limit = query.or("limit", integer(1..=LIMIT_MAX), LIMIT_MAX);
    query.finish()?;
    Ok((cursor, limit))
}

fn reply(page: &Page) -> Response {
    let mut body = Object::new();
    body.array("waveforms", &page.items, waveform::record)
        .some("next_cursor", page.next.as_ref());
    body.reply(200)
}

#[cfg(test)]
mod tests {
    use guest::testing::{get, json};
    use guest::waveforms::Page;

    use super::{parse, reply};
    use crate::waveform::example;

    #[test]
    fn query() {
        assert_eq!(parse(&get(&[], "")).unwrap(), (None, 200));
        let (cursor, limit) = parse(&get(&[], "limit=7&cursor=c")).unwrap();
        assert_eq!((cursor.as_deref(), limit), (Some("c"), 7));
        for query in ["limit=0", "limit=201", "cursor=", "page=1"] {
            assert_eq!(parse(&get(&[], query)).unwrap_err().status, 400, "{query}");
        }
    }

    #[test]
    fn pages() {
        let items = vec![example(), example()];
        let next = Some("c".to_owned());
        let page = json(&reply(&Page { items, next }));
        assert_eq!(page["waveforms"].as_array().unwrap().len(), 2);
        assert_eq!(page["next_cursor"], "c");
    }
}
