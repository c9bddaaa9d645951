//! The one server of the table: a demo bench with more devices, and two organisations that do not
//! know each other.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use serde_json::{Value, json};
use tempfile::TempDir;
use tests::issuer::Issuer;
use tests::offline::offline;
use tests::{Client, Opened, Reply, Server, Socket, until};

use crate::call::{Call, names};
use crate::document::Kind;

/// Devices besides the demo: name and address. Port 9 (discard) of the loopback interface refuses
/// connections.
const DEVICES: [(&str, &str); 13] = [
    ("digital", "sim:digital,seed=11"),
    ("gone", "tcp:127.0.0.1:9"),
    ("leased", "sim:v3,seed=12"),
    ("lent", "sim:v3,seed=22"),
    ("patient", "sim:v3,seed=13"),
    ("removable", "sim:v3,seed=14"),
    ("replaced", "sim:v3,seed=21"),
    ("spare", "sim:v3,seed=15"),
    ("target", "sim:v3,seed=16,target=blank"),
    ("mailed", "sim:v3,seed=20"),
    ("updatable", "sim:v3,seed=17"),
    // Nothing is wired to it: a flash waits for a target.
    ("unwired", "sim:v3,seed=19"),
    // An update of it takes longer than all rows.
    ("slow", "sim:v3,seed=18,fault=slow=20000B/s+200ms"),
];

pub(crate) struct Bench {
    server: Server,
    pub(crate) owner: Party,
    pub(crate) stranger: Party,
    pub(crate) made: RefCell<HashMap<String, String>>,
    pub(crate) serial: Cell<u32>,
    /// The plugin that was made last.
    pub(crate) plugin: RefCell<Option<String>>,
    /// Everything that must not be in the log.
    secrets: RefCell<Vec<String>>,
    _dir: TempDir,
}

/// The credentials of the owner of an organisation, as values of `Authorization`.
pub(crate) struct Party {
    key: String,
    session: String,
    cloud: String,
}

impl Party {
    pub(crate) fn credential(&self, kind: Kind) -> &str {
        match kind {
            Kind::ApiKey => &self.key,
            Kind::UserSession => &self.session,
            Kind::CloudSession => &self.cloud,
        }
    }

    fn of(server: &Server, key: &str, code: &str) -> Self {
        let key = format!("ApiKey {key}");
        let client = Client::new(&server.url).with_authorization(&key);
        let minted = client.post("/api/auth/token", &json!({}));
        let code = json!({"code": code});
        let signed_in = server.anonymous().post("/api/auth/session", &code);
        let bearer = |reply: Reply| format!("Bearer {}", text(&reply.expect(200)["token"]));
        Self {
            session: bearer(signed_in.unwrap()),
            cloud: bearer(minted.unwrap()),
            key,
        }
    }
}

impl Bench {
    pub(crate) fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("hostd.toml");
        let mut content = Issuer::start().config();
        content += "[plugins]\noperator_orgs = \"default\"\n";
        for (name, address) in DEVICES {
            content += &format!("[[devices]]\nname = \"{name}\"\naddress = \"{address}\"\n");
        }
        std::fs::write(&config, content).unwrap();
        let args = ["--log-level", "trace", "--config", config.to_str().unwrap()];
        let start = || Server::demo_in_with(dir.path(), &args);
        assert!(start().unwrap().stop().unwrap());
        let (key, code) = stranger(dir.path());
        let server = start().unwrap();
        // Each start prints a code until the owner has signed in.
        let log = server.log();
        let own = log.rsplit("{\"code\":\"").next().unwrap().split('"').next();
        let bench = Self {
            owner: Party::of(&server, &server.api_key, own.unwrap()),
            stranger: Party::of(&server, &key, &code),
            server,
            made: RefCell::default(),
            serial: Cell::new(0),
            plugin: RefCell::default(),
            secrets: RefCell::default(),
            _dir: dir,
        };
        for party in [&bench.owner, &bench.stranger] {
            for credential in [&party.key, &party.session, &party.cloud] {
                bench.keep_secret(credential);
            }
        }
        bench.wait_online();
        // Rows also refer to it by its name.
        bench.object("leased");
        bench
    }

    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    /// A client with this value of `Authorization`.
    pub(crate) fn client(&self, authorization: &str) -> Client {
        self.server.anonymous().with_authorization(authorization)
    }

    /// `text` with the objects that it names filled in.
    pub(crate) fn fill(&self, text: &str) -> String {
        let mut filled = text.to_owned();
        for name in names(text) {
            filled = filled.replacen(&format!("<{name}>"), &self.object(name), 1);
        }
        filled
    }

    /// Make a call with this credential, or with none.
    pub(crate) fn send(&self, method: &str, call: &Call, authorization: Option<&str>) -> Reply {
        let mut client = self.server.anonymous();
        for (name, value) in self.headers(call, authorization) {
            client = client.with_header(&name, &value);
        }
        let path = self.fill(&format!("/api{}", call.path));
        let body = call.body.as_ref().map(|(media_type, bytes)| {
            let filled = call.text().map(|text| self.fill(text).into_bytes());
            (*media_type, filled.unwrap_or_else(|| bytes.to_vec()))
        });
        let body = body
            .as_ref()
            .map(|(media_type, bytes)| (*media_type, &bytes[..]));
        client.send_typed(method, &path, body).unwrap()
    }

    /// Open a WebSocket; if it opens, it is closed again and counts as an answer 101.
    pub(crate) fn open(&self, call: &Call, authorization: Option<&str>) -> Reply {
        let path = self.fill(&format!("/api{}", call.path));
        let headers = self.headers(call, authorization);
        let headers: Vec<(&str, &str)> = headers.iter().map(|(n, v)| (&**n, &**v)).collect();
        match Socket::open(&self.server.url, &path, &headers).unwrap() {
            Opened::Socket(socket) => {
                // The server may close it first.
                drop(socket.close());
                Reply {
                    status: 101,
                    headers: Vec::new(),
                    text: String::new(),
                }
            }
            Opened::Refused(status, body) => Reply {
                status,
                headers: vec![("content-type".into(), "application/json".into())],
                text: body.to_string(),
            },
        }
    }

    /// Remember something that must not be logged.
    pub(crate) fn keep_secret(&self, text: &str) {
        self.secrets.borrow_mut().push(text.to_owned());
    }

    /// Stop the server and return the credentials that its log shows.
    pub(crate) fn stop_and_look_for_secrets(&mut self) -> Vec<String> {
        assert!(self.server.stop().unwrap());
        let log = self.server.log();
        // The part printed on purpose, at the start, comes before the first request.
        let log = &log[log.find("request_id").unwrap()..];
        let secrets = self.secrets.borrow();
        // One route alone makes less of both.
        let is_whole = std::env::var_os(super::ROUTE).is_none();
        assert!(!is_whole || secrets.len() > 20 && log.len() > 100_000);
        // The tail of a credential is its secret part.
        let tails = secrets
            .iter()
            .map(|secret| &secret[secret.len().saturating_sub(20)..]);
        let shown = tails.filter(|tail| log.contains(*tail));
        shown
            .map(|tail| format!("a credential that ends in {tail} is in the log"))
            .collect()
    }

    fn headers(&self, call: &Call, authorization: Option<&str>) -> Vec<(String, String)> {
        let given = call.headers.iter();
        let mut headers: Vec<(String, String)> = given
            .map(|(name, value)| ((*name).to_owned(), self.fill(value)))
            .collect();
        headers.extend(authorization.map(|value| ("authorization".to_owned(), value.to_owned())));
        headers
    }

    fn wait_online(&self) {
        let look = || {
            let listed = self.server.client().get("/api/bench/devices");
            listed.unwrap().expect(200)
        };
        let all_online = |listed: &Value| {
            let devices = listed["devices"].as_array().unwrap();
            let online = devices.iter().filter(|d| d["online"] == true).count();
            // All but the one whose address refuses connections, and the demo's.
            online == DEVICES.len()
        };
        until(look, all_online).unwrap();
    }
}

/// Key and sign-in code of the owner of another organisation.
fn stranger(dir: &std::path::Path) -> (String, String) {
    offline(dir, &["org", "add", "acme"], "");
    let eve = ["user", "add", "eve", "--org", "acme", "--role", "owner"];
    let code = offline(dir, &eve, "");
    let mut create = vec!["key", "create", "--user", "eve"];
    for scope in ["bench:control", "bench:admin", "jobs:submit", "emi:analyze"] {
        create.extend(["--scope", scope]);
    }
    let printed = offline(dir, &create, "");
    let key = printed.split_whitespace().find(|w| w.starts_with("bk_"));
    (key.unwrap().to_owned(), first_word(&code).to_owned())
}

fn first_word(printed: &str) -> &str {
    printed.split_whitespace().next().unwrap()
}

/// A member that must be a string.
pub(crate) fn text(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is no text"))
        .to_owned()
}
