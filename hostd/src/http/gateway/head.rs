//! Reads a request's head: its id, the lease it shows, the headers that a handler may see.

use http::header::{AUTHORIZATION, COOKIE, HOST, HeaderName, PROXY_AUTHORIZATION};
use http::{HeaderMap, Request, StatusCode, Version};

use super::REQUEST_ID;
use crate::http::error::ApiError;
use base::id;
use lab::leases::PERSONS_LEASE;

/// Headers that show a lease, the second for published clients.
const LEASE: [&str; 2] = ["x-bench-lease", "x-benchpod-lease"];

/// Longest request id accepted from a client.
const REQUEST_ID_BYTES_MAX: usize = 64;

/// Credentials stay in the host, as does the lease. The runtime drops headers that concern only the connection.
const WITHHELD: [HeaderName; 3] = [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION];

/// Why a request's head is refused, whatever it asks for: a proxy in front may take another host for the one that it names.
pub(super) fn refused<B>(request: &Request<B>) -> Option<ApiError> {
    let hosts = request.headers().get_all(HOST).iter().count();
    let sentence = match request.version() {
        _ if hosts > 1 => "the request has several header fields Host; send one",
        Version::HTTP_11 if hosts == 0 => {
            "the request does not name the server; send it in the header field Host"
        }
        _ => return None,
    };
    Some(ApiError::new(
        StatusCode::BAD_REQUEST,
        "invalid_request",
        sentence,
    ))
}

/// The lease that a request shows, in a header or else in the query. That of a person is shown by the session alone: its id is
/// no secret, so it shows nothing.
pub(super) fn lease(headers: &HeaderMap, in_query: Option<String>) -> Option<String> {
    let in_header = LEASE.iter().find_map(|name| headers.get(*name));
    let in_header = in_header.and_then(|value| value.to_str().ok());
    let in_header = in_header.map(|id| id.trim().to_owned());
    let mut shown = in_header.into_iter().chain(in_query);
    shown.find(|id| id != PERSONS_LEASE)
}

/// What a handler may see: everything but what opens something.
pub(super) fn visible_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    headers
        .iter()
        .filter(|(name, _)| !WITHHELD.contains(name) && !LEASE.contains(&name.as_str()))
        .filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        })
        .collect()
}

/// The client's own id when it is short and plain, a new one otherwise.
pub(super) fn request_id(headers: &HeaderMap) -> String {
    headers
        .get(REQUEST_ID)
        .and_then(|v| v.to_str().ok())
        .filter(|v| {
            (1..=REQUEST_ID_BYTES_MAX).contains(&v.len())
                && v.bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        })
        .map_or_else(id::request_id, str::to_owned)
}
