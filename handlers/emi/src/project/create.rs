//! `POST /emi/projects`: a place for the boards of one design.

use guest::emi::{self, SourceKind};
use guest::{ApiError, NAME, Openapi, Refusal, Request, Response, Route, alike, members};
use serde_json::json;

use crate::project::{Record, SOURCE_KINDS};
use crate::{access, example, refusal};

/// Longest name, in characters.
const NAME_CHARS_MAX: usize = 200;

pub(crate) const ROUTE: Route = Route {
    name: "emi.project_create",
    method: "POST",
    pattern: "/emi/projects",
    credentials: access::CREDENTIALS,
    scope: access::SCOPE,
    body_limit: 4 << 10,
    summary: "Make a project for boards",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::QuotaExceeded])
            .body::<Body>(json!({"name": "sensor", "source_kind": "kicad"}))
            .reply(201, "The project.", &Record::from(&example::project()));
    }),
    handle,
};

members! {
    #[derive(Debug)]
    struct Body {
        name: String = required(alike(1..=NAME_CHARS_MAX, &NAME)),
        /// What its boards are.
        source_kind: SourceKind = or(SOURCE_KINDS.shape(), SourceKind::Kicad),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let Body { name, source_kind } = parse(request)?;
    let made = emi::create_project(&name, source_kind);
    let made = made.map_err(|error| refusal::of(error, "project", ""))?;
    Ok(Response::json(201, &Record::from(&made)))
}

fn parse(request: &Request) -> Result<Body, ApiError> {
    request.json()?.read()
}

#[cfg(test)]
mod tests {
    use guest::emi::SourceKind;
    use guest::testing::{mutations, request, request_example};

    use super::{ROUTE, parse};

    #[test]
    fn body() {
        let asked = parse(&request(r#"{"name":"a"}"#)).unwrap();
        assert_eq!(
            (asked.name.as_str(), asked.source_kind),
            ("a", SourceKind::Kicad)
        );
        let asked = parse(&request(r#"{"name":"a","source_kind":"gerber"}"#)).unwrap();
        assert_eq!(asked.source_kind, SourceKind::Gerber);
        let long = format!(r#"{{"name":"{}"}}"#, "x".repeat(201));
        for body in [
            "{}",
            r#"{"name":""}"#,
            r#"{"name":"a","source_kind":"x"}"#,
            &long,
        ] {
            assert_eq!(parse(&request(body)).unwrap_err().status, 400, "{body}");
        }
    }

    #[test]
    fn mutations_of_the_example_never_panic() {
        mutations(0xE1, &request_example(&ROUTE), 5000, |body| {
            let mut request = request("");
            request.body = body.to_vec();
            let _ = parse(&request);
        });
    }
}
