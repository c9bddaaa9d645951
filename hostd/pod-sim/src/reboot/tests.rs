//! What a restart clears, what it keeps, and what it does to connections.

use pod_protocol::connection::Transport as _;
use serde_json::json;
use tokio::time::{Duration, sleep};

use super::BOOT;
use crate::SimConfig;
use crate::tests::{Client, bench};

#[tokio::test(start_paused = true)]
async fn a_reboot_clears_pins_rails_and_bank_and_restarts_the_uptime() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    sleep(Duration::from_secs(20)).await;
    for request in [
        json!({"cmd": "gpio", "la": 3, "mode": "output", "level": 1}),
        json!({"cmd": "la", "la": 1, "pullup": "on"}),
        json!({"cmd": "target_power", "efuse": 1, "state": 1}),
        json!({"cmd": "target_power", "efuse": 2, "state": 1, "delay_ms": 4000}),
        json!({"cmd": "dac_out", "path": "5v", "volts": 2.0}),
        json!({"cmd": "nrst", "assert": true}),
        json!({"cmd": "fpga_image", "image": 1}),
        json!({"cmd": "can_config", "mode": "internal"}),
    ] {
        client.ok(request).await;
    }
    pod.reboot();
    assert_eq!(client.reply().await, None, "connections end");
    assert!(pod.connect().await.is_err(), "a pod that boots takes none");
    sleep(BOOT).await;
    let mut client = Client::new(&pod).await;
    let status = client.ok(json!({"cmd": "status"})).await;
    assert_eq!(status["uptime_ms"], 1_500);
    assert_eq!(status["reset"], "software");
    assert_eq!(status["la_vccio_mv"], 0);
    let caps = status["caps"].as_array().unwrap();
    assert!(caps.contains(&json!("dac_control_loop")));
    let unset = client.refused(json!({"cmd": "gpio"})).await;
    assert!(unset.starts_with("la voltage not set"), "{unset}");
    sleep(Duration::from_secs(5)).await;
    let power = client.ok(json!({"cmd": "target_status"})).await;
    assert_eq!(power["efuse1"]["enabled"], 0);
    assert_eq!(power["efuse2"]["enabled"], 0, "the delayed switch is gone");
    assert_eq!(client.ok(json!({"cmd": "nrst"})).await["asserted"], false);
    assert_eq!(client.ok(json!({"cmd": "dac_mux"})).await["reg"], 0);
    assert_eq!(
        client.ok(json!({"cmd": "dac_loop_probe"})).await["v"],
        0,
        "the DAC starts at its low end"
    );
    client.ok(json!({"cmd": "la_voltage", "mv": 3300})).await;
    let levels = client.ok(json!({"cmd": "gpio"})).await;
    assert_eq!(levels["levels"], 0, "nothing drives or pulls");
}

#[tokio::test(start_paused = true)]
async fn the_memory_test_passes_and_its_recovery_restarts_the_pod() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let ping = client.ok(json!({"cmd": "psram_ping", "count": 256})).await;
    assert_eq!(ping, json!({"pass": true, "count": 256, "first_bad": -1}));
    let text = client
        .refused(json!({"cmd": "psram_ping", "count": 3}))
        .await;
    assert!(text.contains("4..256"), "{text}");
    let reply = client.ok(json!({"cmd": "psram_recover"})).await;
    assert_eq!(reply, json!({"recover": "rebooting"}));
    sleep(Duration::from_millis(399)).await;
    client.ok(json!({"cmd": "ping"})).await;
    sleep(Duration::from_millis(2)).await;
    assert_eq!(client.reply().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_reboot_during_a_capture_frees_the_hardware() {
    let pod = bench(SimConfig::default());
    let mut capturing = Client::new(&pod).await;
    capturing
        .send(&json!({"cmd": "la_capture", "samples": 4_000_000, "sample_rate_mhz": 1.0}))
        .await;
    sleep(Duration::from_millis(100)).await;
    pod.reboot();
    assert_eq!(capturing.reply().await, None);
    sleep(BOOT).await;
    let mut client = Client::new(&pod).await;
    client.ok(json!({"cmd": "la_voltage", "mv": 3300})).await;
    let captured = client.capture(json!({"cmd": "la_capture"})).await;
    assert_eq!(captured.words, [0; 256]);
}
