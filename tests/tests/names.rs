//! Devices by name wherever an id is taken, and their wiring: changed member by member, for chips that there are.

use std::process::Command;

use serde_json::json;
use tests::server::binary;
use tests::{Server, Socket};

#[test]
fn a_device_is_found_by_its_name_wherever_its_id_is_taken() {
    let server = Server::demo().unwrap();
    let (client, id) = (server.client(), server.device());
    let shown = client.get("/api/bench/devices/demo").unwrap().expect(200);
    assert_eq!(shown["id"], id);
    let ask = json!({"command": {"cmd": "status"}});
    client
        .post("/api/bench/devices/demo/command", &ask)
        .unwrap()
        .expect(200);
    let renamed = client.patch("/api/bench/devices/demo", &json!({"name": "bench-1"}));
    assert_eq!(renamed.unwrap().expect(200)["name"], "bench-1");
    client
        .get("/api/bench/devices/demo")
        .unwrap()
        .expect_error(404, "not_found");

    // In a body, in a query, and on the URL of a WebSocket.
    let order =
        json!({"device_id": "bench-1", "samples": 1000, "sample_rate_mhz": 1, "voltage_mv": 3300});
    let started = client.post("/api/la/captures/start", &order).unwrap();
    let capture = started.expect(202)["capture_id"].clone();
    let listed = client.get("/api/captures?device_id=bench-1").unwrap();
    let listed = listed.expect(200);
    assert_eq!(listed["captures"][0]["id"], capture, "{listed}");
    assert_eq!(listed["captures"][0]["device_id"], id, "{listed}");
    let key = format!("ApiKey {}", server.api_key);
    for path in [
        "/api/ws/capture?device_id=bench-1",
        "/api/bench/devices/bench-1/uart/ws?rx=3&tx=4",
    ] {
        let opened = Socket::open(&server.url, path, &[("authorization", &key)]);
        drop(opened.unwrap().socket());
    }

    // Nobody else has it by its name.
    let stranger =
        json!({"device_id": "bench-2", "samples": 1000, "sample_rate_mhz": 1, "voltage_mv": 3300});
    let none = client.post("/api/la/captures/start", &stranger).unwrap();
    none.expect_error(404, "not_found");
}

#[test]
fn wiring_is_changed_member_by_member_for_chips_that_there_are() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let path = "/api/bench/devices/demo";
    let put = |profile: &str| client.send("PUT", &format!("{path}/wiring"), Some(profile));
    put(r#"{"uart_rx": 3, "uart_tx": 4, "swd_target": "STM32F030R8"}"#)
        .unwrap()
        .expect(200);
    let patch = |wiring: serde_json::Value| client.patch(path, &json!({"wiring": wiring})).unwrap();
    patch(json!({"uart_baud": 9600})).expect(200);
    let profile = || {
        let told = client.get(&format!("{path}/wiring/profile")).unwrap();
        told.expect(200)["profile"].clone()
    };
    let seen = profile();
    assert_eq!(
        (&seen["uart_rx"], &seen["uart_baud"], &seen["swd_target"]),
        (&json!(3), &json!(9600), &json!("STM32F030R8"))
    );

    // What stays and what changes must go together.
    let twice = patch(json!({"uart_tx": 3}));
    twice.expect_error(400, "invalid_request");
    assert_eq!(twice.json()["fields"][0]["field"], "wiring.uart_tx");
    for (refused, field) in [
        (
            put(r#"{"swd_target": "stm32f03r8"}"#).unwrap(),
            "swd_target",
        ),
        (
            patch(json!({"swd_target": "stm32f03r8"})),
            "wiring.swd_target",
        ),
    ] {
        refused.expect_error(400, "invalid_request");
        let told = refused.json();
        assert_eq!(told["fields"][0]["field"], field);
        let sentence = told["error"].as_str().unwrap();
        assert!(sentence.contains("the nearest are "), "{sentence}");
        assert!(sentence.contains("STM32F030R8"), "{sentence}");
    }
    assert_eq!(profile(), seen);
    // A name is not changed along with wiring that is refused.
    let both = json!({"name": "other", "wiring": {"uart_tx": 3}});
    client
        .patch(path, &both)
        .unwrap()
        .expect_error(400, "invalid_request");
    client.get(path).unwrap().expect(200);
}

#[test]
fn the_command_line_shows_and_changes_wiring() {
    let server = Server::demo().unwrap();
    let wiring = |args: &[&str]| {
        let output = Command::new(binary().unwrap())
            .args(["device", "wiring"])
            .args(args)
            .env("HOSTD_URL", &server.url)
            .env("HOSTD_KEY", &server.api_key)
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (
            output.status.success(),
            text(output.stdout),
            text(output.stderr),
        )
    };
    let (done, out, err) = wiring(&["demo", "uart_rx=3", "uart_tx=4", "swd_target=STM32F030R8"]);
    assert!(done, "{err}");
    let printed: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(printed["swd_target"], "STM32F030R8");
    assert_eq!(wiring(&["demo"]).1, out);
    let (done, _, err) = wiring(&["demo", "swd_target=stm32f03r8"]);
    assert!(!done && err.contains("the nearest are"), "{err}");
    let (done, _, err) = wiring(&["uart_rx=3"]);
    assert!(!done && err.contains("find the device"), "{err}");
}
