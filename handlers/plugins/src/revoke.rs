//! `POST /plugins/{id}/revoke`: take back what a plugin was granted in an organisation.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, members, plugins};
use serde_json::json;

use crate::notes::{self, Notes};
use crate::plugin;

pub(crate) const ROUTE: Route = Route {
    name: "plugins.revoke",
    method: "POST",
    pattern: "/plugins/{id}/revoke",
    credentials: plugin::CREDENTIALS,
    scope: plugin::SCOPE,
    body_limit: 4 << 10,
    summary: "Take a plugin's rights back",
    openapi: Openapi::of(|operation| {
        plugin::describe_id(operation);
        notes::describe_later(operation);
        operation
            .refusals(&[Refusal::Forbidden, Refusal::PluginRefused])
            .body::<Body>(json!({}))
            .body_may_be_absent()
            .reply(
                200,
                "It may do nothing there any more. Calls that are on their way end with what they had.",
                &Notes::example("acme.x may do nothing in the organisation default any more"),
            );
    }),
    handle,
};

members! {
    #[derive(Debug)]
    struct Body {
        /// Name or id of the organisation; the caller's when it is left out.
        org: Option<String> = optional(plugin::name()),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = plugin::id(request);
    let Body { org } = request.json_or_empty()?.read()?;
    notes::reply(plugins::revoke(id, org.as_deref()), id)
}

#[cfg(test)]
mod tests {
    use guest::testing::request;

    use super::Body;

    #[test]
    fn body() {
        let read = |text: &str| request(text).json_or_empty().unwrap().read::<Body>();
        assert_eq!(read("").unwrap().org, None);
        assert_eq!(
            read(r#"{"org":"acme"}"#).unwrap().org.as_deref(),
            Some("acme")
        );
        assert_eq!(read(r#"{"org":""}"#).unwrap_err().fields[0].field, "org");
    }
}
