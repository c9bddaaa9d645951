//! Pins: claims, levels, resistors, bank voltage, and the messages of their refusals.

use pod_protocol::{Refusal, RefusalKind};
use serde_json::{Value, json};

use crate::tests::{Client, bench};
use crate::{Board, SimConfig, SimPod};

async fn client(board: Board) -> (std::sync::Arc<SimPod>, Client) {
    let pod = bench(SimConfig {
        board,
        ..SimConfig::default()
    });
    let client = Client::new(&pod).await;
    (pod, client)
}

async fn levels(client: &mut Client) -> Value {
    client.ok(json!({"cmd": "gpio"})).await["levels"].take()
}

#[tokio::test(start_paused = true)]
async fn the_pin_table_shows_fourteen_channels() {
    let (_pod, mut client) = client(Board::V3).await;
    let table = client.ok(json!({"cmd": "la_pins"})).await;
    let pins = table["pins"].as_array().unwrap();
    assert_eq!(pins.len(), 14);
    let first = json!({"la": 1, "function": "none", "gpio": null, "level": null,
        "pull": {"dir": "up", "ohms": "4.7k", "on": false}});
    assert_eq!(pins[0], first);
    assert_eq!(pins[6]["pull"]["dir"], "down");
    assert_eq!(pins[13]["pull"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn outputs_drive_and_open_drains_follow_their_pull_up() {
    let (_pod, mut client) = client(Board::V3).await;
    let entries = client
        .ok(json!({"cmd": "gpio", "la": [9, 2], "mode": "output", "level": 1}))
        .await;
    let entries = entries["pins"].as_array().unwrap();
    assert_eq!(
        (&entries[0]["la"], &entries[1]["la"]),
        (&json!(2), &json!(9))
    );
    assert_eq!(entries[0]["level"], 1);
    client
        .ok(json!({"cmd": "gpio", "la": 6, "mode": "open_drain"}))
        .await;
    assert_eq!(levels(&mut client).await, 0b1_0000_0010);
    client
        .ok(json!({"cmd": "la", "la": 6, "pullup": "on"}))
        .await;
    assert_eq!(levels(&mut client).await, 0b1_0010_0010);
    client.ok(json!({"cmd": "gpio", "la": 6, "level": 0})).await;
    assert_eq!(levels(&mut client).await, 0b1_0000_0010);
    client
        .ok(json!({"cmd": "gpio", "la": "all", "mode": "off"}))
        .await;
    assert_eq!(levels(&mut client).await, 0b10_0000);
    let off = client
        .refused(json!({"cmd": "gpio", "la": 2, "level": 1}))
        .await;
    assert!(
        off.contains(r#"{"cmd":"gpio","la":2,"mode":"output"}"#),
        "{off}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_list_is_claimed_as_a_whole_or_not_at_all() {
    let (_pod, mut client) = client(Board::V3).await;
    client
        .ok(json!({"cmd": "la", "la": 5, "steps": 1000, "delay_us": 1000}))
        .await;
    let text = client
        .refused(json!({"cmd": "gpio", "la": [3, 4, 5], "mode": "output"}))
        .await;
    let expected = RefusalKind::PinConflict {
        la: 5,
        function: "step".to_owned(),
    };
    assert_eq!(Refusal::new(text).kind, expected);
    let table = client.ok(json!({"cmd": "la_pins"})).await;
    assert_eq!(table["pins"][2]["function"], "none");
    // A train may use a GPIO output, but not an input.
    client
        .ok(json!({"cmd": "gpio", "la": 3, "mode": "input"}))
        .await;
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    let train = json!({"cmd": "la", "la": 3, "steps": 1, "delay_us": 4});
    let text = client.refused(train.clone()).await;
    assert!(
        text.contains(r#"release it with {"cmd":"gpio","la":3,"mode":"off"}"#),
        "{text}"
    );
    client
        .ok(json!({"cmd": "gpio", "la": 3, "mode": "output", "level": 1}))
        .await;
    client.ok(train).await;
    let owned = client.ok(json!({"cmd": "la_pins"})).await;
    assert_eq!(owned["pins"][2]["function"], "gpio");
}

#[tokio::test(start_paused = true)]
async fn pull_downs_and_open_drain_exclude_each_other_both_ways() {
    let (_pod, mut client) = client(Board::V3).await;
    client
        .ok(json!({"cmd": "la", "la": 7, "pullup": "on"}))
        .await;
    let claim = client
        .refused(json!({"cmd": "gpio", "la": 7, "mode": "open_drain"}))
        .await;
    assert_eq!(
        Refusal::new(claim.as_str()).kind,
        RefusalKind::PullConflict { la: 7 }
    );
    assert!(claim.contains("pull-down"), "{claim}");
    client
        .ok(json!({"cmd": "gpio", "la": 7, "mode": "output"}))
        .await;
    client
        .ok(json!({"cmd": "la", "la": 7, "pullup": "off"}))
        .await;
    client
        .ok(json!({"cmd": "gpio", "la": 8, "mode": "open_drain"}))
        .await;
    let engage = client
        .refused(json!({"cmd": "la", "la": 8, "pullup": "on"}))
        .await;
    assert_eq!(
        Refusal::new(engage.as_str()).kind,
        RefusalKind::PullConflict { la: 8 }
    );
    assert!(engage.contains("pull-down"), "{engage}");
}

#[tokio::test(start_paused = true)]
async fn the_bank_voltage_gates_pins_and_pulls() {
    let pod = SimPod::new(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let unset = json!({"mv": 0, "st": 1, "readback_mv": 3300});
    assert_eq!(client.ok(json!({"cmd": "la_voltage"})).await, unset);
    for request in [
        json!({"cmd": "gpio"}),
        json!({"cmd": "la"}),
        json!({"cmd": "la_capture"}),
    ] {
        let text = client.refused(request).await;
        assert!(text.starts_with("la voltage not set"), "{text}");
    }
    client.ok(json!({"cmd": "la_pins"})).await;
    client.ok(json!({"cmd": "la_voltage", "mv": 3300})).await;
    client
        .ok(json!({"cmd": "la", "la": 1, "pullup": "on"}))
        .await;
    client
        .ok(json!({"cmd": "gpio", "la": 4, "mode": "input"}))
        .await;
    client.ok(json!({"cmd": "la_voltage", "mv": 3300})).await;
    let text = client
        .refused(json!({"cmd": "la_voltage", "mv": 1800}))
        .await;
    assert!(
        text.contains("in use") && text.contains("LA4 (gpio)"),
        "{text}"
    );
    client
        .ok(json!({"cmd": "gpio", "la": 4, "mode": "off"}))
        .await;
    let low = client.ok(json!({"cmd": "la_voltage", "mv": 1800})).await;
    assert_eq!(low, json!({"mv": 1800, "st": 0, "readback_mv": 1800}));
    let mask = client.ok(json!({"cmd": "la"})).await;
    assert_eq!(mask, json!({"la_pullup_mask": 0, "pullups_available": 0}));
    let text = client
        .refused(json!({"cmd": "la", "la": 1, "pullup": "on"}))
        .await;
    assert!(text.contains("1.8"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_v2_board_has_one_bank_voltage() {
    let (_pod, mut client) = client(Board::V2).await;
    let text = client
        .refused(json!({"cmd": "la_voltage", "mv": 1800}))
        .await;
    assert!(text.contains("v3"), "{text}");
    let selected = client.ok(json!({"cmd": "la_voltage"})).await;
    assert_eq!(selected["readback_mv"], 0);
}

#[tokio::test(start_paused = true)]
async fn bad_fields_are_refused_by_name() {
    let (_pod, mut client) = client(Board::V3).await;
    for (request, names) in [
        (json!({"cmd": "gpio", "la": 15, "mode": "input"}), "la"),
        (json!({"cmd": "gpio", "la": [], "mode": "input"}), "la"),
        (json!({"cmd": "gpio", "mode": "input"}), "la"),
        (json!({"cmd": "gpio", "la": 1}), "level"),
        (json!({"cmd": "gpio", "la": 1, "mode": "push"}), "mode"),
        (
            json!({"cmd": "gpio", "la": 1, "mode": "output", "level": 2}),
            "level",
        ),
        (json!({"cmd": "la", "la": 9, "pullup": "on"}), "LA9"),
        (json!({"cmd": "la", "la": 1, "pullup": true}), "pullup"),
        (
            json!({"cmd": "la", "la": 1, "steps": 5, "delay_us": 3}),
            "delay_us",
        ),
        (
            json!({"cmd": "la", "la": 1, "steps": 0, "delay_us": 9}),
            "steps",
        ),
        (json!({"cmd": "la", "la": 1, "steps": 5}), "delay_us"),
        (
            json!({"cmd": "la", "la": 1, "steps": 5, "delay_us": 9, "dir_la": 1}),
            "dir_la",
        ),
        (json!({"cmd": "la_voltage", "mv": 2500}), "mv"),
    ] {
        let text = client.refused(request.clone()).await;
        assert!(text.contains(names), "{request}: {text}");
    }
    assert_eq!(levels(&mut client).await, 0);
}
