//! What the endpoints about plugins share: who may use them, the record, the refusals.

use guest::plugins::{Error, Granted, Plugin, Wanted};
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
    /// What the newest version asks for, whether it was granted or not: what is to be read before it is approved. Absent in lists,
    /// and when there is no version.
    #[serde(skip_serializing_if = "Option::is_none")]
    wants: Option<Wants<'a>>,
    /// Where it was approved: in the caller's organisation; for operators in all.
    grants: Vec<Grant<'a>>,
}

/// What a version of a plugin asks for. The lists have what an approval may name, which grants it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PluginWants")]
struct Wants<'a> {
    /// Which version.
    version: &'a str,
    /// What it calls itself, what it is for, and a page about it, as its author says.
    name: Option<&'a str>,
    description: Option<&'a str>,
    homepage: Option<&'a str>,
    /// Interfaces of the server.
    interfaces: &'a [String],
    /// Scopes that its calls may use.
    scopes: &'a [String],
    /// Where it sends requests, as patterns of URLs.
    http: &'a [String],
    /// Kinds of events that it is called for.
    events: &'a [String],
    /// When it is called.
    timers: Vec<WantedTimer<'a>>,
    /// Names of secrets of the organisation that it reads.
    secrets: &'a [String],
    /// Whether it answers callers without a credential.
    public: bool,
    /// Room for keys of its own, in MiB.
    store_mib: u32,
}

/// A timer of a plugin.
#[derive(Serialize, JsonSchema)]
struct WantedTimer<'a> {
    id: &'a str,
    /// When it is due, in the syntax of cron, UTC.
    cron: &'a str,
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
            wants: plugin.wants.as_ref().map(Into::into),
            grants: plugin.grants.iter().map(Into::into).collect(),
        }
    }
}

impl<'a> From<&'a Wanted> for Wants<'a> {
    fn from(wanted: &'a Wanted) -> Self {
        let timers = wanted.timers.iter();
        Self {
            version: &wanted.version,
            name: wanted.name.as_deref(),
            description: wanted.description.as_deref(),
            homepage: wanted.homepage.as_deref(),
            interfaces: &wanted.interfaces,
            scopes: &wanted.scopes,
            http: &wanted.http,
            events: &wanted.events,
            timers: timers.map(|(id, cron)| WantedTimer { id, cron }).collect(),
            secrets: &wanted.secrets,
            public: wanted.public,
            store_mib: wanted.store_mib,
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
        wants: Some(Wanted {
            version: "1.1.0".into(),
            name: Some("Rail report".into()),
            description: None,
            homepage: None,
            interfaces: vec!["captures".into(), "http".into()],
            scopes: vec!["bench:control".into()],
            http: vec!["https://reports.example/*".into()],
            events: vec!["capture.finished".into()],
            timers: vec![("nightly".into(), "0 2 * * *".into())],
            secrets: Vec::new(),
            public: false,
            store_mib: 4,
        }),
        grants: vec![Granted {
            org: "01JGZ5V9T3N8W2K4Q7R6D1M0XA".into(),
            devices: None,
            missing: Vec::new(),
        }],
    }
}

/// The same as lists have it.
pub(crate) fn in_list() -> Plugin {
    Plugin {
        wants: None,
        ..example()
    }
}

#[cfg(test)]
mod tests {
    use guest::plugins::Error;

    use serde_json::json;

    use super::{Record, example, refusal};

    #[test]
    fn what_is_wanted_is_read_before_it_is_granted() {
        let mut plugin = example();
        let told = json!(Record::from(&plugin));
        assert_eq!(
            told["wants"],
            json!({
                "version": "1.1.0", "name": "Rail report", "description": null, "homepage": null,
                "interfaces": ["captures", "http"], "scopes": ["bench:control"],
                "http": ["https://reports.example/*"], "events": ["capture.finished"],
                "timers": [{"id": "nightly", "cron": "0 2 * * *"}], "secrets": [],
                "public": false, "store_mib": 4
            })
        );
        plugin.wants = None;
        assert_eq!(json!(Record::from(&plugin)).get("wants"), None);
    }

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
