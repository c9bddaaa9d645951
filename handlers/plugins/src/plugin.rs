//! What the endpoints about plugins share: who may use them, the record, the refusals.

use guest::plugins::{Error, Granted, Plugin};
use guest::{ApiError, Credential, Operation, Refusal, Request, Shape, text};
use schemars::JsonSchema;
use serde::Serialize;

/// Session tokens are handed to programs, which have no business here.
pub(crate) const CREDENTIALS: &[Credential] = &[Credential::ApiKey, Credential::UserSession];

/// The host checks more: which organisation's administrator may do what.
pub(crate) const SCOPE: Option<&str> = Some("bench:admin");

/// Longest name of an organisation, a device, a secret and the like, in characters.
pub(crate) const NAME_CHARS_MAX: usize = 128;

/// A plugin of the server.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Plugin")]
pub(crate) struct Record<'a> {
    id: &'a str,
    /// The version that serves, or would; empty when none may.
    version: &'a str,
    /// The version before, to which `rollback` goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<&'a str>,
    /// `active`, `loading`, `waiting` (until what it asks for is granted), `disabled`, `failed` or `being removed`.
    state: &'a str,
    /// Why it failed, or what it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    /// Endpoints that it serves now.
    routes: u32,
    /// Where it was approved: in the caller's organisation; for operators in all.
    grants: Vec<Grant<'a>>,
}

/// What a plugin may do in an organisation.
#[derive(Serialize, JsonSchema)]
struct Grant<'a> {
    /// Id of the organisation.
    org: &'a str,
    /// Ids of devices; `null` = all of the organisation.
    devices: Option<&'a [String]>,
    /// What the plugin wants and was not granted, each as a sentence.
    missing: &'a [String],
}

impl<'a> From<&'a Plugin> for Record<'a> {
    fn from(plugin: &'a Plugin) -> Self {
        Self {
            id: &plugin.id,
            version: &plugin.version,
            previous: plugin.previous.as_deref(),
            state: &plugin.state,
            reason: plugin.reason.as_deref(),
            routes: plugin.routes,
            grants: plugin.grants.iter().map(Into::into).collect(),
        }
    }
}

impl<'a> From<&'a Granted> for Grant<'a> {
    fn from(granted: &'a Granted) -> Self {
        Self {
            org: &granted.org,
            devices: granted.devices.as_deref(),
            missing: &granted.missing,
        }
    }
}

/// Document the id in the path.
pub(crate) fn describe_id(operation: &mut Operation) {
    operation.path(
        "id",
        "Id of the plugin, as its manifest has it: `acme.rail-report`.",
    );
}

/// What compiling a large package takes.
const BUSY_RETRY_AFTER_S: u32 = 10;

/// Id in the path.
pub(crate) fn id(request: &Request) -> &str {
    request.param(0)
}

/// A name that is looked up.
pub(crate) fn name() -> impl Shape<Value = String> {
    text(1..=NAME_CHARS_MAX)
}

/// `id` is the plugin that was asked for, empty when none was.
pub(crate) fn refusal(error: Error, id: &str) -> ApiError {
    match error {
        Error::NotFound => ApiError::not_found("plugin", id),
        Error::Forbidden(sentence) => ApiError::forbidden(sentence),
        Error::Refused(sentence) => ApiError::of(Refusal::PluginRefused, sentence),
        Error::Busy(sentence) => {
            ApiError::of(Refusal::Overloaded, sentence).retry_after(BUSY_RETRY_AFTER_S)
        }
        // What goes on is no refusal: whoever begins such a thing answers 202, and nothing else goes on.
        Error::Later(cause) | Error::Other(cause) => ApiError::internal(cause),
    }
}

/// A plugin, for the documentation.
pub(crate) fn example() -> Plugin {
    Plugin {
        id: "hostd.rail-report".into(),
        version: "1.1.0".into(),
        previous: Some("1.0.0".into()),
        state: "active".into(),
        reason: None,
        routes: 2,
        grants: vec![Granted {
            org: "01JGZ5V9T3N8W2K4Q7R6D1M0XA".into(),
            devices: None,
            missing: Vec::new(),
        }],
    }
}

#[cfg(test)]
mod tests {
    use guest::plugins::Error;

    use super::refusal;

    #[test]
    fn refusals() {
        for (error, status, code) in [
            (Error::NotFound, 404, "not_found"),
            (Error::Forbidden("ask".into()), 403, "forbidden"),
            (Error::Refused("no".into()), 422, "plugin_refused"),
            (Error::Busy("later".into()), 503, "overloaded"),
            (Error::Later("it goes on".into()), 500, "internal"),
            (Error::Other("disk".into()), 500, "internal"),
        ] {
            let error = refusal(error, "acme.x");
            assert_eq!((error.status, error.code), (status, code));
        }
    }
}
