//! Entries for fuzzers and seeded tests of a simulated pod: one for each kind of input. Run them
//! with tokio's clock paused, or they take as long as what they request.

use std::sync::Arc;

use pod_protocol::REPLY_LINE_BYTES_MAX;
use pod_protocol::connection::lines::Lines;
use pod_protocol::connection::{BoxedStream, Transport as _};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{Duration, timeout};

use crate::dial::read_answer;
use crate::{SimConfig, SimPod, TargetConfig};

/// Longer than any wait of a pod.
const PATIENCE: Duration = Duration::from_secs(100_000);

/// Most bytes that one input may send; more would add time but no states.
const INPUT_BYTES_MAX: usize = 16 * 1024;

/// Requests that switch a connection to raw bytes.
const RAW_MODES: [&str; 4] = [
    r#"{"cmd":"uart_proxy_start","rx":3,"tx":4,"baud":4000000}"#,
    r#"{"cmd":"load_bin","total":200}"#,
    r#"{"cmd":"load_bin","total":9000,"psram":true}"#,
    r#"{"cmd":"dap_start","swclk":11,"swdio":12}"#,
];

fn bench() -> Arc<SimPod> {
    SimPod::new(SimConfig {
        la_voltage_mv: Some(3300),
        target: Some(TargetConfig::blank()),
        ..SimConfig::default()
    })
}

/// Sends any bytes as a pod's requests: the pod must survive, and everything that the connection
/// held must be free.
///
/// # Panics
/// If that is not so.
pub async fn requests(bytes: &[u8]) {
    let pod = bench();
    send_and_leave(&pod, &[], bytes).await;
    expect_usable(&pod).await;
}

/// Sends any bytes in a raw mode, which the first byte selects; otherwise like [`requests`].
///
/// # Panics
/// If the pod is not usable afterwards.
pub async fn raw(bytes: &[u8]) {
    let Some((mode, bytes)) = bytes.split_first() else {
        return;
    };
    let enter = RAW_MODES[usize::from(*mode) % RAW_MODES.len()];
    let pod = bench();
    send_and_leave(&pod, format!("{enter}\n").as_bytes(), bytes).await;
    expect_usable(&pod).await;
}

/// Any bytes as a server's answer to a pod that dials: what is complete is so, whatever came in between.
///
/// # Panics
/// If a part of an answer is taken for the whole, or the other way round.
pub fn answer(bytes: &[u8]) {
    if let Ok(Some((status, body))) = read_answer(bytes) {
        assert!(status < 1000 && bytes.ends_with(body));
        for cut in 0..bytes.len() {
            assert_eq!(read_answer(&bytes[..cut]), Ok(None));
        }
    }
}

/// Sends bytes, reads all answers and closes.
async fn send_and_leave(pod: &Arc<SimPod>, before: &[u8], bytes: &[u8]) {
    let stream = pod.connect().await.expect("the pod is plugged in");
    let (mut from_pod, mut to_pod) = tokio::io::split(stream);
    let bytes = &bytes[..bytes.len().min(INPUT_BYTES_MAX)];
    let send = async {
        // A pod that has closed accepts no more, which is allowed.
        let _ = to_pod.write_all(before).await;
        let _ = to_pod.write_all(bytes).await;
        let _ = to_pod.shutdown().await;
    };
    let read = async { while matches!(from_pod.read_u8().await, Ok(_byte)) {} };
    let both = async { tokio::join!(send, read) };
    let ended = timeout(PATIENCE, both).await;
    assert!(ended.is_ok(), "the pod did not end the connection");
}

/// Checks that a new connection is answered, a capture runs, and no channel belongs to a raw mode.
async fn expect_usable(pod: &Arc<SimPod>) {
    let stream = pod.connect().await.expect("the pod is plugged in");
    let mut lines = Lines::new(stream, REPLY_LINE_BYTES_MAX);
    let table = ask(&mut lines, r#"{"cmd":"la_pins"}"#).await;
    let pins = table["data"]["pins"].as_array().expect("a table of pins");
    for pin in pins {
        let function = pin["function"].as_str().expect("a function");
        assert!(
            !function.starts_with("uart") && !function.starts_with("swd"),
            "{pin}"
        );
    }
    // An update outlives its connection, and keeps the capture memory until it is dropped.
    ask(&mut lines, r#"{"cmd":"ota_abort"}"#).await;
    let set = ask(&mut lines, r#"{"cmd":"la_voltage"}"#).await;
    if set["data"]["mv"] != 0 {
        let capture = ask(&mut lines, r#"{"cmd":"la_capture","samples":2}"#).await;
        assert_eq!(capture["status"], "ok", "{capture}");
    }
}

async fn ask(lines: &mut Lines<BoxedStream>, request: &str) -> Value {
    let written = lines.write(request.as_bytes().to_vec()).await;
    written.expect("the pod takes a request");
    let read = timeout(PATIENCE, lines.read()).await;
    let line = read.expect("the pod answers").expect("a line");
    serde_json::from_slice(line.expect("an open connection")).expect("a reply is JSON")
}

#[cfg(test)]
mod tests;
