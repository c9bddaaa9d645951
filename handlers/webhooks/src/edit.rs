//! `PATCH /webhooks/{id}`: change a webhook, or switch it off or on.

use guest::webhooks;
use guest::{ApiError, Openapi, Request, Response, Route, flag, members, text};
use serde_json::json;

use crate::webhook::{self, Record, TEXT_CHARS_MAX};

pub(crate) const ROUTE: Route = Route {
    name: "webhooks.update",
    method: "PATCH",
    pattern: "/webhooks/{id}",
    credentials: webhook::CREDENTIALS,
    scope: webhook::SCOPE,
    body_limit: 16 << 10,
    summary: "Change a webhook",
    openapi: Openapi::of(|operation| {
        let off = webhooks::Webhook {
            enabled: false,
            ..webhook::example()
        };
        webhook::describe_id(operation);
        operation.body::<Ask>(json!({"enabled": false})).reply(
            200,
            "The webhook as it is now. What waited for one that is switched off is given up.",
            &Record::of(&off),
        );
    }),
    handle,
};

members! {
    struct Ask {
        /// Where messages are sent: http or https.
        url: Option<String> = optional(webhook::url()),
        /// What they are about: `job.finished`, and what plugins tell, `x.<plugin id>.<kind>`.
        events: Option<Vec<String>> = optional(webhook::events()),
        /// Only jobs of this name; empty = all.
        name: Option<String> = optional(text(0..=TEXT_CHARS_MAX)),
        /// Only jobs of this branch or tag; empty = all.
        r#ref: Option<String> = optional(text(0..=TEXT_CHARS_MAX)),
        /// Whether it is told anything. One that is switched on begins without failures.
        enabled: Option<bool> = optional(flag()),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let edit = parse(request)?;
    let id = webhook::id(request);
    let changed = webhooks::update(id, &edit);
    let changed = changed.map_err(|error| webhook::refusal(error, "webhook", id))?;
    Ok(Response::json(200, &Record::of(&changed)))
}

fn parse(request: &Request) -> Result<webhooks::Edit, ApiError> {
    let ask: Ask = request.json()?.read()?;
    let edit = webhooks::Edit {
        url: ask.url,
        events: ask.events,
        name: ask.name,
        ref_: ask.r#ref,
        enabled: ask.enabled,
    };
    let is_nothing = edit.url.is_none()
        && edit.events.is_none()
        && edit.name.is_none()
        && edit.ref_.is_none()
        && edit.enabled.is_none();
    if is_nothing {
        return Err(ApiError::invalid("give url, events, name, ref or enabled"));
    }
    Ok(edit)
}

#[cfg(test)]
mod tests {
    use guest::testing::request;

    use super::parse;

    #[test]
    fn something_must_change() {
        let edit = parse(&request(r#"{"enabled":false,"name":""}"#)).unwrap();
        assert_eq!(
            (edit.enabled, edit.name.as_deref()),
            (Some(false), Some(""))
        );
        for body in ["", "{}", r#"{"url":""}"#, r#"{"secret":"x"}"#] {
            assert_eq!(parse(&request(body)).unwrap_err().status, 400, "{body}");
        }
    }
}
