//! A bench of an analyzer alone.

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tests::{Server, until};

/// Whether there is an analyzer; says so if not.
#[expect(clippy::print_stderr, reason = "says why tests are left out")]
pub(super) fn has_sigrok() -> bool {
    let mut asked = Command::new("sigrok-cli");
    let asked = asked.arg("--version").stdout(Stdio::null()).status();
    let is_there = asked.is_ok_and(|status| status.success());
    if !is_there {
        eprintln!("sigrok-cli is not installed, so this test is left out");
    }
    is_there
}

/// The driver `demo` of sigrok stands for an analyzer. Left out where `sigrok-cli` is not installed.
#[test]
fn an_analyzer_captures_as_a_pod_does() {
    if !has_sigrok() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hostd.toml");
    let text = "[[devices]]\nname = \"bench-3\"\naddress = \"parts\"\n\
                [devices.logic]\nkind = \"sigrok\"\ndriver = \"demo\"\n";
    std::fs::write(&config, text).unwrap();
    let server = Server::demo_with(&["--config", config.to_str().unwrap()]).unwrap();
    let client = server.client();
    let record = || {
        let list = client.get("/api/bench/devices").unwrap().expect(200);
        let list = list["devices"].as_array().unwrap().clone();
        list.into_iter()
            .find(|device| device["name"] == "bench-3")
            .unwrap()
    };
    let device = until(record, |record| record["state"] == "online").unwrap();
    assert_eq!(device["capabilities"]["la_channels"], 8);
    let order = json!({"device_id": device["id"], "samples": 20_000, "sample_rate_mhz": 2,
        "channels": [1, 2, 8], "trigger": {"channel": 1, "edge": "rising", "timeout_ms": 5000}});
    let started = client
        .post("/api/la/captures/start", &order)
        .unwrap()
        .expect(202);
    let path = format!(
        "/api/capture/{}?frames=none",
        started["capture_id"].as_str().unwrap()
    );
    let look = || client.get(&path).unwrap().expect(200);
    let is_over = |head: &Value| !head["finished_at"].is_null();
    let ended = until(look, is_over).unwrap();
    assert_eq!(ended["status"], "done", "{ended}");
    assert_eq!(ended["trigger"]["fired"], true, "{ended}");
    let channels = ended["channels"].as_array().unwrap();
    assert_eq!(channels.len(), 3, "{ended}");
    for channel in channels {
        assert_eq!(
            (&channel["samples"], &channel["sample_rate_hz"]),
            (&json!(20_000), &json!(2e6)),
            "{ended}"
        );
    }
    // There is no channel 9 on it.
    let beyond =
        json!({"device_id": device["id"], "samples": 10, "sample_rate_mhz": 1, "channels": [9]});
    client
        .post("/api/la/captures/start", &beyond)
        .unwrap()
        .expect_error(400, "invalid_request");
}
