//! What is known of commands before they are sent: which ones stream, and how long one waits on
//! purpose.

use std::time::Duration;

use serde_json::{Map, Value};

/// Commands that answer in several lines or switch the connection to raw bytes.
const STREAMING: [&str; 14] = [
    "capture",
    "stream",
    "capture_dual",
    "capture_read",
    "la_capture",
    "test",
    "load",
    "load_bin",
    "replay",
    "sensor_regs",
    "sensor_la",
    "dap_start",
    "uart_proxy_start",
    "speedtest",
];

/// Longest deliberate wait a command may ask for; more is the caller's mistake, not patience.
const DELIBERATE_WAIT_MS_MAX: u64 = 600_000;

/// Samples of a `measure` that fit one line.
const MEASURE_LINE_SAMPLES: u64 = 256;

/// The verb of a request, when it has one.
pub fn verb(request: &Map<String, Value>) -> Option<&str> {
    request.get("cmd").and_then(Value::as_str)
}

/// Whether `request` needs a connection of its own rather than one reply line.
pub fn needs_tunnel(request: &Map<String, Value>) -> bool {
    match verb(request) {
        Some("measure") => {
            let samples = request.get("samples").and_then(Value::as_u64);
            samples.unwrap_or(MEASURE_LINE_SAMPLES) > MEASURE_LINE_SAMPLES
        }
        Some("power_profile") => {
            let action = request.get("action").and_then(Value::as_str);
            !matches!(action, Some("start" | "status"))
        }
        Some(verb) => STREAMING.contains(&verb),
        None => false,
    }
}

/// How long the pod waits on purpose before it answers `request`; added to any timeout.
pub fn deliberate_wait(request: &Map<String, Value>) -> Duration {
    let field = |name: &str| {
        let asked = request.get(name).and_then(Value::as_u64).unwrap_or(0);
        asked.min(DELIBERATE_WAIT_MS_MAX)
    };
    let wait_ms = match verb(request) {
        Some("power_profile") => field("duration_ms"),
        Some("dap_start") => field("wait_ms"),
        _ => field("trigger_timeout_ms") + field("pulse_ms"),
    };
    Duration::from_millis(wait_ms)
}

#[cfg(test)]
mod tests;
