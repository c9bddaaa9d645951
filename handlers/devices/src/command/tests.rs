//! Bodies, authority and every refusal of the command endpoint.

use guest::pod::Error;
use guest::testing::{bytes, caller, json, mutations, request};
use guest::{ApiError, Credential, Request, Role};
use serde_json::{Value, json};

use super::{authorize, needed_capability, parse, refusal, reply};

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
    request.body = guest::openapi::request_example(&super::ROUTE);
    assert!(parse(&request).is_ok());
}

#[test]
fn stored_settings_are_forbidden_to_control_keys() {
    let mut request = command("");
    request.caller = Some(caller(Role::Owner, Credential::ApiKey, &["bench:control"]));
    let check = |verb: &str| {
        let command = json!({"cmd": verb}).as_object().unwrap().clone();
        authorize(&request, &command).map_err(|e| (e.status, e.code))
    };
    assert_eq!(check("target_power"), Ok(()));
    assert_eq!(check("wifi_set"), Err((403, "forbidden")));
    assert_eq!(check("ota_begin"), Err((403, "forbidden")));
}

#[test]
fn only_the_generator_needs_the_ac_dac() {
    let needed = |verb: &str| needed_capability(json!({"cmd": verb}).as_object().unwrap());
    assert_eq!(needed("generate"), Some("ac_dac"));
    assert_eq!(needed("dac_set"), None);
}

#[test]
fn answers_and_the_pods_refusals_are_200() {
    let response = reply(&command(""), Ok(r#"{"mv":[1,2]}"#.into())).unwrap();
    assert_eq!(response.status, 200);
    assert_eq!(
        json(&response),
        json!({
            "request_id": "01TESTREQUEST",
            "device_id": "01DEVICE",
            "status": "ok",
            "data": {"mv": [1, 2]}
        })
    );
    let response = reply(&command(""), Err(Error::Refused("busy \"now\"".into()))).unwrap();
    assert_eq!(response.status, 200);
    assert_eq!(
        json(&response),
        json!({
            "request_id": "01TESTREQUEST",
            "device_id": "01DEVICE",
            "status": "error",
            "error": "busy \"now\""
        })
    );
}

#[test]
fn refusals_have_the_words_that_clients_look_for() {
    for (error, status, code, word) in [
        (
            Error::NotFound,
            404,
            "not_found",
            "device not found: 01DEVICE",
        ),
        (Error::Offline, 503, "device_offline", "offline"),
        (Error::NeedsTunnel, 400, "needs_tunnel", "tunnel"),
        (
            Error::Invalid("line too long".into()),
            400,
            "invalid_request",
            "line too long",
        ),
        (Error::TimedOut(30_000), 504, "device_timeout", "30000 ms"),
        (
            Error::Protocol("garbage".into()),
            502,
            "pod_protocol",
            "garbage",
        ),
        (Error::Other("disk".into()), 500, "internal", "log"),
    ] {
        let error = reply(&command(""), Err(error)).unwrap_err();
        assert_eq!((error.status, error.code), (status, code));
        assert!(error.message.contains(word), "{}", error.message);
    }
}

#[test]
fn every_error_body_is_under_300_bytes() {
    let long = "\"ü\u{1}".repeat(500);
    let errors = [
        refusal(Error::Protocol(long.clone()), &long),
        refusal(Error::Invalid(long.clone()), &long),
        refusal(Error::NotFound, &long),
        parse(&command(&format!("{{{:?}:1}}", "x".repeat(1000)))).unwrap_err(),
        authorize(
            &Request {
                caller: Some(caller(Role::Member, Credential::ApiKey, &[])),
                ..command("")
            },
            &serde_json::Map::new(),
        )
        .unwrap_err(),
    ];
    for error in errors {
        let response = error.short().into_response("01JGZ5V9T3N8W2K4Q7R6D1M0XB");
        assert!(bytes(&response).len() < 300);
        assert!(json(&response)["error"].as_str().unwrap().len() > 20);
    }
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
            authorize(&request, &order.command).unwrap();
        }
    });
}
