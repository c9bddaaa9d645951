//! Events and timers, each heard by a plain function.

use serde_json::Value;

use crate::Error;
use crate::bindings::subscriber::exports::hostd::plugin::events as wit;

/// Something that happened at the bench.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Unique; the same when it is told again.
    pub id: String,
    /// `job.finished`, `device.quarantined`, …
    pub kind: String,
    /// Milliseconds since 1970, UTC.
    pub at_ms: u64,
    /// Organisation id.
    pub org: String,
    /// Id of what it is about.
    pub subject: String,
    /// The members of its kind.
    pub json: Value,
}

/// A timer that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timer {
    /// As the manifest names it.
    pub id: String,
    /// Organisation id.
    pub org: String,
}

impl Event {
    /// A text in its members, by a JSON pointer such as `/job/name`; empty if there is none.
    #[must_use]
    pub fn text(&self, pointer: &str) -> &str {
        let found = self.json.pointer(pointer);
        found.and_then(Value::as_str).unwrap_or_default()
    }
}

impl From<wit::Event> for Event {
    fn from(event: wit::Event) -> Self {
        Self {
            id: event.id,
            kind: event.kind,
            at_ms: event.at,
            org: event.org,
            subject: event.subject,
            json: serde_json::from_str(&event.json).unwrap_or_default(),
        }
    }
}

#[doc(hidden)]
pub fn hear(
    event: wit::Event,
    on_event: fn(&Event) -> Result<(), Error>,
) -> Result<(), crate::handler_bindings::hostd::plugin::types::Error> {
    on_event(&event.into()).map_err(Into::into)
}

#[doc(hidden)]
pub fn strike(
    (id, org): (String, String),
    on_timer: fn(&Timer) -> Result<(), Error>,
) -> Result<(), crate::handler_bindings::hostd::plugin::types::Error> {
    on_timer(&Timer { id, org }).map_err(Into::into)
}

#[doc(hidden)]
pub fn no_timer(timer: &Timer) -> Result<(), Error> {
    Err(Error::new(
        "not_found",
        format!("the plugin has no timer {}", timer.id),
    ))
}

/// Export a function that hears of events, and perhaps one for timers: `subscriber!(on_event)`,
/// `subscriber!(on_event, on_timer)`. They are `fn(&Event) -> Result<(), Error>` and `fn(&Timer) -> Result<(), Error>`.
#[macro_export]
macro_rules! subscriber {
    ($on_event:path) => {
        $crate::subscriber!($on_event, $crate::no_timer);
    };
    ($on_event:path, $on_timer:path) => {
        const _: () = {
            // Used on every machine, so that tests on others find nothing unused.
            const _: fn(&$crate::Event) -> Result<(), $crate::Error> = $on_event;
            const _: fn(&$crate::Timer) -> Result<(), $crate::Error> = $on_timer;

            struct Plugin;

            impl $crate::subscriber_bindings::exports::hostd::plugin::events::Guest for Plugin {
                fn on_event(
                    event: $crate::subscriber_bindings::exports::hostd::plugin::events::Event,
                ) -> Result<(), $crate::handler_bindings::hostd::plugin::types::Error> {
                    $crate::hear(event, $on_event)
                }

                fn on_timer(
                    id: String,
                    org: String,
                ) -> Result<(), $crate::handler_bindings::hostd::plugin::types::Error> {
                    $crate::strike((id, org), $on_timer)
                }
            }

            #[cfg(target_arch = "wasm32")]
            $crate::subscriber_bindings::export_subscriber!(
                Plugin with_types_in $crate::subscriber_bindings
            );
        };
    };
}
