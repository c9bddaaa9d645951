//! The plugin beside a double of the host.

use hostd_plugin::testing::{Device, Double, with};
use hostd_plugin::{Request, answer};
use serde_json::{Value, json};

use crate::ROUTES;

fn bench() {
    let mut one = Device::named("bench-1");
    one.rails[0].on = true;
    one.rails[0].millivolts = Some(5000);
    one.rails[0].microamperes = Some(600_000);
    one.rails[1].microamperes = None;
    let double = Double {
        config: json!({"warn_milliamperes": 500}),
        devices: vec![one],
        ..Double::default()
    };
    double.install();
}

fn report() -> Value {
    let response = answer(ROUTES, "report", &Request::default());
    assert_eq!(response.status, 200);
    serde_json::from_slice(&response.body).unwrap()
}

#[test]
fn each_rail_has_its_power_and_whether_it_is_high() {
    bench();
    let report = report();
    let rail = &report["rails"][0];
    assert_eq!(rail["microwatts"], 3_000_000);
    assert_eq!(rail["high"], true);
    assert_eq!(report["rails"][1]["microwatts"], Value::Null);
    assert_eq!(report["rails"][1]["peak_microamperes"], Value::Null);
}

#[test]
fn the_highest_current_stays_until_it_is_forgotten() {
    bench();
    report();
    with(|double| double.devices[0].rails[0].microamperes = Some(100_000));
    let later = report();
    assert_eq!(later["rails"][0]["peak_microamperes"], 600_000);
    assert_eq!(later["rails"][0]["high"], false);
    let forgotten = answer(ROUTES, "forget", &Request::default());
    assert_eq!(forgotten.body, br#"{"forgotten":1}"#);
    assert_eq!(report()["rails"][0]["peak_microamperes"], 100_000);
}

#[test]
fn the_table_has_a_line_for_each_rail() {
    bench();
    let response = answer(ROUTES, "csv", &Request::default());
    let text = String::from_utf8(response.body).unwrap();
    assert_eq!(text.lines().count(), 3);
    assert!(
        text.contains("\nbench-1,1,true,false,5000,600000,3000000,600000,true\n"),
        "{text}"
    );
}

/// What the server shows of an endpoint.
fn described(name: &str) -> Value {
    let routes = hostd_plugin::declared(ROUTES);
    let route = routes.iter().find(|route| route.name == name).unwrap();
    serde_json::from_str(&route.openapi).unwrap()
}

#[test]
fn the_report_is_described_by_what_it_has() {
    let row = json!({
        "type": "object",
        "required": ["device", "rail", "on", "fault", "high"],
        "properties": {
            "device": {"type": "string"},
            "rail": {"type": "integer"},
            "on": {"type": "boolean"},
            "fault": {"type": "boolean"},
            "millivolts": {"type": ["integer", "null"]},
            "microamperes": {"type": ["integer", "null"]},
            "microwatts": {"type": ["integer", "null"]},
            "peak_microamperes": {
                "type": ["integer", "null"],
                "description": "The highest since it was forgotten.",
            },
            "high": {
                "type": "boolean",
                "description": "It draws more than `warn_milliamperes` of the configuration.",
            },
        },
    });
    let skipped = json!({
        "type": "object",
        "required": ["device", "code", "reason"],
        "properties": {
            "device": {"type": "string"},
            "code": {"type": "string"},
            "reason": {"type": "string"},
        },
    });
    let schema = json!({
        "type": "object",
        "required": ["at_ms", "rails", "skipped"],
        "properties": {
            "at_ms": {"type": "integer", "description": "Milliseconds since 1970."},
            "rails": {"type": "array", "items": row},
            "skipped": {"type": "array", "items": skipped},
        },
    });
    let about = "Every rail that could be read, and the devices that could not be asked.";
    let content = json!({"application/json": {"schema": schema}});
    let expected = json!({"responses": {"200": {"description": about, "content": content}}});
    assert_eq!(described("report"), expected);
}

#[test]
fn the_table_is_described_as_text() {
    let about = "A line for each rail, under a line of names.";
    let content = json!({"text/csv": {"schema": {"type": "string"}}});
    let expected = json!({"responses": {"200": {"description": about, "content": content}}});
    assert_eq!(described("csv"), expected);
}
