//! `GET /capture/{id}/edges`: the next or the previous edge of a digital channel.

use guest::measures::{self, Direction, Edge};
use guest::{ApiError, Openapi, Refusal, Request, Response, Route, members, words};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{capture, export, subject};

words! {
    const DIRECTIONS: Direction = {
        Next = "next",
        Previous = "previous",
    };
}

words! {
    const EDGES: Edge = {
        Rising = "rising",
        Falling = "falling",
        Either = "either",
    };
}

pub(crate) const ROUTE: Route = Route {
    name: "captures.edges",
    method: "GET",
    pattern: "/capture/{id}/edges",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: 0,
    summary: "Find an edge in a capture",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::WrongState])
            .path(capture::ID.0, capture::ID.1)
            .query::<Asked>()
            .reply(
                200,
                "Where the edge is; `sample` is null when there is no more.",
                &Record {
                    channel: 0,
                    sample: Some(61_440),
                },
            );
    }),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    struct Asked {
        /// Digital channel by its name, such as `LA1`.
        channel: String = required(subject::channel()),
        /// The sample from which to look.
        at: u64 = required(subject::sample(0)),
        /// `next`: at the sample or behind it; `previous`: before it.
        direction: Direction = or(DIRECTIONS.shape(), Direction::Next),
        /// Which edges count.
        edge: Edge = or(EDGES.shape(), Edge::Either),
    }
}

/// An edge.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EdgeFound")]
struct Record {
    /// Id of the channel.
    channel: u32,
    /// The first sample with the new level.
    sample: Option<u64>,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let asked = parse(request)?;
    let id = capture::id(request);
    let Asked {
        channel,
        at,
        direction,
        edge,
    } = asked;
    let found = measures::find_edge(id, &channel, at, direction, edge);
    let (subject, sample) = found.map_err(|error| export::refusal(error, id))?;
    let channel = subject.channel;
    Ok(Response::json(200, &Record { channel, sample }))
}

fn parse(request: &Request) -> Result<Asked, ApiError> {
    request.query()?.read()
}

#[cfg(test)]
mod tests {
    use guest::measures::{Direction, Edge};
    use guest::testing::get;
    use serde_json::json;

    use super::{Record, parse};

    #[test]
    fn channel_and_sample_are_needed() {
        let asked = |query: &str| parse(&get(&["01X"], query));
        let plain = asked("channel=LA1&at=7").unwrap();
        assert_eq!(
            (plain.direction, plain.edge),
            (Direction::Next, Edge::Either)
        );
        let back = asked("channel=LA1&at=7&direction=previous&edge=falling").unwrap();
        assert_eq!(
            (back.direction, back.edge),
            (Direction::Previous, Edge::Falling)
        );
        for (query, field) in [
            ("at=7", "channel"),
            ("channel=LA1", "at"),
            ("channel=LA1&at=-1", "at"),
            ("channel=LA1&at=7&direction=up", "direction"),
            ("channel=LA1&at=7&edge=high", "edge"),
        ] {
            let error = asked(query).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn no_edge_is_null() {
        let record = |sample| json!(Record { channel: 2, sample });
        assert_eq!(record(Some(5)), json!({"channel": 2, "sample": 5}));
        assert_eq!(record(None), json!({"channel": 2, "sample": null}));
    }
}
