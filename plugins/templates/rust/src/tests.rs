//! The plugin beside a double of the host.

use hostd_plugin::testing::{Device, Double};
use hostd_plugin::{Request, answer};
use serde_json::{Value, json};

use crate::ROUTES;

fn bench() {
    let mut one = Device::named("bench-1");
    one.rails[0].microamperes = Some(600_000);
    one.rails[1].microamperes = None;
    let double = Double {
        config: json!({"warn_milliamperes": 500}),
        devices: vec![one],
        ..Double::default()
    };
    double.install();
}

fn ask(route: &str, body: &str) -> (u16, Value) {
    let request = Request {
        body: body.into(),
        ..Request::default()
    };
    let response = answer(ROUTES, route, &request);
    (response.status, serde_json::from_slice(&response.body).unwrap())
}

#[test]
fn rails_that_draw_too_much_are_marked() {
    bench();
    let (status, told) = ask("rails", "");
    assert_eq!(status, 200);
    assert_eq!(told["rails"][0]["high"], true);
    assert_eq!(told["rails"][1]["high"], false);
}

#[test]
fn what_was_stored_counts_before_the_configuration() {
    bench();
    assert_eq!(ask("warning", r#"{"warn_milliamperes": 700}"#).0, 200);
    let (_, told) = ask("rails", "");
    assert_eq!(told["warn_milliamperes"], 700);
    assert_eq!(told["rails"][0]["high"], false);
}

#[test]
fn a_body_that_makes_no_sense_is_refused() {
    bench();
    for body in ["", "{}", r#"{"warn_milliamperes": 0}"#] {
        assert_eq!(ask("warning", body).0, 400, "{body}");
    }
}
