//! What a client calls this server, for absolute addresses in answers to that client.

use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue};

/// The protocol that a client speaks with a proxy before the server.
pub(super) const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The start of a URL that leads the client of this request here again: `https://bench.example`. `is_proxied` says whether
/// a trusted proxy passes the request on, which tells by `X-Forwarded-Proto` how the client reached it. None: the request
/// names no host that could be one.
#[must_use]
pub fn of(head: &Parts, is_proxied: bool) -> Option<String> {
    let authority = authority(head)?;
    // Names and passwords are no part of a host.
    if authority.as_str().contains('@') {
        return None;
    }
    let is_secret = is_proxied && is_https(&head.headers);
    let scheme = if is_secret { "https" } else { "http" };
    Some(format!("{scheme}://{authority}"))
}

/// The host, and perhaps the port, that a request names: in its address, as HTTP/2 has it, or in its header.
pub(super) fn authority(head: &Parts) -> Option<Authority> {
    match head.uri.authority() {
        Some(authority) => Some(authority.clone()),
        None => head.headers.get(HOST).and_then(text)?.parse().ok(),
    }
}

fn is_https(headers: &HeaderMap) -> bool {
    // Of several proxies, the first one had the client.
    let first = headers.get(FORWARDED_PROTO).and_then(text);
    let first = first.and_then(|protocols| protocols.split(',').next());
    first.is_some_and(|protocol| protocol.trim().eq_ignore_ascii_case("https"))
}

fn text(value: &HeaderValue) -> Option<&str> {
    value.to_str().ok()
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn origin(uri: &str, headers: &[(&str, &str)], is_proxied: bool) -> Option<String> {
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        of(&head, is_proxied)
    }

    #[test]
    fn the_name_that_the_client_used_and_the_protocol_that_a_trusted_proxy_tells() {
        let host = ("host", "bench.example:8080");
        let https = ("x-forwarded-proto", "https, http");
        let plain = Some("http://bench.example:8080".to_owned());
        let secret = Some("https://bench.example:8080".to_owned());
        assert_eq!(origin("/x", &[host], true), plain);
        assert_eq!(origin("/x", &[host, https], true), secret);
        assert_eq!(origin("/x", &[host, https], false), plain);
        assert_eq!(
            origin("/x", &[("host", "[::1]:80")], false),
            Some("http://[::1]:80".into())
        );
        // As HTTP/2 has it.
        assert_eq!(
            origin("http://b.example/x", &[], false),
            Some("http://b.example".into())
        );
    }

    #[test]
    fn what_is_no_host_becomes_no_address() {
        assert_eq!(origin("/x", &[], false), None);
        for host in ["", "a b", "a/b", "a?b", "me@elsewhere.example", "a:b:c"] {
            let given = origin("/x", &[("host", host)], false);
            assert_eq!(given, None, "{host}: {given:?}");
        }
    }
}
