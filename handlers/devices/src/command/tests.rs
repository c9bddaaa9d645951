//! Bodies of the command endpoint.

use guest::testing::{bytes, mutations, request};
use guest::{ApiError, Request};
use serde_json::{Value, json};

use super::{needs_ac_dac, parse};

fn command(body: &str) -> Request {
    Request {
        params: vec!["01DEVICE".into()],
        ..request(body)
    }
}

#[test]
fn body() {
    let order = parse(&command(r#"{"command":{"cmd":"ping"}}"#)).unwrap();
    assert_eq!(Value::Object(order.command), json!({"cmd": "ping"}));
    assert_eq!(order.timeout_ms, 30_000);
    let order = parse(&command(
        r#"{"command":{"cmd":"la","x":[1,{"y":2}]},"timeout_ms":120000}"#,
    ));
    assert_eq!(order.unwrap().timeout_ms, 120_000);
    for (body, told) in [
        ("{}", "command is required"),
        (r#"{"command":null}"#, "command is required"),
        (
            r#"{"command":"ping"}"#,
            "command must be an object, not a string",
        ),
        (
            r#"{"command":{}}"#,
            "command.cmd must be a non-empty string",
        ),
        (
            r#"{"command":{"cmd":1}}"#,
            "command.cmd must be a non-empty string",
        ),
        (
            r#"{"command":{"cmd":""}}"#,
            "command.cmd must be a non-empty string",
        ),
        (r#"{"cmd":"ping"}"#, "command is required (and 1 more)"),
        (
            r#"{"command":{"cmd":"ping"},"timeout_ms":120001}"#,
            "timeout_ms must be an integer, 1..=120000",
        ),
        (
            r#"{"command":{"cmd":"ping"},"timeout_ms":0}"#,
            "timeout_ms must be an integer, 1..=120000",
        ),
        ("[]", "the body must be a JSON object, not a list"),
    ] {
        let error = parse(&command(body)).unwrap_err();
        assert_eq!(
            (error.status, error.message.as_str()),
            (400, told),
            "{body}"
        );
    }
}

#[test]
fn the_example_is_accepted() {
    let mut request = command("");
    request.body = guest::testing::request_example(&super::ROUTE);
    assert!(parse(&request).is_ok());
}

#[test]
fn only_the_generator_needs_the_ac_dac() {
    let needed = |verb: &str| needs_ac_dac(json!({"cmd": verb}).as_object().unwrap());
    assert!(needed("generate"));
    assert!(!needed("dac_set"));
}

#[test]
fn the_route_keeps_its_errors_short() {
    let body = format!(r#"{{"command":{{"cmd":"ping"}},"{}":1}}"#, "x".repeat(400));
    let error: ApiError = (super::ROUTE.handle)(&command(&body)).unwrap_err();
    assert!(bytes(&error.into_response("01JGZ5V9T3N8W2K4Q7R6D1M0XB")).len() < 300);
}

#[test]
fn mutated_bodies_never_panic() {
    let valid =
        br#"{"command":{"cmd":"calibrate","source":"cal1","clear":false},"timeout_ms":5000}"#;
    mutations(0xC0_44A2D, valid, 10_000, |body| {
        let mut request = command("");
        request.body = body.to_vec();
        if let Ok(order) = parse(&request) {
            assert!(order.command["cmd"].is_string());
            assert!((1..=120_000).contains(&order.timeout_ms));
        }
    });
}
