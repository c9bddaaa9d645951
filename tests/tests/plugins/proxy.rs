//! Components of the world `wasi:http/proxy`, which know nothing of this server: mounted below their prefix, within the same
//! rights and bounds as plugins that do.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;
use tests::receiver::Answer;
use tests::{Client, Receiver, Reply, Server, package, until};

use super::{Bench, MARK, component, key, with_key};

const PROXY: &str = "test.proxy";

/// More calls than these tests make fail within a version's trial.
const LIMITS: &str = "[limits]\ncompute_ms = 10000\ndeadline_ms = 20000\nmemory_mib = 16\n";

/// For calls that compute without end.
const HASTY: &str = "[limits]\ncompute_ms = 3000\ndeadline_ms = 20000\nmemory_mib = 16\n";

/// A package of the component, with these tables in its manifest.
fn packed(bench: &Bench, version: &str, tables: &str) -> PathBuf {
    let component = component("guests/proxy.wasm");
    let component = package::replaced(component, MARK, &package::mark(version)).unwrap();
    let folder = bench.dir.path().join(format!("proxy-{version}"));
    package::write(&folder, &component, (PROXY, version), tables).unwrap();
    folder
}

/// A server with the component installed and approved.
fn bench(tables: &str) -> Bench {
    let bench = Bench::new();
    install(&bench, tables);
    bench
}

fn install(bench: &Bench, tables: &str) {
    let folder = packed(bench, "1.0.0", tables);
    bench.operator().install(&folder).unwrap();
    bench.operator().approve(PROXY).unwrap();
}

fn path(below: &str) -> String {
    format!("/api/x/{PROXY}{below}")
}

fn get(bench: &Bench, below: &str) -> Reply {
    bench.client().get(&path(below)).unwrap()
}

/// A request as it is written, on a connection of its own, and what comes back until it ends.
fn raw(server: &Server, head: &str) -> TcpStream {
    let address = server.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    let key = &server.api_key;
    let head = format!("{head}host: {address}\r\nauthorization: ApiKey {key}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

fn log_has(bench: &Bench, text: &str) {
    let log = || bench.plugin(&["logs", PROXY]).ok();
    until(log, |log| log.contains(text)).expect(text);
}

#[test]
fn a_request_comes_as_it_was_sent_and_says_who_asks() {
    let bench = bench("");
    let client = bench.client().with_header("x-own", "1");
    let client = client.with_header("x-hostd-org", "other");
    let told = client.get(&path("/a%2Fb//c?d=e")).unwrap();
    assert_eq!(told.status, 200);
    let lines: Vec<&str> = told.text.lines().collect();
    assert_eq!(lines[0], "GET /a%2Fb//c?d=e");
    let authority = bench.server.url.strip_prefix("http://").unwrap();
    assert_eq!(lines[1], format!("authority: {authority}"));
    let has = |line: &str| lines.contains(&line);
    assert!(has("x-own=1"), "{}", told.text);
    assert!(has(&format!("x-forwarded-prefix=/api/x/{PROXY}")));
    assert!(has("x-hostd-credential=api-key") && !has("x-hostd-org=other"));
    let id = told.header("x-request-id").unwrap();
    assert!(has(&format!("x-request-id={id}")));
    assert!(!told.text.contains(&bench.server.api_key), "{}", told.text);
    assert!(!told.text.contains("authorization"), "{}", told.text);
    for (below, seen) in [
        ("", "GET /"),
        ("/", "GET /"),
        ("/x/", "GET /x/"),
        ("/%ff", "GET /%ff"),
    ] {
        let told = get(&bench, below);
        assert_eq!(told.text.lines().next(), Some(seen), "{below}");
    }
    for method in ["PUT", "PATCH", "DELETE"] {
        let told = bench.client().send(method, &path("/x"), None).unwrap();
        assert_eq!(told.text.lines().next(), Some(&*format!("{method} /x")));
    }
    bench
        .client()
        .send("OPTIONS", &path("/x"), None)
        .unwrap()
        .expect_error(405, "method_not_allowed");
    // What it prints is in its log.
    log_has(&bench, "seen: /x/");
    // `HEAD` has the head of what `GET` has.
    let head = bench
        .client()
        .send("HEAD", &path("/promise?8"), None)
        .unwrap();
    assert_eq!((head.status, head.text.as_str()), (200, ""));
    assert_eq!(head.header("content-length"), Some("8"));
}

#[test]
fn bodies_go_both_ways_up_to_the_limit() {
    let bench = bench("[proxy]\nbody_kib = 256\n");
    let echo = |bytes: usize| {
        let body: Vec<u8> = (0..bytes)
            .map(|n| b'a' + u8::try_from(n % 26).unwrap())
            .collect();
        let sent = Some(("text/plain", body.as_slice()));
        let reply = bench
            .client()
            .send_typed("POST", &path("/echo"), sent)
            .unwrap();
        (reply, String::from_utf8(body).unwrap())
    };
    for bytes in [0, 1, 4096, 65_537, 256 << 10] {
        let (reply, sent) = echo(bytes);
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert!(
            reply.text == sent,
            "{bytes} bytes came back as {}",
            reply.text.len()
        );
    }
    let (reply, _) = echo(100);
    assert_eq!(reply.header("content-length"), Some("100"));
    echo((256 << 10) + 1).0.expect_error(413, "body_too_large");
    // More than waits for a reader that is not there yet.
    let large = get(&bench, "/large?20");
    assert!(large.text.len() == 20 << 20 && large.text.bytes().all(|b| b == b'x'));
}

#[test]
fn a_response_is_read_while_it_is_written() {
    let bench = bench(LIMITS);
    let mut stream = raw(
        &bench.server,
        &format!("GET {} HTTP/1.1\r\n", path("/stream?150")),
    );
    let mut seen = String::new();
    let mut buffer = [0; 4096];
    while !seen.contains("part 0\n") {
        let read = stream.read(&mut buffer).unwrap();
        assert!(read > 0, "{seen}");
        seen += &String::from_utf8_lossy(&buffer[..read]);
    }
    assert!(!seen.contains("part 149\n"), "it came all at once: {seen}");
    while !seen.ends_with("0\r\n\r\n") {
        let read = stream.read(&mut buffer).unwrap();
        assert!(read > 0, "{seen}");
        seen += &String::from_utf8_lossy(&buffer[..read]);
    }
    assert!(seen.contains("part 149\n"), "{seen}");
    // One that leaves is noticed where it is written to.
    let left = raw(
        &bench.server,
        &format!("GET {} HTTP/1.1\r\n", path("/stream?400")),
    );
    let mut left_at = left.try_clone().unwrap();
    let _ = left_at.read(&mut buffer).unwrap();
    drop((left, left_at));
    log_has(&bench, "nobody reads");
}

#[test]
fn a_call_that_works_for_nobody_is_ended() {
    let bench = bench("[limits]\nin_flight = 1\ncompute_ms = 10000\ndeadline_ms = 60000\n");
    let head = format!("GET {} HTTP/1.1\r\n", path("/crime/deaf"));
    let mut left = raw(&bench.server, &head);
    let mut first = [0; 12];
    left.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    drop(left);
    // Long before its deadline, and its place is free again.
    log_has(&bench, "nobody reads its answer");
    assert_eq!(get(&bench, "/mark").text, MARK);
}

#[test]
fn an_answer_that_has_begun_ends_when_the_plugin_is_revoked() {
    let bench = bench("[limits]\nin_flight = 1\ndeadline_ms = 60000\n");
    let head = format!("GET {} HTTP/1.1\r\n", path("/crime/deaf"));
    let mut begun = raw(&bench.server, &head);
    let mut first = [0; 12];
    begun.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    bench.plugin(&["revoke", PROXY]).ok();
    let mut rest = Vec::new();
    let _ = begun.read_to_end(&mut rest);
    assert!(!rest.ends_with(b"0\r\n\r\n"), "a part passes for the whole");
    log_has(&bench, "taken back");
    // Its place is free again.
    bench.plugin(&["approve", PROXY]).ok();
    assert_eq!(get(&bench, "/mark").text, MARK);
}

#[test]
fn a_plugin_that_is_disabled_ends_what_it_has_begun_and_begins_nothing() {
    let bench = bench("[limits]\ncompute_ms = 4000\ndeadline_ms = 6000\n");
    let [mut whole, mut endless] = ["/stream?50", "/crime/deaf"].map(|below| {
        let mut begun = raw(&bench.server, &format!("GET {} HTTP/1.1\r\n", path(below)));
        let mut first = [0; 12];
        begun.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        begun
    });
    let told = bench.plugin(&["disable", PROXY]).ok();
    assert!(
        told.contains("calls that are under way end within"),
        "{told}"
    );
    bench
        .client()
        .get(&path("/mark"))
        .unwrap()
        .expect_error(503, "plugin_unavailable");
    // What was begun comes to its end, and what has none is ended at its deadline.
    let (mut seen, mut buffer) = (String::new(), [0; 4096]);
    while !seen.ends_with("0\r\n\r\n") {
        let read = whole.read(&mut buffer).unwrap();
        assert!(read > 0, "{seen}");
        seen += &String::from_utf8_lossy(&buffer[..read]);
    }
    assert!(seen.contains("part 49\n"), "{seen}");
    let mut rest = Vec::new();
    let _ = endless.read_to_end(&mut rest);
    assert!(!rest.ends_with(b"0\r\n\r\n"), "a part passes for the whole");
    let told = bench.plugin(&["disable", PROXY]).ok();
    assert!(!told.contains("under way"), "{told}");
    bench.plugin(&["enable", PROXY]).ok();
    assert_eq!(get(&bench, "/mark").text, MARK);
}

#[test]
fn a_reader_that_does_not_read_holds_memory_and_no_instance() {
    let bench = bench("[limits]\nin_flight = 1\ncompute_ms = 10000\ndeadline_ms = 20000\n");
    // Less than waits for a reader, far more than a connection holds.
    let held: Vec<TcpStream> = (0..4)
        .map(|_| {
            let head = format!("GET {} HTTP/1.1\r\n", path("/large?3"));
            let mut stream = raw(&bench.server, &head);
            let mut first = [0; 12];
            stream.read_exact(&mut first).unwrap();
            assert_eq!(&first, b"HTTP/1.1 200");
            stream
        })
        .collect();
    // With a single place, each of them has been written to its end.
    assert_eq!(get(&bench, "/mark").text, MARK);
    for mut stream in held {
        let mut rest = Vec::new();
        let mut buffer = vec![0; 64 << 10];
        while !rest.ends_with(b"0\r\n\r\n") {
            let read = stream.read(&mut buffer).unwrap();
            assert!(read > 0);
            rest.extend_from_slice(&buffer[..read]);
        }
        assert!(rest.iter().filter(|b| **b == b'x').count() >= 3 << 20);
    }
}

#[test]
fn a_reader_that_keeps_it_waiting_is_not_held_against_it() {
    let bench = bench("[limits]\nin_flight = 8\ncompute_ms = 4000\ndeadline_ms = 4000\n");
    let readers: Vec<TcpStream> = (0..6)
        .map(|_| {
            raw(
                &bench.server,
                &format!("GET {} HTTP/1.1\r\n", path("/large?64")),
            )
        })
        .collect();
    let noticed = || {
        let log = bench.plugin(&["logs", PROXY]).ok();
        log.matches("nobody reads").count()
    };
    until(noticed, |count| *count >= readers.len()).unwrap();
    // More than five failures would have ended the version's trial.
    assert_eq!(get(&bench, "/mark").text, MARK);
    for mut reader in readers {
        let mut seen = Vec::new();
        let _ = reader.read_to_end(&mut seen);
        assert!(!seen.ends_with(b"0\r\n\r\n"), "a part passes for the whole");
    }
}

#[test]
fn what_is_promised_is_kept_or_cut_off() {
    let bench = bench(LIMITS);
    let kept = get(&bench, "/promise?8");
    assert_eq!(
        (kept.text.as_str(), kept.header("content-length")),
        ("xxxxxxxx", Some("8"))
    );
    assert!(
        bench.client().get(&path("/promise?7")).is_err(),
        "a byte is missing"
    );
    log_has(&bench, "promise: true false");
    let more = get(&bench, "/promise?9");
    assert_eq!(more.text, "xxxxxxxx");
    for crime in ["half", "unfinished"] {
        let cut = bench.client().get(&path(&format!("/crime/{crime}")));
        assert!(cut.is_err(), "{crime}: {cut:?}");
    }
    // What ended before the plugin failed is whole.
    assert_eq!(get(&bench, "/crime/loop-after").text, "everything");
    let mut trailing = raw(
        &bench.server,
        &format!(
            "GET {} HTTP/1.1\r\nte: trailers\r\nconnection: close\r\n",
            path("/trailers")
        ),
    );
    let mut seen = String::new();
    trailing.read_to_string(&mut seen).unwrap();
    assert!(
        seen.contains("\r\nx-sum: 4\r\n") && !seen.contains("a=b"),
        "{seen}"
    );
}

#[test]
fn headers_are_bounded_and_what_concerns_all_is_not_its_to_say() {
    let bench = bench("");
    let cookie = get(&bench, "/cookie");
    let said = |name: &str| cookie.header(name);
    assert_eq!((cookie.status, said("x-own")), (200, Some("1")));
    assert_eq!(
        (said("set-cookie"), said("access-control-allow-origin")),
        (None, None)
    );
    let policy = said("content-security-policy").unwrap();
    assert_eq!(policy, "default-src 'none'; frame-ancestors 'none'");
    let forbidden = get(&bench, "/forbidden").text;
    for line in [
        "host: Err(HeaderError::Forbidden)",
        "Connection: Err(HeaderError::Forbidden)",
        "transfer-encoding: Err(HeaderError::Forbidden)",
        "a b: Err(HeaderError::InvalidSyntax)",
        "x-own: Ok(())",
        "lines: Err(HeaderError::InvalidSyntax)",
    ] {
        assert!(
            forbidden.lines().any(|told| told == line),
            "{line}: {forbidden}"
        );
    }
    assert_eq!(get(&bench, "/headers?64").header("x-63"), Some("1"));
    get(&bench, "/headers?65").expect_error(502, "plugin_failed");
    let long = get(&bench, "/header?16000");
    assert_eq!(long.header("x-long").map(str::len), Some(16_000));
    get(&bench, "/header?17000").expect_error(502, "plugin_failed");
    get(&bench, "/header?40000").expect_error(502, "plugin_failed");
    let large = bench.client().with_header("x-long", &"x".repeat(8_000));
    let told = large.get(&path("/see")).unwrap();
    assert!(told.text.contains(&"x".repeat(8_000)));
    for (status, seen) in [(204, 204), (404, 404), (599, 599), (101, 200), (600, 200)] {
        assert_eq!(get(&bench, &format!("/status?{status}")).status, seen);
    }
}

#[test]
fn each_crime_costs_one_request() {
    for (limits, crimes) in [
        (HASTY, &["loop"][..]),
        (LIMITS, &["trap", "memory"]),
        (LIMITS, &["recursion", "silence", "error"]),
        (LIMITS, &["fields", "bodies", "header"]),
    ] {
        let bench = bench(limits);
        for crime in crimes {
            let (status, code) = match *crime {
                "loop" => (504, "handler_timeout"),
                _ => (502, "plugin_failed"),
            };
            get(&bench, &format!("/crime/{crime}")).expect_error(status, code);
            // Four failures; the fifth within a minute would end the version's trial.
            assert_eq!(get(&bench, "/mark").text, MARK, "after {crime}");
        }
        bench
            .client()
            .get("/api/bench/devices")
            .unwrap()
            .expect(200);
    }
}

#[test]
fn callers_need_what_the_manifest_asks_for_and_the_organisation_has_approved() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    server.stop().unwrap();
    let stranger = tests::offline::stranger(dir.path());
    let weak = key(dir.path(), &["--scope", "jobs:submit"]);
    let server = Server::demo_in(dir.path()).unwrap();
    let (stranger, weak) = (with_key(&server, &stranger), with_key(&server, &weak));
    let bench = Bench { dir, server };
    let mark = |client: &Client| client.get(&path("/mark")).unwrap();

    let folder = packed(&bench, "1.0.0", "");
    bench.operator().install(&folder).unwrap();
    mark(&bench.client()).expect_error(403, "not_granted");
    bench.operator().approve(PROXY).unwrap();
    assert_eq!(mark(&bench.client()).text, MARK);
    mark(&stranger).expect_error(403, "not_granted");
    mark(&weak).expect_error(403, "missing_scope");
    mark(&bench.server.anonymous()).expect_error(401, "missing_credential");

    let folder = packed(
        &bench,
        "1.1.0",
        "[proxy]\nscope = \"any\"\nmethods = [\"GET\"]\n",
    );
    bench.operator().install(&folder).unwrap();
    assert_eq!(mark(&weak).text, package::mark("1.1.0"));
    mark(&bench.server.anonymous()).expect_error(401, "missing_credential");
    let posted = bench.client().send("POST", &path("/mark"), None).unwrap();
    posted.expect_error(405, "method_not_allowed");

    // Without a credential only where an operator has granted just that.
    let public = "[proxy]\npublic = true\n[wants]\npublic = true\n";
    let folder = packed(&bench, "1.2.0", public);
    bench.operator().install(&folder).unwrap();
    assert_eq!(mark(&weak).text, package::mark("1.1.0"), "the update waits");
    bench.plugin(&["approve", PROXY, "--public"]).ok();
    let told = bench.server.anonymous().get(&path("/see")).unwrap();
    assert_eq!(told.status, 200, "{}", told.text);
    assert!(!told.text.contains("x-hostd-"), "{}", told.text);
}

#[test]
fn it_is_checked_described_and_counted() {
    let bench = bench("");
    let folder = packed(&bench, "1.0.0", "");
    let checked = bench.plugin(&["check", &folder.display().to_string()]).ok();
    assert!(
        checked.contains("wasi:http/incoming-handler@0.2.12: DELETE, GET, PATCH, POST, PUT below"),
        "{checked}"
    );
    assert!(
        checked.contains("callers with the scope bench:control"),
        "{checked}"
    );
    let document = bench.client().get("/api/openapi.json").unwrap().expect(200);
    let mounted = &document["paths"][path("/{path}")];
    let methods: Vec<&String> = mounted.as_object().unwrap().keys().collect();
    assert_eq!(methods, ["delete", "get", "patch", "post", "put"]);
    let operation = &mounted["post"];
    assert_eq!(
        operation["operationId"],
        format!("x.{PROXY}.wasi-http.post")
    );
    assert_eq!(operation["x-required-scope"], "bench:control");
    assert_eq!(operation["x-body-bytes-max"], 1 << 20);
    assert!(operation["responses"]["502"].is_object(), "{operation}");
    assert_eq!(get(&bench, "/mark").text, MARK);
    let metrics = bench.client().get("/metrics").unwrap().text;
    assert!(
        metrics.contains(&format!("plugin=\"{PROXY}\",version=\"1.0.0\"")),
        "{metrics}"
    );
    assert!(
        metrics.contains(&format!("route=\"x.{PROXY}.wasi-http.get\"")),
        "{metrics}"
    );
    // A mount is for such a component alone.
    let other = bench.dir.path().join("other");
    let tables = "[proxy]\n";
    package::write(
        &other,
        &component("guests/plugin.wasm"),
        ("test.other", "1.0.0"),
        tables,
    )
    .unwrap();
    let refused = bench.operator().install(&other).unwrap_err().to_string();
    assert!(
        refused.contains("it exports no wasi:http/incoming-handler"),
        "{refused}"
    );
}

/// A server whose plugins may reach this machine, with the component that may ask `url`.
fn reaching(allow: &str) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hostd.toml");
    let text = format!("[plugins]\nhttp_allow = \"{allow}\"\n");
    std::fs::write(&config, text).unwrap();
    let with = ["--config", config.to_str().unwrap()];
    let server = Server::demo_in_with(dir.path(), &with).unwrap();
    let bench = Bench { dir, server };
    install(
        &bench,
        "[limits]\ncompute_ms = 10000\ndeadline_ms = 20000\n",
    );
    bench
}

fn fetched(bench: &Bench, url: &str) -> String {
    get(bench, &format!("/fetch?{url}")).text
}

#[test]
fn its_requests_go_where_they_were_granted() {
    let bench = reaching("127.0.0.1");
    let receiver = Receiver::start(Answer::With(201, "x-made", "yes".to_owned()));
    let url = receiver.url("/hook/a?b=c");
    let denied = "ErrorCode::HttpRequestDenied\n";
    assert_eq!(fetched(&bench, &url), denied);
    log_has(&bench, &format!("hostd plugin approve {PROXY} --org"));
    log_has(&bench, "--interface http-out");
    bench
        .plugin(&["approve", PROXY, "--interface", "http-out"])
        .ok();
    assert_eq!(fetched(&bench, &url), denied);
    log_has(&bench, &format!("--http {}", receiver.url("/hook/a")));
    assert!(receiver.seen().is_empty());
    bench
        .plugin(&["approve", PROXY, "--http", &receiver.url("/hook/*")])
        .ok();
    let sent = Some(("text/plain", "text".as_bytes()));
    let asked = path(&format!("/fetch?{url}"));
    let told = bench.client().send_typed("POST", &asked, sent).unwrap();
    assert!(told.text.starts_with("201 "), "{}", told.text);
    let seen = &receiver.seen()[0];
    assert_eq!(
        (seen.method.as_str(), seen.path.as_str()),
        ("POST", "/hook/a?b=c")
    );
    assert_eq!(
        (seen.body.as_str(), seen.header("x-own")),
        ("text", Some("1"))
    );
    assert_eq!(fetched(&bench, &receiver.url("/other")), denied);
    assert_eq!(fetched(&bench, "ftp"), "ErrorCode::HttpRequestDenied\n");
    // Redirects are the component's to follow, and checked as any request.
    let away = Receiver::start(Answer::With(302, "location", receiver.url("/private")));
    bench
        .plugin(&["approve", PROXY, "--http", &away.url("/*")])
        .ok();
    let told = fetched(&bench, &away.url("/"));
    assert!(told.starts_with("302 ") && told.ends_with(denied), "{told}");
    let private = Receiver::start(Answer::With(302, "location", "http://[::1]:9/x".to_owned()));
    bench
        .plugin(&["approve", PROXY, "--http", &private.url("/*")])
        .ok();
    bench
        .plugin(&["approve", PROXY, "--http", "http://[::1]:9/*"])
        .ok();
    let told = fetched(&bench, &private.url("/"));
    assert!(
        told.ends_with("ErrorCode::DestinationIpProhibited\n"),
        "{told}"
    );
    // So many in one call, and no more.
    let told = get(&bench, &format!("/fetch-many?{url}")).text;
    let count = |line: &str| told.lines().filter(|told| *told == line).count();
    assert_eq!(
        (count("201"), count("ErrorCode::ConnectionLimitReached")),
        (16, 4),
        "{told}"
    );
}

#[test]
fn what_only_the_server_reaches_is_not_reached_by_its_name() {
    let bench = reaching("");
    let receiver = Receiver::start(Answer::Status(200));
    let port = receiver.url("").rsplit(':').next().unwrap().to_owned();
    bench
        .plugin(&["approve", PROXY, "--interface", "http-out"])
        .ok();
    for host in ["127.0.0.1", "[::1]", "169.254.169.254"] {
        let pattern = format!("http://{host}:{port}/*");
        bench.plugin(&["approve", PROXY, "--http", &pattern]).ok();
        let told = fetched(&bench, &format!("http://{host}:{port}/x"));
        assert_eq!(told, "ErrorCode::DestinationIpProhibited\n", "{host}");
    }
    assert!(receiver.seen().is_empty());
}

#[test]
fn versions_follow_one_another_while_they_are_called() {
    let bench = Bench::unlimited();
    install(&bench, "[limits]\nin_flight = 16\n");
    let second = packed(&bench, "2.0.0", "[limits]\nin_flight = 16\n");
    let marks = [package::mark("1.0.0"), package::mark("2.0.0")];
    let stop = std::sync::atomic::AtomicBool::new(false);
    let answers = std::sync::atomic::AtomicU64::new(0);
    let order = std::sync::atomic::Ordering::SeqCst;
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (bench, marks, stop, answers) = (&bench, &marks, &stop, &answers);
            scope.spawn(move || {
                let client = bench.client();
                while !stop.load(order) {
                    let below = if number % 2 == 0 {
                        "/mark"
                    } else {
                        "/stream?3"
                    };
                    let reply = client.get(&path(below)).unwrap();
                    assert_eq!(reply.status, 200, "{}", reply.text);
                    let is_whole = match number % 2 {
                        0 => marks.contains(&reply.text),
                        _ => reply.text == "part 0\npart 1\npart 2\n",
                    };
                    assert!(is_whole, "{}", reply.text);
                    answers.fetch_add(1, order);
                }
            });
        }
        for swap in 0..10 {
            let seen = answers.load(order);
            match swap % 2 {
                0 => bench.operator().install(&second),
                _ => bench.operator().roll_back(PROXY),
            }
            .unwrap();
            let began = Instant::now();
            while answers.load(order) < seen + 20 && began.elapsed() < Duration::from_secs(60) {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        stop.store(true, order);
    });
    assert!(answers.into_inner() >= 200);
    assert_eq!(get(&bench, "/mark").text, MARK);
    let listed: Value = bench.operator().command(&Value::from("list")).unwrap();
    assert_eq!(listed["plugins"][0][0]["state"], "active");
}
