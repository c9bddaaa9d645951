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

fn of(org: &str, user: &str) -> Requester {
    Requester {
        org: org.into(),
        user: user.into(),
    }
}

/// As many WebSockets as `who` gets, and why it gets no more.
fn take_all(sockets: &Sockets, who: &Requester) -> (Vec<Permit>, ApiError) {
    let mut open = Vec::new();
    loop {
        match sockets.enter(who, None) {
            Ok(permit) => open.push(permit),
            Err(error) => return (open, error),
        }
    }
}

#[test]
fn no_user_and_no_organisation_has_all_sockets() {
    let patience = Patience {
        ping: Duration::from_secs(1),
        send: Duration::from_secs(1),
    };
    let sockets = Sockets::new(256, patience);
    let (mut open, error) = take_all(&sockets, &of("east", "ann"));
    assert!((170..=171).contains(&open.len()), "{}", open.len());
    assert_eq!(error.status(), StatusCode::TOO_MANY_REQUESTS);
    for user in 0..20 {
        open.extend(take_all(&sockets, &of("east", &format!("u{user}"))).0);
    }
    assert!((192..=193).contains(&open.len()), "{}", open.len());
    let (other, _) = take_all(&sockets, &of("west", "eve"));
    assert!(other.len() >= 32, "{}", other.len());
    assert!(sockets.enter(&of("north", "zoe"), None).is_ok());
    drop(open);
    assert!(sockets.enter(&of("east", "ann"), None).is_ok());
}
