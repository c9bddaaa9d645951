//! What a message to a webhook is about.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Longest name of an event, in bytes.
pub const EVENT_BYTES_MAX: usize = 160;

/// Longest kind of a plugin's own, in bytes.
const KIND_BYTES_MAX: usize = 64;

/// What plugins' events begin with.
const PLUGIN_PREFIX: &str = "x.";

/// What can be heard of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Event {
    /// A job has ended.
    JobFinished,
    /// Somebody wants to see whether messages arrive.
    Test,
    /// What a plugin tells, by its whole name: `x.<plugin id>.<kind>`.
    Plugin(String),
}

/// There is no such event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be job.finished, or what a plugin tells: x.<plugin id>.<kind>")]
pub struct UnknownEvent;

impl Event {
    /// Its name: `job.finished`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::JobFinished => "job.finished",
            Self::Test => "webhook.test",
            Self::Plugin(name) => name,
        }
    }

    /// What the plugin tells under a kind of its own: 1 to 64 of `a-z 0-9 . _ -`.
    ///
    /// # Errors
    /// The kind is none.
    pub fn of_plugin(plugin: &str, kind: &str) -> Result<Self, UnknownEvent> {
        let name = format!("{PLUGIN_PREFIX}{plugin}.{kind}");
        if kind.is_empty() || kind.len() > KIND_BYTES_MAX {
            return Err(UnknownEvent);
        }
        Self::parse(&name)
    }

    /// The event with this name.
    ///
    /// # Errors
    /// There is none.
    pub fn parse(name: &str) -> Result<Self, UnknownEvent> {
        let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b);
        match name {
            "job.finished" => Ok(Self::JobFinished),
            "webhook.test" => Ok(Self::Test),
            _ if name.starts_with(PLUGIN_PREFIX)
                && name.len() <= EVENT_BYTES_MAX
                && name.len() > PLUGIN_PREFIX.len()
                && name.bytes().all(is_plain) =>
            {
                Ok(Self::Plugin(name.to_owned()))
            }
            _ => Err(UnknownEvent),
        }
    }
}

impl TryFrom<String> for Event {
    type Error = UnknownEvent;

    fn try_from(name: String) -> Result<Self, UnknownEvent> {
        Self::parse(&name)
    }
}

impl From<Event> for String {
    fn from(event: Event) -> Self {
        event.as_str().to_owned()
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_is_found_by_its_name() {
        let own = Event::of_plugin("acme.names", "rail.high").unwrap();
        assert_eq!(own.as_str(), "x.acme.names.rail.high");
        for event in [Event::JobFinished, Event::Test, own] {
            assert_eq!(Event::parse(event.as_str()), Ok(event));
        }
        for none in ["", "x.", "job.started", "x.A", "x.a b", "y.a.b"] {
            assert_eq!(Event::parse(none), Err(UnknownEvent), "{none}");
        }
        assert!(Event::parse(&format!("x.{}", "a".repeat(EVENT_BYTES_MAX))).is_err());
        assert!(Event::of_plugin("acme.names", "").is_err());
        assert!(Event::of_plugin("acme.names", "a\n").is_err());
    }
}
