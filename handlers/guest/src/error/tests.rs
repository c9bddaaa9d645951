//! The shape of error bodies, and the bound of short ones.

use serde_json::json;

use crate::testing::{bytes, header, json as body};
use crate::{ApiError, FieldProblem, Refusal, TextProblem};

#[test]
fn one_shape() {
    let response = ApiError::new(429, "slow_down", "too many attempts")
        .retry_after(7)
        .into_response("R1");
    assert_eq!(response.status, 429);
    assert_eq!(header(&response, "content-type"), Some("application/json"));
    assert_eq!(header(&response, "retry-after"), Some("7"));
    assert_eq!(
        body(&response),
        json!({"error": "too many attempts", "code": "slow_down", "request_id": "R1"})
    );
}

#[test]
fn fields_are_listed_and_the_first_one_is_in_the_sentence() {
    let problem = |field: &str| FieldProblem {
        field: field.to_owned(),
        message: "is required".to_owned(),
    };
    let response = ApiError::fields(vec![problem("a.b"), problem("c")]).into_response("R1");
    assert_eq!(response.status, 400);
    assert_eq!(
        body(&response),
        json!({
            "error": "a.b is required (and 1 more)",
            "code": "invalid_request",
            "request_id": "R1",
            "fields": [
                {"field": "a.b", "message": "is required"},
                {"field": "c", "message": "is required"}
            ]
        })
    );
}

#[test]
fn what_is_wrong_with_a_file_stands_beside_the_sentence() {
    let refused = ApiError::of(Refusal::ArchiveRefused, "it is damaged").reason("damaged");
    assert_eq!(
        body(&refused.into_response("R1")),
        json!({
            "error": "it is damaged", "code": "archive_refused", "request_id": "R1", "reason": "damaged"
        })
    );
    let problem = TextProblem {
        line: 4,
        column: 5,
        code: "unknown_key".to_owned(),
        path: "builds[0].stpes".to_owned(),
        message: "there is no key `stpes` here".to_owned(),
    };
    let refused = ApiError::of(Refusal::InvalidDefinition, "line 4 is wrong");
    assert_eq!(
        body(&refused.problems(vec![problem]).into_response("R1"))["problems"],
        json!([{
            "line": 4, "column": 5, "code": "unknown_key", "path": "builds[0].stpes",
            "message": "there is no key `stpes` here"
        }])
    );
}

#[test]
fn the_cause_is_for_the_log_alone() {
    let error = ApiError::internal("password of the database is hunter2");
    assert_eq!(
        error.cause.as_deref(),
        Some("password of the database is hunter2")
    );
    let text = String::from_utf8(bytes(&error.into_response("R1")).to_vec()).unwrap();
    assert!(!text.contains("hunter2"));
}

#[test]
fn short_errors_stay_json_under_300_bytes() {
    for message in [
        "x".repeat(5000),
        "\u{1}\"".repeat(300),
        "ü€😀".repeat(200),
        "short".into(),
    ] {
        let mut error = ApiError::field(&message, &message).short();
        error.code = "device_timeout";
        let response = error.into_response("01J0000000000000000000TEST");
        assert!(bytes(&response).len() < 300);
        let body = body(&response);
        assert_eq!(body["code"], "device_timeout");
        assert!(body["error"].as_str().unwrap().len() > 5);
    }
}

#[test]
fn long_sentences_are_cut_at_a_character() {
    let response = ApiError::invalid("€".repeat(2000)).into_response("R1");
    assert!(bytes(&response).len() < 1100);
    assert!(body(&response)["error"].as_str().unwrap().ends_with('€'));
}
