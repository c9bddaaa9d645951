//! Whatever can be known when a capture or a replay is started is reported then, and each member of
//! an order has the effect that it describes.

use serde_json::{Value, json};
use tests::{Client, Reply, Server, until};

/// A clock chip on SCL and SDA; the other channels have default names.
const RECORDING: &[u8] =
    include_bytes!("../../hostd/decode/testdata/captures/i2c_ds1307/rtc_ds1307_200khz.sr");

const LA: &str = "/api/la/captures/start";
const SCOPE: &str = "/api/scope/captures/start";
const DUAL: &str = "/api/capture/start";
const I2C: &str = "/api/analyzer/captures/start";
const MEASURE: &str = "/api/scope/measure/start";

/// A demo with boards of other revisions in addition to its own.
fn bench() -> (Server, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hostd.toml");
    let devices = "[[devices]]\nname = \"old\"\naddress = \"sim:v2,seed=3\"\n\
                   [[devices]]\nname = \"other\"\naddress = \"sim:v3,seed=4\"\n";
    std::fs::write(&config, devices).unwrap();
    let server = Server::demo_with(&["--config", config.to_str().unwrap()]).unwrap();
    (server, dir)
}

fn device(client: &Client, name: &str) -> String {
    let listed = client.get("/api/bench/devices").unwrap().expect(200);
    let mut devices = listed["devices"].as_array().unwrap().iter();
    let device = devices.find(|d| d["name"] == name).unwrap();
    device["id"].as_str().unwrap().to_owned()
}

/// Wait until a device is online.
fn online(client: &Client, name: &str) -> String {
    let id = device(client, name);
    let record = || {
        client
            .get(&format!("/api/bench/devices/{id}"))
            .unwrap()
            .expect(200)
    };
    until(record, |record| record["online"] == true).unwrap();
    id
}

fn start(client: &Client, path: &str, device: &str, order: &Value) -> Reply {
    let mut order = order.clone();
    order["device_id"] = device.into();
    client.post(path, &order).unwrap()
}

/// The refusal because of one member.
fn refused(reply: &Reply, status: u16, code: &str, field: &str) -> String {
    reply.expect_error(status, code);
    let body = reply.json();
    assert_eq!(body["fields"][0]["field"], field, "{body}");
    let (error, message) = (
        body["error"].as_str(),
        body["fields"][0]["message"].as_str(),
    );
    assert_eq!(error.unwrap(), format!("{field} {}", message.unwrap()));
    message.unwrap().to_owned()
}

/// Wait for the capture that was started.
fn done(client: &Client, reply: &Reply) -> Value {
    let id = reply.expect(202)["capture_id"].clone();
    let path = format!("/api/capture/{}?frames=none", id.as_str().unwrap());
    let head = || client.get(&path).unwrap().expect(200);
    let is_over =
        |head: &Value| !["pending", "armed", "running"].contains(&head["status"].as_str().unwrap());
    let head = until(head, is_over).unwrap();
    assert_eq!(head["status"], "done", "{head}");
    head
}

fn warnings(reply: &Reply) -> Vec<String> {
    let body = reply.json();
    let told = body["warnings"].as_array().cloned().unwrap_or_default();
    told.iter()
        .map(|w| w.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_level_that_nobody_selected_is_asked_for() {
    let server = Server::demo().unwrap();
    let (client, device) = (server.client(), server.device());
    let order = json!({"samples": 100, "sample_rate_mhz": 1});
    let lines = json!({"samples": 100, "sample_rate_mhz": 1, "scl": "LA1", "sda": "LA2"});
    for (path, order) in [(LA, &order), (I2C, &lines)] {
        let reply = start(&client, path, device, order);
        let rule = refused(&reply, 409, "wrong_state", "voltage_mv");
        assert!(
            rule.starts_with("is required (1800 or 3300): no level is selected"),
            "{rule}"
        );
    }
    let listed = client.get("/api/captures").unwrap().expect(200);
    assert_eq!(listed["captures"], json!([]));
    // The ADC, alone or with the logic analyzer, needs none.
    let both = json!({"adc_samples": 9, "adc_rate_mhz": 0.1, "la_samples": 9, "la_rate_mhz": 1});
    done(&client, &start(&client, DUAL, device, &both));
    // A capture queued after one that selects a level finds it selected.
    let mut selecting = order.clone();
    selecting["voltage_mv"] = 3300.into();
    selecting["samples"] = 200_000.into();
    let first = start(&client, LA, device, &selecting);
    let second = start(&client, LA, device, &order);
    done(&client, &first);
    done(&client, &second);
    done(&client, &start(&client, I2C, device, &lines));
    // Another level cannot be selected while channels are in use.
    let command = json!({"command": {"cmd": "gpio", "la": 9, "mode": "output"}});
    let path = format!("/api/bench/devices/{device}/command");
    assert_eq!(
        client.post(&path, &command).unwrap().expect(200)["status"],
        "ok"
    );
    selecting["voltage_mv"] = 1800.into();
    let reply = start(&client, LA, device, &selecting);
    let rule = refused(&reply, 409, "wrong_state", "voltage_mv");
    assert!(
        rule.contains("must be 3300") && rule.contains("LA9 (gpio)"),
        "{rule}"
    );
}

#[test]
fn bounds_of_the_board_are_told_at_once() {
    let (server, _dir) = bench();
    let client = server.client();
    let (old, other) = (online(&client, "old"), online(&client, "other"));
    let low = json!({"samples": 10, "sample_rate_mhz": 1, "voltage_mv": 1800});
    let rule = refused(
        &start(&client, LA, &old, &low),
        400,
        "invalid_request",
        "voltage_mv",
    );
    assert_eq!(rule, "must be 3300 on this board");
    done(&client, &start(&client, LA, &other, &low));
    let dual = |adc_mhz: f64, la_mhz: f64| json!({"adc_samples": 9, "adc_rate_mhz": adc_mhz, "la_samples": 9, "la_rate_mhz": la_mhz});
    for (adc_mhz, la_mhz, bound) in [(0.4, 24.0, "9.6"), (1.0, 10.0, "9.6"), (0.1, 10.0, "9.9")] {
        let reply = start(&client, DUAL, &other, &dual(adc_mhz, la_mhz));
        let rule = refused(&reply, 400, "invalid_request", "la_rate_mhz");
        assert!(
            rule.starts_with(&format!("must be at most {bound} beside")),
            "{rule}"
        );
    }
    // An order that just fits is accepted, by the pod too.
    done(&client, &start(&client, DUAL, &other, &dual(0.4, 9.6)));
    done(&client, &start(&client, DUAL, &other, &dual(1.0, 9.6)));
    let slow = json!({"samples": 4_000_000, "sample_rate_mhz": 0.001});
    let rule = refused(
        &start(&client, SCOPE, &other, &slow),
        400,
        "invalid_request",
        "samples",
    );
    assert!(
        rule.contains("they take 4000 s, captures less than 3600 s"),
        "{rule}"
    );
    let many = json!({"adc_samples": 4_000_000, "adc_rate_mhz": 0.4, "la_samples": 4_000_000,
        "la_rate_mhz": 1});
    refused(
        &start(&client, DUAL, &other, &many),
        400,
        "invalid_request",
        "la_samples",
    );
}

#[test]
fn changed_rates_are_warned_of() {
    let (server, _dir) = bench();
    let client = server.client();
    let device = online(&client, "other");
    let generated =
        json!({"generate": {"waveform": "sine", "freq": 1000, "amplitude": 100, "offset": 128}});
    for (path, order, told) in [
        // The order that published clients send.
        (
            SCOPE,
            json!({"samples": 256, "sample_rate_mhz": 1.0}),
            "at 0.4 MHz, not at 1",
        ),
        (
            LA,
            json!({"samples": 9, "sample_rate_mhz": 24, "voltage_mv": 3300}),
            "at 12 MHz, not at 24",
        ),
        (
            I2C,
            json!({"samples": 9, "sample_rate_mhz": 5, "scl": 1, "sda": 2}),
            "at 4.8 MHz, not at 5",
        ),
        (
            DUAL,
            json!({"adc_samples": 9, "adc_rate_mhz": 1.0, "la_samples": 9, "la_rate_mhz": 1}),
            "adc_rate_mhz: the ADC samples at 0.4 MHz, not at 1",
        ),
        (
            MEASURE,
            json!({"samples": 100, "sample_rate_mhz": 0.4, "stimulus": generated}),
            "at 0.1 MHz, not at 0.4",
        ),
    ] {
        let reply = start(&client, path, &device, &order);
        let found = warnings(&reply);
        assert!(
            found.len() == 1 && found[0].contains(told),
            "{path}: {}",
            reply.text
        );
        // The warning is true.
        let head = done(&client, &reply);
        let rate = found[0].split(" at ").nth(1).unwrap();
        let rate = rate.split(' ').next().unwrap();
        let rate_mhz: f64 = rate.parse().unwrap();
        let real_hz = head["channels"][0]["sample_rate_hz"].as_f64().unwrap();
        assert!(
            (real_hz - rate_mhz * 1e6).abs() < 1.0,
            "{path}: {found:?} {real_hz}"
        );
    }
    let exact = json!({"samples": 9, "sample_rate_mhz": 12});
    let reply = start(&client, LA, &device, &exact);
    assert!(
        reply.expect(202).get("warnings").is_none(),
        "{}",
        reply.text
    );
    done(&client, &reply);
    let fast =
        json!({"samples_b64": "AP8=", "sample_rate_hz": 2e6, "full_scale_v": 3, "dac_path": "3v3"});
    let reply = start(&client, "/api/dac/replay/start", &device, &fast);
    assert_eq!(warnings(&reply).len(), 1, "{}", reply.text);
    assert!(
        warnings(&reply)[0].contains("at 0.888889 MHz, not at 2"),
        "{}",
        reply.text
    );
}

#[test]
fn a_name_is_as_long_as_documented() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let document = client.get("/api/openapi.json").unwrap().expect(200);
    let body = "/requestBody/content/application~1json/schema/properties/name/maxLength";
    for path in [LA, SCOPE, DUAL, I2C, MEASURE] {
        let operation = document.pointer(&format!("/paths/{}/post{body}", path.replace('/', "~1")));
        assert_eq!(operation, Some(&json!(128)), "{path}");
    }
    let named = |chars: usize| {
        let order = json!({"samples": 9, "sample_rate_mhz": 0.4, "name": "é".repeat(chars)});
        start(&client, SCOPE, server.device(), &order)
    };
    done(&client, &named(128));
    for chars in [0, 129] {
        let rule = refused(&named(chars), 400, "invalid_request", "name");
        assert_eq!(rule, "must be 1 to 128 characters");
    }
    let import = |chars: usize| import(&client, &format!("?name={}", "n".repeat(chars)), RECORDING);
    import(128).expect(201);
    refused(&import(129), 400, "invalid_request", "name");
}

fn import(client: &Client, query: &str, bytes: &[u8]) -> Reply {
    let path = format!("/api/captures/import{query}");
    let body = Some(("application/octet-stream", bytes));
    client.send_typed("POST", &path, body).unwrap()
}

#[test]
fn channels_go_by_one_rule() {
    let server = Server::demo().unwrap();
    let (client, device) = (server.client(), server.device());
    let by = |scl: Value, sda: Value| {
        let order = json!({"samples": 200_000, "sample_rate_mhz": 1, "scl": scl, "sda": sda,
            "voltage_mv": 3300, "trigger": {"channel": "LA1", "edge": "high"}});
        start(&client, I2C, device, &order)
    };
    let capture = done(&client, &by(json!("LA1"), json!("LA2")));
    let id = capture["id"].as_str().unwrap().to_owned();
    done(&client, &by(json!(1), json!("2")));
    refused(&by(json!("LA2"), json!(2)), 400, "invalid_request", "scl");
    refused(&by(json!("SCL"), json!(2)), 400, "invalid_request", "scl");
    let all = json!({"samples": 200_000, "sample_rate_mhz": 1, "channels": ["LA2", 1, "3"]});
    let all = done(&client, &start(&client, LA, device, &all));
    let all = all["id"].as_str().unwrap().to_owned();

    let decode = |id: &str, query: &str| {
        let path = format!("/api/capture/{id}/decode?protocol=i2c&format=sigrok&{query}");
        client.get(&path).unwrap()
    };
    let overview = |id: &str, channel: &str| {
        client
            .get(&format!(
                "/api/capture/{id}/overview?points=2&channel={channel}"
            ))
            .unwrap()
    };
    let named = decode(&id, "scl=LA1&sda=LA2");
    assert!(named.text.lines().count() > 100, "{}", named.text);
    assert_eq!(decode(&id, "scl=1&sda=2").text, named.text);
    assert!(decode(&all, "scl=1&sda=2").text.lines().count() > 100);
    for (query, field, names) in [
        ("scl=0&sda=1", "scl", "it has LA1, LA2"),
        ("scl=LA1&sda=LA3", "sda", "it has LA1, LA2"),
        ("scl=LA1&sda=1", "sda", "the same channel LA1"),
    ] {
        let reply = decode(&id, query);
        reply.expect_error(400, "invalid_request");
        assert_eq!(
            reply.json()["fields"][0]["field"],
            field,
            "{query}: {}",
            reply.text
        );
        assert!(reply.text.contains(names), "{query}: {}", reply.text);
    }
    let seen = overview(&all, "2");
    assert_eq!(seen.expect(200)["name"], "LA2");
    assert!(seen.text.contains("\"max\":[1,1]"), "{}", seen.text);
    let rule = refused(&overview(&id, "0"), 400, "invalid_request", "channel");
    assert_eq!(rule, "must be one of LA1, LA2");

    let made = import(&client, "", RECORDING).expect(201);
    let id = made["id"].as_str().unwrap();
    let named = decode(id, "scl=SCL&sda=SDA");
    assert!(named.text.lines().count() > 100, "{}", named.text);
    let ambiguous = decode(id, "scl=0&sda=1");
    ambiguous.expect_error(400, "invalid_request");
    assert!(
        ambiguous.text.contains("a name or a place"),
        "{}",
        ambiguous.text
    );
    assert!(
        ambiguous.text.contains("SCL, SDA, 2, 3"),
        "{}",
        ambiguous.text
    );
    refused(&overview(id, "1"), 400, "invalid_request", "channel");
    // The name and the number are the same channel.
    assert_eq!(overview(id, "7").expect(200)["channel"], 7);
    assert_eq!(overview(id, "%22SDA%22").expect(200)["name"], "SDA");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let server = Server::demo().unwrap();
    let client = server.client();
    for list in ["captures", "bench/waveforms"] {
        let reply = client.get(&format!("/api/{list}?cursor=!!")).unwrap();
        refused(&reply, 400, "invalid_request", "cursor");
        let first = client.get(&format!("/api/{list}?cursor=01JGZ5V9T3N8W2K4Q7R6D1M0XC"));
        first.unwrap().expect(200);
    }
    let codes = json!({"name": "n", "samples_b64": "AP8=", "sample_rate_hz": 0});
    let reply = client.post("/api/bench/waveforms", &codes).unwrap();
    refused(&reply, 400, "invalid_request", "sample_rate_hz");
    // The second is a number whose period is none.
    for rate in [0.0, 5e-324] {
        let replay = json!({"samples_b64": "AP8=", "sample_rate_hz": rate, "full_scale_v": 3});
        let reply = start(&client, "/api/dac/replay/start", server.device(), &replay);
        refused(&reply, 400, "invalid_request", "sample_rate_hz");
    }
    for (path, allowed) in [
        ("/api/bench/waveforms/recording", "POST"),
        ("/api/capture/start", "POST"),
        (
            "/api/capture/01JGZ5V9T3N8W2K4Q7R6D1M0XC",
            "DELETE, GET, HEAD, PATCH",
        ),
    ] {
        let reply = client.send("PUT", path, Some("{}")).unwrap();
        assert_eq!(
            (reply.status, reply.header("allow")),
            (405, Some(allowed)),
            "{path}"
        );
    }
}

#[test]
fn refusals_say_things_once() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let rule = refused(
        &import(&client, "", b"hello"),
        400,
        "invalid_request",
        "file",
    );
    assert_eq!(rule.matches("recognise").count(), 1, "{rule}");
    let none = json!({"adc_samples": 0, "adc_rate_mhz": 1, "la_samples": 0, "la_rate_mhz": 1});
    let many =
        json!({"adc_samples": 4_192_256, "adc_rate_mhz": 0.4, "la_samples": 1, "la_rate_mhz": 1});
    for order in [none, many] {
        let said = start(&client, DUAL, server.device(), &order).json()["error"].clone();
        let said = said.as_str().unwrap().to_owned();
        assert!(!said.contains("adc_samples adc_samples"), "{said}");
    }
}
