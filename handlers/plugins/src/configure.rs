//! `POST /plugins/{id}/configure`: set, for one organisation, what a plugin's manifest leaves open.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, members, object, plugins};
use serde_json::{Map, Value, json};

use crate::notes::{self, Notes};
use crate::plugin;

pub(crate) const ROUTE: Route = Route {
    name: "plugins.configure",
    method: "POST",
    pattern: "/plugins/{id}/configure",
    credentials: plugin::CREDENTIALS,
    scope: plugin::SCOPE,
    body_limit: 128 << 10,
    summary: "Configure a plugin",
    openapi: Openapi::of(|operation| {
        plugin::describe_id(operation);
        notes::describe_later(operation);
        operation
            .refusals(&[Refusal::Forbidden, Refusal::PluginRefused])
            .body::<Body>(json!({"values": {"greeting": "hello"}}))
            .body_may_be_absent()
            .reply(
                200,
                "The next call is told of it.",
                &Notes::example("acme.x is configured for the organisation default"),
            );
    }),
    handle,
};

members! {
    #[derive(Debug)]
    struct Body {
        /// Name or id of the organisation; the caller's when it is left out.
        org: Option<String> = optional(plugin::name()),
        /// All that is set, by the names in the manifest's table `config`; left out: back to the defaults.
        values: Option<Map<String, Value>> = optional(object()),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = plugin::id(request);
    let Body { org, values } = parse(request)?;
    let values = values.map(|values| Value::Object(values).to_string());
    notes::reply(
        plugins::configure(id, org.as_deref(), values.as_deref()),
        id,
    )
}

fn parse(request: &Request) -> Result<Body, ApiError> {
    request.json_or_empty()?.read()
}

#[cfg(test)]
mod tests {
    use guest::testing::{mutations, request, request_example};

    use super::{ROUTE, parse};

    #[test]
    fn body() {
        assert!(parse(&request("")).unwrap().values.is_none());
        let body = parse(&request(r#"{"values":{"a":1,"b":{}}}"#)).unwrap();
        assert_eq!(body.values.unwrap()["a"], 1);
        let error = parse(&request(r#"{"values":[1]}"#)).unwrap_err();
        assert_eq!(error.fields[0].field, "values");
    }

    #[test]
    fn mutations_of_the_example_never_panic() {
        mutations(0xC0, &request_example(&ROUTE), 5000, |body| {
            let mut request = request("");
            request.body = body.to_vec();
            let _ = parse(&request);
        });
    }
}
