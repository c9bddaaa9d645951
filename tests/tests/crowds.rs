//! Callers who take more than their share, or read slowly: nobody else is kept waiting.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tests::offline::stranger;
use tests::{Bench, Client, PodSim, Server, until};

/// A test that waits this long for an answer has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// The length that slow uploads announce.
const DECLARED: usize = 5_000_000;

fn settings(dir: &tempfile::TempDir, text: &str) -> PathBuf {
    let path = dir.path().join("hostd.toml");
    std::fs::write(&path, text).unwrap();
    path
}

/// A second user of the demo's organisation.
fn colleague(server: &Server) -> Client {
    let signed_in = |code: &Value| server.anonymous().with_authorization(&server.session(code));
    let owner = signed_in(&json!(server.code()));
    let made = owner.post("/api/users", &json!({"login": "ada"})).unwrap();
    signed_in(&made.expect(201)["code"])
}

/// A request with this key, whose body begins with `sent` and then stalls.
fn stalled(server: &Server, key: &str, path: &str, kind: &str, sent: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey {key}\r\nContent-Type: {kind}\r\n\
         Content-Length: {DECLARED}\r\n\r\n"
    )
    .unwrap();
    stream.write_all(sent).unwrap();
    stream
}

fn recording(server: &Server, key: &str) -> TcpStream {
    let path = "/api/bench/waveforms/recording?name=a&sample_rate_hz=1000&full_scale_v=3";
    stalled(server, key, path, "application/octet-stream", b"PKPK")
}

/// The answer that a stalled request gets in the end: its head and its error.
fn answer(mut stream: TcpStream) -> (String, Value) {
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
    (head.to_owned(), serde_json::from_str(body).unwrap())
}

/// A request for a whole capture, whose answer is not read to the end.
fn unread(server: &Server, authorization: &str, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: {authorization}\r\n\r\n"
    )
    .unwrap();
    stream
}

fn metric(server: &Server, name: &str) -> f64 {
    let page = server.anonymous().get("/metrics").unwrap().text;
    let value = page.lines().find_map(|line| line.strip_prefix(name));
    value.map_or(0.0, |value| value.trim().parse().unwrap())
}

fn until_metric(server: &Server, name: &str, least: f64) {
    let look = || json!(metric(server, name));
    until(look, |seen| seen.as_f64().unwrap() >= least).expect(name);
}

#[test]
fn slow_uploads_hold_no_thread_and_no_instance() {
    let dir = tempfile::tempdir().unwrap();
    let text = "[uploads]\nper_user_max = 30\nbytes_per_s_min = 0\n[handlers]\nin_flight_max = 6\nqueue_wait_ms = 200\n";
    let config = settings(&dir, text);
    let server = Server::demo_with(&["--config", config.to_str().unwrap()]).unwrap();
    let (device, key) = (server.device(), &server.api_key);
    let form = "multipart/form-data; boundary=XX";
    let mut part =
        b"--XX\r\nContent-Disposition: form-data; name=firmware; filename=a\r\n\r\n".to_vec();
    // Large enough that part of it is written to disk before the stall.
    part.resize(600 << 10, b'x');
    let flash = format!("/api/bench/devices/{device}/flash");
    let mut slow = Vec::new();
    for _ in 0..10 {
        slow.push(stalled(&server, key, &flash, form, &part));
        slow.push(stalled(&server, key, "/api/captures/import", "x/y", &part));
    }
    until_metric(&server, "hostd_http_uploads_arriving ", 20.0);
    let client = server.client();
    for path in [
        "/api/captures",
        "/api/bench/devices",
        "/api/bench/waveforms",
    ] {
        client.get(path).unwrap().expect(200);
    }
    let wrong = json!({"login": "nobody", "password": "not the password"});
    let refused = server
        .anonymous()
        .post("/api/auth/session", &wrong)
        .unwrap();
    refused.expect_error(401, "invalid_credential");
    let order =
        json!({"device_id": device, "samples": 1000, "sample_rate_mhz": 1.0, "voltage_mv": 3300});
    let started = client.post("/api/la/captures/start", &order).unwrap();
    let capture = started.expect(202)["capture_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/api/capture/{capture}?frames=none");
    let look = || client.get(&path).unwrap().expect(200);
    until(look, |seen| seen["status"] == "done").unwrap();
    assert!(metric(&server, "hostd_http_uploads_arriving ") >= 20.0);
    // They leave nothing behind when they disconnect.
    drop(slow);
    let staging = server.dir().join("data/blobs/staging");
    let left = || json!(std::fs::read_dir(&staging).unwrap().count());
    until(left, |left| *left == json!(0)).unwrap();
}

#[test]
fn each_user_and_each_organisation_has_its_share_of_uploads() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    assert!(server.stop().unwrap());
    drop(server);
    let eve = stranger(dir.path());
    let text = "[uploads]\nper_user_max = 2\nper_org_max = 3\ntotal_max = 8\nqueue_wait_ms = 100\nbytes_per_s_min = 0\n";
    let config = settings(&dir, text);
    let server = Server::demo_in_with(dir.path(), &["--config", config.to_str().unwrap()]).unwrap();
    let held: Vec<_> = (0..2)
        .map(|_| recording(&server, &server.api_key))
        .collect();
    until_metric(&server, "hostd_http_uploads_arriving ", 2.0);
    let (head, error) = answer(recording(&server, &server.api_key));
    assert!(head.starts_with("HTTP/1.1 429 "), "{head}");
    assert!(head.contains("retry-after: "), "{head}");
    assert_eq!(error["code"], "too_many_uploads");
    assert!(error["error"].as_str().unwrap().contains("this user"));
    // Other users are not affected.
    let eve = server
        .anonymous()
        .with_authorization(&format!("ApiKey {eve}"));
    let path = "/api/bench/waveforms/recording?name=a&sample_rate_hz=1000&full_scale_v=3";
    let kept = eve.send_typed("POST", path, Some(("application/octet-stream", &[1; 2000])));
    kept.unwrap().expect(201);
    drop(held);
    let again = || {
        let body = Some(("application/octet-stream", &[1_u8; 2000][..]));
        json!(
            server
                .client()
                .send_typed("POST", path, body)
                .unwrap()
                .status
        )
    };
    until(again, |status| *status == json!(201)).unwrap();
}

#[test]
fn a_body_that_trickles_is_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let config = settings(
        &dir,
        "[uploads]\ngrace_ms = 200\nbytes_per_s_min = 100000\n",
    );
    let server = Server::demo_with(&["--config", config.to_str().unwrap()]).unwrap();
    let command = format!("/api/bench/devices/{}/command", server.device());
    let json = TcpStream::connect(server.url.strip_prefix("http://").unwrap()).map(|mut stream| {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(
            stream,
            "POST {command} HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey {}\r\n\
             Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{",
            server.api_key
        )
        .unwrap();
        stream
    });
    for slow in [recording(&server, &server.api_key), json.unwrap()] {
        let (head, error) = answer(slow);
        assert!(head.starts_with("HTTP/1.1 408 "), "{head}");
        assert_eq!(error["code"], "body_timeout");
        assert!(
            error["error"].as_str().unwrap().contains("20000 bytes"),
            "{error}"
        );
    }
    let arriving = || json!(metric(&server, "hostd_http_uploads_arriving "));
    until(arriving, |count| *count == json!(0.0)).unwrap();
}

#[test]
fn what_is_refused_is_refused_before_it_is_sent() {
    let server = Server::demo().unwrap();
    let none = "/api/bench/devices/01ARZ3NDEKTSV4RRFFQ69G5FAV/flash";
    let form = "multipart/form-data; boundary=XX";
    let mut stream = stalled(&server, &server.api_key, none, form, b"");
    let mut head = [0; 12];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"HTTP/1.1 404");
}

/// Commands that wait for their pod hold up their own callers and nobody else.
#[test]
fn long_commands_of_one_member_leave_room_for_others() {
    let pod = PodSim::start(&[]).unwrap();
    let address = format!("tcp:{}", pod.address);
    let text = "[handlers]\nin_flight_max = 6\nqueue_wait_ms = 300\n";
    let bench = Bench::start_with(text, &[&address]).unwrap();
    let server = &bench.server;
    let ada = colleague(server);
    let path = format!("/api/bench/devices/{}/command", bench.devices[0]);
    pod.hang().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                let ping = json!({"command": {"cmd": "ping"}, "timeout_ms": 60_000});
                server.client().post(&path, &ping).unwrap()
            });
        }
        // Four of the six places are taken; the other requests have waited as long as they may.
        until_metric(
            server,
            "hostd_handler_overloads_total{handler=\"devices\"}",
            8.0,
        );
        let inside = metric(server, "hostd_handler_calls_in_flight{handler=\"devices\"}");
        assert!((inside - 4.0).abs() < 0.5, "{inside}");
        let refused = server.client().get("/api/bench/devices").unwrap();
        refused.expect_error(503, "overloaded");
        for _ in 0..5 {
            ada.get("/api/bench/devices").unwrap().expect(200);
        }
        pod.go_on().unwrap();
    });
    server
        .client()
        .get("/api/bench/devices")
        .unwrap()
        .expect(200);
}

/// Exports that a client requests but does not read hold up only that client.
#[test]
fn unread_exports_of_one_member_leave_room_for_others() {
    let server = Server::demo().unwrap();
    let ada = colleague(&server);
    let order = json!({"device_id": server.device(), "samples": 1_000_000, "sample_rate_mhz": 0.4});
    let started = server.client().post("/api/scope/captures/start", &order);
    let started = started.unwrap().expect(202);
    let id = started["capture_id"].as_str().unwrap();
    let head = format!("/api/capture/{id}?frames=none");
    let look = || server.client().get(&head).unwrap().json();
    until(look, |capture| capture["status"] == "done").unwrap();
    // Many megabytes, more than fits between the server and a client.
    let path = format!("/api/capture/{id}/export?format=csv");
    let key = format!("ApiKey {}", server.api_key);
    let unread: Vec<TcpStream> = (0..12).map(|_| unread(&server, &key, &path)).collect();
    // Two of the four places for exports are taken; the other ten requests wait.
    until_metric(
        &server,
        "hostd_handler_calls_in_flight{handler=\"captures\"}",
        10.0,
    );
    let small = format!("/api/capture/{id}/export?format=wav");
    assert_eq!(ada.get(&small).unwrap().status, 200);
    let begun = |mut stream: &TcpStream| {
        stream.set_nonblocking(true).unwrap();
        stream.read(&mut [0; 1]).is_ok()
    };
    let begun = unread.iter().filter(|stream| begun(stream)).count();
    assert!(begun < 12, "those who came before were all served first");
}
