//! What is tried on a route: its rows, and what follows from its documented credentials, scope, body
//! and methods.

use std::io::{Read, Write};
use std::net::TcpStream;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde_json::json;
use tests::Reply;

use crate::bench::{Bench, text};
use crate::call::{Call, Rows, call};
use crate::document::{Document, KINDS, Kind, Operation};

/// A longer body is announced but not sent.
const SENT_BYTES_MAX: usize = 16 << 20;

/// Objects that are devices or lead to one.
const OF_DEVICES: [&str; 6] = [
    "device",
    "digital",
    "patient",
    "removable",
    "target",
    "capture",
];

/// The device that the token of another device is for.
const ELSEWHERE: &str = "device=spare";

/// A route, and everything that went wrong with it.
struct Trial<'a> {
    bench: &'a Bench,
    document: &'a Document,
    operation: &'a Operation,
    rows: &'a Rows,
    problems: Vec<String>,
}

/// Try everything on one route; returns what went wrong.
pub(crate) fn check(
    bench: &Bench,
    document: &Document,
    operation: &Operation,
    rows: &Rows,
) -> Vec<String> {
    let mut trial = Trial {
        bench,
        document,
        operation,
        rows,
        problems: Vec::new(),
    };
    if let Some((_, first)) = rows.success.first() {
        trial.credentials(first);
        trial.strangers(first);
        trial.methods(first);
        trial.bodies(first);
    }
    for (status, call) in &rows.success {
        trial.succeeds(*status, call);
        bench.forget_new();
    }
    for (status, code, call) in &rows.refusals {
        let reply = trial.send(call, trial.usual());
        trial.refused("refusal", call, &reply, *status, code);
        bench.forget_new();
    }
    trial.problems
}

impl Trial<'_> {
    /// The owner's credential of the kind that the route accepts.
    fn usual(&self) -> Option<&str> {
        let kind = *self.operation.accepts.first()?;
        Some(self.bench.owner.credential(kind))
    }

    fn send(&self, call: &Call, authorization: Option<&str>) -> Reply {
        let authorization = authorization.filter(|_| !call.has_own_credential());
        if self.operation.is_socket {
            self.bench.open(call, authorization)
        } else {
            self.bench.send(&self.operation.method, call, authorization)
        }
    }

    fn problem(&mut self, what: &str, call: &Call, reply: &Reply, message: &str) {
        let head: String = reply.text.chars().take(300).collect();
        let name = &self.operation.name;
        let line = format!(
            "{name}: {what}: {} → {}: {message}\n    {head}",
            call.path, reply.status
        );
        self.problems.push(line);
    }

    fn described(&mut self, what: &str, call: &Call, reply: &Reply) {
        if let Err(why) = self.document.describes(self.operation, reply) {
            self.problem(what, call, reply, &why);
        }
    }

    fn refused(&mut self, what: &str, call: &Call, reply: &Reply, status: u16, code: &str) {
        let given = serde_json::from_str(&reply.text).unwrap_or(json!({}));
        if reply.status != status || given["code"] != code {
            self.problem(what, call, reply, &format!("expected {status} {code}"));
        }
        self.described(what, call, reply);
    }

    fn succeeds(&mut self, status: u16, call: &Call) {
        if let (Some(("application/json", _)), Some(text)) =
            (call.body.as_ref().map(|(t, b)| (*t, b)), call.text())
        {
            let body = self.bench.fill(text);
            if let Err(why) = self.document.takes(self.operation, &body) {
                let line = format!(
                    "{}: the document does not take {body}: {why}",
                    self.rows.route
                );
                self.problems.push(line);
            }
        }
        let reply = self.send(call, self.usual());
        let body = serde_json::from_str(&reply.text).unwrap_or(json!({}));
        for member in ["token", "secret", "code", "access_token", "refresh_token"] {
            // Beside an `error`, `code` says which error it is.
            let is_word = member == "code" && body["error"].is_string();
            if let Some(secret) = body[member].as_str().filter(|_| !is_word) {
                self.bench.keep_secret(secret);
            }
        }
        if reply.status != status {
            self.problem("success", call, &reply, &format!("expected {status}"));
        }
        self.described("success", call, &reply);
    }

    /// No credential at all, one without the scope, and those of other kinds.
    fn credentials(&mut self, first: &Call) {
        let Operation { accepts, scope, .. } = self.operation;
        if accepts.is_empty() {
            return;
        }
        let bare = first.without_credential();
        let reply = self.send(&bare, None);
        self.refused("no credential", &bare, &reply, 401, "missing_credential");
        let forged = "ApiKey bk_AAAAAAAAAAAA_AAAAAAAAAAAAAAAAAAAAAA";
        let unsigned = self.bench.object("token.unsigned");
        for forged in [forged, &unsigned] {
            let reply = self.send(&bare, Some(forged));
            self.refused("forgery", &bare, &reply, 401, "invalid_credential");
        }
        if scope.is_some() && accepts.contains(&Kind::ApiKey) {
            let narrow = match scope.as_deref() {
                Some("jobs:submit") => "key.bench",
                Some("emi:analyze") => "key.boardless",
                _ => "key.narrow",
            };
            let narrow = self.bench.object(narrow);
            let reply = self.send(&bare, Some(&narrow));
            self.refused("wrong scope", &bare, &reply, 403, "missing_scope");
        }
        for (kind, _) in KINDS {
            if !accepts.contains(&kind) {
                let credential = self.bench.owner.credential(kind);
                let reply = self.send(&bare, Some(credential));
                let what = format!("{kind:?}");
                self.refused(&what, &bare, &reply, 403, "wrong_credential");
            }
        }
    }

    /// A credential of another organisation, and a token for another device.
    fn strangers(&mut self, first: &Call) {
        let objects = first.objects();
        let named = first.path.contains("?device=");
        let secret = |name: &str| {
            ["new-name", "lease.", "id-token"]
                .iter()
                .any(|p| name.starts_with(p))
        };
        let owned = named || objects.iter().any(|name| !secret(name));
        let bare = first.without_credential();
        if !owned {
            return;
        }
        for kind in &self.operation.accepts {
            let reply = self.send(&bare, Some(self.bench.stranger.credential(*kind)));
            let what = format!("another organisation's {kind:?}");
            self.refused(&what, &bare, &reply, 404, "not_found");
        }
        let of_device = |name: &&str| OF_DEVICES.iter().any(|device| name.ends_with(device));
        if self.operation.accepts.contains(&Kind::CloudSession)
            && !first.path.contains(ELSEWHERE)
            && (named || objects.iter().any(of_device))
        {
            let elsewhere = self.bench.object("token.spare");
            let reply = self.send(&bare, Some(&elsewhere));
            self.refused("token of another device", &bare, &reply, 404, "not_found");
        }
    }

    fn methods(&mut self, first: &Call) {
        let method = self.document.other_method(&first.path);
        let bare = call(first.path.clone());
        let reply = self.bench.send(method, &bare, self.usual());
        let allow = reply.header("allow").unwrap_or_default().to_owned();
        let gets = self.operation.method == "GET";
        let told = allow.split(", ").any(|m| m == self.operation.method)
            && (!gets || self.operation.is_socket || allow.contains("HEAD"));
        if reply.status != 405 || !told {
            self.problem(
                method,
                &bare,
                &reply,
                &format!("expected 405, Allow: {allow}"),
            );
        }
        self.described(method, &bare, &reply);
    }

    /// A malformed body, one of another type, and one that is too large.
    fn bodies(&mut self, first: &Call) {
        if self.operation.body_bytes_max == 0 {
            return;
        }
        let with = |media_type, body: &'static str| first.with_body(media_type, body.as_bytes());
        if self.operation.only_json {
            for body in ["{\"a\": ", "[]", "{\"no-such-member\": 1}"] {
                if self.document.takes(self.operation, body).is_ok() {
                    continue;
                }
                let call = with("application/json", body);
                let reply = self.send(&call, self.usual());
                self.refused(body, &call, &reply, 400, "invalid_request");
            }
            self.full(first);
            let call = with("text/plain", "x");
            let reply = self.send(&call, self.usual());
            self.refused("text", &call, &reply, 415, "unsupported_media_type");
        }
        let reply = self.oversized(first);
        self.refused("too big", first, &reply, 413, "body_too_large");
    }

    /// A body that is exactly as large as the limit is read, and then refused for its content.
    fn full(&mut self, first: &Call) {
        let body = r#"{"no-such-member": 1}"#;
        let limit = self.operation.body_bytes_max;
        if limit > SENT_BYTES_MAX || self.document.takes(self.operation, body).is_ok() {
            return;
        }
        let padded = format!("{body}{}", " ".repeat(limit - body.len()));
        let call = first.with_body("application/json", padded.into_bytes());
        let reply = self.send(&call, self.usual());
        self.refused("as big as the limit", first, &reply, 400, "invalid_request");
    }

    /// The answer to a body that is one byte over the limit.
    fn oversized(&self, call: &Call) -> Reply {
        let length = self.operation.body_bytes_max + 1;
        let path = self.bench.fill(&format!("/api{}", call.path));
        let media_type = call.body.as_ref().map_or("application/json", |(t, _)| t);
        let address = self.bench.server().url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        let method = &self.operation.method;
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n"
        );
        let own = call
            .headers
            .iter()
            .find(|(name, _)| *name == "authorization");
        let own = own.map(|(_, value)| self.bench.fill(value));
        if let Some(value) = own.as_deref().or(self.usual()) {
            head += &format!("Authorization: {value}\r\n");
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        if length <= SENT_BYTES_MAX {
            // A server that has answered need not read the rest.
            drop(stream.write_all(&vec![b' '; length]));
        }
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        parse(&String::from_utf8_lossy(&answer))
    }
}

/// An answer as it came over the wire.
fn parse(answer: &str) -> Reply {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1));
    let headers = lines.filter_map(|line| line.split_once(": "));
    Reply {
        status: status.and_then(|s| s.parse().ok()).unwrap_or(0),
        headers: headers
            .map(|(n, v)| (n.to_lowercase(), v.to_owned()))
            .collect(),
        text: body.to_owned(),
    }
}

impl Call {
    /// The same request without its own credential.
    fn without_credential(&self) -> Call {
        let headers = self
            .headers
            .iter()
            .filter(|(name, _)| *name != "authorization");
        Call {
            headers: headers.copied().collect(),
            ..self.clone()
        }
    }
}

impl Bench {
    /// Credentials that do not fit this route.
    pub(crate) fn credential(&self, name: &str) -> Option<String> {
        let client = self.server().client();
        match name {
            "key.narrow" | "key.bench" | "key.boardless" => {
                let scopes = match name {
                    "key.bench" => ["emi:analyze", "bench:control"],
                    "key.boardless" => ["jobs:submit", "bench:control"],
                    _ => ["emi:analyze", "jobs:submit"],
                };
                let body = json!({"name": "narrow", "scopes": scopes});
                let made = client.post("/api/keys", &body).unwrap().expect(201);
                Some(format!("ApiKey {}", text(&made["secret"])))
            }
            "token.spare" => {
                let body = json!({"devices": ["spare"]});
                let made = client.post("/api/auth/token", &body).unwrap().expect(200);
                Some(format!("Bearer {}", text(&made["token"])))
            }
            "token.unsigned" => {
                let token = self.owner.credential(Kind::CloudSession);
                let claims = token.split('.').nth(1).unwrap();
                let header = STANDARD_NO_PAD.encode(r#"{"alg":"none","typ":"JWT"}"#);
                Some(format!("Bearer {header}.{claims}."))
            }
            _ => None,
        }
    }
}
