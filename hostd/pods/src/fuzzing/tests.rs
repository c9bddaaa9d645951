//! A seeded short run of every fuzz target, from mutated valid inputs.

use super::{RAW_MODES, raw, replies, requests};
use crate::protocol::commands::all;
use crate::sim::tests::Random;

/// Changes, drops, doubles and inserts some bytes.
fn mutated(random: &mut Random, valid: &[u8]) -> Vec<u8> {
    let mut bytes = valid.to_vec();
    for _ in 0..random.below(5) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        let byte = u8::try_from(random.below(256)).unwrap();
        match random.below(4) {
            0 => bytes[at] = byte,
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, bytes[at]),
            _ => bytes.insert(at, byte),
        }
    }
    bytes
}

#[tokio::test(start_paused = true)]
async fn any_request_bytes_leave_the_pod_usable() {
    let valid: Vec<&str> = all()
        .flat_map(|command| command.examples)
        .flat_map(|example| example.before.iter().copied().chain([example.request]))
        // What restarts the pod or changes its gateware is not undone by closing.
        .filter(|request| !request.contains("psram_recover") && !request.contains("ota_commit"))
        .collect();
    let mut random = Random(1 << 40);
    for _ in 0..300 {
        let mut bytes = Vec::new();
        for _ in 0..random.below(6) {
            let line = format!("{}\n", random.pick(&valid));
            bytes.extend(mutated(&mut random, line.as_bytes()));
        }
        requests(&bytes).await;
    }
}

#[tokio::test(start_paused = true)]
async fn any_raw_bytes_leave_the_pod_usable() {
    let valid = b"hello\r\n+++{\"cmd\":\"ping\"}\n\x00\xff+++";
    let mut random = Random(2 << 40);
    for round in 0..300 {
        let mut bytes = vec![u8::try_from(round % RAW_MODES.len()).unwrap()];
        for _ in 0..random.below(12) {
            bytes.extend(mutated(&mut random, valid));
        }
        raw(&bytes).await;
    }
}

#[test]
fn any_reply_bytes_are_read_without_contradiction() {
    let valid = [
        r#"{"status":"ok","data":{"mv":3300}}"#,
        r#"{"status":"error","message":"pin conflict: LA3 is in use by gpio; x"}"#,
        r#"{"status":"ok","bits":16,"adc_rate_hz":400000,"b64":"BgBN_RP3","more":true}"#,
        r#"{"status":"chunk","data":[1,65535],"more":true}"#,
        r#"{"status":"chunk","la":true,"la_edges":[[0,3],[17,1]],"la_upto":256,"more":true}"#,
        r#"{"status":"chunk","la":true,"la_edges":[[300,3]],"la_upto":512,"more":true}"#,
        r#"{"status":"chunk","la":true,"la_edges":[],"la_upto":600,"more":false}"#,
    ];
    let mut random = Random(3 << 40);
    for _ in 0..20_000 {
        let mut bytes = Vec::new();
        for _ in 0..random.below(6) {
            let line = format!("{}\n", random.pick(&valid));
            bytes.extend(mutated(&mut random, line.as_bytes()));
        }
        replies(&bytes);
    }
}
