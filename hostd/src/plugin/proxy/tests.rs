//! What a plugin sees of a request, and what becomes of its response.

use virtual_wasi::http::Headers;

use super::*;
use crate::plugin::bindings::imports::hostd::plugin::types::Caller;

fn asked(headers: &[(&str, &str)], caller: Option<Caller>) -> wit::Request {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    wit::Request {
        id: "r1".to_owned(),
        route: 0,
        method: "POST".to_owned(),
        path: "/a%2Fb".to_owned(),
        params: Vec::new(),
        query: "c=d".to_owned(),
        headers: headers.iter().map(owned).collect(),
        body: b"body".to_vec(),
        caller,
        extra: Vec::new(),
    }
}

fn seen(request: &Request, name: &str) -> Vec<String> {
    let found = request.headers.iter().filter(|(held, _)| held == name);
    found
        .map(|(_, value)| String::from_utf8(value.clone()).unwrap())
        .collect()
}

#[test]
fn who_asks_is_the_servers_to_say() {
    let caller = Caller {
        org: "o1".to_owned(),
        user: "u1".to_owned(),
        role: "member".to_owned(),
        credential: "api-key".to_owned(),
        scopes: vec!["bench:control".to_owned(), "jobs:submit".to_owned()],
        devices: None,
        extra: Vec::new(),
    };
    let id = "acme.x".parse().unwrap();
    let claimed = [
        ("host", "bench.example:1"),
        ("x-hostd-org", "other"),
        ("x-hostd-devices", "d9"),
        ("x_hostd_role", "owner"),
        ("x-hostd_role", "owner"),
        ("x.hostd-role", "owner"),
        ("X_Hostd~Role", "owner"),
        ("x_request_id", "r2"),
        ("x_forwarded_prefix", "/elsewhere"),
        ("content_length", "999"),
        ("x-forwarded-prefix", "/elsewhere"),
        ("content-length", "999"),
        ("connection", "close"),
        ("accept", "text/plain"),
    ];
    let now = Instant::now();
    let request = request(asked(&claimed, Some(caller)), &id, now);
    assert_eq!(request.authority, "bench.example:1");
    assert_eq!(request.path_with_query, "/a%2Fb?c=d");
    for (name, values) in [
        ("host", vec![]),
        ("connection", vec![]),
        ("x-hostd-org", vec!["o1"]),
        ("x-hostd-scopes", vec!["bench:control jobs:submit"]),
        ("x-hostd-devices", vec![]),
        ("x-forwarded-prefix", vec!["/api/x/acme.x"]),
        ("x-request-id", vec!["r1"]),
        ("content-length", vec!["4"]),
        ("accept", vec!["text/plain"]),
    ] {
        assert_eq!(seen(&request, name), values, "{name}");
    }
    let known = [
        "accept",
        "x-request-id",
        "x-forwarded-prefix",
        "content-length",
        "x-hostd-org",
        "x-hostd-user",
        "x-hostd-role",
        "x-hostd-credential",
        "x-hostd-scopes",
    ];
    let names: Vec<&str> = request
        .headers
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names, known);
    let nobody = super::request(asked(&claimed, None), &id, now);
    assert!(seen(&nobody, "x-hostd-org").is_empty());
}

#[test]
fn a_response_keeps_what_is_a_plugins_to_say() {
    let headers: Headers = ["set-cookie", "access-control-allow-origin", "etag", "date"]
        .map(|name| (name.to_owned(), b"x".to_vec()))
        .into();
    let response = Response {
        status: 404,
        headers,
        body: None,
    };
    let reply = reply(response).unwrap();
    assert_eq!(reply.status, 404);
    assert_eq!(reply.headers, [("etag".to_owned(), "x".to_owned())]);
    let many = (0..65).map(|n| (format!("x-{n}"), Vec::new())).collect();
    let response = Response {
        status: 200,
        headers: many,
        body: None,
    };
    let refused = super::reply(response).unwrap_err();
    let causes: Vec<String> = refused.chain().map(ToString::to_string).collect();
    assert!(causes.concat().contains("65 headers"), "{causes:?}");
}
