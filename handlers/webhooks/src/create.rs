//! `POST /webhooks`: tell somebody of finished jobs. Its secret is in this reply and nowhere else.

use guest::webhooks::{self, NewWebhook};
use guest::{ApiError, Openapi, Refusal, Request, Response, Route, members, text};
use serde_json::json;

use crate::webhook::{
    self, EXAMPLE_SECRET, JOB_FINISHED, NewRecord, TEXT_CHARS_MAX, reply_with_secret,
};

pub(crate) const ROUTE: Route = Route {
    name: "webhooks.create",
    method: "POST",
    pattern: "/webhooks",
    credentials: webhook::CREDENTIALS,
    scope: webhook::SCOPE,
    body_limit: 16 << 10,
    summary: "Make a webhook",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::QuotaExceeded, Refusal::SecretsUnavailable])
            .body::<Ask>(json!({
                "url": "https://chat.example/hooks/bench",
                "events": ["job.finished"],
                "name": "blinky"
            }))
            .reply(
                201,
                "The webhook with its secret.",
                &NewRecord::of(&webhook::example(), EXAMPLE_SECRET),
            );
    }),
    handle,
};

members! {
    #[derive(Debug)]
    struct Ask {
        /// Where messages are sent: http or https.
        url: String = required(webhook::url()),
        /// What they are about: `job.finished`, and what plugins tell, `x.<plugin id>.<kind>`.
        events: Vec<String> = or(webhook::events(), vec![JOB_FINISHED.to_owned()]),
        /// Only jobs of this name.
        name: Option<String> = optional(text(1..=TEXT_CHARS_MAX)),
        /// Only jobs of this branch or tag.
        r#ref: Option<String> = optional(text(1..=TEXT_CHARS_MAX)),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let ask = parse(request)?;
    let new = NewWebhook {
        url: ask.url,
        events: ask.events,
        name: ask.name,
        ref_: ask.r#ref,
    };
    let made = webhooks::create(&new).map_err(|error| webhook::refusal(error, "webhook", ""))?;
    Ok(reply_with_secret(201, &made))
}

fn parse(request: &Request) -> Result<Ask, ApiError> {
    request.json()?.read()
}

#[cfg(test)]
mod tests {
    use guest::testing::{header, json, mutations, request};
    use guest::webhooks::Created;

    use super::parse;
    use crate::webhook::{example, reply_with_secret};

    #[test]
    fn body() {
        let ask = parse(&request(r#"{"url":"https://a.example/"}"#)).unwrap();
        assert_eq!((ask.events.len(), ask.name, ask.r#ref), (1, None, None));
        for (body, field) in [
            ("{}", "url"),
            (r#"{"url":"x"}"#, "url"),
            (r#"{"url":"https://a.example/","events":[]}"#, "events"),
            (
                r#"{"url":"https://a.example/","events":["Job finished"]}"#,
                "events",
            ),
            (r#"{"url":"https://a.example/","name":""}"#, "name"),
            (r#"{"url":"https://a.example/","secret":"x"}"#, "secret"),
        ] {
            let error = parse(&request(body)).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn the_secret_is_shown_and_not_cached() {
        let made = Created {
            webhook: example(),
            secret: "whsec_x".into(),
        };
        let response = reply_with_secret(201, &made);
        assert_eq!(response.status, 201);
        assert_eq!(header(&response, "cache-control"), Some("no-store"));
        assert_eq!(json(&response)["secret"], "whsec_x");
    }

    #[test]
    fn mutated_bodies_never_panic() {
        let valid =
            br#"{"url":"https://a.example/","events":["job.finished"],"name":"n","ref":"r"}"#;
        mutations(0x0B0E, valid, 5000, |body| {
            let mut request = request("");
            request.body = body.to_vec();
            if let Ok(ask) = parse(&request) {
                assert!(!ask.url.is_empty() && !ask.events.is_empty());
            }
        });
    }
}
