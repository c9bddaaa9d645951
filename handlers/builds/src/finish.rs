//! `POST /cloud/builds/{build}/status`: the result of a build.

use guest::{
    ApiError, Openapi, Refusal, Request, Response, Route, builds, flag, members, nested, text,
};
use serde_json::json;

use crate::build;
use crate::wiring::Wiring;

/// Longest reason, in characters.
const REASON_CHARS_MAX: usize = 1000;

pub(crate) const ROUTE: Route = Route {
    name: "builds.finish",
    method: "POST",
    pattern: "/cloud/builds/{build}/status",
    credentials: build::REPORT,
    scope: build::SCOPE,
    body_limit: 64 << 10,
    summary: "Give a build its result",
    openapi: Openapi::of(|operation| {
        let finished = builds::Build {
            status: builds::Status::Success,
            reason: "12 passed".into(),
            ..build::example()
        };
        build::describe_id(operation);
        operation
            .refusals(&[Refusal::WrongState])
            .body::<Outcome>(json!({"success": true, "reason": "12 passed"}))
            .reply(
                200,
                "The build with its result. It takes no more files.",
                &build::Record::from(&finished),
            );
    }),
    handle,
};

members! {
    struct Outcome {
        success: bool = required(flag()),
        reason: String = or(text(0..=REASON_CHARS_MAX), String::new()),
        /// How the target is wired, for who flashes it later.
        wiring: Option<Wiring> = optional(nested()),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let result = parse(request)?;
    let id = build::id(request);
    let wiring = result.wiring.map(|wiring| wiring.text());
    let finished = builds::finish(id, result.success, &result.reason, wiring.as_deref())
        .map_err(|error| build::refusal(error, id))?;
    Ok(Response::json(200, &build::Record::from(&finished)))
}

fn parse(request: &Request) -> Result<Outcome, ApiError> {
    request.json()?.read()
}

#[cfg(test)]
mod tests {
    use guest::testing::request;

    use super::parse;

    #[test]
    fn success_is_needed() {
        let result = parse(&request(r#"{"success":false,"reason":"2 failed"}"#)).unwrap();
        assert!(!result.success && result.reason == "2 failed" && result.wiring.is_none());
        for body in [
            "",
            "{}",
            r#"{"success":"yes"}"#,
            r#"{"success":true,"x":1}"#,
        ] {
            assert_eq!(parse(&request(body)).err().unwrap().status, 400, "{body}");
        }
    }
}
