//! Loopback, responder, ring and bit rates.

use serde_json::json;
use tokio::time::{Duration, advance};

use super::is_supported;
use crate::SimConfig;
use crate::tests::{Client, bench};

#[test]
fn bit_rates_are_those_the_clock_divides_to() {
    for bitrate in [10_000, 50_000, 125_000, 250_000, 500_000, 1_000_000] {
        assert!(is_supported(bitrate), "{bitrate}");
    }
    for bitrate in [777_777, 1, 4_000_000, u64::MAX] {
        assert!(!is_supported(bitrate), "{bitrate}");
    }
}

#[tokio::test(start_paused = true)]
async fn written_frames_come_back_and_rules_answer_them() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let write = json!({"cmd": "can_write", "id": 291, "data": [1, 2, 3]});
    assert!(client.refused(write.clone()).await.contains("disabled"));
    client
        .ok(json!({"cmd": "can_config", "bitrate": 500_000, "mode": "internal"}))
        .await;
    let rule = json!({"cmd": "can_respond", "match_id": 291, "ext": false,
        "reply_id": 0x18DA_F110, "reply_ext": true, "reply_data": [9]});
    assert_eq!(client.ok(rule).await, json!({"rule": 0, "rules": 1}));
    client.ok(write.clone()).await;
    advance(Duration::from_millis(300)).await;
    client.ok(write).await;
    let read = client.ok(json!({"cmd": "can_read", "max": 8})).await;
    let frames = read["frames"].as_array().unwrap();
    assert_eq!(frames.len(), 4);
    assert_eq!(
        (&frames[0]["id"], &frames[0]["data"]),
        (&json!(291), &json!([1, 2, 3]))
    );
    assert_eq!(
        (&frames[1]["id"], &frames[1]["ext"]),
        (&json!(0x18DA_F110), &json!(true))
    );
    let ts = |index: usize| frames[index]["ts"].as_u64().unwrap();
    assert!((299..=301).contains(&(ts(2) - ts(0))));
    let status = client.ok(json!({"cmd": "can_status"})).await;
    assert_eq!(
        (&status["responder_hits"], &status["rx_pending"]),
        (&json!(2), &json!(0))
    );
    client
        .ok(json!({"cmd": "can_respond", "clear": true}))
        .await;
    assert_eq!(
        client.ok(json!({"cmd": "can_status"})).await["responder_hits"],
        0
    );
}

#[tokio::test(start_paused = true)]
async fn the_ring_drops_what_it_cannot_hold() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    client
        .ok(json!({"cmd": "can_config", "mode": "external"}))
        .await;
    for id in 0..40 {
        client
            .ok(json!({"cmd": "can_write", "id": id, "data": []}))
            .await;
    }
    let mut frames = Vec::new();
    for _ in 0..5 {
        let read = client.ok(json!({"cmd": "can_read", "max": 100})).await;
        assert_eq!(read["overflow"], 9);
        let list = read["frames"].as_array().unwrap().clone();
        assert!(list.len() <= 8);
        frames.extend(list);
    }
    let ids: Vec<u64> = frames
        .iter()
        .map(|frame| frame["id"].as_u64().unwrap())
        .collect();
    assert_eq!(ids, (0..31).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn bad_frames_and_full_tables_are_refused() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    for (request, text) in [
        (json!({"cmd": "can_config", "bitrate": 777_777}), "777777"),
        (json!({"cmd": "can_config", "mode": "fast"}), "bad mode"),
        (json!({"cmd": "can_write", "id": 0x800}), "id out of range"),
        (
            json!({"cmd": "can_write", "id": 1, "data": [0, 1, 2, 3, 4, 5, 6, 7, 8]}),
            "bad data",
        ),
        (
            json!({"cmd": "can_write", "id": 1, "data": [256]}),
            "bad data",
        ),
        (
            json!({"cmd": "can_respond", "match_id": 1}),
            "missing reply_id",
        ),
    ] {
        assert!(client.refused(request).await.contains(text));
    }
    let rule = json!({"cmd": "can_respond", "match_id": 1, "reply_id": 2});
    for _ in 0..8 {
        client.ok(rule.clone()).await;
    }
    assert!(client.refused(rule).await.contains('8'));
    assert_eq!(
        client.ok(json!({"cmd": "can_term", "on": true})).await["term"],
        true
    );
}
