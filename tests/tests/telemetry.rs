//! What rails gave is kept: read while a device is idle, and from what others ask for, and for no longer than an hour.

use serde_json::{Value, json};
use tests::{Bench, Client, until};

fn telemetry(client: &Client, device: &str, query: &str) -> Value {
    let path = format!("/api/bench/devices/{device}/telemetry{query}");
    client.get(&path).unwrap().expect(200)
}

fn command(client: &Client, device: &str, command: &Value) -> Value {
    let path = format!("/api/bench/devices/{device}/command");
    client
        .post(&path, &json!({"command": command}))
        .unwrap()
        .expect(200)
}

fn length(rail: &Value) -> usize {
    let columns = ["at_ms", "mv", "ua", "ua_max"].map(|name| rail[name].as_array().unwrap().len());
    assert!(columns.iter().all(|length| *length == columns[0]), "{rail}");
    columns[0]
}

#[test]
fn an_idle_device_is_read_and_an_answer_to_somebody_counts() {
    let bench = Bench::start(&["sim:v3,seed=3", "tcp:127.0.0.1:9"]).unwrap();
    let client = bench.server.client();
    let [device, gone] = &bench.devices[..] else {
        panic!("two devices");
    };
    command(
        &client,
        device,
        &json!({"cmd": "target_power", "efuse": 1, "state": 1}),
    );
    let asked = command(&client, device, &json!({"cmd": "power_status"}));
    let told = telemetry(&client, device, "");
    assert_eq!(told["interval_ms"], 5000);
    let rail = &told["rails"][0];
    assert_eq!((&rail["rail"], length(rail)), (&json!(1), 1));
    assert_eq!(rail["mv"][0], asked["data"]["internal"]["bus_mv"]);
    let first = rail["at_ms"][0].as_u64().unwrap();
    // The next one comes by itself.
    let query = format!("?from={}", first + 1);
    let later = || telemetry(&client, device, &query);
    let later = until(later, |told| length(&told["rails"][0]) > 0).unwrap();
    assert!(later["rails"][0]["at_ms"][0].as_u64().unwrap() > first);
    assert!(
        later["rails"][0]["mv"][0].as_i64().unwrap() > 4000,
        "{later}"
    );
    assert_eq!(
        length(&telemetry(&client, device, "?points=1")["rails"][0]),
        1
    );
    // One that is away has nothing, and is no error.
    assert_eq!(length(&telemetry(&client, gone, "")["rails"][0]), 0);
}

#[test]
fn a_token_for_another_device_sees_nothing() {
    let bench = Bench::start(&["sim:v3,seed=3", "sim:v3,seed=4"]).unwrap();
    let [device, other] = &bench.devices[..] else {
        panic!("two devices");
    };
    let client = bench.server.client();
    let minted = client.post("/api/auth/token", &json!({"devices": ["d0"]}));
    let minted = minted.unwrap().expect(200);
    let token = format!("Bearer {}", minted["token"].as_str().unwrap());
    let narrow = bench.server.anonymous().with_authorization(&token);
    telemetry(&narrow, device, "");
    telemetry(&client, other, "");
    for which in [other.as_str(), "d1"] {
        let path = format!("/api/bench/devices/{which}/telemetry");
        let refused = narrow.get(&path).unwrap();
        refused.expect_error(404, "not_found");
    }
}
