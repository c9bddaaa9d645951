//! `POST /badges`: a picture of how the jobs of a name stand, for a page without a credential.

use guest::badges::{self, NewBadge};
use guest::{ApiError, Openapi, Refusal, Request, Response, Route, members, text};
use serde_json::json;

use crate::badge::{self, Record};

/// Longest name of jobs, branch or tag, in characters.
const TEXT_CHARS_MAX: usize = 255;

/// Longest label, in characters.
const LABEL_CHARS_MAX: usize = 40;

pub(crate) const ROUTE: Route = Route {
    name: "badges.create",
    method: "POST",
    pattern: "/badges",
    credentials: badge::CREDENTIALS,
    scope: badge::SCOPE,
    body_limit: 4 << 10,
    summary: "Make a badge",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::QuotaExceeded])
            .body::<Ask>(json!({"name": "blinky", "ref": "main", "label": "bench"}))
            .reply(201, "The badge.", &Record::from(&badge::example()));
    }),
    handle,
};

members! {
    struct Ask {
        /// Jobs of this name.
        name: String = required(text(1..=TEXT_CHARS_MAX)),
        /// Of this branch or tag alone.
        r#ref: Option<String> = optional(text(1..=TEXT_CHARS_MAX)),
        /// What it says before the word; left out = the beginning of the name.
        label: Option<String> = optional(text(1..=LABEL_CHARS_MAX)),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let new = parse(request)?;
    let made = badges::create(&new).map_err(|error| badge::refusal(error, ""))?;
    Ok(Response::json(201, &Record::from(&made)))
}

fn parse(request: &Request) -> Result<NewBadge, ApiError> {
    let ask: Ask = request.json()?.read()?;
    let short = || ask.name.chars().take(LABEL_CHARS_MAX).collect();
    Ok(NewBadge {
        label: ask.label.unwrap_or_else(short),
        name: ask.name,
        ref_: ask.r#ref,
    })
}

#[cfg(test)]
mod tests {
    use guest::testing::request;

    use super::parse;

    #[test]
    fn body() {
        let new = parse(&request(r#"{"name":"blinky"}"#)).unwrap();
        assert_eq!((&*new.label, new.ref_), ("blinky", None));
        let long = format!(r#"{{"name":"{}"}}"#, "ä".repeat(255));
        assert_eq!(parse(&request(&long)).unwrap().label, "ä".repeat(40));
        for (body, field) in [
            ("{}", "name"),
            (r#"{"name":""}"#, "name"),
            (r#"{"name":"a","label":""}"#, "label"),
            (r#"{"name":"a","ref":""}"#, "ref"),
            (r#"{"name":"a","colour":"red"}"#, "colour"),
        ] {
            let error = parse(&request(body)).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }
}
