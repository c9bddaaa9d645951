//! `PUT /jobs/trusted-refs`: say whose caches all jobs of the organisation read.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, jobs, like, list, members};
use serde_json::json;

use crate::job;
use crate::trusted_refs::{DESCRIPTION, TrustedRefs, answer, example};

/// Who decides what all jobs of the organisation build on.
const SCOPE: Option<&str> = Some("bench:admin");

/// Patterns that there may be.
const REFS_MAX: usize = 16;

/// Longest pattern, in characters.
const REF_CHARS_MAX: usize = 255;

/// Bytes of a character that JSON escapes.
const ESCAPE_BYTES: usize = 6;

/// Patterns of which each byte is escaped, and what is around them.
#[allow(clippy::cast_possible_truncation, reason = "it is far below 4 GiB")]
const BODY_BYTES_MAX: u32 = (ESCAPE_BYTES * REFS_MAX * REF_CHARS_MAX + (4 << 10)) as u32;

pub(crate) const ROUTE: Route = Route {
    name: "jobs.trust_refs",
    method: "PUT",
    pattern: "/jobs/trusted-refs",
    credentials: job::CREDENTIALS,
    scope: SCOPE,
    body_limit: BODY_BYTES_MAX,
    summary: "Replace the trusted refs",
    openapi: Openapi::of(|operation| {
        operation
            .description(DESCRIPTION)
            .refusals(&[Refusal::Forbidden])
            .body::<Body>(json!({"refs": ["main", "v*"]}))
            .reply(
                200,
                "What is trusted from now on. It counts for attempts that begin later.",
                &TrustedRefs::of(&example()),
            );
    }),
    handle,
};

members! {
    #[derive(Debug)]
    struct Body {
        /// Patterns of branches and tags, with `*`, `**` and `?`, as `main` or `release/*`; the whole `ref` of a job must
        /// fit. An empty list trusts none.
        refs: Vec<String> = required(list(like::ref_pattern(1..=REF_CHARS_MAX), 0..=REFS_MAX)),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    answer(jobs::trust_refs(&parse(request)?.refs))
}

fn parse(request: &Request) -> Result<Body, ApiError> {
    request.json()?.read()
}

#[cfg(test)]
mod tests {
    use guest::testing::request;
    use serde_json::json;

    use super::{REF_CHARS_MAX, REFS_MAX, example, parse};

    #[test]
    fn body() {
        let refs = |body: &str| parse(&request(body)).map(|body| body.refs);
        assert_eq!(refs(r#"{"refs":["main","v*"]}"#).ok(), Some(example()));
        assert_eq!(refs(r#"{"refs":[]}"#).ok(), Some(Vec::new()));
        let long = format!(r#"{{"refs":["{}"]}}"#, "x".repeat(REF_CHARS_MAX + 1));
        let many = json!({"refs": vec!["x"; REFS_MAX + 1]}).to_string();
        for body in ["{}", r#"{"refs":"main"}"#, r#"{"refs":[""]}"#, &long, &many] {
            let error = refs(body).err().unwrap();
            assert_eq!((error.status, &*error.fields[0].field), (400, "refs"));
        }
    }
}
