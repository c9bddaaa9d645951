//! Which commands stream, and how long commands wait.

use serde_json::{Map, Value, json};

use super::{deliberate_wait, needs_tunnel};

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[test]
fn streaming_commands_need_a_tunnel() {
    for (request, expected) in [
        (json!({"cmd": "capture"}), true),
        (json!({"cmd": "dap_start"}), true),
        (json!({"cmd": "replay"}), true),
        (json!({"cmd": "measure"}), false),
        (json!({"cmd": "measure", "samples": 256}), false),
        (json!({"cmd": "measure", "samples": 257}), true),
        (json!({"cmd": "power_profile", "duration_ms": 5}), true),
        (json!({"cmd": "power_profile", "action": "stop"}), true),
        (json!({"cmd": "power_profile", "action": "start"}), false),
        (json!({"cmd": "power_profile", "action": "status"}), false),
        (json!({"cmd": "status"}), false),
    ] {
        assert_eq!(needs_tunnel(&object(&request)), expected, "{request}");
    }
}

#[test]
fn deliberate_waits_are_read_from_the_request_and_bounded() {
    for (request, ms) in [
        (json!({"cmd": "nrst", "pulse_ms": 200}), 200),
        (json!({"cmd": "x", "trigger_timeout_ms": 5000}), 5000),
        (json!({"cmd": "power_profile", "duration_ms": 900}), 900),
        (json!({"cmd": "generate", "duration_ms": 900}), 0),
        (json!({"cmd": "dap_start", "wait_ms": 5000}), 5000),
        (json!({"cmd": "nrst", "pulse_ms": -1}), 0),
        (json!({"cmd": "nrst", "pulse_ms": u64::MAX}), 600_000),
    ] {
        assert_eq!(
            deliberate_wait(&object(&request)).as_millis(),
            ms,
            "{request}"
        );
    }
}
