//! Answers and every refusal of a command.

use serde_json::json;

use super::{refusal, reply};
use crate::Busy;
use crate::pod::Error;
use crate::testing::{bytes, header, json, request};

#[test]
fn answers_and_the_pods_refusals_are_200() {
    let response = reply(&request(""), "01DEVICE", Ok(r#"{"mv":[1,2]}"#.into())).unwrap();
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
    let response = reply(
        &request(""),
        "01DEVICE",
        Err(Error::Refused("busy \"now\"".into())),
    )
    .unwrap();
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
        let error = reply(&request(""), "01DEVICE", Err(error)).unwrap_err();
        assert_eq!((error.status, error.code), (status, code));
        assert!(error.message.contains(word), "{}", error.message);
    }
}

#[test]
fn every_error_body_is_under_300_bytes() {
    let long = "\"ü\u{1}".repeat(500);
    let busy = Busy {
        holder: Some("x".repeat(40)),
        expires_at: Some("2026-01-02T03:06:05Z".into()),
        lost: false,
        making_safe: false,
        obstacle: None,
        place: None,
        retry_after_s: 600,
    };
    for error in [
        Error::Protocol(long.clone()),
        Error::Invalid(long.clone()),
        Error::NotFound,
        Error::Forbidden,
        Error::Held(busy),
    ] {
        let response = refusal(error, &long)
            .short()
            .into_response("01JGZ5V9T3N8W2K4Q7R6D1M0XB");
        assert!(bytes(&response).len() < 300);
        assert!(json(&response)["error"].as_str().unwrap().len() > 20);
    }
}

#[test]
fn a_held_device_tells_who_has_it() {
    let busy = Busy {
        holder: Some("run 7".into()),
        expires_at: None,
        lost: false,
        making_safe: false,
        obstacle: None,
        place: None,
        retry_after_s: 30,
    };
    let response = refusal(Error::Held(busy), "01DEVICE").into_response("01R");
    assert_eq!(response.status, 409);
    assert_eq!(header(&response, "retry-after"), Some("30"));
    let body = json(&response);
    assert_eq!(
        (&body["busy"], &body["holder"]),
        (&json!(true), &json!("run 7"))
    );
    assert_eq!(
        (&body["code"], &body["expires_at"]),
        (&json!("lease_held"), &json!(null))
    );
}
