//! The stream of events: everything that happens at the bench, resumed, ended with its credential and with the server, and
//! no more of it than the credential opens.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::{Bench, Client, Server, until};

/// Longest wait for an event; only a test that fails waits so long.
const WAIT: Duration = Duration::from_secs(30);

/// How soon an open page sees what another one does.
const SOON: Duration = Duration::from_secs(1);

/// An event as it came.
#[derive(Debug)]
struct Event {
    id: String,
    name: String,
    data: Value,
}

/// An open stream.
struct Stream {
    lines: BufReader<TcpStream>,
    head: String,
}

impl Stream {
    fn open(server: &Server, authorization: &str, query: &str, header: &str) -> Self {
        let address = server.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(WAIT)).unwrap();
        let request = format!(
            "GET /api/events{query} HTTP/1.1\r\nHost: {address}\r\nAuthorization: {authorization}\r\n{header}\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut lines = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(lines.read_line(&mut head).unwrap(), 0, "{head}");
        }
        Self { lines, head }
    }

    /// A stream that was let in, and its first event.
    fn begin(server: &Server, authorization: &str, query: &str, header: &str) -> (Self, Event) {
        let mut stream = Self::open(server, authorization, query, header);
        assert!(stream.head.starts_with("HTTP/1.1 200 "), "{}", stream.head);
        let first = stream.next().expect("an event");
        (stream, first)
    }

    /// The next event; none at the end.
    fn next(&mut self) -> Option<Event> {
        let mut event = Event {
            id: String::new(),
            name: String::new(),
            data: Value::Null,
        };
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            // Lines of the chunked encoding have no colon.
            if line == "\n" && !event.data.is_null() {
                return Some(event);
            }
            match line.trim_end().split_once(": ") {
                Some(("id", id)) => id.clone_into(&mut event.id),
                Some(("event", name)) => name.clone_into(&mut event.name),
                Some(("data", data)) => event.data = serde_json::from_str(data).unwrap(),
                _ if line == "0\r\n" => return None,
                _ => {}
            }
        }
    }

    /// The next event of this name.
    fn until(&mut self, name: &str) -> Event {
        loop {
            let event = self.next().unwrap_or_else(|| panic!("no {name}"));
            if event.name == name {
                return event;
            }
        }
    }
}

fn key(server: &Server) -> String {
    format!("ApiKey {}", server.api_key)
}

fn capture(client: &Client, device: &str) -> String {
    let order =
        json!({"device_id": device, "samples": 1000, "sample_rate_mhz": 1.0, "voltage_mv": 3300});
    let started = client.post("/api/la/captures/start", &order).unwrap();
    started.expect(202)["capture_id"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn session(server: &Server, device: &str) -> String {
    let body = json!({"devices": [device]});
    let made = server.client().post("/api/auth/token", &body).unwrap();
    format!("Bearer {}", made.expect(200)["token"].as_str().unwrap())
}

fn name_of(server: &Server, device: &str) -> String {
    let found = server.client().get(&format!("/api/bench/devices/{device}"));
    found.unwrap().expect(200)["name"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn what_happens_is_seen_at_once_and_again_after_a_break() {
    let server = Server::demo().unwrap();
    let (client, device) = (server.client(), server.device());
    let (mut stream, ready) = Stream::begin(&server, &key(&server), "", "");
    assert_eq!((ready.name.as_str(), &ready.data), ("ready", &json!({})));
    assert!(stream.head.contains("content-type: text/event-stream\r\n"));
    assert!(stream.head.contains("cache-control: private, no-store\r\n"));
    let name = name_of(&server, device);
    let token = session(&server, &name);
    let cloud = server.anonymous().with_authorization(&token);
    let began = Instant::now();
    let path = format!("/api/cloud/devices/lease?device={name}");
    let lease = json!({"lease_id": "an-unguessable-lease", "run_label": "ada"});
    cloud.post(&path, &lease).unwrap().expect(200);
    let taken = stream.until("lease.taken");
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    assert_eq!(taken.data["kind"], "lease.taken");
    assert_eq!(taken.data["subject"], *device);
    assert_eq!(taken.data["device"], json!({"id": device, "name": name}));
    assert!(taken.data["at"].as_str().unwrap().ends_with('Z'));
    drop(stream);
    let path = format!("/api/cloud/devices/lease/release?device={name}");
    cloud.post(&path, &lease).unwrap().expect(200);
    // As a browser goes on, and as a program does.
    let header = format!("Last-Event-ID: {}\r\n", taken.id);
    let (mut stream, first) = Stream::begin(&server, &key(&server), "", &header);
    assert_eq!(first.name, "lease.ended");
    let safe = stream.until("device.changed");
    assert_eq!(safe.data["changed"], "safe");
    let id = capture(&client, device);
    let path = format!("/api/capture/{id}");
    assert_eq!(stream.until("capture.started").data["subject"], id);
    assert_eq!(
        stream.until("capture.changed").data["capture"]["status"],
        "running"
    );
    assert_eq!(stream.until("capture.done").data["capture"]["id"], id);
    client
        .patch(&path, &json!({"name": "boot"}))
        .unwrap()
        .expect(200);
    assert_eq!(
        stream.until("capture.changed").data["capture"]["name"],
        "boot"
    );
    assert_eq!(client.delete(&path).unwrap().status, 204);
    let deleted = stream.until("capture.deleted");
    assert_eq!(deleted.data["subject"], id);
    let rename = json!({"name": "another-name"});
    let path = format!("/api/bench/devices/{device}");
    client.patch(&path, &rename).unwrap().expect(200);
    let changed = stream.until("device.changed");
    assert_eq!(changed.data["device"]["name"], "another-name");
    // One request for what was missed.
    let query = format!("?seconds=0&after={}", deleted.id);
    let (mut rest, first) = Stream::begin(&server, &key(&server), &query, "");
    assert_eq!(
        (first.name.as_str(), &first.id),
        ("device.changed", &changed.id)
    );
    assert!(rest.next().is_none());
    let (_, reset) = Stream::begin(&server, &key(&server), "?seconds=0&after=x", "");
    assert_eq!(reset.name, "reset");
}

#[test]
fn a_session_for_one_device_sees_that_device_alone() {
    let bench = Bench::start(&["sim:v3,seed=3", "sim:v3,seed=4"]).unwrap();
    let server = &bench.server;
    let [first, second] = &bench.devices[..] else {
        panic!("two devices");
    };
    let token = session(server, &name_of(server, first));
    let (mut stream, ready) = Stream::begin(server, &token, "", "");
    assert_eq!(ready.name, "ready");
    let client = server.client();
    let hidden = capture(&client, second);
    let path = format!("/api/capture/{hidden}");
    let record = || client.get(&path).unwrap().expect(200);
    until(record, |record| record["status"] == "done").unwrap();
    let seen = capture(&client, first);
    for name in ["capture.started", "capture.changed", "capture.done"] {
        let event = stream.next().unwrap();
        assert_eq!(
            (event.name.as_str(), &event.data["subject"]),
            (name, &json!(seen))
        );
    }
}

#[test]
fn a_stream_ends_with_its_credential_and_with_the_server() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    let body = json!({"code": server.code()});
    let signed_in = server.anonymous().post("/api/auth/session", &body).unwrap();
    let signed_in = signed_in.expect(200);
    let bearer = format!("Bearer {}", signed_in["token"].as_str().unwrap());
    let (mut kept, ready) = Stream::begin(&server, &key(&server), "", "");
    let (mut stream, _) = Stream::begin(&server, &bearer, "", "");
    let person = server.anonymous().with_authorization(&bearer);
    assert_eq!(person.delete("/api/auth/session").unwrap().status, 204);
    let end = stream.next().unwrap();
    assert_eq!(
        (end.name.as_str(), &end.data["code"]),
        ("end", &json!("revoked_credential"))
    );
    assert!(stream.next().is_none());
    let refused = Stream::open(&server, &bearer, "", "");
    assert!(
        refused.head.starts_with("HTTP/1.1 401 "),
        "{}",
        refused.head
    );
    let began = Instant::now();
    assert!(server.stop().unwrap());
    assert!(kept.next().is_none());
    assert!(began.elapsed() < WAIT / 2, "{:?}", began.elapsed());
    // What happened meanwhile is not known.
    let server = Server::demo_in(dir.path()).unwrap();
    let header = format!("Last-Event-ID: {}\r\n", ready.id);
    let (_, first) = Stream::begin(&server, &key(&server), "", &header);
    assert_eq!(first.name, "reset");
}

#[test]
fn one_user_leaves_room_for_others() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hostd.toml");
    std::fs::write(&config, "[http]\nevent_streams_max = 8\n").unwrap();
    let server = Server::demo_in_with(dir.path(), &["--config", config.to_str().unwrap()]);
    let server = server.unwrap();
    let all: Vec<_> = (0..2)
        .map(|_| Stream::begin(&server, &key(&server), "", ""))
        .collect();
    let refused = server.client().get("/api/events").unwrap();
    refused.expect_error(429, "too_many_streams");
    assert_eq!(refused.header("retry-after"), Some("5"));
    drop(all);
    let asked = || server.client().get("/api/events?seconds=0").unwrap();
    until(asked, |reply| reply.status == 200).unwrap();
}
