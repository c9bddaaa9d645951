//! Properties of commands before they are sent: which ones stream, and how long each deliberately
//! waits.

use std::time::Duration;

use serde_json::{Map, Value};

use super::commands;

/// Fields by which commands that are not in the table may wait.
const WAITS_OF_UNKNOWN: [&str; 2] = ["trigger_timeout_ms", "pulse_ms"];

/// Longest deliberate wait that a command may request; more is the caller's mistake.
const DELIBERATE_WAIT_MS_MAX: u64 = 600_000;

/// The verb of a request, if it has one.
pub fn verb(request: &Map<String, Value>) -> Option<&str> {
    request.get("cmd").and_then(Value::as_str)
}

/// Whether `request` needs a connection of its own rather than one reply line.
pub fn needs_tunnel(request: &Map<String, Value>) -> bool {
    let command = verb(request).and_then(commands::find);
    command.is_some_and(|command| command.needs_own_connection(request))
}

/// How long the pod deliberately waits before it answers `request`; added to any timeout.
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
