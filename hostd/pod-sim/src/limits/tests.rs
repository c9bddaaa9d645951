//! Limits park the output, refuse commands, survive a restart, and keep an inverted stage
//! connected.

use serde_json::json;
use tokio::time::{Duration, sleep};

use crate::SimConfig;
use crate::reboot::BOOT;
use crate::tests::{Client, bench};

#[tokio::test(start_paused = true)]
async fn limits_rule_commands_out_until_they_are_cleared() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let limits = json!({"cmd": "dac_limits", "path": "5v", "inverted": false, "min_mv": 500,
        "max_mv": 3000});
    let set = client.ok(limits.clone()).await;
    assert_eq!(
        set,
        json!({"enabled": true, "path": "5v", "inverted": false, "min_mv": 500,
            "max_mv": 3000, "park_mv": 500})
    );
    for request in [
        json!({"cmd": "generate", "freq": 100}),
        json!({"cmd": "dac_set", "value": 20}),
        json!({"cmd": "load", "offset": 0, "data": "AAAA"}),
        json!({"cmd": "load_bin", "total": 8}),
        json!({"cmd": "replay"}),
        json!({"cmd": "measure"}),
        json!({"cmd": "dac_mux"}),
        json!({"cmd": "cal_switch"}),
        json!({"cmd": "current_out", "ua": 8000}),
        json!({"cmd": "calibrate", "dac": "5v"}),
        json!({"cmd": "calibrate", "adc": "cal1"}),
        json!({"cmd": "dac_out", "path": "5v", "volts": 3.1}),
        json!({"cmd": "dac_out", "path": "5v", "volts": 0.4}),
        json!({"cmd": "dac_control_loop", "source": "fixed"}),
    ] {
        let text = client.refused(request.clone()).await;
        assert!(text.starts_with("DAC limits"), "{request}: {text}");
    }
    client.ok(json!({"cmd": "current_out"})).await;
    client
        .ok(json!({"cmd": "dac_out", "path": "5v", "volts": 2.5}))
        .await;
    client
        .ok(json!({"cmd": "dac_control_loop", "vmin": 7_000, "vmax": 39_000}))
        .await;
    sleep(Duration::from_millis(1)).await;
    assert!(pod.meter_volts() < 3.01 && pod.meter_volts() > 0.49);
    let stopped = client.ok(json!({"cmd": "dac_stop"})).await;
    assert_eq!(stopped, json!({"parked_mv": 500}));
    sleep(Duration::from_millis(1)).await;
    assert!((pod.meter_volts() - 0.5).abs() < 0.01);
    client
        .ok(json!({"cmd": "analog_path", "path": "off"}))
        .await;
    assert_eq!(
        client.ok(json!({"cmd": "dac_limits"})).await["max_mv"],
        3000
    );
    let cleared = client
        .ok(json!({"cmd": "dac_limits", "enabled": false}))
        .await;
    assert_eq!(cleared["enabled"], false);
    client.ok(json!({"cmd": "dac_set", "value": 20})).await;
    assert!(client.ok(json!({"cmd": "dac_stop"})).await.is_null());
}

#[tokio::test(start_paused = true)]
async fn an_inverted_stage_stays_connected_and_parks_high_through_a_restart() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let set = client
        .ok(
            json!({"cmd": "dac_limits", "path": "5v", "inverted": true, "min_mv": 1000,
            "max_mv": 4000}),
        )
        .await;
    assert_eq!(set["park_mv"], 4000);
    for path in ["off", "dac_3v3", "dac_12v", "cal2", "current_out"] {
        let text = client
            .refused(json!({"cmd": "analog_path", "path": path}))
            .await;
        assert!(text.contains("must stay connected"), "{path}: {text}");
    }
    for path in ["cal1", "adc_ext", "dac_5v"] {
        client.ok(json!({"cmd": "analog_path", "path": path})).await;
    }
    client
        .ok(json!({"cmd": "dac_out", "path": "5v", "volts": 1.5}))
        .await;
    pod.reboot();
    sleep(BOOT).await;
    assert!(
        (pod.meter_volts() - 4.0).abs() < 0.01,
        "{}",
        pod.meter_volts()
    );
    let mut client = Client::new(&pod).await;
    assert_eq!(
        client.ok(json!({"cmd": "dac_limits"})).await["inverted"],
        true
    );
    client
        .ok(json!({"cmd": "dac_out", "path": "5v", "volts": 1.5}))
        .await;
    client.ok(json!({"cmd": "fpga_image", "image": 1})).await;
    sleep(Duration::from_millis(1)).await;
    assert!(
        (pod.meter_volts() - 4.0).abs() < 0.01,
        "an image switch parks too"
    );
}

#[tokio::test(start_paused = true)]
async fn limits_outside_the_output_are_refused() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    for (path, min_mv, max_mv) in [
        ("9v", 0, 1),
        ("5v", 0, 9000),
        ("5v", 20, 10),
        ("3v3", -1, 3),
    ] {
        let request = json!({"cmd": "dac_limits", "path": path, "min_mv": min_mv,
            "max_mv": max_mv});
        client.refused(request).await;
    }
    client
        .refused(json!({"cmd": "dac_limits", "path": "5v"}))
        .await;
    assert_eq!(
        client.ok(json!({"cmd": "dac_limits"})).await["enabled"],
        false
    );
}
