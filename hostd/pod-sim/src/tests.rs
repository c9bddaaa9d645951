//! A raw client for the simulator's tests, and the tests of the simulator as a whole.

use std::sync::Arc;

use pod_protocol::chunk::{CaptureLine, Extent, Payload, parse};
use pod_protocol::connection::lines::Lines;
use pod_protocol::connection::{BoxedStream, Transport};
use pod_protocol::{REPLY_LINE_BYTES_MAX, REQUEST_LINE_BYTES_MAX};
use serde_json::{Value, json};
use tokio::time::{Duration, sleep};

use super::{Board, CONNECTIONS_MAX, Origin, SimConfig, SimPod};

/// A connection that sends and receives lines of the protocol directly.
pub(crate) struct Client {
    lines: Lines<BoxedStream>,
}

/// A capture as received.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Captured {
    pub(crate) adc: Vec<u16>,
    pub(crate) words: Vec<u16>,
    pub(crate) adc_rate_hz: f64,
    pub(crate) la_rate_hz: f64,
    pub(crate) packets: usize,
    pub(crate) trigger: bool,
    pub(crate) extent: Option<Extent>,
    pub(crate) gaps: Vec<(u64, u64)>,
}

pub(crate) fn bench(config: SimConfig) -> Arc<SimPod> {
    SimPod::new(SimConfig {
        la_voltage_mv: config.la_voltage_mv.or(Some(3300)),
        ..config
    })
}

impl Client {
    /// A client on the LAN.
    pub(crate) async fn new(pod: &Arc<SimPod>) -> Self {
        Self::from(pod, Origin::Lan).await
    }

    pub(crate) async fn from(pod: &Arc<SimPod>, origin: Origin) -> Self {
        let stream = pod.link(origin).connect().await.unwrap();
        Self {
            lines: Lines::new(stream, REPLY_LINE_BYTES_MAX),
        }
    }

    pub(crate) async fn send(&mut self, request: &Value) {
        self.send_bytes(&serde_json::to_vec(request).unwrap()).await;
    }

    pub(crate) async fn skip_line(&mut self) {
        self.lines.read().await.unwrap().expect("a packet");
    }

    pub(crate) async fn send_bytes(&mut self, line: &[u8]) {
        self.lines.write(line.to_vec()).await.unwrap();
    }

    pub(crate) async fn send_raw(&mut self, bytes: &[u8]) {
        self.lines.write_raw(bytes).await.unwrap();
    }

    /// Reads exactly `count` bytes.
    pub(crate) async fn read_raw(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while bytes.len() < count {
            let more = self.lines.read_raw(count - bytes.len()).await.unwrap();
            assert!(!more.is_empty(), "the pod closed");
            bytes.extend(more);
        }
        bytes
    }

    pub(crate) async fn reply(&mut self) -> Option<Value> {
        let line = self.lines.read().await.unwrap()?;
        Some(serde_json::from_slice(line).unwrap())
    }

    pub(crate) async fn ask(&mut self, request: Value) -> Value {
        self.send(&request).await;
        self.reply().await.expect("a reply")
    }

    pub(crate) async fn ok(&mut self, request: Value) -> Value {
        let mut reply = self.ask(request.clone()).await;
        assert_eq!(reply["status"], "ok", "{request} gave {reply}");
        reply["data"].take()
    }

    pub(crate) async fn refused(&mut self, request: Value) -> String {
        let reply = self.ask(request.clone()).await;
        assert_eq!(reply["status"], "error", "{request} gave {reply}");
        reply["message"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn capture(&mut self, request: Value) -> Captured {
        self.send(&request).await;
        self.captured().await.unwrap()
    }

    /// Reads a capture's packets and expands its edges.
    pub(crate) async fn captured(&mut self) -> Result<Captured, String> {
        let mut captured = Captured::default();
        loop {
            let line = self.lines.read().await.unwrap().expect("a packet");
            let chunk = match parse(line).unwrap() {
                CaptureLine::Chunk(chunk) => chunk,
                CaptureLine::Refused(refusal) => return Err(refusal.text),
            };
            let chunk = match chunk.raw_bytes() {
                Some(bytes) => chunk.take(self.lines.read_bytes(bytes).await.unwrap().unwrap()),
                None => chunk,
            };
            captured.packets += 1;
            captured.adc_rate_hz = chunk.adc_rate_hz.unwrap_or(captured.adc_rate_hz);
            captured.la_rate_hz = chunk.la_rate_hz.unwrap_or(captured.la_rate_hz);
            captured.gaps.extend(chunk.gap);
            captured.extent = chunk.extent.or(captured.extent);
            captured.trigger |= chunk.trigger.is_some_and(|trigger| trigger.fired);
            match chunk.payload {
                Payload::Dense(counts) => captured.adc.extend(counts),
                Payload::Edges { edges, upto } => expand(&mut captured.words, &edges, upto),
                Payload::Words(words) => captured.words.extend(words),
                Payload::Runs(runs) => {
                    let words = runs
                        .iter()
                        .map(|(run, word)| vec![*word; usize::from(*run)]);
                    captured.words.extend(words.flatten());
                }
                Payload::Raw(_) => unreachable!("its bytes were read"),
            }
            if !chunk.more {
                return Ok(captured);
            }
        }
    }
}

/// Appends the words of one packet.
fn expand(words: &mut Vec<u16>, edges: &[(u64, u16)], upto: u64) {
    for (index, word) in edges {
        let index = usize::try_from(*index).unwrap();
        assert!(index >= words.len(), "edges go forward");
        let before = words.last().copied().unwrap_or(*word);
        words.resize(index, before);
        words.push(*word);
    }
    let last = words.last().copied().unwrap_or(0);
    words.resize(usize::try_from(upto).unwrap(), last);
}

/// The indices at which channel `la` rises.
pub(crate) fn rises(words: &[u16], la: u8) -> Vec<usize> {
    let level = |word: u16| word & (1 << (la - 1)) != 0;
    let pairs = words.windows(2).enumerate();
    let rising = pairs.filter(|(_, pair)| !level(pair[0]) && level(pair[1]));
    rising.map(|(index, _)| index + 1).collect()
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_is_the_same_pod() {
    let key = async |seed| {
        let pod = bench(SimConfig {
            seed,
            ..SimConfig::default()
        });
        let data = Client::new(&pod)
            .await
            .ok(json!({"cmd": "identity_public"}))
            .await;
        data["public"].as_str().unwrap().to_owned()
    };
    assert_eq!(key(5).await, key(5).await);
    assert_ne!(key(5).await, key(6).await);
    assert_eq!(key(5).await.len(), 43);
}

#[tokio::test(start_paused = true)]
async fn unknown_and_malformed_requests_get_their_texts() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    assert_eq!(client.refused(json!({"cmd": "warp"})).await, "unknown cmd");
    assert_eq!(client.refused(json!({"verb": 1})).await, "missing cmd");
    for line in [&b"[1]"[..], b"{", b"\xff\xfe", b"null"] {
        client.send_bytes(line).await;
        assert_eq!(client.reply().await.unwrap()["status"], "error");
    }
    let long = json!({"cmd": "ping", "pad": "x".repeat(REQUEST_LINE_BYTES_MAX)});
    assert!(client.refused(long).await.contains("1279"));
    client.send_bytes(b"").await;
    assert_eq!(client.ok(json!({"cmd": "ping", "extra": 1})).await, "pong");
}

#[tokio::test(start_paused = true)]
async fn a_digital_board_refuses_what_needs_the_front_end() {
    let pod = bench(SimConfig {
        board: Board::Digital,
        ..SimConfig::default()
    });
    let mut client = Client::new(&pod).await;
    for request in [
        json!({"cmd": "dac_out", "path": "5v"}),
        json!({"cmd": "adc_read"}),
        json!({"cmd": "analog_path", "path": "off"}),
        json!({"cmd": "capture", "samples": 4}),
        json!({"cmd": "capture_dual", "adc_samples": 4, "la_samples": 4}),
        json!({"cmd": "generate"}),
        json!({"cmd": "dac_set", "value": 3}),
        json!({"cmd": "measure"}),
        json!({"cmd": "calibrate"}),
        json!({"cmd": "load_bin", "total": 4}),
    ] {
        let text = client.refused(request).await;
        assert!(
            text.starts_with("this BenchPod has no analog front end"),
            "{text}"
        );
    }
    client.ok(json!({"cmd": "dac_stop"})).await;
    let la = client
        .capture(json!({"cmd": "capture_dual", "adc_samples": 0, "la_samples": 300}))
        .await;
    assert_eq!(la.words.len(), 300);
    let status = client.ok(json!({"cmd": "status"})).await;
    assert_eq!(status["analog"], false);
    assert!(status.get("adc_cal_a_uv").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_dc_only_board_holds_levels_but_plays_nothing() {
    let pod = bench(SimConfig {
        ac_dac: false,
        ..SimConfig::default()
    });
    let mut client = Client::new(&pod).await;
    client
        .ok(json!({"cmd": "dac_out", "path": "5v", "volts": 2.0}))
        .await;
    for cmd in ["generate", "measure"] {
        let text = client.refused(json!({"cmd": cmd})).await;
        assert!(text.contains("DC levels only"), "{text}");
    }
    let status = client.ok(json!({"cmd": "status"})).await;
    let caps = status["caps"].as_array().unwrap();
    assert!(!caps.contains(&json!("generate16")));
    assert!(caps.contains(&json!("dac_dc")));
}

#[tokio::test(start_paused = true)]
async fn connections_beyond_the_limit_are_closed_and_free_again_later() {
    let pod = bench(SimConfig::default());
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS_MAX {
        let mut client = Client::new(&pod).await;
        client.ok(json!({"cmd": "ping"})).await;
        clients.push(client);
    }
    assert_eq!(Client::new(&pod).await.reply().await, None);
    clients.pop();
    sleep(Duration::from_millis(1)).await;
    let mut again = Client::new(&pod).await;
    assert_eq!(again.ok(json!({"cmd": "ping"})).await, "pong");
}

#[tokio::test(start_paused = true)]
async fn unplugging_ends_connections_and_keeps_the_instrument() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    client
        .ok(json!({"cmd": "gpio", "la": 3, "mode": "output", "level": 1}))
        .await;
    pod.set_plugged(false);
    assert_eq!(client.reply().await, None);
    assert!(pod.connect().await.is_err());
    pod.set_plugged(true);
    let mut client = Client::new(&pod).await;
    let levels = client.ok(json!({"cmd": "gpio"})).await;
    assert_eq!(levels["levels"], 0b100);
}

mod capabilities;
mod page;
mod random;
mod table;
