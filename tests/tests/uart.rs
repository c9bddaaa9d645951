//! The live UART of a device: bytes both ways, several clients, scrollback and resumption, leases,
//! and faults of the pod, of the client and in its input.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::{Client, Line, Opened, PodSim, Server, Socket, until};

/// Between pings of a silent client, where that is tested: longer than one that reads may be kept from it.
const PING: Duration = Duration::from_millis(500);

/// More pings than a client may leave unanswered.
const PINGS: u32 = 6;

/// Longer than the silence that a pod wants before an escape.
const POD_PAUSE: Duration = Duration::from_millis(1_200);

/// LA9 sends, LA10 receives, and a wire joins them: the target is an echo.
const ECHO: &str = "rx=10&tx=9";

/// A server with one network pod whose UART echoes.
struct Bench {
    server: Server,
    pod: PodSim,
    device: String,
}

impl Bench {
    fn start(pod: &[&str], settings: &str) -> Self {
        let pod = PodSim::start(&[&["--jumper", "9=10"], pod].concat()).unwrap();
        let (server, device) = serve(&pod, settings, None);
        Self {
            server,
            pod,
            device,
        }
    }

    fn echo() -> Self {
        Self::start(&[], "")
    }

    fn open_as(&self, credential: &str, lease: Option<&str>, query: &str) -> Opened {
        let path = format!("/api/bench/devices/{}/uart/ws?{query}", self.device);
        let mut headers = vec![("authorization", credential)];
        headers.extend(lease.map(|lease| ("x-bench-lease", lease)));
        Socket::open(&self.server.url, &path, &headers).unwrap()
    }

    fn key(&self) -> String {
        format!("ApiKey {}", self.server.api_key)
    }

    fn open(&self, query: &str) -> Line {
        Line::new(self.open_as(&self.key(), None, query).socket())
    }

    fn command(&self, command: &Value) -> Value {
        let path = format!("/api/bench/devices/{}/command", self.device);
        let body = json!({"command": command});
        self.server.client().post(&path, &body).unwrap().expect(200)
    }

    /// Wait until the pod has released the UART's channels.
    fn until_free(&self) {
        let pins = || self.command(&json!({"cmd": "la_pins"}));
        let is_free = |pins: &Value| pins["data"]["pins"][8]["function"] == "none";
        until(pins, is_free).unwrap();
    }

    fn job(&self) -> Client {
        let token = self.server.client().post("/api/auth/token", &json!({}));
        let token = token.unwrap().expect(200);
        let token = format!("Bearer {}", token["token"].as_str().unwrap());
        Client::new(&self.server.url).with_authorization(&token)
    }

    fn lease(&self, id: &str, step: &str) {
        let path = format!("/api/cloud/devices/lease{step}?device=net");
        let body = json!({"lease_id": id, "run_label": id, "ttl_seconds": 60});
        self.job().post(&path, &body).unwrap().expect(200);
    }
}

/// A server for `pod`, and the id of its device.
fn serve(pod: &PodSim, settings: &str, dir: Option<&std::path::Path>) -> (Server, String) {
    let own = tempfile::tempdir().unwrap();
    let config = own.path().join("hostd.toml");
    let text = format!(
        "{settings}\n[[devices]]\nname = \"net\"\naddress = \"tcp:{}\"\n",
        pod.address
    );
    std::fs::write(&config, text).unwrap();
    let args = ["--config", config.to_str().unwrap()];
    let server = match dir {
        Some(dir) => Server::demo_in_with(dir, &args),
        None => Server::demo_with(&args),
    };
    let server = server.unwrap();
    let listed = server.client().get("/api/bench/devices").unwrap();
    let listed = listed.expect(200);
    let devices = listed["devices"].as_array().unwrap();
    let device = devices.iter().find(|d| d["name"] == "net").unwrap();
    let id = device["id"].as_str().unwrap().to_owned();
    (server, id)
}

#[test]
fn clients_share_a_line_and_come_back_to_where_they_were() {
    let bench = Bench::echo();
    let mut first = bench.open(ECHO);
    let expected = json!({"type": "open", "device_id": bench.device, "rx": 10, "tx": 9,
        "baud": 115_200, "writable": true, "offset": first.offset, "because": "connected"});
    assert_eq!(first.opened, expected);
    first.write(b"hello, ");
    first.expect(b"hello, ");
    // The second client joins, sees what came before, and writes too.
    let mut second = bench.open("");
    assert_eq!(second.opened["rx"], 10);
    second.expect(b"hello, ");
    second.write(b"world");
    first.expect(b"world");
    second.expect(b"world");
    let (status, body) = bench.open_as(&bench.key(), None, "baud=9600").refused();
    assert_eq!((status, &body["code"]), (409, &json!("uart_conflict")));
    let (status, body) = bench.open_as(&bench.key(), None, "rx=9").refused();
    assert_eq!((status, &body["fields"]), (409, &Value::Null), "{body}");
    let (status, body) = bench.open_as(&bench.key(), None, "rx=3&tx=3").refused();
    assert_eq!((status, &body["fields"][0]["field"]), (400, &json!("tx")));

    // One client vanishes, the line continues, and the client comes back for the rest.
    let offset = second.offset;
    drop(second);
    first.write(b", again");
    first.expect(b", again");
    let mut back = bench.open(&format!("after={offset}"));
    assert_eq!(back.offset, offset);
    back.expect(b", again");
    // A client with a position from another run learns that it missed something.
    let mut late = bench.open("after=5");
    late.expect(b"hello, world, again");
    let overrun = late.told("overrun");
    assert_eq!(overrun["from"], 5);
    assert_eq!(late.offset, first.offset);

    // The last one leaves; the line lingers in case another client comes, and makes way for a
    // tunnel.
    for line in [first, back, late] {
        line.socket.close().unwrap();
    }
    bench.open("").socket.close().unwrap();
    let token = bench.server.client().post("/api/auth/token", &json!({}));
    let token = token.unwrap().expect(200);
    let bearer = format!("Bearer {}", token["token"].as_str().unwrap());
    let path = "/api/cloud/devices/ws?device=net&kind=flash";
    let tunnel = Socket::open(&bench.server.url, path, &[("authorization", &bearer)]);
    tunnel.unwrap().socket().close().unwrap();
    bench.until_free();
}

#[test]
fn rates_breaks_and_escapes() {
    let bench = Bench::echo();
    let mut line = bench.open(&format!("{ECHO}&baud=115200"));
    let mut other = bench.open("");
    line.say(&json!({"type": "baud", "baud": 9600}));
    for line in [&mut line, &mut other] {
        assert_eq!(line.told("baud")["baud"], 9600);
    }
    line.write(b"slow");
    line.expect(b"slow");
    other.expect(b"slow");
    other.say(&json!({"type": "break"}));
    assert_eq!(line.told("break")["ms"], 30);
    other.say(&json!({"type": "break", "ms": 120}));
    assert_eq!(line.told("break")["ms"], 120);
    // The break is on the wire, but not among the bytes. The pod would read commands after this
    // escape, which a break does not interrupt; the line is opened anew, and bytes stay bytes.
    std::thread::sleep(POD_PAUSE);
    line.write(b"++");
    line.expect(b"++");
    other.say(&json!({"type": "break"}));
    line.told("break");
    line.write(b"+");
    line.expect(b"+");
    let open = line.told("open");
    assert_eq!(
        (&open["because"], &open["baud"]),
        (&json!("escape"), &json!(9600))
    );
    line.write(b"{\"cmd\":\"ping\"}\n");
    line.expect(b"{\"cmd\":\"ping\"}\n");
}

#[test]
fn a_pod_has_no_parity_and_its_line_goes_on() {
    let bench = Bench::echo();
    let mut line = bench.open(ECHO);
    assert_eq!(line.opened["parity"], json!(null));
    line.say(&json!({"type": "parity", "parity": "even"}));
    assert_eq!(line.told("error")["code"], "setting_refused");
    line.write(b"as before");
    line.expect(b"as before");
}

#[test]
fn odd_control_messages_are_refused_and_lose_nothing() {
    let bench = Bench::echo();
    let mut line = bench.open(ECHO);
    for text in [
        "",
        "{",
        "[]",
        r#"{"type":"baud"}"#,
        r#"{"type":"baud","baud":1}"#,
        r#"{"type":"break","ms":1001}"#,
        r#"{"type":"reboot"}"#,
        &"x".repeat(5000),
    ] {
        line.socket.send_text(text).unwrap();
        let error = line.told("error");
        assert_eq!(error["code"], "invalid_message", "{text}");
        assert!(error["message"].as_str().unwrap().len() > 10);
    }
    line.write(b"still here");
    line.expect(b"still here");
}

#[test]
fn who_holds_the_lease_writes_and_the_others_listen() {
    let bench = Bench::echo();
    let mut guest = bench.open(ECHO);
    bench.lease("mine", "");
    // A client that was there before the lease has to go.
    guest.told("lease_lost");
    assert_eq!(
        guest.socket.closed().unwrap(),
        (4001, "lease_lost".to_owned())
    );
    let (status, body) = bench.open_as(&bench.key(), None, ECHO).refused();
    assert_eq!((status, &body["code"]), (409, &json!("lease_held")));
    assert_eq!(body["holder"], "mine");

    let holder = bench.open_as(&bench.key(), Some("mine"), ECHO);
    let mut holder = Line::new(holder.socket());
    // The query, for clients that cannot set a header.
    let query = format!("{ECHO}&lease=mine");
    let page = bench.open_as(&bench.key(), None, &query);
    let page = Line::new(page.socket());
    assert_eq!(page.opened["writable"], true);
    page.socket.close().unwrap();
    let wrong = format!("{ECHO}&lease=yours");
    let other = Line::new(bench.open_as(&bench.key(), None, &wrong).socket());
    assert_eq!(other.opened["writable"], false);
    drop(other.socket);
    let mut listener = bench.open("");
    assert_eq!(listener.opened["writable"], false);
    holder.write(b"ours");
    holder.expect(b"ours");
    listener.expect(b"ours");
    listener.write(b"mine?");
    assert_eq!(listener.told("error")["code"], "read_only");
    for setting in [
        json!({"type": "break"}),
        json!({"type": "baud", "baud": 9600}),
        // Nobody may set it who may not write, whether the device has one or not.
        json!({"type": "parity", "parity": "even"}),
    ] {
        listener.say(&setting);
        assert_eq!(listener.told("error")["code"], "read_only", "{setting}");
    }
    holder.write(b"!");
    listener.expect(b"!");
    holder.expect(b"!");

    bench.lease("mine", "/release");
    for mut line in [holder, listener] {
        line.told("lease_lost");
        assert_eq!(
            line.socket.closed().unwrap(),
            (4001, "lease_lost".to_owned())
        );
    }
    bench.open(ECHO).socket.close().unwrap();
}

#[test]
fn credentials_scopes_and_origins() {
    let mut bench = Bench::echo();
    let path = format!("/api/bench/devices/{}/uart/ws?{ECHO}", bench.device);
    let refused = |path: &str, headers: &[(&str, &str)]| {
        let (status, body) = Socket::open(&bench.server.url, path, headers)
            .unwrap()
            .refused();
        (status, body["code"].as_str().unwrap().to_owned())
    };
    assert_eq!(refused(&path, &[]), (401, "missing_credential".to_owned()));
    let query = format!("{path}&token={}", bench.server.api_key);
    assert_eq!(
        refused(&query, &[("origin", "http://evil.example")]),
        (403, "foreign_origin".to_owned())
    );
    let none = format!(
        "/api/bench/devices/none/uart/ws?token={}",
        bench.server.api_key
    );
    assert_eq!(refused(&none, &[]), (404, "not_found".to_owned()));
    // A key or a session token, in the query.
    let opened = Socket::open(&bench.server.url, &query, &[("origin", &bench.server.url)]);
    Line::new(opened.unwrap().socket()).socket.close().unwrap();
    let token = bench.server.client().post("/api/auth/token", &json!({}));
    let token = token.unwrap().expect(200)["token"]
        .as_str()
        .unwrap()
        .to_owned();
    let opened = Socket::open(&bench.server.url, &format!("{path}&token={token}"), &[]);
    Line::new(opened.unwrap().socket()).socket.close().unwrap();
    assert!(bench.server.stop().unwrap());
    // The demo prints its key once; no request repeats it.
    let log = bench.server.log();
    assert!(!log.contains(&token), "a token in the log");
    assert_eq!(log.matches(&bench.server.api_key).count(), 1);
}

#[test]
fn a_lost_pod_comes_back_to_its_line() {
    // The cable comes out for a second once the line has carried 40000 bytes.
    let bench = Bench::start(&["--fault", "unplug@40000B:1s"], "");
    let mut line = bench.open(&format!("{ECHO}&baud=1000000"));
    let chunk = [b'x'; 8000];
    for _ in 0..6 {
        line.write(&chunk);
    }
    assert_eq!(line.told("error")["code"], "device_offline");
    // A session that begins while the cable is out ends again, and what was written in it is lost.
    loop {
        assert_eq!(line.told("open")["because"], "device_back");
        line.write(b"back");
        if line.until_told(b"back", "error") {
            break;
        }
    }
}

#[test]
fn a_pod_that_stays_away_ends_the_line() {
    let mut bench = Bench::start(&[], "[pods]\ngrace_ms = 200\n");
    let mut line = bench.open(ECHO);
    line.write(b"last words");
    line.expect(b"last words");
    bench.pod.kill().unwrap();
    assert_eq!(line.told("error")["code"], "device_offline");
    let (code, _) = line.socket.closed().unwrap();
    assert_eq!(code, 4002);
    let (status, body) = bench.open_as(&bench.key(), None, ECHO).refused();
    assert_eq!((status, &body["code"]), (503, &json!("device_offline")));
}

#[test]
fn clients_that_vanish_leave_nothing_behind() {
    let bench = Bench::start(&[], &format!("[http]\nping_ms = {}\n", PING.as_millis()));
    // A connection that ends without a Close.
    drop(bench.open(ECHO));
    bench.until_free();
    // A client that keeps its connection but sends nothing more, not even pongs.
    let silent = bench.open(ECHO);
    bench.until_free();
    drop(silent);
    // A client that answers stays.
    let mut line = bench.open(ECHO);
    let mut other = bench.open("");
    let began = Instant::now();
    while began.elapsed() < PING * PINGS {
        line.write(b".");
        line.expect(b".");
        other.expect(b".");
    }
}
