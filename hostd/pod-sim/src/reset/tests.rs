//! Reset pulses are timed in the pod; v2 boards have neither reset line nor monitor.

use serde_json::json;
use tokio::time::{Duration, Instant};

use crate::tests::{Client, bench};
use crate::{Board, SimConfig};

#[tokio::test(start_paused = true)]
async fn a_pulse_is_held_in_the_pod_and_answered_after_it() {
    let pod = bench(SimConfig::default());
    let (mut client, mut other) = (Client::new(&pod).await, Client::new(&pod).await);
    let before = Instant::now();
    client
        .send(&json!({"cmd": "nrst", "pulse_ms": 200, "assert": true}))
        .await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(other.ok(json!({"cmd": "nrst"})).await["asserted"], true);
    let reply = client.reply().await.unwrap();
    assert_eq!(before.elapsed().as_millis(), 200);
    assert_eq!(reply["data"], json!({"supported": true, "asserted": false}));
    client.ok(json!({"cmd": "nrst", "pulse_ms": 60_000})).await;
    assert_eq!(before.elapsed().as_millis(), 1_200);
}

#[tokio::test(start_paused = true)]
async fn the_line_is_held_until_it_is_released() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    for asserted in [true, false] {
        client.ok(json!({"cmd": "nrst", "assert": asserted})).await;
        assert_eq!(
            client.ok(json!({"cmd": "nrst"})).await["asserted"],
            asserted
        );
    }
    client.refused(json!({"cmd": "nrst", "pulse_ms": 0})).await;
}

#[tokio::test(start_paused = true)]
async fn v2_boards_refuse_both_and_announce_neither() {
    for (board, present) in [
        (Board::V2, false),
        (Board::V3, true),
        (Board::Digital, true),
    ] {
        let pod = bench(SimConfig {
            board,
            ..SimConfig::default()
        });
        let mut client = Client::new(&pod).await;
        let status = client.ok(json!({"cmd": "status"})).await;
        for cmd in ["nrst", "usb_cc"] {
            if present {
                assert_eq!(client.ok(json!({"cmd": cmd})).await["supported"], true);
            } else {
                let text = client.refused(json!({"cmd": cmd})).await;
                assert!(text.contains("v3"), "{text}");
            }
        }
        assert_eq!(status["nrst_pin"], present);
        assert_eq!(status["usb_cc"], present);
    }
}
