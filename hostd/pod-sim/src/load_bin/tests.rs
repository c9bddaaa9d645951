//! Uploads and their replay: the loopback shows what was sent.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use tokio::time::{Duration, advance};

use crate::SimConfig;
use crate::tests::{Client, bench};

fn bytes(codes: &[u16]) -> Vec<u8> {
    codes.iter().flat_map(|code| code.to_le_bytes()).collect()
}

/// A ramp of `points` from 0 V to 4 V on the 5 V output of a v3 board.
fn ramp(points: u16) -> Vec<u16> {
    let step = 52_000 / points;
    (0..points).map(|point| point * step).collect()
}

async fn upload(client: &mut Client, codes: &[u16], psram: bool) {
    let total = codes.len() * 2;
    let ready = client
        .ok(json!({"cmd": "load_bin", "total": total, "psram": psram}))
        .await;
    assert_eq!(ready["ready"], total);
    client.send_raw(&bytes(codes)).await;
    let done = client.reply().await.unwrap();
    assert_eq!(done["data"]["total"], codes.len());
}

#[tokio::test(start_paused = true)]
async fn a_replay_armed_for_a_capture_shows_each_code_at_its_time() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    client
        .ok(json!({"cmd": "analog_path", "path": "cal1"}))
        .await;
    let codes = ramp(100);
    upload(&mut client, &codes, false).await;
    let started = client
        .ok(json!({"cmd": "replay", "samples": 100, "sample_rate_mhz": 0.01, "on_capture": true}))
        .await;
    assert_eq!(started, json!({"samples": 100, "cotrig": true}));
    let captured = client
        .capture(json!({"cmd": "capture", "samples": 4096, "sample_rate_mhz": 0.1, "enc": "b64"}))
        .await;
    for (index, count) in captured.adc.iter().enumerate() {
        // Sample 10 n is taken when the DAC moves to code n; it starts at 0.
        let code = match index {
            0 => 0,
            _ => codes[(index - 1) / 10 % 100],
        };
        let volts = 0.002_428 + 0.019_539 * f64::from(code) / 256.0;
        let unwrapped = f64::from(*count) + if *count < 0x8000 { 65_536.0 } else { 0.0 };
        let seen = 65.720_665 - 0.001_002_852 * unwrapped;
        assert!(
            (seen - volts).abs() < 0.02,
            "sample {index}: {seen} for {volts}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_upload_keeps_the_capture_hardware_until_its_replay_or_its_end() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let mut other = Client::new(&pod).await;
    let shot = json!({"cmd": "la_capture", "samples": 16});
    upload(&mut client, &ramp(10), false).await;
    assert_eq!(other.refused(shot.clone()).await, "busy");
    client.ok(json!({"cmd": "replay"})).await;
    assert_eq!(other.capture(shot.clone()).await.words.len(), 16);
    upload(&mut client, &ramp(10), false).await;
    advance(Duration::from_secs(121)).await;
    tokio::task::yield_now().await;
    assert_eq!(other.capture(shot.clone()).await.words.len(), 16);
    assert_eq!(
        client.refused(json!({"cmd": "replay"})).await,
        "nothing was uploaded"
    );
    upload(&mut client, &ramp(10), false).await;
    drop(client);
    tokio::task::yield_now().await;
    assert_eq!(other.capture(shot).await.words.len(), 16);
}

#[tokio::test(start_paused = true)]
async fn a_deep_replay_needs_its_image() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let mut swing = async |image: u8| {
        let switched = client
            .ok(json!({"cmd": "fpga_image", "image": image}))
            .await;
        assert_eq!(switched["features"], image + 1);
        let caps = client.ok(json!({"cmd": "status"})).await["caps"].to_string();
        assert_eq!(caps.contains("dac_deep_replay"), image == 1);
        assert_eq!(caps.contains("dac_control_loop"), image == 0);
        client
            .ok(json!({"cmd": "analog_path", "path": "cal1"}))
            .await;
        upload(&mut client, &ramp(8200), true).await;
        client
            .ok(json!({"cmd": "replay", "sample_rate_mhz": 0.8}))
            .await;
        let captured = client
            .capture(json!({"cmd": "capture", "samples": 8000}))
            .await;
        let unwrapped = captured.adc.iter().map(|count| count.wrapping_add(10_000));
        unwrapped.clone().max().unwrap() - unwrapped.min().unwrap()
    };
    assert!(swing(0).await < 20);
    assert!(swing(1).await > 3000);
}

#[tokio::test(start_paused = true)]
async fn a_stalled_upload_is_given_up() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    client.ok(json!({"cmd": "load_bin", "total": 10})).await;
    client.send_raw(b"12345").await;
    let reply = client.reply().await.unwrap();
    assert!(reply["message"].as_str().unwrap().contains("30 s"));
    assert_eq!(client.ok(json!({"cmd": "ping"})).await, "pong");
}

#[tokio::test(start_paused = true)]
async fn limits_are_refused_and_lines_build_the_same_upload() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    for (request, text) in [
        (
            json!({"cmd": "load_bin", "total": 4098}),
            "total out of range",
        ),
        (json!({"cmd": "load_bin", "total": 0}), "total out of range"),
        (
            json!({"cmd": "load_bin", "total": (8 << 20) + 1, "psram": true}),
            "total out of range",
        ),
        (json!({"cmd": "replay"}), "nothing was uploaded"),
        (
            json!({"cmd": "fpga_image", "image": 2}),
            "image out of range",
        ),
        (
            json!({"cmd": "load", "offset": 2, "data": "AAA"}),
            "offset out of range",
        ),
        (json!({"cmd": "load", "offset": 0, "data": "!"}), "bad data"),
    ] {
        assert!(client.refused(request).await.contains(text));
    }
    let data = URL_SAFE_NO_PAD.encode(bytes(&ramp(20)));
    client
        .ok(json!({"cmd": "load", "offset": 0, "data": data}))
        .await;
    let loaded = client
        .ok(json!({"cmd": "load", "offset": 40, "data": data}))
        .await;
    assert_eq!(loaded["total"], 40);
    let beyond = json!({"cmd": "replay", "samples": 41});
    assert!(client.refused(beyond).await.contains("40 were uploaded"));
    client.ok(json!({"cmd": "replay"})).await;
}
