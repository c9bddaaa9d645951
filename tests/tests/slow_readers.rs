//! Clients of live streams that do not read, or vanish silently: nobody else waits for them, and
//! they are told what they missed or are disconnected.

use serde_json::{Value, json};
use tests::{Bench, PodSim, Server, Socket, until};
use tungstenite::Message;

/// LA9 sends, LA10 receives, and a wire joins them: the target is an echo.
const ECHO: &str = "rx=10&tx=9&baud=4000000";

/// More than the line's own ring and the buffers between server and client hold.
const ECHO_BYTES: usize = 5 << 20;

/// Bytes that are written at once before their echo is read.
const PART_BYTES: usize = 16 << 10;

/// ADC samples, which make 8 MB of text: more than the buffers between server and client hold.
const SAMPLES: u64 = 3_000_000;

/// A server with these settings and one network pod whose UART echoes; the id of its device.
fn bench(pod: &PodSim, settings: &str) -> (Server, String) {
    let address = format!("tcp:{}", pod.address);
    let bench = Bench::start_with(&format!("{settings}\n"), &[&address]).unwrap();
    let [device] = bench.devices.try_into().unwrap();
    (bench.server, device)
}

fn open(server: &Server, path: &str) -> Socket {
    let key = format!("ApiKey {}", server.api_key);
    let opened = Socket::open(&server.url, path, &[("authorization", &key)]);
    opened.unwrap().socket()
}

fn follow(server: &Server, device: &str) -> Socket {
    let mut socket = open(server, &format!("/api/ws/capture?device_id={device}"));
    assert_eq!(text(&mut socket).unwrap()["type"], "hello");
    socket
}

/// The next text message; none when the connection ends or something else comes.
fn text(socket: &mut Socket) -> Option<Value> {
    match socket.message() {
        Ok(Message::Text(text)) => Some(serde_json::from_str(&text).unwrap()),
        _ => None,
    }
}

/// The numbers of the frames until the capture is done, or until the connection ends: then false.
fn frames(socket: &mut Socket) -> (Vec<u64>, bool) {
    let mut seqs = Vec::new();
    while let Some(told) = text(socket) {
        match told["type"].as_str().unwrap() {
            "frame" => seqs.push(told["seq"].as_u64().unwrap()),
            "capture.done" => return (seqs, true),
            "capture.state" => {}
            other => panic!("{other} in between: {told}"),
        }
    }
    (seqs, false)
}

/// Wait until this many streams of this kind have been closed.
fn until_closed(server: &Server, stream: &str, count: usize) {
    let line = format!("stream=\"{stream}\"");
    let closed = || {
        let log = server.log();
        let lines = log.lines().filter(|l| l.contains("WebSocket closed"));
        Value::from(lines.filter(|l| l.contains(&line)).count())
    };
    until(closed, |closed| *closed == json!(count)).unwrap();
}

#[test]
fn a_follower_that_does_not_read_is_closed_and_slows_nobody() {
    let pod = PodSim::start(&[]).unwrap();
    let (server, device) = bench(&pod, "[http]\nsocket_write_wait_ms = 200\n");
    let mut slow = follow(&server, &device);
    let mut quick = follow(&server, &device);
    let order = json!({"device_id": device, "samples": SAMPLES, "sample_rate_mhz": 0.4});
    let started = server.client().post("/api/scope/captures/start", &order);
    started.unwrap().expect(202);
    let (all, done) = frames(&mut quick);
    assert!(done && all.iter().copied().eq(0..all.len() as u64));
    until_closed(&server, "captures", 1);
    // What had been sent before arrives in order, without a gap, and then nothing more.
    let (some, done) = frames(&mut slow);
    assert!(!done && some.len() < all.len(), "{} frames", some.len());
    assert!(some.iter().copied().eq(0..some.len() as u64));
}

#[test]
fn a_listener_that_does_not_read_is_told_what_it_missed_and_slows_nobody() {
    let pod = PodSim::start(&["--jumper", "9=10"]).unwrap();
    let (server, device) = bench(&pod, "");
    let path = format!("/api/bench/devices/{device}/uart/ws?{ECHO}");
    let mut quick = open(&server, &path);
    let opened = text(&mut quick).unwrap();
    let begin = opened["offset"].as_u64().unwrap();
    let mut slow = open(&server, &path);
    assert_eq!(text(&mut slow).unwrap()["offset"], begin);

    let mut sent = 0;
    while sent < ECHO_BYTES {
        let part: Vec<u8> = (sent..sent + PART_BYTES).map(byte).collect();
        quick.send(&part).unwrap();
        let mut echoed = 0;
        while echoed < PART_BYTES {
            match quick.message().unwrap() {
                Message::Binary(bytes) => {
                    let expected = (sent + echoed..).map(byte).take(bytes.len());
                    assert!(bytes.iter().copied().eq(expected), "at {}", sent + echoed);
                    echoed += bytes.len();
                }
                other => panic!("{other:?} for one that reads"),
            }
        }
        sent += PART_BYTES;
    }

    // Positions tell where each byte belongs, before and after the gap.
    let (mut at, mut missed) = (0, 0);
    while at < ECHO_BYTES {
        match slow.message().unwrap() {
            Message::Binary(bytes) => {
                let expected = (at..).map(byte).take(bytes.len());
                assert!(bytes.iter().copied().eq(expected), "at {at}");
                at += bytes.len();
            }
            Message::Text(told) => {
                let told: Value = serde_json::from_str(&told).unwrap();
                assert_eq!(told["type"], "overrun", "{told}");
                let position = |name: &str| {
                    let position = told[name].as_u64().unwrap() - begin;
                    usize::try_from(position).unwrap()
                };
                assert_eq!(position("from"), at);
                missed += position("to") - at;
                at = position("to");
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(missed > 0 && at == ECHO_BYTES);
}

/// The byte that is sent at a position; no escape sequence is among them.
fn byte(at: usize) -> u8 {
    u8::try_from(at % 251 % 40 + 48).unwrap()
}

#[test]
fn a_follower_that_vanishes_is_forgotten() {
    let server = Server::demo_with(&[]).unwrap();
    let device = server.device();
    drop(follow(&server, device));
    until_closed(&server, "captures", 1);
    let order = json!({"device_id": device, "samples": 1000, "sample_rate_mhz": 1.0,
        "channels": [1], "voltage_mv": 3300});
    let mut next = follow(&server, device);
    let started = server.client().post("/api/la/captures/start", &order);
    started.unwrap().expect(202);
    assert!(frames(&mut next).1);
}
