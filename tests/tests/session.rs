//! The main job, as a client does it: key, devices, power, capture, decoded I²C.

use serde_json::{Value, json};
use tests::{Client, Server, until};

fn start_i2c(server: &Server, client: &Client) -> String {
    let started = client
        .post(
            "/api/analyzer/captures/start",
            &json!({
                "device_id": server.device(), "samples": 1_000_000, "sample_rate_mhz": 1.0,
                "scl": 1, "sda": 2, "voltage_mv": 3300, "name": "clock chip"
            }),
        )
        .unwrap()
        .expect(202);
    assert_eq!(started["status"], "pending");
    started["capture_id"].as_str().unwrap().to_owned()
}

fn finished(client: &Client, id: &str) -> Value {
    let path = format!("/api/capture/{id}?frames=none");
    let look = || client.get(&path).unwrap().expect(200);
    let is_over =
        |head: &Value| !["pending", "armed", "running"].contains(&head["status"].as_str().unwrap());
    until(look, is_over).unwrap()
}

#[test]
fn devices_power_capture_decode() {
    let server = Server::demo().unwrap();
    let client = server.client();

    let devices = client.get("/api/bench/devices").unwrap().expect(200);
    let device = &devices["devices"][0];
    assert_eq!(device["id"], server.device());
    assert_eq!(device["online"], true);
    assert_eq!(device["transport"], "sim");
    assert_eq!(device["capabilities"]["ac_dac"], true);
    assert_eq!(device["capabilities"]["la_channels"], 14);
    assert_eq!(device["parameters"]["cap.board"], "stm32h563");

    let power = client
        .post(
            &format!("/api/bench/devices/{}/command", server.device()),
            &json!({"command": {"cmd": "target_power", "efuse": 1, "state": 1}}),
        )
        .unwrap()
        .expect(200);
    assert_eq!(power["status"], "ok", "{power}");
    assert_eq!(power["device_id"], server.device());

    let id = start_i2c(&server, &client);
    let head = finished(&client, &id);
    assert_eq!(head["status"], "done", "{head}");
    assert_eq!(head["kind"], "i2c");
    assert_eq!(head["name"], "clock chip");
    assert_eq!(head["channels"].as_array().unwrap().len(), 2);
    assert_eq!(head["channels"][0]["name"], "LA1");
    assert_eq!(head["channels"][0]["samples"], 1_000_000);

    // The bus has a DS1307 clock at address 0x68, which is read continuously.
    let decoded = client
        .get(&format!(
            "/api/capture/{id}/decode?protocol=i2c&scl=LA1&sda=LA2&annotations=i2c%3Daddr-data&format=sigrok"
        ))
        .unwrap();
    assert_eq!(decoded.status, 200, "{}", decoded.text);
    let lines: Vec<&str> = decoded.text.lines().collect();
    assert!(lines.len() > 1000, "{} lines", lines.len());
    for part in [
        "Address write: 68",
        "Address read: 68",
        "Data read: 30",
        "NACK",
        "Stop",
    ] {
        assert!(lines.iter().any(|l| l.ends_with(part)), "no {part}");
    }
    let whole = client
        .get(&format!("/api/capture/{id}"))
        .unwrap()
        .expect(200);
    let events = whole["decoded"]["i2c"].as_array().unwrap();
    assert!(events.len() > 100, "{}", events.len());
}

#[test]
fn frames_cover_every_sample_once() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let id = start_i2c(&server, &client);
    assert_eq!(finished(&client, &id)["status"], "done");
    let mut next = Some(0);
    let mut covered = [0u64; 2];
    let mut toggles = [0usize; 2];
    while let Some(seq) = next {
        let page = client
            .get(&format!("/api/capture/{id}?from_seq={seq}&max_bytes=20000"))
            .unwrap()
            .expect(200);
        for frame in page["frames"].as_array().unwrap() {
            assert_eq!(frame["encoding"], "rle");
            let channel = usize::try_from(frame["channel"].as_u64().unwrap()).unwrap();
            assert_eq!(frame["start_sample"], covered[channel]);
            let data = frame["data"].as_array().unwrap();
            let runs = &data[1..];
            let total: u64 = runs.iter().map(|r| r.as_u64().unwrap()).sum();
            assert_eq!(frame["count"], total);
            covered[channel] += total;
            toggles[channel] += runs.len() - 1;
        }
        next = page["next_seq"].as_u64();
    }
    assert_eq!(covered, [1_000_000; 2]);
    assert!(toggles[0] > 1000 && toggles[1] > 100, "{toggles:?}");
}

#[test]
fn scope_sees_what_the_dac_plays() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let command = |command: Value| {
        let reply = client
            .post(
                &format!("/api/bench/devices/{}/command", server.device()),
                &json!({"command": command}),
            )
            .unwrap()
            .expect(200);
        assert_eq!(reply["status"], "ok", "{reply}");
    };
    command(json!({"cmd": "analog_path", "path": "cal1"}));
    command(
        json!({"cmd": "generate", "waveform": "sine", "freq": 1000.0, "path": "5v",
        "amplitude_v": 1.0, "offset_v": 2.0, "route": false}),
    );
    let started = client
        .post(
            "/api/scope/captures/start",
            &json!({"device_id": server.device(), "samples": 4000, "sample_rate_mhz": 0.4}),
        )
        .unwrap()
        .expect(202);
    let id = started["capture_id"].as_str().unwrap();
    let head = finished(&client, id);
    assert_eq!(head["status"], "done", "{head}");
    let channel = &head["channels"][0];
    assert_eq!(channel["unit"], "V");
    let volts = volts(&client, id, channel);
    assert_eq!(volts.len(), 4000);
    let high = volts.iter().copied().fold(f64::MIN, f64::max);
    let low = volts.iter().copied().fold(f64::MAX, f64::min);
    assert!(
        (high - 3.0).abs() < 0.06 && (low - 1.0).abs() < 0.06,
        "{low}..{high}"
    );
    // Ten milliseconds of 1 kHz: ten rising passes through the centre.
    let rising = volts
        .windows(2)
        .filter(|w| w[0] < 2.0 && 2.0 <= w[1])
        .count();
    assert!((9..=11).contains(&rising), "{rising}");
}

fn volts(client: &Client, id: &str, channel: &Value) -> Vec<f64> {
    let whole = client
        .get(&format!("/api/capture/{id}?max_bytes=1000000"))
        .unwrap()
        .expect(200);
    let offset = channel["offset"].as_f64().unwrap();
    let step = channel["full_scale"].as_f64().unwrap() / 65_536.0;
    let mut volts = Vec::new();
    for frame in whole["frames"].as_array().unwrap() {
        assert_eq!(frame["encoding"], "b64-u16le");
        let bytes = base64(frame["data"].as_str().unwrap());
        for pair in bytes.chunks_exact(2) {
            let count = u16::from_le_bytes([pair[0], pair[1]]);
            volts.push(offset + step * f64::from(count));
        }
    }
    volts
}

fn base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    for group in text.trim_end_matches('=').as_bytes().chunks(4) {
        let mut word = 0u32;
        for (i, c) in group.iter().enumerate() {
            let value = ALPHABET.iter().position(|a| a == c).unwrap();
            word |= u32::try_from(value).unwrap() << (18 - 6 * i);
        }
        bytes.extend_from_slice(&word.to_be_bytes()[1..group.len()]);
    }
    bytes
}

#[test]
fn list_cancel_delete() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let slow = json!({"device_id": server.device(), "samples": 4_000_000, "sample_rate_mhz": 0.1,
        "voltage_mv": 3300});
    let start = || {
        let started = client
            .post("/api/la/captures/start", &slow)
            .unwrap()
            .expect(202);
        started["capture_id"].as_str().unwrap().to_owned()
    };
    let (first, second) = (start(), start());
    let page = client.get("/api/captures?limit=1").unwrap().expect(200);
    assert_eq!(page["captures"][0]["id"], second.as_str());
    let next = page["next_cursor"].as_str().unwrap();
    let page = client
        .get(&format!("/api/captures?limit=1&cursor={next}"))
        .unwrap()
        .expect(200);
    assert_eq!(page["captures"][0]["id"], first.as_str());
    for id in [&first, &second] {
        client
            .send("POST", &format!("/api/capture/{id}/cancel"), None)
            .unwrap()
            .expect(200);
        assert_eq!(finished(&client, id)["status"], "cancelled");
    }
    client
        .send("POST", &format!("/api/capture/{first}/cancel"), None)
        .unwrap()
        .expect_error(409, "wrong_state");
    client
        .get(&format!(
            "/api/capture/{first}/decode?protocol=i2c&scl=LA1&sda=LA2"
        ))
        .unwrap()
        .expect_error(409, "wrong_state");
    assert_eq!(
        client
            .delete(&format!("/api/capture/{first}"))
            .unwrap()
            .status,
        204
    );
    client
        .get(&format!("/api/capture/{first}"))
        .unwrap()
        .expect_error(404, "not_found");
    // The device takes the next capture at once.
    let id = start_i2c(&server, &client);
    assert_eq!(finished(&client, &id)["status"], "done");
}
