//! Programs on the server's own computer that know no credential, such as an editor of boards: with the setting
//! `emi.local` they may do everything about boards, and nothing else.
//!
//! A page in a browser on that computer reaches the same address. It is kept out by its `Origin`, and by the `Host` that a
//! name of its own site would bring.

use std::net::IpAddr;

use http::HeaderName;
use http::header::{AUTHORIZATION, COOKIE, FORWARDED, VIA};
use http::request::Parts;
use identity::Verified;

use crate::http::gateway::is_foreign;
use crate::http::origin::{self, FORWARDED_PROTO};
use crate::http::peer::{FORWARDED_FOR, Peer};
use crate::http::people;

/// The scope of all that they may do.
const SCOPE: &str = "emi:analyze";

/// How the paths of all that begin. A plugin's endpoints may ask for the same scope.
const PATHS: [&str; 3] = ["/api/emi/", "/api/local/", people::BOARDS];

/// What proxies add: behind one, the other end of the connection says nothing about who asks.
const OF_PROXIES: [HeaderName; 6] = [
    FORWARDED,
    VIA,
    FORWARDED_FOR,
    HeaderName::from_static("x-forwarded-host"),
    FORWARDED_PROTO,
    HeaderName::from_static("x-real-ip"),
];

/// Who they are, if they are let in.
#[derive(Debug)]
pub struct Desk(Option<Verified>);

impl Desk {
    /// `org` is whose boards they work with; none: they are not let in.
    #[must_use]
    pub fn new(org: Option<&str>) -> Self {
        Self(org.map(Verified::of_desk))
    }

    /// The caller of a request without a credential, if it is one of theirs and asks for what they may.
    #[must_use]
    pub fn caller(&self, scope: Option<&str>, head: &Parts) -> Option<Verified> {
        let caller = self.0.as_ref().filter(|_| scope == Some(SCOPE))?;
        let Peer(peer) = head.extensions.get::<Peer>()?;
        let is_about_boards = PATHS.iter().any(|path| head.uri.path().starts_with(path));
        (is_about_boards && peer.to_canonical().is_loopback() && is_own(head))
            .then(|| caller.clone())
    }
}

/// Whether a request comes from a program that calls the server by a name of this computer, and shows no credential that
/// could be wrong.
fn is_own(head: &Parts) -> bool {
    let headers = &head.headers;
    let is_shown = |name: &HeaderName| headers.contains_key(name);
    !OF_PROXIES.iter().any(is_shown)
        && !is_shown(&AUTHORIZATION)
        && !is_shown(&COOKIE)
        && is_called_local(head)
        && !is_foreign(headers)
}

fn is_called_local(head: &Parts) -> bool {
    origin::authority(head).is_some_and(|authority| {
        let host = authority
            .host()
            .trim_start_matches('[')
            .trim_end_matches(']');
        host.eq_ignore_ascii_case("localhost")
            || host
                .parse::<IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    })
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn head(peer: &str, headers: &[(&str, &str)]) -> Parts {
        let mut request = Request::builder().uri("/api/emi/projects");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (mut head, ()) = request.body(()).unwrap().into_parts();
        head.extensions.insert(Peer(peer.parse().unwrap()));
        head
    }

    #[test]
    fn only_programs_of_this_computer_and_only_for_boards() {
        let desk = Desk::new(Some("acme"));
        let host = ("host", "127.0.0.1:8800");
        for (peer, own) in [
            ("127.0.0.1", host),
            ("::1", ("host", "[::1]:8800")),
            ("::ffff:127.0.0.1", ("host", "LocalHost")),
        ] {
            let caller = desk.caller(Some(SCOPE), &head(peer, &[own])).unwrap();
            assert_eq!((caller.org(), caller.devices()), ("acme", None));
            assert!(caller.has_scope(SCOPE) && !caller.has_scope("bench:control"));
            assert!(!caller.has_scope("jobs:submit") && !caller.is_admin());
        }
        let local = head("127.0.0.1", &[host]);
        for scope in [None, Some("bench:control"), Some("bench:admin")] {
            assert!(desk.caller(scope, &local).is_none(), "{scope:?}");
        }
        assert!(Desk::new(None).caller(Some(SCOPE), &local).is_none());
        // A plugin that asks its callers for the same scope.
        let mut elsewhere = head("127.0.0.1", &[host]);
        elsewhere.uri = "/api/x/acme.boards/list".parse().unwrap();
        assert!(desk.caller(Some(SCOPE), &elsewhere).is_none());
        for (peer, headers) in [
            ("10.0.0.7", &[host][..]),
            // A name of somebody else that leads here.
            ("127.0.0.1", &[("host", "evil.example:8800")]),
            ("127.0.0.1", &[("host", "127.0.0.1.evil.example")]),
            ("127.0.0.1", &[("host", "localhost@evil.example")]),
            ("127.0.0.1", &[]),
            // A page.
            ("127.0.0.1", &[host, ("origin", "http://evil.example")]),
            ("127.0.0.1", &[host, ("origin", "null")]),
            // Somebody behind a proxy on this computer.
            ("127.0.0.1", &[host, ("x-forwarded-for", "10.0.0.7")]),
            ("127.0.0.1", &[host, ("via", "1.1 proxy")]),
            ("127.0.0.1", &[host, ("forwarded", "for=10.0.0.7")]),
            // Whoever shows a credential is taken at that.
            ("127.0.0.1", &[host, ("authorization", "ApiKey x")]),
            ("127.0.0.1", &[host, ("cookie", "a=b")]),
        ] {
            let caller = desk.caller(Some(SCOPE), &head(peer, headers));
            assert!(caller.is_none(), "{peer} {headers:?}");
        }
    }
}
