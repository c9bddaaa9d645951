//! `GET /captures`: the organisation's captures, newest first.

use guest::captures::{self, Page};
use guest::{ApiError, Object, Request, Response, Route, integer, text};

use crate::capture;

/// Captures on a page when the caller does not say.
const LIMIT_DEFAULT: u32 = 50;

/// Most captures on a page.
const LIMIT_MAX: u32 = 200;

/// Longest cursor or device id, in characters.
const KEY_CHARS_MAX: usize = 128;

pub(crate) const ROUTE: Route = Route {
    name: "captures.list",
    method: "GET",
    pattern: "/captures",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: 0,
    summary: "List captures, newest first",
    openapi: guest::compact_json!(
        r#"{"parameters":"#,
        include_str!("list.parameters.json"),
        r#","responses":{"200":{"description":"One page.","content":{"application/json":{"schema":{"type":"object","required":["captures"],"properties":{"next_cursor":{"type":"string","description":"Pass as `cursor` to go on; absent at the end."},"captures":{"type":"array","items":"#,
        include_str!("capture.schema.json"),
        r#"}}},"example":{"next_cursor":"01JGZ5V9T3N8W2K4Q7R6D1M0XC","captures":["#,
        include_str!("capture.example.json"),
        "]}}}}}}",
    ),
    handle,
};

#[derive(Debug, PartialEq)]
struct Filter {
    device: Option<String>,
    cursor: Option<String>,
    limit: u32,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let filter = parse(request)?;
    let (device, cursor) = (filter.device.as_deref(), filter.cursor.as_deref());
    captures::list(device, cursor, filter.limit)
        .map(|page| reply(&page))
        .map_err(|error| capture::refusal(error, "device", device.unwrap_or_default()))
}

fn parse(request: &Request) -> Result<Filter, ApiError> {
    let mut query = request.query()?;
    let filter = Filter {
        device: query.optional("device_id", text(1..=KEY_CHARS_MAX)),
        cursor: query.optional("cursor", text(1..=KEY_CHARS_MAX)),
        limit: query.or("limit", integer(1..=LIMIT_MAX), LIMIT_DEFAULT),
    };
    query.finish()?;
    Ok(filter)
}

fn reply(page: &Page) -> Response {
    let mut body = Object::new();
    body.array("captures", &page.items, capture::head)
        .some("next_cursor", page.next.as_ref());
    body.reply(200)
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
                device: None,
                cursor: None,
                limit: 50
            }
        );
        assert_eq!(
            filter("limit=200&device_id=d&cursor=c").unwrap(),
            Filter {
                device: Some("d".into()),
                cursor: Some("c".into()),
                limit: 200
            }
        );
        for (query, field) in [
            ("limit=0", "limit"),
            ("limit=201", "limit"),
            ("cursor=", "cursor"),
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
