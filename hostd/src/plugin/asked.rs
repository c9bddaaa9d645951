//! A request on its way to a plugin, and its answer on the way back, in the words of the published contract.

use http::Method;
use runtime::Request;

use super::bindings::handler::exports::hostd::plugin::http as wit;
use super::bindings::imports::hostd::plugin::types::Caller;

/// Path prefix of a plugin's routes, in front of its id.
pub const PREFIX: &str = "/api/x/";

/// Response headers that a plugin may not set: what they say holds for the whole server, whose pages and cookies share
/// its origin.
const HOST_OWNED: [&str; 7] = [
    "clear-site-data",
    "content-security-policy",
    "refresh",
    "service-worker-allowed",
    "set-cookie",
    "strict-transport-security",
    "x-request-id",
];

/// Prefix of more of them.
const HOST_OWNED_PREFIX: &str = "access-control-";

/// A header's name as programs may read it: what hands headers on as variables (CGI, WSGI, Rack, PHP) makes one of all that
/// differ in what is neither letter nor digit.
pub(super) fn plain(name: &str) -> String {
    let letter = |letter: char| match letter {
        _ if letter.is_ascii_alphanumeric() => letter.to_ascii_lowercase(),
        _ => '-',
    };
    name.chars().map(letter).collect()
}

/// A request for a plugin.
#[derive(Debug)]
pub struct Asked {
    pub(super) request: wit::Request,
    /// Which of the plugin's exports answers it, as its route table says.
    pub(super) group: usize,
}

impl Asked {
    /// `path` is the whole path of the request, `group` that of its route.
    #[must_use]
    pub fn new(request: Request, method: &Method, path: &str, group: usize) -> Self {
        let below = path.strip_prefix(PREFIX).unwrap_or_default();
        let path = below.find('/').map_or("/", |at| &below[at..]);
        let mut headers = request.headers;
        headers.retain(|(name, _)| !runtime::is_withheld(&plain(name)));
        let request = wit::Request {
            id: request.id,
            route: request.route,
            method: method.as_str().to_owned(),
            path: path.to_owned(),
            params: request.params,
            query: request.query,
            headers,
            body: request.body,
            caller: request.caller.map(caller),
            extra: Vec::new(),
        };
        Self { request, group }
    }
}

fn caller(caller: runtime::Caller) -> Caller {
    use runtime::{Credential, Role};
    let role = match caller.role {
        Role::Member => "member",
        Role::Admin => "admin",
        Role::Owner => "owner",
    };
    let credential = match caller.credential {
        Credential::ApiKey => "api-key",
        Credential::UserSession => "user-session",
        Credential::CloudSession => "cloud-session",
    };
    let kid = caller.kid.map(|kid| ("kid".to_owned(), kid));
    Caller {
        org: caller.org,
        user: caller.user,
        role: role.to_owned(),
        credential: credential.to_owned(),
        scopes: caller.scopes,
        devices: caller.devices,
        extra: kid.into_iter().collect(),
    }
}

/// Whether a response header, in lower case, says something of the whole server.
pub(super) fn is_host_owned(name: &str) -> bool {
    HOST_OWNED.contains(&name) || name.starts_with(HOST_OWNED_PREFIX)
}

/// Status, headers and body of a plugin's response, without what is not a plugin's to say.
pub(super) fn answered(response: wit::Response) -> (u16, Vec<(String, String)>, Vec<u8>) {
    let mut headers = response.headers;
    headers.retain(|(name, _)| !is_host_owned(name));
    (response.status, headers, response.body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_begins_below_the_plugin() {
        let request = || Request {
            id: "r".into(),
            route: 0,
            params: Vec::new(),
            query: String::new(),
            headers: Vec::new(),
            body: Vec::new(),
            caller: None,
        };
        for (path, below) in [
            ("/api/x/acme.x/a/b", "/a/b"),
            ("/api/x/acme.x/", "/"),
            ("/api/x/acme.x", "/"),
        ] {
            let asked = Asked::new(request(), &Method::GET, path, 0);
            assert_eq!(asked.request.path, below);
        }
    }

    #[test]
    fn what_holds_for_the_whole_origin_is_not_a_plugins_to_say() {
        let names = [
            "set-cookie",
            "access-control-allow-origin",
            "content-security-policy",
            "etag",
        ];
        let given = wit::Response {
            status: 200,
            headers: names.map(|name| (name.to_owned(), "x".to_owned())).to_vec(),
            body: Vec::new(),
            extra: Vec::new(),
        };
        let (_, headers, _) = answered(given);
        assert_eq!(headers, [("etag".to_owned(), "x".to_owned())]);
    }
}
