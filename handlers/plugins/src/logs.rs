//! `GET /plugins/{id}/logs`: what a plugin has logged, and what the server says of it.

use guest::plugins::{Level, Line};
use guest::{
    ApiError, Openapi, Refusal, Request, Response, Route, Time, integer, members, plugins, words,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::plugin;

/// Highest number of a line: what JSON numbers hold exactly.
const NUMBER_MAX: u64 = (1 << 53) - 1;

words! {
    const LEVELS: Level = {
        Debug = "debug",
        Info = "info",
        Warn = "warn",
        Error = "error",
    };
}

pub(crate) const ROUTE: Route = Route {
    name: "plugins.logs",
    method: "GET",
    pattern: "/plugins/{id}/logs",
    credentials: plugin::CREDENTIALS,
    scope: plugin::SCOPE,
    body_limit: 0,
    summary: "The log of a plugin",
    openapi: Openapi::of(|operation| {
        plugin::describe_id(operation);
        operation
            .description(
                "For operators, since it has lines about all organisations. The server keeps the last 2000; to follow \
                 the log, ask again from `next`.",
            )
            .refusals(&[Refusal::Forbidden])
            .query::<Asked>()
            .reply(200, "Oldest first, at most 500.", &Lines::of(&[example()], 0));
    }),
    handle,
};

members! {
    #[derive(Debug)]
    struct Asked {
        /// Number of the first line that is wanted.
        from: u64 = or(integer(0..=NUMBER_MAX), 0),
    }
}

/// Lines of a plugin's log.
#[derive(Serialize, JsonSchema)]
struct Lines<'a> {
    lines: Vec<Record<'a>>,
    /// Number of the line after these.
    next: u64,
}

/// A line of a plugin's log.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LogLine")]
struct Record<'a> {
    /// Counts the lines of the plugin since the server started; gaps are lines that are gone.
    number: u64,
    #[schemars(with = "Time")]
    at: &'a str,
    #[schemars(extend("enum" = LEVELS.all()))]
    level: &'static str,
    /// The request in which it was written; empty for what the server says of the plugin.
    request_id: &'a str,
    message: &'a str,
}

impl<'a> Lines<'a> {
    fn of(lines: &'a [Line], from: u64) -> Self {
        let next = lines.last().map_or(from, |line| line.number + 1);
        let record = |line: &'a Line| Record {
            number: line.number,
            at: &line.at,
            level: LEVELS.word(line.level),
            request_id: &line.request_id,
            message: &line.message,
        };
        Self {
            lines: lines.iter().map(record).collect(),
            next,
        }
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = plugin::id(request);
    let Asked { from } = request.query()?.read()?;
    let found = plugins::logs(id, from).map_err(|error| plugin::refusal(error, id))?;
    Ok(Response::json(200, &Lines::of(&found, from)))
}

/// A line, for the documentation.
fn example() -> Line {
    Line {
        number: 7,
        at: "2026-01-02T03:04:05Z".into(),
        level: Level::Info,
        request_id: String::new(),
        message: "version 1.0.0 serves".into(),
    }
}

#[cfg(test)]
mod tests {
    use guest::testing::get;
    use serde_json::json;

    use super::{Asked, Lines, example};

    #[test]
    fn a_follower_learns_where_to_go_on() {
        let told = |lines: &[_], from| json!(Lines::of(lines, from));
        assert_eq!(told(&[], 5), json!({"lines": [], "next": 5}));
        let one = told(&[example()], 5);
        assert_eq!(one["next"], 8);
        assert_eq!(one["lines"][0]["level"], "info");
    }

    #[test]
    fn query() {
        let read = |query: &str| get(&["acme.x"], query).query().unwrap().read::<Asked>();
        assert_eq!(read("").unwrap().from, 0);
        assert_eq!(read("from=9").unwrap().from, 9);
        assert_eq!(read("from=-1").unwrap_err().fields[0].field, "from");
    }
}
