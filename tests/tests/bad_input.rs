//! Every kind of bad input: status, code, and nothing stored.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use serde_json::{Value, json};
use tests::{Client, Server};

/// Everything stored, as far as the API shows it.
fn stored(client: &Client) -> Value {
    let get = |path: &str| client.get(path).unwrap().expect(200);
    let mut devices = get("/api/bench/devices");
    for device in devices["devices"].as_array_mut().unwrap() {
        device.as_object_mut().unwrap().remove("last_active_at");
    }
    let mut keys = get("/api/keys");
    for key in keys["keys"].as_array_mut().unwrap() {
        key.as_object_mut().unwrap().remove("last_used_at");
    }
    json!([devices, keys, get("/api/captures")])
}

/// Method, path, body; status, code and first blamed member (empty: none). `DEVICE` is the demo
/// device.
const CASES: &[(&str, &str, &str, u16, &str, &str)] = &[
    (
        "POST",
        "/api/keys",
        "{\"name\": ",
        400,
        "invalid_request",
        "",
    ),
    ("POST", "/api/keys", "[]", 400, "invalid_request", ""),
    (
        "POST",
        "/api/keys",
        "{\"name\": 3, \"scopes\": []}",
        400,
        "invalid_request",
        "name",
    ),
    (
        "POST",
        "/api/keys",
        "{\"name\": \"x\", \"scopes\": [\"root\"]}",
        400,
        "invalid_request",
        "scopes",
    ),
    (
        "POST",
        "/api/keys",
        "{\"name\": \"x\", \"scopes\": [\"bench:control\"], \"colour\": 1}",
        400,
        "invalid_request",
        "colour",
    ),
    (
        "POST",
        "/api/auth/token",
        "{\"ttl_seconds\": 59}",
        400,
        "invalid_request",
        "ttl_seconds",
    ),
    (
        "POST",
        "/api/auth/token",
        "{\"ttl_seconds\": \"long\"}",
        400,
        "invalid_request",
        "ttl_seconds",
    ),
    (
        "PATCH",
        "/api/bench/devices/DEVICE",
        "{\"name\": \"a b\"}",
        400,
        "invalid_request",
        "name",
    ),
    (
        "PATCH",
        "/api/bench/devices/01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "{\"name\": \"a\"}",
        404,
        "not_found",
        "",
    ),
    (
        "POST",
        "/api/bench/devices/DEVICE/command",
        "{\"command\": \"ping\"}",
        400,
        "invalid_request",
        "command",
    ),
    (
        "POST",
        "/api/bench/devices/DEVICE/command",
        "{\"command\": {}}",
        400,
        "invalid_request",
        "command.cmd",
    ),
    (
        "POST",
        "/api/bench/devices/DEVICE/command",
        "{\"command\": {\"cmd\": \"la_capture\"}}",
        400,
        "needs_tunnel",
        "",
    ),
    (
        "POST",
        "/api/bench/devices/DEVICE/command",
        "{\"command\": {\"cmd\": \"ping\"}, \"timeout_ms\": 0}",
        400,
        "invalid_request",
        "timeout_ms",
    ),
    (
        "POST",
        "/api/bench/devices/nobody/command",
        "{\"command\": {\"cmd\": \"ping\"}}",
        404,
        "not_found",
        "",
    ),
    (
        "POST",
        "/api/la/captures/start",
        "{\"device_id\": \"nobody\", \"samples\": 10, \"sample_rate_mhz\": 1}",
        404,
        "not_found",
        "",
    ),
    (
        "POST",
        "/api/la/captures/start",
        "{\"device_id\": \"DEVICE\", \"samples\": 0, \"sample_rate_mhz\": 1}",
        400,
        "invalid_request",
        "samples",
    ),
    (
        "POST",
        "/api/la/captures/start",
        "{\"device_id\": \"DEVICE\", \"samples\": 4294967297, \"sample_rate_mhz\": 1}",
        400,
        "invalid_request",
        "samples",
    ),
    (
        "POST",
        "/api/la/captures/start",
        "{\"device_id\": \"DEVICE\", \"samples\": -1, \"sample_rate_mhz\": 1}",
        400,
        "invalid_request",
        "samples",
    ),
    (
        "POST",
        "/api/la/captures/start",
        "{\"device_id\": \"DEVICE\", \"samples\": 10, \"sample_rate_mhz\": 0}",
        400,
        "invalid_request",
        "sample_rate_mhz",
    ),
    (
        "POST",
        "/api/scope/captures/start",
        "{\"device_id\": \"DEVICE\", \"sample_rate_mhz\": 900}",
        400,
        "invalid_request",
        "sample_rate_mhz",
    ),
    (
        "POST",
        "/api/la/captures/start",
        "{\"device_id\": \"DEVICE\", \"samples\": 10, \"sample_rate_mhz\": 900}",
        400,
        "invalid_request",
        "sample_rate_mhz",
    ),
    (
        "POST",
        "/api/analyzer/captures/start",
        "{\"device_id\": \"DEVICE\", \"samples\": 10, \"sample_rate_mhz\": 900, \"scl\": 1, \"sda\": 2}",
        400,
        "invalid_request",
        "sample_rate_mhz",
    ),
    (
        "POST",
        "/api/capture/start",
        "{\"device_id\": \"DEVICE\", \"adc_samples\": 9, \"adc_rate_mhz\": 900, \"la_samples\": 9, \"la_rate_mhz\": 1}",
        400,
        "invalid_request",
        "adc_rate_mhz",
    ),
    (
        "POST",
        "/api/capture/start",
        "{\"device_id\": \"DEVICE\", \"adc_samples\": 9, \"adc_rate_mhz\": 1, \"la_samples\": 9, \"la_rate_mhz\": 900}",
        400,
        "invalid_request",
        "la_rate_mhz",
    ),
    (
        "POST",
        "/api/la/captures/start",
        "{\"device_id\": \"DEVICE\", \"samples\": 10, \"sample_rate_mhz\": 1, \"channels\": [15]}",
        400,
        "invalid_request",
        "channels",
    ),
    (
        "POST",
        "/api/analyzer/captures/start",
        "{\"device_id\": \"DEVICE\", \"samples\": 10, \"sample_rate_mhz\": 1, \"scl\": 1, \"sda\": 1}",
        400,
        "invalid_request",
        "scl",
    ),
    (
        "POST",
        "/api/capture/start",
        "{\"device_id\": \"DEVICE\", \"adc_samples\": 0, \"adc_rate_mhz\": 1, \"la_samples\": 0, \"la_rate_mhz\": 1}",
        400,
        "invalid_request",
        "adc_samples",
    ),
    (
        "POST",
        "/api/scope/captures/start",
        "{\"device_id\": \"DEVICE\", \"source\": \"moon\"}",
        400,
        "invalid_request",
        "source",
    ),
    (
        "POST",
        "/api/scope/captures/start",
        "{\"device_id\": \"DEVICE\", \"trigger\": {\"channel\": 1, \"edge\": \"sideways\", \"timeout_ms\": 5}}",
        400,
        "invalid_request",
        "trigger.edge",
    ),
    (
        "POST",
        "/api/scope/captures/start",
        "{\"device_id\": \"DEVICE\", \"trigger\": {\"channel\": 1, \"edge\": \"rising\", \"timeout_ms\": 600001}}",
        400,
        "invalid_request",
        "trigger.timeout_ms",
    ),
];

#[test]
fn bodies() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let before = stored(&client);
    let device = server.device();
    let order = |body: &str| body.replace("DEVICE", device);
    for (method, path, body, status, code, field) in CASES {
        let reply = client
            .send(method, &order(path), Some(&order(body)))
            .unwrap();
        assert_eq!(
            (reply.status, reply.json()["code"].as_str()),
            (*status, Some(*code)),
            "{path} {body}: {}",
            reply.text
        );
        reply.expect_error(*status, code);
        if !field.is_empty() {
            let fields = &reply.json()["fields"];
            assert_eq!(fields[0]["field"], *field, "{path} {body}: {}", reply.text);
            assert!(!fields[0]["message"].as_str().unwrap().is_empty());
        }
    }
    assert_eq!(stored(&client), before);
}

#[test]
fn paths_methods_types_and_sizes() {
    let server = Server::demo().unwrap();
    let client = server.client();
    client
        .get("/api/nothing")
        .unwrap()
        .expect_error(404, "not_found");
    client
        .get("/elsewhere")
        .unwrap()
        .expect_error(404, "not_found");
    let reply = client.send("PUT", "/api/keys", Some("{}")).unwrap();
    reply.expect_error(405, "method_not_allowed");
    assert_eq!(reply.header("allow"), Some("GET, HEAD, POST"));
    client
        .clone()
        .with_header("content-type", "text/plain")
        .send("POST", "/api/keys", Some("name=x"))
        .unwrap()
        .expect_error(415, "unsupported_media_type");
    let long = json!({"name": "x".repeat(2 << 20), "scopes": []});
    client
        .post("/api/keys", &long)
        .unwrap()
        .expect_error(413, "body_too_large");
    let deep = "[".repeat(4_000);
    client
        .send("POST", "/api/keys", Some(&deep))
        .unwrap()
        .expect_error(400, "invalid_request");
    client
        .get(&format!("/api/bench/devices/{}", "x".repeat(4000)))
        .unwrap()
        .expect_error(414, "path_too_long");
    for query in ["from_seq=x", "max_bytes=-1", "frames=some", "colour=red"] {
        client
            .get(&format!("/api/capture/nobody?{query}"))
            .unwrap()
            .expect_error(400, "invalid_request");
    }
}

#[test]
fn credentials() {
    let server = Server::demo().unwrap();
    let admin = server.client();
    let with = |value: &str| server.anonymous().with_authorization(value);
    let get = |client: &Client| client.get("/api/bench/devices").unwrap();
    let reply = get(&server.anonymous());
    reply.expect_error(401, "missing_credential");
    assert!(reply.header("www-authenticate").is_some());
    let key = &server.api_key;
    let last = if key.ends_with('a') { 'b' } else { 'a' };
    let wrong = format!("{}{last}", &key[..key.len() - 1]);
    for bad in [
        "ApiKey",
        "ApiKey ",
        "ApiKey x",
        "Bearer x",
        "Bearer a.b.c",
        "Basic YTpi",
        "ApiKey bk_AAAAAAAAAAAA_AAAAAAAAAAAAAAAAAAAAAA",
        &format!("ApiKey {wrong}"),
        &format!("Bearer {wrong}"),
        &format!("ApiKey {key} {key}"),
    ] {
        get(&with(bad)).expect_error(401, "invalid_credential");
    }
    for scheme in ["ApiKey", "apikey", "Bearer"] {
        get(&with(&format!("{scheme} {key}"))).expect(200);
    }
    for form in [
        key,
        &format!("Token {key}"),
        "ApiKey ",
        "Bearer",
        "Basic YTpi",
    ] {
        let refused = get(&with(form));
        refused.expect_error(401, "invalid_credential");
        let told = refused.json()["error"].as_str().unwrap().to_owned();
        assert!(
            told.contains("Authorization: ApiKey <key>"),
            "{form}: {told}"
        );
        assert!(!told.contains(key.as_str()), "{told}");
    }
    let narrow = admin
        .post(
            "/api/keys",
            &json!({"name": "jobs only", "scopes": ["jobs:submit"]}),
        )
        .unwrap()
        .expect(201);
    let narrow_client = with(&format!("ApiKey {}", narrow["secret"].as_str().unwrap()));
    get(&narrow_client).expect_error(403, "missing_scope");
    narrow_client
        .get("/api/keys")
        .unwrap()
        .expect_error(403, "missing_scope");
    let kid = narrow["kid"].as_str().unwrap();
    assert_eq!(
        admin.delete(&format!("/api/keys/{kid}")).unwrap().status,
        204
    );
    get(&narrow_client).expect_error(401, "revoked_credential");
    admin
        .delete(&format!("/api/keys/{kid}"))
        .unwrap()
        .expect_error(404, "not_found");
}

/// The demo bench with one more device, described by a configuration file.
fn demo_and(device: &str) -> (tempfile::TempDir, Server) {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hostd.toml");
    std::fs::write(&config, format!("[[devices]]\n{device}\n")).unwrap();
    let server = Server::demo_with(&["--config", config.to_str().unwrap()]).unwrap();
    (dir, server)
}

fn id_of(client: &Client, name: &str) -> String {
    let listed = client.get("/api/bench/devices").unwrap().expect(200);
    let devices = listed["devices"].as_array().unwrap();
    let device = devices.iter().find(|d| d["name"] == name).unwrap();
    device["id"].as_str().unwrap().to_owned()
}

#[test]
fn session_tokens_stay_within_their_devices_and_their_key() {
    let (_dir, server) = demo_and("name = \"other\"\naddress = \"sim:digital\"");
    let admin = server.client();
    let made = admin
        .post(
            "/api/keys",
            &json!({"name": "ci", "scopes": ["bench:control"]}),
        )
        .unwrap()
        .expect(201);
    let key = server
        .anonymous()
        .with_authorization(&format!("ApiKey {}", made["secret"].as_str().unwrap()));
    let mint = |body: Value| key.post("/api/auth/token", &body).unwrap();
    mint(json!({"devices": ["nobody"]})).expect_error(404, "not_found");
    let whole = key
        .send("POST", "/api/auth/token", None)
        .unwrap()
        .expect(200);
    assert_eq!(whole["token_type"], "bearer");
    assert_eq!(whole["expires_in"], 3600);
    assert!(whole["expires_at"].as_str().unwrap().ends_with('Z'));
    let bearer = |token: &Value| {
        server
            .anonymous()
            .with_authorization(&format!("Bearer {}", token["token"].as_str().unwrap()))
    };
    let narrow = bearer(&mint(json!({"devices": ["other"]})).expect(200));
    let listed = narrow.get("/api/bench/devices").unwrap().expect(200);
    assert_eq!(listed["devices"].as_array().unwrap().len(), 1);
    assert_eq!(listed["devices"][0]["name"], "other");
    let ping = json!({"command": {"cmd": "ping"}});
    let command = |client: &Client, name: &str| {
        let id = id_of(&admin, name);
        client
            .post(&format!("/api/bench/devices/{id}/command"), &ping)
            .unwrap()
    };
    command(&narrow, "demo").expect_error(404, "not_found");
    assert_eq!(command(&narrow, "other").expect(200)["data"], "pong");
    assert_eq!(command(&bearer(&whole), "demo").expect(200)["data"], "pong");
    bearer(&whole)
        .get("/api/keys")
        .unwrap()
        .expect_error(403, "wrong_credential");
    bearer(&whole)
        .send("POST", "/api/auth/token", None)
        .unwrap()
        .expect_error(403, "wrong_credential");
    let kid = made["kid"].as_str().unwrap();
    assert_eq!(
        admin.delete(&format!("/api/keys/{kid}")).unwrap().status,
        204
    );
    for client in [&narrow, &bearer(&whole)] {
        client
            .get("/api/bench/devices")
            .unwrap()
            .expect_error(401, "revoked_credential");
    }
}

#[test]
fn boards_without_the_hardware_say_so() {
    let (_dir, server) = demo_and("name = \"other\"\naddress = \"sim:digital\"");
    let client = server.client();
    let id = id_of(&client, "other");
    client
        .post("/api/scope/captures/start", &json!({"device_id": id}))
        .unwrap()
        .expect_error(400, "not_capable");
    let generate = json!({"command": {"cmd": "generate", "waveform": "sine", "freq": 1000.0}});
    client
        .post(&format!("/api/bench/devices/{id}/command"), &generate)
        .unwrap()
        .expect_error(400, "not_capable");
    let measure = json!({"device_id": id, "samples": 100, "sample_rate_mhz": 0.1,
        "stimulus": {"generate": {"waveform": "sine", "freq": 1000.0, "amplitude": 100, "offset": 128}}});
    client
        .post("/api/scope/measure/start", &measure)
        .unwrap()
        .expect_error(400, "not_capable");
    // A refusal by the pod itself is not an error of the API.
    let read = json!({"command": {"cmd": "adc_read"}});
    let reply = client
        .post(&format!("/api/bench/devices/{id}/command"), &read)
        .unwrap()
        .expect(200);
    assert_eq!(reply["status"], "error");
    assert!(
        reply["error"]
            .as_str()
            .unwrap()
            .starts_with("this BenchPod has no analog front end")
    );
}

#[test]
fn an_offline_device_is_said_to_be_offline() {
    // Port 9 (discard) of the loopback interface refuses connections.
    let (_dir, server) = demo_and("name = \"gone\"\naddress = \"tcp:127.0.0.1:9\"");
    let client = server.client();
    let devices = client.get("/api/bench/devices").unwrap().expect(200);
    let gone = devices["devices"]
        .as_array()
        .unwrap()
        .iter()
        .find(|d| d["name"] == "gone")
        .unwrap();
    assert_eq!(gone["online"], false);
    assert_eq!(gone["state"], "offline");
    assert_eq!(gone["capabilities"]["adc"], Value::Null);
    let id = gone["id"].as_str().unwrap();
    let ping = json!({"command": {"cmd": "ping"}});
    let reply = client
        .post(&format!("/api/bench/devices/{id}/command"), &ping)
        .unwrap();
    reply.expect_error(503, "device_offline");
    assert!(
        reply.text.contains("offline") && reply.text.len() < 300,
        "{}",
        reply.text
    );
    client
        .post("/api/scope/captures/start", &json!({"device_id": id}))
        .unwrap()
        .expect_error(503, "device_offline");
    assert_eq!(
        client.get("/api/captures").unwrap().expect(200)["captures"],
        json!([])
    );
}

#[test]
fn half_a_request_and_garbage_do_not_hurt() {
    let server = Server::demo().unwrap();
    let address = server.url.strip_prefix("http://").unwrap();
    let raw = |bytes: &[u8]| {
        let mut stream = TcpStream::connect(address).unwrap();
        // A connection that is closed while writing counts as an answer too.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    };
    let key = &server.api_key;
    let cut = format!(
        "POST /api/keys HTTP/1.1\r\nhost: x\r\nauthorization: ApiKey {key}\r\ncontent-type: application/json\r\ncontent-length: 40\r\n\r\n{{\"name\""
    );
    assert!(!raw(cut.as_bytes()).contains(" 201 "));
    assert!(!raw(b"\x00\x01\x02\x03\r\n\r\n").contains(" 200 "));
    let huge = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(1 << 20));
    assert!(!raw(huge.as_bytes()).contains(" 200 "));
    let client = server.client();
    assert_eq!(client.get("/api/bench/devices").unwrap().status, 200);
    let keys = client.get("/api/keys").unwrap().expect(200);
    assert_eq!(keys["keys"].as_array().unwrap().len(), 1);
}

#[test]
fn decode_refuses_broken_files() {
    let dir = tempfile::tempdir().unwrap();
    let whole =
        include_bytes!("../../hostd/decode/testdata/captures/i2c_ds1307/rtc_ds1307_200khz.sr");
    let run = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let output = Command::new(tests::server::binary().unwrap())
            .args([
                "decode",
                path.to_str().unwrap(),
                "--protocol",
                "i2c",
                "--map",
                "scl=SCL,sda=SDA",
            ])
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    assert_eq!(run("whole.sr", whole).0, Some(0));
    for (name, bytes) in [
        ("empty.sr", &[][..]),
        ("cut.sr", &whole[..whole.len() / 2]),
        ("text.sr", b"this is not a zip archive, it only says so"),
    ] {
        let (code, message) = run(name, bytes);
        assert_eq!(code, Some(1), "{name}: {message}");
        assert!(
            message.contains("failed to") && message.contains(name),
            "{message}"
        );
    }
}
