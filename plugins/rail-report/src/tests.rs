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
