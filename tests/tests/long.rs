//! Captures that are longer than the memory of a pod: what is there is told from what its link lost, wherever one looks.

use std::fs;

use serde_json::{Value, json};
use tests::{Client, Server, Socket, until};
use tungstenite::Message;

const LA: &str = "/api/la/captures/start";

/// More than a pod has memory for.
const SAMPLES: u64 = 4_500_000;

/// A server with pods of these addresses.
fn server(pods: &[(&str, &str)]) -> Server {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hostd.toml");
    let entry = |(name, address): &(&str, &str)| {
        format!("[[devices]]\nname = \"{name}\"\naddress = \"{address}\"\n")
    };
    let devices: String = pods.iter().map(entry).collect();
    fs::write(&config, devices).unwrap();
    Server::demo_with(&["--config", config.to_str().unwrap()]).unwrap()
}

/// The id of a device, once it is there.
fn device(client: &Client, name: &str) -> String {
    let record = || {
        let list = client.get("/api/bench/devices").unwrap().expect(200);
        let list = list["devices"].as_array().unwrap().clone();
        let found = list.into_iter().find(|device| device["name"] == name);
        found.unwrap_or_default()
    };
    let found = until(record, |record| record["online"] == true).unwrap();
    found["id"].as_str().unwrap().to_owned()
}

fn get(client: &Client, path: &str) -> Value {
    client.get(path).unwrap().expect(200)
}

/// The record of a capture of LA5 and LA6, once it is over.
fn captured(client: &Client, device: &str) -> Value {
    let order = json!({"device_id": device, "samples": SAMPLES, "sample_rate_mhz": 12, "channels": [5, 6],
        "voltage_mv": 3300});
    let started = client.post(LA, &order).unwrap().expect(202);
    let path = format!(
        "/api/capture/{}?frames=none",
        started["capture_id"].as_str().unwrap()
    );
    let is_over = |head: &Value| !head["finished_at"].is_null();
    let head = until(|| get(client, &path), is_over).unwrap();
    assert_eq!(head["status"], "done", "{head}");
    assert_eq!(head["channels"][0]["samples"], SAMPLES);
    head
}

/// Ranges of samples of a list.
fn ranges(list: &Value) -> Vec<(u64, u64)> {
    let list = list.as_array().into_iter().flatten();
    let range = |range: &Value| {
        (
            range["from"].as_u64().unwrap(),
            range["to"].as_u64().unwrap(),
        )
    };
    list.map(range).collect()
}

/// What was decoded of a capture while it arrived.
fn meanwhile(socket: &mut Socket) -> Vec<Value> {
    let mut events = Vec::new();
    loop {
        let Message::Text(text) = socket.message().unwrap() else {
            panic!("no text")
        };
        let mut told: Value = serde_json::from_str(&text).unwrap();
        match told["type"].as_str().unwrap() {
            "annotations" => events.append(told["events"].as_array_mut().unwrap()),
            "capture.done" => return events,
            _ => {}
        }
    }
}

/// A number on the page of metrics.
fn metric(server: &Server, name: &str) -> u64 {
    let page = server.anonymous().get("/metrics").unwrap().text;
    let line = page.lines().find_map(|line| line.strip_prefix(name));
    let line = line.unwrap_or_else(|| panic!("{name} is missing: {page}"));
    line.trim().parse().unwrap()
}

/// A pod whose link cannot keep up with a busy line, and that holds little meanwhile.
#[test]
fn what_a_slow_link_loses_is_said_wherever_one_looks() {
    let server = server(&[("slow", "sim:v3,seed=4,memory=200000,fault=slow=10000B/s")]);
    let client = server.client();
    let device = device(&client, "slow");
    let command = format!("/api/bench/devices/{device}/command");
    for order in [
        json!({"cmd": "la_voltage", "mv": 3300}),
        json!({"cmd": "gps_start", "tx": 5, "baud": 921_600, "rate_hz": 10}),
    ] {
        client
            .post(&command, &json!({"command": order}))
            .unwrap()
            .expect(200);
    }
    let uart = "protocol=uart&rx=LA5&baudrate=921600&annotations=rx-data";
    let key = format!("ApiKey {}", server.api_key);
    let live = format!("/api/ws/capture?device_id={device}&frames=none&{uart}");
    let live = Socket::open(&server.url, &live, &[("authorization", &key)]);
    let mut live = live.unwrap().socket();
    let head = captured(&client, &device);
    let id = head["id"].as_str().unwrap();
    let gaps = ranges(&head["gaps"]);
    assert!(!gaps.is_empty(), "{head}");
    assert!(gaps.iter().all(|(from, to)| from < to && *to <= SAMPLES));
    assert!(gaps.is_sorted_by(|a, b| a.1 <= b.0), "{gaps:?}");
    let is_lost = |from: u64, to: u64| gaps.iter().any(|gap| gap.0 < to && from < gap.1);

    let tiles = format!("/api/capture/{id}/tiles?level=12&index=0&tiles=2");
    let json = server.client().with_header("accept", "application/json");
    assert_eq!(ranges(&get(&json, &tiles)["gaps"]), gaps);

    let path = format!("/api/capture/{id}/decode?{uart}");
    let text = client.get(&path).unwrap().text;
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let place = |line: &Value| {
        (
            line["start"].as_u64().unwrap(),
            line["end"].as_u64().unwrap(),
        )
    };
    let (lost, found): (Vec<&Value>, Vec<&Value>) =
        lines.iter().partition(|line| line["class"] == "lost");
    let lost: Vec<(u64, u64)> = lost.into_iter().map(place).collect();
    assert_eq!(lost, gaps);
    assert!(!found.is_empty(), "{text}");
    // The same as while it arrived, where a gap may come in pieces.
    let meanwhile = meanwhile(&mut live);
    let meanwhile: Vec<&Value> = { meanwhile.iter() }
        .filter(|event| event["class"] != "lost")
        .collect();
    assert_eq!(meanwhile, found);
    for line in found {
        let (start, end) = place(line);
        assert!(!is_lost(start, end), "{line}");
    }
    let density = get(&client, &format!("{path}&summary=10"));
    assert_eq!(ranges(&density["gaps"]), gaps);

    let search = "q=no%20edge%20on%20LA5%20for%205%20us&limit=1000";
    let hits = get(&client, &format!("/api/capture/{id}/search?{search}"))["results"].clone();
    let hits = ranges(&hits);
    assert!(!hits.is_empty());
    assert!(hits.iter().all(|(from, to)| !is_lost(*from, *to)));

    let rules = json!({"rules": {"version": 1, "rules": [
        {"name": "busy", "count": {"edge": "LA5 rising", "min": 1}},
    ]}});
    let path = format!("/api/capture/{id}/assert");
    let judged = client.post(&path, &rules).unwrap().expect(200);
    assert_eq!(judged["failed"], 1, "{judged}");
    let seen = judged["rules"][0]["seen"].as_str().unwrap();
    assert!(seen.starts_with("unknown because samples "), "{seen}");

    counted(&server, &gaps);
}

/// The metrics have what was lost.
fn counted(server: &Server, gaps: &[(u64, u64)]) {
    let samples: u64 = gaps.iter().map(|(from, to)| to - from).sum();
    assert_eq!(
        metric(server, "hostd_captures_samples_lost_total "),
        samples
    );
    assert_eq!(
        metric(server, "hostd_captures_samples_received_total "),
        SAMPLES - samples
    );
    assert_eq!(
        metric(server, "hostd_captures_gaps_total "),
        gaps.len() as u64
    );
    assert_eq!(metric(server, "hostd_captures_in_progress "), 0);
}

#[test]
fn a_long_capture_is_whole_and_its_room_is_free_once_it_is_deleted() {
    let server = server(&[("old", "sim:v3,seed=3,fault=firmware=3.9.3")]);
    let client = server.client();
    let head = captured(&client, server.device());
    assert_eq!(head["gaps"], Value::Null, "{head}");
    let id = head["id"].as_str().unwrap();
    let files = || {
        let folder = fs::read_dir(server.dir().join("data/captures")).unwrap();
        let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names
            .filter(|name| name.starts_with(id))
            .collect::<Vec<_>>()
    };
    assert_eq!(files().len(), 2, "{:?}", files());
    assert!(metric(&server, "hostd_captures_bytes ") > 0);
    let path = format!("/api/capture/{id}");
    assert_eq!(client.delete(&path).unwrap().status, 204);
    assert_eq!(files(), Vec::<String>::new());
    assert_eq!(metric(&server, "hostd_captures_bytes "), 0);
    // A pod that does not send samples while it takes them has its limit named.
    let order = json!({"device_id": device(&client, "old"), "samples": SAMPLES, "sample_rate_mhz": 12,
        "voltage_mv": 3300});
    let refused = client.post(LA, &order).unwrap().expect(400);
    let why = refused["error"].as_str().unwrap();
    assert!(why.contains("samples") && why.contains("4194304"), "{why}");
}
