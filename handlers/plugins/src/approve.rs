//! `POST /plugins/{id}/approve`: grant a plugin what it wants, or some of it, in an organisation.

use guest::plugins::Approval;
use guest::{
    ApiError, Openapi, Refusal, Request, Response, Route, Shape, flag, integer, list, members,
    plugins, text,
};
use serde_json::json;

use crate::notes::{self, Notes};
use crate::plugin;

/// Rights of one kind in one request.
const RIGHTS_MAX: usize = 64;

/// Longest pattern of addresses, in characters.
const PATTERN_CHARS_MAX: usize = 1024;

/// Most room for a plugin's keys, in MiB.
const STORE_MIB_MAX: u32 = 1024;

/// Every list full, each letter escaped.
const BODY_BYTES_MAX: u32 = 1 << 20;

pub(crate) const ROUTE: Route = Route {
    name: "plugins.approve",
    method: "POST",
    pattern: "/plugins/{id}/approve",
    credentials: plugin::CREDENTIALS,
    scope: plugin::SCOPE,
    body_limit: BODY_BYTES_MAX,
    summary: "Grant a plugin rights",
    openapi: Openapi::of(|operation| {
        plugin::describe_id(operation);
        notes::describe_later(operation);
        operation
            .description(
                "Without a right in the body, all that the plugin wants; with one or more, these in addition to what \
                 it has. Administrators of an organisation grant what the plugin's manifest asks for, in their own \
                 organisation, but no private address and no answers without a credential; operators grant anything, \
                 anywhere.",
            )
            .refusals(&[Refusal::Forbidden, Refusal::PluginRefused])
            .body::<Body>(json!({"devices": ["bench-1"]}))
            .body_may_be_absent()
            .reply(
                200,
                "Granted.",
                &Notes::example("acme.x may act in the organisation default"),
            );
    }),
    handle,
};

members! {
    #[derive(Debug)]
    struct Body {
        /// Name or id of the organisation; the caller's when it is left out.
        org: Option<String> = optional(plugin::name()),
        /// Names or ids of the devices that it may use; left out: all, or those that it has been granted before.
        devices: Vec<String> = or(names(), Vec::new()),
        /// All devices, after a grant for some.
        all_devices: bool = or(flag(), false),
        /// Interfaces of the host.
        interfaces: Vec<String> = or(names(), Vec::new()),
        /// Scopes that its calls may use, as far as the caller has them, too.
        scopes: Vec<String> = or(names(), Vec::new()),
        /// Addresses that it may send requests to: `https://host:port/path*`.
        http: Vec<String> = or(list(text(1..=PATTERN_CHARS_MAX), 0..=RIGHTS_MAX), Vec::new()),
        /// Kinds of events that it is told of.
        events: Vec<String> = or(names(), Vec::new()),
        /// Timers of its manifest.
        timers: Vec<String> = or(names(), Vec::new()),
        /// Secrets that it may read.
        secrets: Vec<String> = or(names(), Vec::new()),
        /// It may answer callers without a credential.
        public: bool = or(flag(), false),
        /// Room for its keys, in MiB.
        store_mib: Option<u32> = optional(integer(1..=STORE_MIB_MAX)),
    }
}

fn names() -> impl Shape<Value = Vec<String>> {
    list(plugin::name(), 0..=RIGHTS_MAX)
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = plugin::id(request);
    let (org, rights) = parse(request)?;
    notes::reply(plugins::approve(id, org.as_deref(), &rights), id)
}

fn parse(request: &Request) -> Result<(Option<String>, Approval), ApiError> {
    let body: Body = request.json_or_empty()?.read()?;
    let rights = Approval {
        devices: body.devices,
        all_devices: body.all_devices,
        interfaces: body.interfaces,
        scopes: body.scopes,
        http: body.http,
        events: body.events,
        timers: body.timers,
        secrets: body.secrets,
        public: body.public,
        store_mib: body.store_mib,
    };
    if rights.all_devices && !rights.devices.is_empty() {
        return Err(ApiError::field("all_devices", "does not go with devices"));
    }
    Ok((body.org, rights))
}

#[cfg(test)]
mod tests {
    use guest::testing::{mutations, request, request_example};

    use super::{ROUTE, parse};

    #[test]
    fn body() {
        let (org, rights) = parse(&request("")).unwrap();
        assert!(org.is_none() && rights.interfaces.is_empty() && !rights.public);
        let (org, rights) = parse(&request(
            r#"{"org":"acme","interfaces":["store"],"public":true,"store_mib":4}"#,
        ))
        .unwrap();
        assert_eq!(org.as_deref(), Some("acme"));
        assert_eq!(rights.interfaces, ["store"]);
        assert_eq!((rights.public, rights.store_mib), (true, Some(4)));
        for (body, field) in [
            (r#"{"interfaces":"store"}"#, "interfaces"),
            (r#"{"devices":[""]}"#, "devices"),
            (r#"{"devices":["a"],"all_devices":true}"#, "all_devices"),
            (r#"{"store_mib":0}"#, "store_mib"),
            (r#"{"admin":true}"#, "admin"),
        ] {
            let error = parse(&request(body)).unwrap_err();
            assert_eq!(
                (error.status, error.fields[0].field.as_str()),
                (400, field),
                "{body}"
            );
        }
    }

    #[test]
    fn mutations_of_the_example_never_panic() {
        mutations(0xA9, &request_example(&ROUTE), 5000, |body| {
            let mut request = request("");
            request.body = body.to_vec();
            if let Ok((_, rights)) = parse(&request) {
                assert!(rights.devices.iter().all(|device| !device.is_empty()));
            }
        });
    }
}
