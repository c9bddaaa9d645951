//! `hostd pod-sim` as users see it: raw connections, and hostd driving it as a network pod.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use tests::{Client, PodSim, Server, own_port, until};

/// Longer than anything here takes; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(30);

fn recording() -> PathBuf {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let root = tests.parent().unwrap();
    root.join("hostd/decode/testdata/captures/i2c_ds1307/rtc_ds1307_200khz.sr")
}

fn connect(pod: &PodSim) -> Connection {
    let stream = TcpStream::connect(&pod.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    Connection(BufReader::new(stream))
}

struct Connection(BufReader<TcpStream>);

impl Connection {
    fn send(&mut self, text: &str) {
        self.0.get_mut().write_all(text.as_bytes()).unwrap();
    }

    /// The next line; `None` at the end.
    fn line(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).unwrap();
        (read > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    fn ask(&mut self, request: &Value) -> Value {
        self.send(&format!("{request}\n"));
        self.line().unwrap()
    }

    /// The same by somebody for whom there may be no place.
    fn try_ask(&mut self, request: &Value) -> Option<Value> {
        writeln!(self.0.get_mut(), "{request}").ok()?;
        let mut line = String::new();
        self.0.read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }

    /// Whether the pod has closed the connection; a reset counts.
    fn is_closed(&mut self) -> bool {
        !matches!(self.0.read(&mut [0]), Ok(1))
    }
}

/// The capture's head once it has ended.
fn finished(client: &Client, id: &str) -> Value {
    let path = format!("/api/capture/{id}?frames=none");
    let look = || client.get(&path).unwrap().expect(200);
    let is_over = |head: &Value| {
        !matches!(
            head["status"].as_str(),
            Some("pending" | "armed" | "running")
        )
    };
    until(look, is_over).unwrap()
}

#[test]
fn answers_on_raw_connections_as_the_board_it_was_told_to_be() {
    let play = format!("{}:SCL=1,SDA=2", recording().display());
    let analog = PodSim::start(&["--board", "v3", "--seed", "7", "--play", &play]).unwrap();
    let mut connection = connect(&analog);
    assert_eq!(connection.ask(&json!({"cmd": "ping"}))["status"], "ok");
    let status = connection.ask(&json!({"cmd": "status"}));
    assert_eq!(status["data"]["board_rev"], "v3", "{status}");
    assert_ne!(status["data"]["analog"], false, "{status}");
    let digital = PodSim::start(&["--board", "digital"]).unwrap();
    let status = connect(&digital).ask(&json!({"cmd": "status"}));
    assert_eq!(status["data"]["analog"], false, "{status}");

    // One second of a clock chip that is read continuously.
    let voltage = connection.ask(&json!({"cmd": "la_voltage", "mv": 3300}));
    assert_eq!(voltage["status"], "ok", "{voltage}");
    connection.send("{\"cmd\":\"la_capture\",\"samples\":1000000,\"rate_mhz\":1.0}\n");
    let (mut edges, mut covered) = (0, 0);
    loop {
        let chunk = connection.line().unwrap();
        assert_ne!(chunk["status"], "error", "{chunk}");
        edges += chunk["la_edges"].as_array().unwrap().len();
        covered = chunk["la_upto"].as_u64().unwrap().max(covered);
        if chunk["more"] != true {
            break;
        }
    }
    assert_eq!(covered, 1_000_000);
    assert!(edges > 1000, "{edges} edges of a busy bus");
}

#[test]
fn five_connections_have_a_place_and_foreign_speech_has_none() {
    let pod = PodSim::start(&[]).unwrap();
    let mut scpi = connect(&pod);
    scpi.send("*IDN?\n");
    assert!(scpi.is_closed());
    let mut connections: Vec<Connection> = (0..5).map(|_| connect(&pod)).collect();
    for connection in &mut connections {
        assert_eq!(connection.ask(&json!({"cmd": "ping"}))["status"], "ok");
    }
    assert!(connect(&pod).is_closed());
    connections.pop();
    // The pod has to notice that one has gone.
    let again = || connect(&pod).try_ask(&json!({"cmd": "ping"}));
    let is_ok = |reply: &Option<Value>| reply.as_ref().is_some_and(|reply| reply["status"] == "ok");
    until(again, is_ok).unwrap();
}

#[test]
fn stops_in_order_when_asked_and_says_why_it_cannot_start() {
    let dir = tempfile::tempdir().unwrap();
    let ready = dir.path().join("ready.json");
    let mut pod = PodSim::start(&["--ready-file", ready.to_str().unwrap()]).unwrap();
    let mut connection = connect(&pod);
    assert_eq!(connection.ask(&json!({"cmd": "ping"}))["status"], "ok");
    let written: Value = serde_json::from_slice(&std::fs::read(&ready).unwrap()).unwrap();
    assert_eq!(written["address"], pod.address.as_str());

    let second = Command::new(tests::server::binary().unwrap())
        .args(["pod-sim", "--listen", &pod.address])
        .output()
        .unwrap();
    assert!(!second.status.success());
    let said = String::from_utf8_lossy(&second.stderr);
    assert!(
        said.contains(&format!("listen on {}", pod.address)),
        "{said}"
    );

    pod.terminate().unwrap();
    assert!(connection.is_closed());
    assert!(pod.wait().unwrap());
}

#[test]
fn things_go_wrong_when_they_were_told_to() {
    let faults = ["--fault", "reset@20000B", "--fault", "garbage@2"];
    let pod = PodSim::start(&faults).unwrap();
    let mut connection = connect(&pod);
    assert_eq!(connection.ask(&json!({"cmd": "ping"}))["status"], "ok");
    connection.send("{\"cmd\":\"ping\"}\n");
    let mut noise = Vec::new();
    connection.0.read_until(b'\n', &mut noise).unwrap();
    assert!(serde_json::from_slice::<Value>(&noise).is_err());
    connection.ask(&json!({"cmd": "la_voltage", "mv": 3300}));
    connection.send("{\"cmd\":\"la_capture\",\"samples\":1000000,\"sample_rate_mhz\":10}\n");
    let mut received = Vec::new();
    let error = connection.0.read_to_end(&mut received).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}");
    assert!(received.len() < 20_000, "{}", received.len());
    // The fault hits only that connection, and only once.
    assert_eq!(connect(&pod).ask(&json!({"cmd": "ping"}))["status"], "ok");

    let refused = Command::new(tests::server::binary().unwrap())
        .args(["pod-sim", "--fault", "explode@1s"])
        .output()
        .unwrap();
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("brownout=RAIL@TIME:TIME"), "{said}");
}

#[test]
fn its_usb_console_is_a_terminal_with_a_name() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("console");
    let ready = dir.path().join("ready.json");
    let names = [&link, &ready].map(|path| path.to_str().unwrap());
    let args = ["--usb-console", names[0], "--ready-file", names[1]];
    let mut pod = PodSim::start(&args).unwrap();
    // The file is written before connections are accepted, and this one was accepted.
    connect(&pod).ask(&json!({"cmd": "ping"}));
    let written: Value = serde_json::from_slice(&std::fs::read(&ready).unwrap()).unwrap();
    assert_eq!(written["console"], names[0]);
    let port = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(&link);
    let mut port = port.unwrap();
    port.write_all(b"status\n").unwrap();
    let mut shown = Vec::new();
    while !shown.ends_with(b"\r\n> ") {
        let mut byte = [0];
        port.read_exact(&mut byte).unwrap();
        shown.push(byte[0]);
    }
    assert!(String::from_utf8_lossy(&shown).contains("device : benchpod"));
    pod.terminate().unwrap();
    assert!(pod.wait().unwrap());
    assert!(!link.is_symlink());
}

#[test]
fn hostd_drives_it_as_a_network_pod() {
    let play = format!("{}:SCL=1,SDA=2", recording().display());
    let pod = PodSim::start(&["--play", &play]).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hostd.toml");
    let devices = format!(
        "[[devices]]\nname = \"net\"\naddress = \"tcp:{}\"\n",
        pod.address
    );
    std::fs::write(&config, devices).unwrap();
    let server = Server::demo_with(&["--config", config.to_str().unwrap()]).unwrap();
    let client = server.client();
    let listed = client.get("/api/bench/devices").unwrap().expect(200);
    let listed = listed["devices"].as_array().unwrap();
    let device = listed.iter().find(|d| d["name"] == "net").unwrap();
    assert_eq!(device["transport"], "tcp");
    assert_eq!(device["online"], true);

    let order = json!({"device_id": device["id"], "samples": 1_000_000, "sample_rate_mhz": 1.0,
        "scl": 1, "sda": 2, "voltage_mv": 3300});
    let started = client.post("/api/analyzer/captures/start", &order).unwrap();
    let id = started.expect(202)["capture_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let head = finished(&client, &id);
    assert_eq!(head["status"], "done", "{head}");
    let path = format!(
        "/api/capture/{id}/decode?protocol=i2c&scl=LA1&sda=LA2&annotations=i2c%3Daddr-data&format=sigrok"
    );
    let decoded = client.get(&path).unwrap();
    assert_eq!(decoded.status, 200);
    assert!(
        decoded.text.contains("Address write: 68"),
        "{}",
        decoded.text
    );
}

#[test]
fn hostd_drives_it_over_tls_and_trusts_one_certificate() {
    let pod = PodSim::start(&["--tls", "127.0.0.1:0"]).unwrap();
    let reported = connect(&pod).ask(&json!({"cmd": "lan_tls"}));
    let sha256 = reported["data"]["sha256"].as_str().unwrap();
    let tls = pod.tls.as_deref().unwrap();
    assert!(tls.ends_with(&format!(":{}", reported["data"]["port"])));
    let wrong = "ab".repeat(32);
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hostd.toml");
    let device = |name: &str, pin: &str| {
        format!("[[devices]]\nname = \"{name}\"\naddress = \"tls:{tls}{pin}\"\n")
    };
    let devices = device("pinned", &format!(",sha256={sha256}"))
        + &device("stranger", &format!(",sha256={wrong}"));
    std::fs::write(&config, devices).unwrap();
    let server = Server::demo_with(&["--config", config.to_str().unwrap()]).unwrap();
    let listed = server.client().get("/api/bench/devices").unwrap();
    let listed = listed.expect(200)["devices"].as_array().unwrap().clone();
    let device = |name: &str| listed.iter().find(|d| d["name"] == name);
    let pinned = device("pinned").unwrap();
    assert_eq!(
        (&pinned["transport"], &pinned["online"]),
        (&json!("tcp"), &json!(true))
    );
    // The pod with the wrong certificate is never identified.
    assert!(device("stranger").is_none_or(|device| device["online"] == false));

    // Once the plain port is closed, it accepts no more commands, and TLS continues.
    let closed = connect(&pod).ask(&json!({"cmd": "lan_tls", "https_only": true}));
    assert_eq!(closed["data"]["https_only"], true, "{closed}");
    let mut plain = connect(&pod);
    plain.send("{\"cmd\":\"ping\"}\n");
    assert!(plain.is_closed());
    let still = server.client().get("/api/bench/devices").unwrap();
    let still = still.expect(200)["devices"].as_array().unwrap().clone();
    let pinned = still.iter().find(|d| d["name"] == "pinned").unwrap();
    assert_eq!(pinned["online"], true);
}

/// Whether the only configured device comes online, once that is certain.
fn comes_online(dir: &Path, config: &str) -> bool {
    let mut server = Server::demo_in_with(dir, &["--config", config]).unwrap();
    let look = || {
        let listed = server.client().get("/api/bench/devices").unwrap();
        let listed = listed.expect(200)["devices"].as_array().unwrap().clone();
        let pod = listed.iter().find(|d| d["name"] == "pod").unwrap();
        if pod["online"] == true {
            return Some(true);
        }
        // The demo's own pod never goes offline.
        server.log().contains("device offline").then_some(false)
    };
    let online = until(look, Option::is_some).unwrap().unwrap();
    assert!(server.stop().unwrap());
    std::fs::remove_file(dir.join("log.txt")).unwrap();
    online
}

#[test]
fn a_restarted_server_takes_no_other_pod_for_the_one_it_knew() {
    for scheme in ["tcp", "tls"] {
        let pod = |address: &str, args: &[&str]| match scheme {
            "tcp" => PodSim::start_at(address, args).unwrap(),
            _ => PodSim::start(&[&["--tls", address], args].concat()).unwrap(),
        };
        let first = pod(&format!("127.0.0.1:{}", own_port()), &[]);
        let address = first.tls.clone().unwrap_or_else(|| first.address.clone());
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("hostd.toml");
        let device = format!("[[devices]]\nname = \"pod\"\naddress = \"{scheme}:{address}\"\n");
        std::fs::write(&config, device).unwrap();
        let comes_online = || comes_online(dir.path(), config.to_str().unwrap());
        assert!(comes_online(), "{scheme}");
        drop(first);
        let other = pod(&address, &["--seed", "2"]);
        assert!(!comes_online(), "{scheme}");
        drop(other);
        let _same = pod(&address, &[]);
        assert!(comes_online(), "{scheme}");
    }
}
