//! Handshakes by example, after RFC 6455.

use http::Request;

use super::*;

fn head(headers: &[(&str, &str)]) -> Parts {
    let mut request = Request::get("/api/x").version(Version::HTTP_11);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

const GOOD: [(&str, &str); 4] = [
    ("connection", "keep-alive, Upgrade"),
    ("upgrade", "WebSocket"),
    ("sec-websocket-version", "13"),
    ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
];

#[test]
fn the_example_of_the_standard_is_accepted() {
    assert_eq!(
        handshake(&head(&GOOD)).unwrap(),
        "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    );
}

#[test]
fn what_is_no_handshake_is_told_so() {
    for missing in 0..GOOD.len() {
        let mut headers = GOOD.to_vec();
        headers.remove(missing);
        let expected = if missing == 3 {
            StatusCode::BAD_REQUEST
        } else {
            StatusCode::UPGRADE_REQUIRED
        };
        assert_eq!(
            handshake(&head(&headers)).unwrap_err().status(),
            expected,
            "{missing}"
        );
    }
    let mut short = GOOD;
    short[3].1 = "dGhl";
    assert_eq!(
        handshake(&head(&short)).unwrap_err().status(),
        StatusCode::BAD_REQUEST
    );
    let mut old = GOOD;
    old[2].1 = "8";
    assert_eq!(
        handshake(&head(&old)).unwrap_err().status(),
        StatusCode::UPGRADE_REQUIRED
    );
}
