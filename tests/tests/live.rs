//! Live captures: frames as they are received, resumption, binary frames, slow readers, and a pod
//! that is unplugged meanwhile.

use serde_json::{Value, json};
use tests::{PodSim, Server, Socket};
use tungstenite::Message;

fn follow(server: &Server, device: &str, query: &str) -> Socket {
    let key = format!("ApiKey {}", server.api_key);
    let path = format!("/api/ws/capture?device_id={device}{query}");
    let opened = Socket::open(&server.url, &path, &[("authorization", &key)]);
    opened.unwrap().socket()
}

/// The next text message.
fn text(socket: &mut Socket) -> Value {
    match socket.message().unwrap() {
        Message::Text(text) => serde_json::from_str(&text).unwrap(),
        other => panic!("{other:?} in place of a text"),
    }
}

/// The next text message of this type.
fn told(socket: &mut Socket, kind: &str) -> Value {
    loop {
        let told = text(socket);
        if told["type"] == kind {
            return told;
        }
    }
}

fn start(server: &Server, device: &str, samples: u64) -> String {
    let order = json!({"device_id": device, "samples": samples, "sample_rate_mhz": 1.0,
        "channels": [1, 2], "voltage_mv": 3300});
    let started = server.client().post("/api/la/captures/start", &order);
    let started = started.unwrap().expect(202);
    started["capture_id"].as_str().unwrap().to_owned()
}

/// The frames of a finished capture, as its record shows them.
fn stored(server: &Server, id: &str) -> Vec<Value> {
    let path = format!("/api/capture/{id}?max_bytes=1048576");
    let record = server.client().get(&path).unwrap().expect(200);
    assert!(record.get("next_seq").is_none(), "one page holds it");
    record["frames"].as_array().unwrap().clone()
}

/// Frames up to the end of the capture, in the form of the record.
fn frames(socket: &mut Socket, id: &str) -> Vec<Value> {
    let mut frames = Vec::new();
    loop {
        let mut told = text(socket);
        match told["type"].as_str().unwrap() {
            "frame" => {
                let frame = told.as_object_mut().unwrap();
                frame.remove("type");
                assert_eq!(frame.remove("capture_id").unwrap(), id);
                frames.push(told);
            }
            "capture.done" => {
                assert_eq!(
                    told["frames"].as_u64().unwrap(),
                    frames.last().map_or(0, |f| f["seq"].as_u64().unwrap() + 1)
                );
                return frames;
            }
            "capture.state" => {}
            other => panic!("{other} in between: {told}"),
        }
    }
}

#[test]
fn what_streams_is_what_is_kept() {
    let server = Server::demo().unwrap();
    let device = server.device();
    let mut first = follow(&server, device, "");
    let hello = text(&mut first);
    assert_eq!(
        (&hello["type"], &hello["online"], &hello["capture_id"]),
        (&json!("hello"), &json!(true), &json!(null))
    );
    let mut second = follow(&server, device, "&format=binary");
    let id = start(&server, device, 200_000);
    let pending = told(&mut first, "capture.state");
    assert_eq!(
        (&pending["capture_id"], &pending["status"]),
        (&json!(id), &json!("pending"))
    );
    let running = told(&mut first, "capture.state");
    assert_eq!(
        (&running["status"], &running["frames"]),
        (&json!("running"), &json!(8))
    );
    assert_eq!(running["channels"][1]["name"], "LA2");
    let streamed = frames(&mut first, &id);
    let kept = stored(&server, &id);
    assert_eq!(streamed, kept);

    // The same frames as bytes.
    let mut binary = Vec::new();
    loop {
        match second.message().unwrap() {
            Message::Binary(bytes) => binary.push(bytes),
            Message::Text(text) if text.contains("capture.done") => break,
            Message::Text(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(binary.len(), kept.len());
    for (bytes, frame) in binary.iter().zip(&kept) {
        assert_eq!(&bytes[..4], b"BCF1");
        let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let mut data = vec![u32::from(bytes[5])];
        data.extend((32..bytes.len()).step_by(4).map(u32_at));
        assert_eq!((bytes[4], json!(data)), (2, frame["data"].clone()));
        assert_eq!(json!(u32_at(8)), frame["seq"]);
        assert_eq!(json!(u32_at(12)), frame["count"]);
    }

    // A client that comes back gets the rest, even of a finished capture.
    let mut back = follow(&server, device, &format!("&capture_id={id}&from_seq=5"));
    assert_eq!(text(&mut back)["type"], "hello");
    assert_eq!(frames(&mut back, &id), kept[5..]);
    // And it gets whatever comes next.
    let next = start(&server, device, 1000);
    assert_eq!(frames(&mut back, &next), stored(&server, &next));
    back.send_text("{}").unwrap();
    assert_eq!(back.closed().unwrap().0, 1003);
}

/// What is decoded of a capture until it is done, and how often something came.
fn annotations(socket: &mut Socket, id: &str) -> (Vec<Value>, usize) {
    let (mut events, mut messages) = (Vec::new(), 0);
    loop {
        let mut told = text(socket);
        match told["type"].as_str().unwrap() {
            "annotations" => {
                assert_eq!(told["capture_id"], id);
                let mut more = told["events"].take();
                events.append(more.as_array_mut().unwrap());
                messages += 1;
            }
            "capture.done" => return (events, messages),
            "capture.state" | "gap" => {}
            other => panic!("{other} in between: {told}"),
        }
    }
}

/// What is decoded afterwards.
fn decoded(server: &Server, id: &str, query: &str) -> Vec<Value> {
    let path = format!("/api/capture/{id}/decode?{query}");
    let text = server.client().get(&path).unwrap().text;
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A capture of LA5 and LA6, longer than memory.
fn start_long(server: &Server, device: &str) -> String {
    let order = json!({"device_id": device, "samples": 4_500_000, "sample_rate_mhz": 12,
        "channels": [5, 6], "voltage_mv": 3300});
    let started = server.client().post("/api/la/captures/start", &order);
    let started = started.unwrap().expect(202);
    started["capture_id"].as_str().unwrap().to_owned()
}

/// A simulated receiver sends on LA5.
fn send_on_la5(server: &Server, device: &str, baud: u32) {
    let path = format!("/api/bench/devices/{device}/command");
    for order in [
        json!({"cmd": "la_voltage", "mv": 3300}),
        json!({"cmd": "gps_start", "tx": 5, "baud": baud, "rate_hz": 10}),
    ] {
        let sent = server.client().post(&path, &json!({"command": order}));
        sent.unwrap().expect(200);
    }
}

#[test]
fn what_is_decoded_meanwhile_is_what_is_decoded_afterwards() {
    let server = Server::demo().unwrap();
    let device = server.device();
    send_on_la5(&server, device, 115_200);
    let uart = "protocol=uart&rx=LA5&baudrate=115200";
    let mut socket = follow(&server, device, &format!("&{uart}&frames=none"));
    assert_eq!(text(&mut socket)["type"], "hello");
    let id = start_long(&server, device);
    let (meanwhile, messages) = annotations(&mut socket, &id);
    let afterwards = decoded(&server, &id, uart);
    assert!(afterwards.len() > 1000, "{}", afterwards.len());
    assert_eq!(meanwhile, afterwards);
    // Not all at once.
    assert!(messages > 10, "{messages}");
    // One who comes later gets the same of the finished capture, and frames unless it leaves them out.
    let mut back = follow(&server, device, &format!("&capture_id={id}&{uart}"));
    assert_eq!(told(&mut back, "frame")["seq"], 0);
    let mut back = follow(
        &server,
        device,
        &format!("&capture_id={id}&{uart}&frames=none&annotations=rx-data"),
    );
    assert_eq!(text(&mut back)["type"], "hello");
    let (words, _) = annotations(&mut back, &id);
    let only = format!("{uart}&annotations=rx-data");
    assert_eq!(words, decoded(&server, &id, &only));
    // A capture without the channel is said to be none.
    let other = start(&server, device, 1000);
    let error = told(&mut back, "annotations.error");
    assert_eq!(error["capture_id"], json!(other));
    assert!(error["error"].as_str().unwrap().contains("LA5"), "{error}");
    assert_eq!(told(&mut back, "capture.done")["capture_id"], json!(other));
}

#[test]
fn what_cannot_be_decoded_is_refused_before_anything_is_opened() {
    let server = Server::demo().unwrap();
    let device = server.device();
    let key = format!("ApiKey {}", server.api_key);
    let open = |query: &str| {
        let path = format!("/api/ws/capture?device_id={device}&{query}");
        Socket::open(&server.url, &path, &[("authorization", &key)]).unwrap()
    };
    for (query, field) in [
        ("protocol=morse&rx=LA1", "protocol"),
        ("protocol=uart&rx=LA99", "rx"),
        ("protocol=uart&rx=LA1&baudrate=fast", "baudrate"),
        ("protocol=i2c&scl=LA1&sda=LA1", "sda"),
        ("rx=LA1", "rx"),
    ] {
        let (status, body) = open(query).refused();
        assert_eq!(
            (status, &body["fields"][0]["field"]),
            (400, &json!(field)),
            "{body}"
        );
    }
    let sockets: Vec<Socket> = (0..8)
        .map(|_| open("protocol=uart&rx=LA1").socket())
        .collect();
    let (status, body) = open("protocol=uart&rx=LA1").refused();
    assert_eq!(
        (status, &body["code"]),
        (409, &json!("wrong_state")),
        "{body}"
    );
    // Those who only follow are not counted, and a place is free once somebody leaves.
    let _follows = open("format=json").socket();
    drop(sockets);
    tests::until(
        || open("protocol=uart&rx=LA1"),
        |opened| matches!(opened, tests::Opened::Socket(_)),
    )
    .unwrap();
}

#[test]
fn a_capture_that_runs_is_told_from_its_beginning() {
    let server = Server::demo().unwrap();
    let device = server.device();
    // Three seconds, so that it still runs when somebody comes.
    let id = start(&server, device, 3_000_000);
    let mut late = follow(&server, device, "");
    assert_eq!(text(&mut late)["capture_id"], json!(id));
    assert_eq!(frames(&mut late, &id), stored(&server, &id));
    let cancelled = start(&server, device, 4_000_000);
    let running = told(&mut late, "capture.state");
    assert_eq!(running["capture_id"], json!(cancelled));
    let path = format!("/api/capture/{cancelled}/cancel");
    server.client().post(&path, &json!({})).unwrap();
    let error = told(&mut late, "capture.error");
    assert_eq!(error["status"], "cancelled");
}

#[test]
fn a_pod_that_is_unplugged_fails_its_capture_and_says_so() {
    let mut pod = PodSim::start(&[]).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hostd.toml");
    let address = &pod.address;
    let settings = format!(
        "[pods]\ngrace_ms = 100\n[[devices]]\nname = \"net\"\naddress = \"tcp:{address}\"\n"
    );
    std::fs::write(&config, settings).unwrap();
    let server = Server::demo_with(&["--config", config.to_str().unwrap()]).unwrap();
    let listed = server.client().get("/api/bench/devices").unwrap();
    let listed = listed.expect(200);
    let devices = listed["devices"].as_array().unwrap();
    let device = devices.iter().find(|d| d["name"] == "net").unwrap();
    let device = device["id"].as_str().unwrap();
    let mut socket = follow(&server, device, "");
    start(&server, device, 4_000_000);
    while told(&mut socket, "capture.state")["status"] != "running" {}
    pod.kill().unwrap();
    let (mut failed, mut offline) = (false, false);
    while !(failed && offline) {
        let told = text(&mut socket);
        failed |= told["type"] == "capture.error" && told["status"] == "failed";
        offline |= told["type"] == "device.event" && told["event"] == "offline";
    }
}

#[test]
fn what_is_refused() {
    let server = Server::demo().unwrap();
    let device = server.device();
    let refused = |query: &str| {
        let key = format!("ApiKey {}", server.api_key);
        let path = format!("/api/ws/capture?{query}");
        let opened = Socket::open(&server.url, &path, &[("authorization", &key)]);
        let (status, body) = opened.unwrap().refused();
        (status, body["code"].as_str().unwrap().to_owned())
    };
    assert_eq!(refused(""), (400, "invalid_request".to_owned()));
    assert_eq!(refused("device_id=none"), (404, "not_found".to_owned()));
    let unknown = format!("device_id={device}&capture_id=01JGZ5V9T3N8W2K4Q7R6D1M0XC");
    assert_eq!(refused(&unknown), (404, "not_found".to_owned()));
}
