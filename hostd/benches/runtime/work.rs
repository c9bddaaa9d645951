//! The request that everybody answers, and the check that all answers are the same.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;

use crate::answerer::Answerer;

/// 186 bytes of JSON.
pub(crate) const BODY: &str = r#"{"id":"device-0123456789abcdef","values":[1,2,3,5,8,13,21,34,55,89],"options":{"verbose":true,"rate":2.5,"mode":"continuous"},"note":"a typical small request of a client at a bench!"}"#;

/// Headers that a browser or an HTTP library sends.
pub(crate) const HEADERS: [(&str, &str); 7] = [
    ("host", "127.0.0.1"),
    ("user-agent", "bench/1.0 (Linux; x86_64)"),
    ("accept", "application/json"),
    ("accept-encoding", "gzip, deflate"),
    ("connection", "keep-alive"),
    ("content-type", "application/json"),
    ("x-request-id", "01JD7Z8R9S0T1V2W3X4Y5Z6A7B"),
];

pub(crate) const PATH: &str = "/bench?verbose=1&limit=20";

/// What is stored under the request's id.
pub(crate) fn stored() -> HashMap<String, Vec<u8>> {
    let value = br#"{"name":"bench-pod-7","board":"BM-20 rev C","online":true}"#;
    HashMap::from([("device-0123456789abcdef".to_owned(), value.to_vec())])
}

/// A new request, as hyper would hand it over.
pub(crate) fn request() -> http::Request<Bytes> {
    let mut request = http::Request::builder().method("POST").uri(PATH);
    for (name, value) in HEADERS {
        request = request.header(name, value);
    }
    request
        .header("content-length", BODY.len())
        .body(Bytes::from_static(BODY.as_bytes()))
        .unwrap()
}

pub(crate) fn assert_all_agree(answerers: &[Arc<Answerer>]) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut bodies = answerers
        .iter()
        .map(|answerer| runtime.block_on(answerer.answer(request())).into_body());
    let first = bodies.next().unwrap();
    assert!(first.starts_with(br#"{"ok":true,"#), "{first:?}");
    for body in bodies {
        assert_eq!(body, first);
    }
}
