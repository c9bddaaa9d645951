//! `POST /cloud/builds/{build}/status`: the result of a build.

use guest::{ApiError, Object, Request, Response, Route, builds, flag, text};

use crate::{build, wiring};

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
    openapi: guest::compact_json!(include_str!("finish.json")),
    handle,
};

#[derive(Debug)]
struct Outcome {
    success: bool,
    reason: String,
    wiring: Option<String>,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let result = parse(request)?;
    let id = build::id(request);
    let wiring = result.wiring.as_deref();
    let finished = builds::finish(id, result.success, &result.reason, wiring)
        .map_err(|error| build::refusal(error, id))?;
    let mut body = Object::new();
    build::record(&finished, &mut body);
    Ok(body.reply(200))
}

fn parse(request: &Request) -> Result<Outcome, ApiError> {
    let mut body = request.json()?;
    let result = Outcome {
        success: body.required("success", flag()),
        reason: body.or("reason", text(0..=REASON_CHARS_MAX), String::new()),
        wiring: wiring::read(&mut body),
    };
    body.finish()?;
    Ok(result)
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
            assert_eq!(parse(&request(body)).unwrap_err().status, 400, "{body}");
        }
    }
}
