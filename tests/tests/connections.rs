//! Idle and abusive connections: they keep nobody else out.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use serde_json::json;
use tests::{Server, until};

/// A test that waits this long for an answer has failed. It is shorter than the limit that closes
/// idle connections.
const PATIENCE: Duration = Duration::from_secs(40);

/// Frames that request nothing, more than any client needs at once.
const FLOOD: usize = 5_000;

fn server(settings: &str) -> (tempfile::TempDir, Server) {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hostd.toml");
    std::fs::write(&config, format!("[http]\n{settings}\n")).unwrap();
    let server = Server::demo_with(&["--config", config.to_str().unwrap()]).unwrap();
    (dir, server)
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn metric(server: &Server, name: &str) -> u64 {
    let page = server.anonymous().get("/metrics").unwrap().text;
    let value = page.lines().find_map(|line| line.strip_prefix(name));
    value.map_or(0, |value| value.trim().parse().unwrap())
}

fn expect_open_to_all(server: &Server) {
    server.anonymous().get("/healthz").unwrap().expect(200);
    server
        .client()
        .get("/api/bench/devices")
        .unwrap()
        .expect(200);
    let wrong = json!({"login": "nobody", "password": "not the password"});
    let refused = server
        .anonymous()
        .post("/api/auth/session", &wrong)
        .unwrap();
    refused.expect_error(401, "invalid_credential");
}

#[test]
fn silent_connections_keep_nobody_out() {
    let (_dir, server) = server("connections_max = 20\nconnections_reserve = 2");
    let mut silent: Vec<_> = (0..60).map(|_| connect(&server)).collect();
    for half in &mut silent[50..] {
        half.write_all(b"GET / HT").unwrap();
    }
    expect_open_to_all(&server);
    assert!(metric(&server, "hostd_http_connections_shed_total ") >= 40);
    assert_eq!(metric(&server, "hostd_http_connections_refused_total "), 0);
    // The connections that came first were closed first.
    let mut rest = Vec::new();
    assert!(silent[0].read_to_end(&mut rest).is_ok_and(|n| n == 0));
}

#[test]
fn one_address_cannot_have_all() {
    let (_dir, server) = server("connections_per_address_max = 5");
    let _silent: Vec<_> = (0..20).map(|_| connect(&server)).collect();
    let open = || json!(metric(&server, "hostd_http_connections_open "));
    until(open, |open| open.as_u64().unwrap() <= 5).unwrap();
    expect_open_to_all(&server);
}

/// A connection whose request is in progress and has reached the server.
fn busy(server: &Server) -> TcpStream {
    let mut stream = connect(server);
    write!(
        stream,
        "POST /api/captures/import HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey {}\r\n\
         Content-Type: x/y\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n",
        server.api_key
    )
    .unwrap();
    let mut told = [0; 25];
    stream.read_exact(&mut told).unwrap();
    assert_eq!(&told, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream
}

#[test]
fn where_all_are_busy_a_reserve_is_open_to_those_who_matter() {
    let (_dir, server) =
        server("connections_max = 4\nconnections_reserve = 2\n[uploads]\nbytes_per_s_min = 0");
    let all: Vec<_> = (0..4).map(|_| busy(&server)).collect();
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(server.anonymous().get(path).unwrap().status, 200);
    }
    // Silent connections cannot use up the rest.
    let _silent: Vec<_> = (0..5).map(|_| connect(&server)).collect();
    let known = server.client().get("/api/bench/devices").unwrap();
    known.expect(200);
    assert_eq!(known.header("connection"), Some("close"));
    for path in ["/api/openapi.json", "/api/bench/devices", "/api/none"] {
        let refused = server.anonymous().get(path).unwrap();
        refused.expect_error(503, "overloaded");
        assert_eq!(refused.header("retry-after"), Some("1"));
    }
    let sign_in = json!({"login": "nobody", "password": "not the password"});
    let refused = server.anonymous().post("/api/auth/session", &sign_in);
    refused.unwrap().expect_error(503, "overloaded");
    // No connection with a request in progress was closed.
    for mut stream in all {
        stream.write_all(b"0123456789").unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 400");
    }
}

/// With fewer file descriptors than connections, idle connections are closed.
#[test]
fn a_server_out_of_descriptors_lets_idle_connections_go() {
    let (_dir, server) = server("");
    let pid = server.pid().to_string();
    let mut limit = Command::new("prlimit");
    limit.args(["--pid", &pid, "--nofile=48:48"]);
    assert!(limit.status().unwrap().success());
    let _silent: Vec<_> = (0..100).map(|_| connect(&server)).collect();
    expect_open_to_all(&server);
    assert!(metric(&server, "hostd_http_connections_shed_total ") > 0);
}

fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).unwrap();
    let mut frame = vec![0, 0, length, kind, 0, 0, 0, 0, 0];
    frame.extend(payload);
    frame
}

/// A connection that speaks HTTP/2.
fn http2(server: &Server) -> TcpStream {
    let mut stream = connect(server);
    stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        .unwrap();
    stream.write_all(&frame(4, &[])).unwrap();
    stream
}

#[test]
fn floods_of_frames_that_ask_for_nothing_are_cut() {
    let (_dir, server) = server("");
    let window = [0, 0, 0, 1];
    let floods = [
        frame(4, &[]),
        frame(6, &[7; 8]),
        frame(8, &window),
        frame(0xFA, &[]),
    ];
    for (index, frame) in floods.iter().enumerate() {
        let mut stream = http2(&server);
        // As many as a client may need are not a flood.
        stream.write_all(&frame.repeat(100)).unwrap();
        server.anonymous().get("/healthz").unwrap().expect(200);
        let cut = || metric(&server, "hostd_http_connections_flooded_total ");
        assert_eq!(cut(), index as u64);
        // The server may close the connection during this write.
        let _ = stream.write_all(&frame.repeat(FLOOD));
        let mut rest = Vec::new();
        match stream.read_to_end(&mut rest) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
        }
        assert_eq!(cut(), index as u64 + 1);
    }
}
