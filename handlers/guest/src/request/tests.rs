//! Media types, empty bodies, callers.

use crate::testing::{caller, get, request};
use crate::{Credential, Response, Role};

#[test]
fn only_json_is_read() {
    for (media_type, accepted) in [
        ("application/json", true),
        ("Application/JSON; charset=utf-8", true),
        ("application/merge-patch+json", true),
        ("application/x-www-form-urlencoded", false),
        ("text/json", false),
        ("json", false),
        ("", false),
    ] {
        let mut request = request("{}");
        request.headers[0].1 = media_type.to_owned();
        let status = request.json().map(|_| ()).map_err(|e| e.status);
        assert_eq!(
            status,
            if accepted { Ok(()) } else { Err(415) },
            "{media_type}"
        );
    }
    let mut unlabelled = request("{}");
    unlabelled.headers.clear();
    assert!(unlabelled.json().is_ok());
}

#[test]
fn an_empty_body_is_an_object_only_where_allowed() {
    assert_eq!(request("").json().unwrap_err().status, 400);
    assert!(request("").json_or_empty().unwrap().rest().is_empty());
}

#[test]
fn parameters_and_headers() {
    let request = get(&["a", "b"], "");
    assert_eq!((request.param(1), request.param(2)), ("b", ""));
    assert_eq!(
        super::super::testing::request("").header("content-type"),
        Some("application/json")
    );
    assert_eq!(request.header("content-type"), None);
}

#[test]
fn roles() {
    assert!(caller(Role::Owner, Credential::UserSession, &[]).is_admin());
    assert!(caller(Role::Admin, Credential::UserSession, &[]).is_admin());
    assert!(!caller(Role::Member, Credential::ApiKey, &["bench:control"]).is_admin());
    let mut public = get(&[], "");
    public.caller = None;
    assert_eq!(public.caller().unwrap_err().status, 500);
}

#[test]
fn text_of_the_host_goes_into_a_record_as_it_is() {
    let with = |record: serde_json::Value| {
        let response = Response::json_with(200, &record, "data", "[1, 2]");
        String::from_utf8(crate::testing::bytes(&response).to_vec()).unwrap()
    };
    assert_eq!(
        with(serde_json::json!({"a": 1})),
        r#"{"a":1,"data":[1, 2]}"#
    );
    assert_eq!(with(serde_json::json!({})), r#"{"data":[1, 2]}"#);
}

#[test]
fn what_a_client_has_is_in_any_of_its_lists_of_tags() {
    let knows = |lists: &[&str]| {
        let mut request = get(&[], "");
        let header = |list: &&str| ("if-none-match".to_owned(), (*list).to_owned());
        request.headers = lists.iter().map(header).collect();
        request.knows("\"1\"")
    };
    assert!(knows(&["\"1\""]) && knows(&["W/\"1\""]) && knows(&["*"]));
    assert!(knows(&["\"0\", \"1\""]) && knows(&["\"0\"", "\"1\""]));
    assert!(!knows(&[]) && !knows(&[""]) && !knows(&["\"10\""]) && !knows(&["1"]));
}
