//! `GET /jobs/{id}/log`: what the steps of a job wrote, streamed by the host.

use guest::{ApiError, Body, Openapi, Request, Response, Route, integer, jobs, members};
use serde_json::json;

use crate::{job, refusal};

/// What jobs write is text, whatever they mean by it.
const TYPE: &str = "text/plain; charset=utf-8";

/// Highest number of an attempt.
const ATTEMPT_MAX: u32 = 1_000_000;

/// Largest offset: what JSON numbers hold exactly.
const OFFSET_MAX: u64 = (1 << 53) - 1;

pub(crate) const ROUTE: Route = Route {
    name: "jobs.log",
    method: "GET",
    pattern: "/jobs/{id}/log",
    credentials: job::CREDENTIALS,
    scope: job::SCOPE,
    body_limit: 0,
    summary: "The log of a job",
    openapi: Openapi::of(|operation| {
        operation
            .description(
                "The header `x-log-bytes` tells how many bytes there are so far, counted from the beginning, and \
                 `x-log-complete` whether no more will come. To follow a log, ask again from `x-log-bytes` until \
                 it is complete.",
            )
            .path(job::ID.0, job::ID.1)
            .query::<Asked>()
            .reply_content(
                200,
                "What there is, streamed.",
                "text/plain",
                json!({"type": "string"}),
                json!("make: 'fw.elf' is up to date.\n"),
            );
    }),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    struct Asked {
        /// Number of an attempt. When it is left out, all attempts come one after the other, each under a
        /// heading.
        attempt: Option<u32> = optional(integer(1..=ATTEMPT_MAX)),
        /// First byte of the attempt's log that is wanted; 0 when it is left out.
        offset: Option<u64> = optional(integer(0..=OFFSET_MAX)),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let (attempt, offset) = parse(request)?;
    let id = job::id(request);
    let what = attempt.map_or("job", |_| "job or attempt");
    let (stream, bytes, is_complete) =
        jobs::log(id, attempt, offset).map_err(|error| refusal::of(error, what, id))?;
    Ok(Response {
        status: 200,
        headers: headers(bytes, is_complete),
        body: Body::Stream(stream),
    })
}

/// The attempt, and the offset in its log.
fn parse(request: &Request) -> Result<(Option<u32>, u64), ApiError> {
    let asked: Asked = request.query()?.read()?;
    if asked.offset.is_some() && asked.attempt.is_none() {
        return Err(ApiError::field("offset", "needs attempt beside it"));
    }
    Ok((asked.attempt, asked.offset.unwrap_or(0)))
}

fn headers(bytes: u64, is_complete: bool) -> Vec<(String, String)> {
    [
        ("content-type", TYPE.to_owned()),
        ("x-log-bytes", bytes.to_string()),
        ("x-log-complete", is_complete.to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

#[cfg(test)]
mod tests {
    use guest::testing::{get, mutations};

    use super::{headers, parse};

    #[test]
    fn query() {
        let asked = |query: &str| parse(&get(&["01X"], query));
        assert_eq!(asked("").unwrap(), (None, 0));
        assert_eq!(asked("attempt=2").unwrap(), (Some(2), 0));
        let far = asked("attempt=1&offset=9007199254740991").unwrap();
        assert_eq!(far, (Some(1), 9_007_199_254_740_991));
        for (query, field) in [
            ("attempt=0", "attempt"),
            ("attempt=last", "attempt"),
            ("offset=0", "offset"),
            ("attempt=1&offset=-1", "offset"),
            ("attempt=1&offset=9007199254740992", "offset"),
            ("run=fw", "run"),
        ] {
            let error = asked(query).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn a_follower_learns_where_to_go_on() {
        let told = |bytes, is_complete| -> Vec<String> {
            let headers = headers(bytes, is_complete).into_iter();
            headers
                .map(|(name, value)| format!("{name}: {value}"))
                .collect()
        };
        assert_eq!(
            told(1 << 40, false),
            [
                "content-type: text/plain; charset=utf-8",
                "x-log-bytes: 1099511627776",
                "x-log-complete: false"
            ]
        );
        assert_eq!(told(0, true)[2], "x-log-complete: true");
    }

    #[test]
    fn mutated_queries_never_panic() {
        mutations(0x10_69, b"attempt=2&offset=4096", 5000, |query| {
            if let Ok(query) = std::str::from_utf8(query)
                && let Ok((attempt, offset)) = parse(&get(&[], query))
            {
                assert!(attempt != Some(0) && (attempt.is_some() || offset == 0));
            }
        });
    }
}
