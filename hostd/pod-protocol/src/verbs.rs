//! What is known of commands before they are sent: which ones stream, and how long one waits on
//! purpose.

use std::time::Duration;

use serde_json::{Map, Value};

use super::commands;

/// What commands that are not in the table may wait for.
const WAITS_OF_UNKNOWN: [&str; 2] = ["trigger_timeout_ms", "pulse_ms"];

/// Longest deliberate wait a command may ask for; more is the caller's mistake, not patience.
const DELIBERATE_WAIT_MS_MAX: u64 = 600_000;

/// The verb of a request, when it has one.
pub fn verb(request: &Map<String, Value>) -> Option<&str> {
    request.get("cmd").and_then(Value::as_str)
}

/// Whether `request` needs a connection of its own rather than one reply line.
pub fn needs_tunnel(request: &Map<String, Value>) -> bool {
    let command = verb(request).and_then(commands::find);
    command.is_some_and(|command| command.needs_own_connection(request))
}

/// How long the pod waits on purpose before it answers `request`; added to any timeout.
pub fn deliberate_wait(request: &Map<String, Value>) -> Duration {
    let field = |name: &str| {
        let asked = request.get(name).and_then(Value::as_u64).unwrap_or(0);
        asked.min(DELIBERATE_WAIT_MS_MAX)
    };
    let command = verb(request).and_then(commands::find);
    let fields = command.map_or(&WAITS_OF_UNKNOWN[..], |command| command.waits);
    let wait_ms = fields.iter().copied().map(field).sum();
    Duration::from_millis(wait_ms)
}

#[cfg(test)]
mod tests;
