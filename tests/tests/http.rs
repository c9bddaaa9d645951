//! The HTTP layer as users see it: health, metrics, OpenAPI, ids, both protocol versions.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use tests::{Bench, PodSim, Server, until};

#[test]
fn health_readiness_metrics() {
    let mut server = Server::demo().unwrap();
    let client = server.anonymous();
    assert_eq!(client.get("/healthz").unwrap().expect(200)["status"], "ok");
    assert_eq!(
        client.get("/readyz").unwrap().expect(200)["status"],
        "ready"
    );
    server
        .client()
        .get("/api/bench/devices")
        .unwrap()
        .expect(200);
    client
        .get("/api/bench/devices")
        .unwrap()
        .expect_error(401, "missing_credential");
    let page = client.get("/metrics").unwrap();
    assert_eq!(
        page.header("content-type"),
        Some("text/plain; version=0.0.4; charset=utf-8")
    );
    for path in [
        "/",
        "/healthz",
        "/readyz",
        "/metrics",
        "/api/openapi.json",
        "/api/docs",
    ] {
        let refused = client.send("POST", path, Some("{}")).unwrap();
        assert_eq!(refused.header("allow"), Some("GET, HEAD"), "{path}");
        refused.expect_error(405, "method_not_allowed");
    }
    for line in [
        "hostd_http_requests_total{route=\"devices.list\",status=\"200\"} 1",
        "hostd_http_requests_total{route=\"devices.list\",status=\"401\"} 1",
        "hostd_handler_calls_total{handler=\"devices\"} 1",
        "hostd_handler_traps_total{handler=\"devices\"} 0",
    ] {
        assert!(
            page.text.lines().any(|l| l == line),
            "{line}\n{}",
            page.text
        );
    }
    assert!(server.stop().unwrap());
}

#[test]
fn request_ids_go_through() {
    let mut server = Server::demo().unwrap();
    let client = server.client().with_header("x-request-id", "build-42.7");
    let reply = client.get("/api/bench/devices").unwrap();
    assert_eq!(reply.header("x-request-id"), Some("build-42.7"));
    let bad = server.client().with_header("x-request-id", "a b");
    let reply = bad.get("/api/nothing").unwrap();
    let id = reply.header("x-request-id").unwrap();
    assert!(!id.contains(' ') && id.len() >= 16, "{id}");
    reply.expect_error(404, "not_found");
    // The log is written in the background; it is complete once the server has stopped.
    assert!(server.stop().unwrap());
    assert!(server.log().contains("build-42.7"));
}

#[test]
fn requests_are_lines_of_the_log_only_where_it_is_asked_for_them() {
    let mut server = Server::demo_with(&["--log-level", "info"]).unwrap();
    let client = server.client().with_header("x-request-id", "build-42.8");
    client.get("/api/bench/devices").unwrap().expect(200);
    client
        .get("/api/nothing")
        .unwrap()
        .expect_error(404, "not_found");
    let address = server.url.strip_prefix("http://").unwrap().to_owned();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"no head\r\n\r\n").unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert!(server.stop().unwrap());
    let log = server.log();
    assert!(log.contains("serving") && log.contains("stopped"), "{log}");
    assert!(
        !log.contains("build-42.8") && !log.contains("a head that"),
        "{log}"
    );
}

#[test]
fn a_path_that_has_the_prefix_twice_or_not_at_all_is_told_the_right_one() {
    let server = Server::demo().unwrap();
    let client = server.client();
    for (asked, meant) in [
        ("/api/api/bench/devices", "did you mean /api/bench/devices?"),
        (
            "/api/api/benchpod/devices",
            "did you mean /api/benchpod/devices?",
        ),
        ("/api/api/openapi.json", "did you mean /api/openapi.json?"),
        ("/bench/devices", "did you mean /api/bench/devices?"),
        ("/jobs/submit", "did you mean /api/jobs/submit?"),
        ("/api/api/nothing", "/api/openapi.json lists them all"),
        ("/nothing", "/api/openapi.json lists them all"),
    ] {
        let refused = client.get(asked).unwrap();
        refused.expect_error(404, "not_found");
        let sentence = refused.json()["error"].as_str().unwrap().to_owned();
        assert!(sentence.contains(meant), "{asked}: {sentence}");
    }
    let twice = client.get("/api/api/bench/devices").unwrap();
    assert!(twice.text.contains("HOSTD_URL"), "{}", twice.text);
}

/// The page may load only files from the binary, and all files that it loads exist.
#[test]
fn the_api_can_be_browsed() {
    let server = Server::demo().unwrap();
    let client = server.anonymous();
    let page = client.get("/api/docs").unwrap();
    assert_eq!(
        (page.status, page.header("content-type")),
        (200, Some("text/html; charset=utf-8"))
    );
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"));
    let mut files = 0;
    for attribute in ["href=\"/", "src=\"/"] {
        for rest in page.text.split(attribute).skip(1) {
            let path = format!("/{}", rest.split('"').next().unwrap());
            let file = client.get(&path).unwrap();
            assert_eq!(file.status, 200, "{path}");
            files += 1;
        }
    }
    assert!(files >= 4 && !page.text.contains("http:") && !page.text.contains("https:"));
    // If a browser takes an API answer for a page, that page may do nothing at all.
    let inert = client.get("/api/nothing").unwrap();
    let policy = inert.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'"));
}

#[test]
fn keep_alive_serves_many_requests_on_one_connection() {
    let server = Server::demo().unwrap();
    let mut stream = TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap();
    stream.set_nodelay(true).unwrap();
    for _ in 0..3 {
        stream
            .write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
            .unwrap();
        answer(&mut stream, b"{\"status\":\"ok\"}");
    }
    // A refusal does not cost the connection, although the body ends after the head.
    for _ in 0..20 {
        stream
            .write_all(b"DELETE /nowhere HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n")
            .unwrap();
        stream.write_all(b"0\r\n\r\n").unwrap();
        answer(&mut stream, b"\"}");
    }
}

/// Read an answer up to its last bytes.
fn answer(stream: &mut TcpStream, end: &[u8]) {
    let mut answer = Vec::new();
    let mut byte = [0];
    while !answer.ends_with(end) {
        stream.read_exact(&mut byte).unwrap();
        answer.push(byte[0]);
    }
}

/// HEADERS, END_STREAM | END_HEADERS, stream 1: indexed GET, scheme http, path and authority as
/// literals.
fn ask_http2(stream: &mut TcpStream, path: &str) {
    let mut block = vec![0x82, 0x86];
    for (index, value) in [(0x04u8, path), (0x01, "x")] {
        block.push(index);
        block.push(u8::try_from(value.len()).unwrap());
        block.extend_from_slice(value.as_bytes());
    }
    let length = u8::try_from(block.len()).unwrap();
    stream.write_all(&[0, 0, length, 1, 5, 0, 0, 0, 1]).unwrap();
    stream.write_all(&block).unwrap();
}

/// HTTP/2 with prior knowledge: preface and SETTINGS are answered by SETTINGS.
#[test]
fn http2_with_prior_knowledge() {
    let server = Server::demo().unwrap();
    let mut stream = TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap();
    stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        .unwrap();
    stream.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).unwrap();
    ask_http2(&mut stream, "/healthz");
    let mut settings = false;
    let data = loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).unwrap();
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        stream.read_exact(&mut payload).unwrap();
        match head[3] {
            0 => break payload,
            4 => settings = true,
            7 => panic!("GOAWAY {payload:?}"),
            _ => {}
        }
    };
    assert!(settings);
    assert_eq!(data, b"{\"status\":\"ok\"}");
}

#[test]
fn secrets_never_reach_the_log() {
    let mut server = Server::demo_with(&["--log-level", "trace", "--log-format", "json"]).unwrap();
    let client = server.client();
    let made = client
        .post(
            "/api/keys",
            &serde_json::json!({"name": "x", "scopes": ["bench:control"]}),
        )
        .unwrap()
        .expect(201);
    let token = client
        .send("POST", "/api/auth/token", None)
        .unwrap()
        .expect(200);
    let token = token["token"].as_str().unwrap();
    let bearer = server
        .anonymous()
        .with_authorization(&format!("Bearer {token}"));
    bearer
        .get(&format!("/api/bench/devices?token={token}"))
        .unwrap();
    server
        .anonymous()
        .with_authorization("ApiKey bk_secretsecret_hunter2hunter2hunter2")
        .get("/api/keys")
        .unwrap();
    assert!(server.stop().unwrap());
    // The welcome text on standard output shows the demo key on purpose; the log lines are JSON.
    let log = server.log();
    let lines: Vec<&str> = log.lines().filter(|l| l.starts_with('{')).collect();
    assert!(lines.len() > 5, "{log}");
    let secret = |key: &str| key.rsplit('_').next().unwrap().to_owned();
    for secret in [
        secret(&server.api_key),
        secret(made["secret"].as_str().unwrap()),
        token.to_owned(),
        "hunter2".to_owned(),
    ] {
        for line in &lines {
            assert!(!line.contains(&secret), "{line}");
        }
    }
}

#[test]
fn connections_that_ask_nothing_are_closed() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hostd.toml");
    std::fs::write(&config, "[http]\nhead_wait_ms = 100\n").unwrap();
    let server = Server::demo_with(&["--config", config.to_str().unwrap()]).unwrap();
    // Nothing, half of HTTP/2's preface, half of a request.
    for sent in ["", "PRI * HTTP", "GET / HT"] {
        let mut stream = TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap();
        stream.write_all(sent.as_bytes()).unwrap();
        let limit = std::time::Duration::from_secs(60);
        stream.set_read_timeout(Some(limit)).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect(sent);
    }
}

/// A head that cannot be parsed is refused before it becomes a request, with an error in the usual
/// shape.
#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn heads_that_cannot_be_read_are_told_so() {
    let server = Server::demo().unwrap();
    let many: String = (0..200).map(|n| format!("x-{n}: 1\r\n")).collect();
    for (sent, status, code) in [
        (
            "GET / HTTP/1.1\r\nbad header\r\n\r\n".to_owned(),
            400,
            "invalid_request",
        ),
        ("\u{1}\u{2}\u{3}\r\n\r\n".to_owned(), 400, "invalid_request"),
        ("GET / HTTP/3.9\r\n\r\n".to_owned(), 400, "invalid_request"),
        (
            "GET /\u{7f}\u{1} HTTP/1.1\r\n\r\n".to_owned(),
            400,
            "invalid_request",
        ),
        (
            format!("GET / HTTP/1.1\r\n{many}\r\n"),
            431,
            "head_too_large",
        ),
        (
            format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(64 << 10)),
            431,
            "head_too_large",
        ),
        (
            format!(
                "GET /{} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
                "y".repeat(20 << 10)
            ),
            414,
            "path_too_long",
        ),
        // What two servers in a row may take for different requests.
        (
            "POST /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"
                .to_owned(),
            400,
            "invalid_request",
        ),
        (
            "POST /healthz HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n0\r\n\r\n"
                .to_owned(),
            400,
            "invalid_request",
        ),
        ("GET /healthz HTTP/1.1\nhost: x\n\n".to_owned(), 400, "invalid_request"),
        (
            "GET /healthz HTTP/1.1\r\nhost: x\nx: y\r\n\r\n".to_owned(),
            400,
            "invalid_request",
        ),
        (
            "GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n".to_owned(),
            400,
            "invalid_request",
        ),
        (
            "GET /healthz HTTP/1.1\r\nhost: x\r\nhost: y\r\nconnection: close\r\n\r\n".to_owned(),
            400,
            "invalid_request",
        ),
        // A good request before it does not change that.
        (
            "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\nGET / HTTP\r\n\r\n".to_owned(),
            400,
            "invalid_request",
        ),
        (
            "POST /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n\n\nGET / HTTP/1.1\nhost: x\n\n"
                .to_owned(),
            400,
            "invalid_request",
        ),
    ] {
        let mut stream = TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap();
        // The refusal may come before everything is sent.
        let _ = stream.write_all(sent.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).unwrap();
        let last = answer.rfind("HTTP/1.1 ").expect("an answer");
        let (head, body) = answer[last..].split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
        let body: serde_json::Value = serde_json::from_str(body).expect(head);
        assert_eq!(body["code"], code, "{body}");
        let id = body["request_id"].as_str().unwrap();
        assert!(head.contains(&format!("x-request-id: {id}")), "{head}");
        // The log is written independently of the answer.
        let is_told = |log: &serde_json::Value| log.as_str().unwrap().contains(id);
        until(|| server.log().into(), is_told).unwrap();
    }
}

/// A client that stalls an answer by HTTP/2's flow control loses the connection.
#[test]
fn an_answer_that_is_not_taken_over_http2_ends_the_connection() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hostd.toml");
    std::fs::write(&config, "[http]\nwrite_wait_ms = 200\n").unwrap();
    let server = Server::demo_with(&["--config", config.to_str().unwrap()]).unwrap();
    // No window at all, and one that fits a part of the answer.
    for window in [0_u16, 1000] {
        let mut stream = TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap();
        let limit = std::time::Duration::from_secs(60);
        stream.set_read_timeout(Some(limit)).unwrap();
        stream
            .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            .unwrap();
        // SETTINGS_INITIAL_WINDOW_SIZE.
        stream
            .write_all(&[0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0])
            .unwrap();
        stream.write_all(&window.to_be_bytes()).unwrap();
        ask_http2(&mut stream, "/api/openapi.json");
        let mut answer = Vec::new();
        // The connection was closed; the read did not time out.
        match stream.read_to_end(&mut answer) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
        }
        assert!(answer.len() > usize::from(window));
    }
}

#[test]
fn mistakes_on_the_command_line_are_explained() {
    let run = |args: &[&str]| {
        let output = Command::new(tests::server::binary().unwrap())
            .args(args)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), text)
    };
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hostd.toml");
    std::fs::write(&config, "[http]\nlisen = \"x\"\n").unwrap();
    let (ok, text) = run(&["config", "check", "--config", config.to_str().unwrap()]);
    assert!(!ok && text.contains("did you mean http.listen?"), "{text}");
    for (text, says) in [
        ("[[device]]\nname = \"x\"", "did you mean devices?"),
        ("[http]\nlisten = \"0.0.0.0\"", "an address and a port"),
        ("[http]\ndrain_ms = 1\nping_ms = \"x\"", "line 3"),
        (
            "[[devices]]\nname = \"a b\"\naddress = \"sim:v3\"",
            "devices[0].name: a name is",
        ),
        (
            "[webhooks]\nca_file = \"/nowhere/ca.pem\"",
            "read /nowhere/ca.pem",
        ),
        ("[plugins]\ntrusted_keys = \"x\"", "plugins.trusted_keys"),
    ] {
        std::fs::write(&config, text).unwrap();
        let (ok, told) = run(&["config", "check", "--config", config.to_str().unwrap()]);
        assert!(!ok && told.contains(says), "{text}: {told}");
    }
    let (ok, text) = run(&["serve", "--demo", "--listen", "0.0.0.0:0"]);
    assert!(!ok && text.contains("loopback"), "{text}");
}

#[test]
fn a_stop_lets_open_requests_finish() {
    let pod = PodSim::start(&[]).unwrap();
    let mut bench = Bench::start(&[&format!("tcp:{}", pod.address)]).unwrap();
    let (client, device) = (bench.server.client(), bench.devices[0].clone());
    // It is answered once the pod goes on.
    pod.hang().unwrap();
    let asked = std::thread::spawn(move || {
        let body = serde_json::json!({"command": {"cmd": "ping"}, "timeout_ms": 60_000});
        client.post(&format!("/api/bench/devices/{device}/command"), &body)
    });
    let in_flight = "hostd_handler_calls_in_flight{handler=\"devices\"} 1";
    let server = &mut bench.server;
    let metrics = || server.anonymous().get("/metrics").unwrap().text;
    until(metrics, |page| page.contains(in_flight)).unwrap();
    server.begin_stop().unwrap();
    // The stop is under way when nobody is let in any more.
    let address = server.url.strip_prefix("http://").unwrap();
    let is_closed = || TcpStream::connect(address).is_err();
    until(is_closed, |closed| *closed).unwrap();
    assert!(!asked.is_finished(), "it was answered before the stop");
    pod.go_on().unwrap();
    assert!(server.stopped().unwrap());
    let reply = asked.join().unwrap().unwrap().expect(200);
    assert_eq!(reply["data"], "pong", "{reply}");
}
