//! Who makes a request: the other end of its connection, or the client that a trusted proxy names.

use std::net::IpAddr;

use base::config::Proxies;
use http::{HeaderMap, HeaderName};

/// The clients that a request has passed on its way, the nearest last.
pub(super) const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The other end of a connection, among a request's extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

/// The address that a request comes from.
#[must_use]
pub fn client(proxies: &Proxies, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
    let values = headers.get_all(FORWARDED_FOR);
    // A value that is not text ends the chain: whoever comes before it cannot be known.
    let texts: Vec<_> = values.iter().map(|v| v.to_str().unwrap_or("?")).collect();
    proxies.client(peer, &texts)
}
