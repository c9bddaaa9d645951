//! What the endpoints about webhooks share: who may use them, the record, the refusals.

use guest::webhooks::{self, Created, Webhook};
use guest::{
    ApiError, Credential, Like, Operation, Refusal, Request, Response, Shape, Time, alike, list,
    spelled,
};
use schemars::JsonSchema;
use serde::Serialize;

/// A webhook tells others of an organisation's work, so sessions that programs get are not enough.
pub(crate) const CREDENTIALS: &[Credential] = &[Credential::ApiKey, Credential::UserSession];

/// All that there is about webhooks.
pub(crate) const SCOPE: Option<&str> = Some("bench:admin");

/// Shortest URL, in characters.
const URL_CHARS_MIN: usize = 8;

/// Longest URL, in characters.
const URL_CHARS_MAX: usize = 2000;

/// Longest name or reference that is filtered by, in characters.
pub(crate) const TEXT_CHARS_MAX: usize = 255;

/// Longest name of an event, in characters.
const EVENT_CHARS_MAX: usize = 160;

/// Events of one webhook.
const EVENTS_MAX: usize = 16;

/// That a job is over.
pub(crate) const JOB_FINISHED: &str = "job.finished";

/// Where messages go.
pub(crate) fn url() -> impl Shape<Value = String> {
    alike(URL_CHARS_MIN..=URL_CHARS_MAX, &URL)
}

static URL: Like = Like {
    pattern: r"^https?://[!\x22$-~]+$",
    fits: |text| {
        let rest = ["http://", "https://"]
            .iter()
            .find_map(|scheme| text.strip_prefix(scheme));
        rest.is_some_and(|rest| {
            !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_graphic() && b != b'#')
        })
    },
    rule: "must be a URL such as https://chat.example/hooks/bench, without spaces and fragment",
    example: "https://chat.example/hooks/bench",
};

/// What they are about.
pub(crate) fn events() -> impl Shape<Value = Vec<String>> {
    list(spelled(1..=EVENT_CHARS_MAX, "a-z0-9._-"), 1..=EVENTS_MAX)
}

/// Webhook id that the path names.
pub(crate) fn id(request: &Request) -> &str {
    request.param(0)
}

/// Document the webhook id in the path.
pub(crate) fn describe_id(operation: &mut Operation) {
    operation.path("id", "Webhook id.");
}

/// Declares the record of a webhook, with what else an answer adds to it.
macro_rules! record {
    (
        $(#[$meta:meta])*
        $name:ident { $($(#[$member:meta])* $more:ident: $type:ty),* $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Serialize, JsonSchema)]
        pub(crate) struct $name<'a> {
            id: &'a str,
            url: &'a str,
            /// `job.finished`, and what plugins tell: `x.<plugin id>.<kind>`.
            events: &'a [String],
            /// Only jobs of this name; null = all.
            name: Option<&'a str>,
            /// Only jobs of this branch or tag; null = all.
            r#ref: Option<&'a str>,
            enabled: bool,
            /// Why the server disabled it; null = it did not.
            disabled_because: Option<&'a str>,
            /// Attempts that have failed since the last success.
            failures: u32,
            /// When the first of them failed.
            #[schemars(with = "Option<Time>")]
            failing_since: Option<&'a str>,
            /// User who made it.
            user: &'a str,
            #[schemars(with = "Time")]
            created_at: &'a str,
            $($(#[$member])* $more: $type,)*
        }

        impl<'a> $name<'a> {
            pub(crate) fn of(webhook: &'a Webhook $(, $more: $type)*) -> Self {
                Self {
                    id: &webhook.id,
                    url: &webhook.url,
                    events: &webhook.events,
                    name: webhook.name.as_deref(),
                    r#ref: webhook.ref_.as_deref(),
                    enabled: webhook.enabled,
                    disabled_because: webhook.disabled_because.as_deref(),
                    failures: webhook.failures,
                    failing_since: webhook.failing_since.as_deref(),
                    user: &webhook.user,
                    created_at: &webhook.created_at,
                    $($more,)*
                }
            }
        }
    };
}

record! {
    /// A webhook, without its secret.
    Record {}
}

record! {
    /// A webhook with its new secret.
    NewRecord {
        /// What messages are signed with, shown this once: `whsec_` and base 64.
        secret: &'a str,
    }
}

/// With the secret, which no cache on the way may keep.
pub(crate) fn reply_with_secret(status: u16, made: &Created) -> Response {
    let record = NewRecord::of(&made.webhook, &made.secret);
    let mut response = Response::json(status, &record);
    let no_store = ("cache-control".to_owned(), "no-store".to_owned());
    response.headers.push(no_store);
    response
}

/// A secret, for the documentation.
pub(crate) const EXAMPLE_SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// A webhook, for the documentation.
pub(crate) fn example() -> Webhook {
    Webhook {
        id: "01JGZ5V9T3N8W2K4Q7R6D1M0XW".into(),
        url: "https://chat.example/hooks/bench".into(),
        events: vec![JOB_FINISHED.into()],
        name: Some("blinky".into()),
        ref_: None,
        enabled: true,
        disabled_because: None,
        failures: 0,
        failing_since: None,
        user: "01JGZ5V9T3N8W2K4Q7R6D1M0XB".into(),
        created_at: "2026-01-02T03:04:05Z".into(),
    }
}

/// `what` and `id` are what was asked for.
pub(crate) fn refusal(error: webhooks::Error, what: &str, id: &str) -> ApiError {
    match error {
        webhooks::Error::NotFound => ApiError::not_found(what, id),
        webhooks::Error::Invalid((field, message)) => ApiError::field(field, message),
        webhooks::Error::Forbidden(message) => ApiError::forbidden(message),
        webhooks::Error::Full(message) => ApiError::of(Refusal::QuotaExceeded, message),
        webhooks::Error::Disabled => ApiError::of(
            Refusal::WrongState,
            "the webhook is disabled; enable it first",
        ),
        webhooks::Error::Waits => ApiError::of(
            Refusal::WrongState,
            "the delivery waits for its turn; see its next_at",
        ),
        webhooks::Error::Unavailable(message) => ApiError::of(Refusal::SecretsUnavailable, message),
        webhooks::Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
mod tests {
    use guest::webhooks::Error;
    use serde_json::json;

    use super::{NewRecord, Record, example, refusal};

    #[test]
    fn only_a_new_one_has_its_secret() {
        let webhook = example();
        let told = json!(Record::of(&webhook));
        assert_eq!(told["events"], json!(["job.finished"]));
        assert_eq!(told["ref"], json!(null));
        assert!(told.get("secret").is_none());
        assert_eq!(
            json!(NewRecord::of(&webhook, "whsec_x"))["secret"],
            "whsec_x"
        );
    }

    #[test]
    fn refusals() {
        for (error, status, code) in [
            (Error::NotFound, 404, "not_found"),
            (
                Error::Invalid(("url".into(), "must be x".into())),
                400,
                "invalid_request",
            ),
            (Error::Forbidden("no".into()), 403, "forbidden"),
            (Error::Full("20".into()), 409, "quota_exceeded"),
            (Error::Disabled, 409, "wrong_state"),
            (Error::Waits, 409, "wrong_state"),
            (
                Error::Unavailable("no key".into()),
                503,
                "secrets_unavailable",
            ),
            (Error::Other("disk".into()), 500, "internal"),
        ] {
            let error = refusal(error, "webhook", "w1");
            assert_eq!((error.status, error.code), (status, code));
        }
    }
}
