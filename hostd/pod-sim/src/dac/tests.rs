//! Levels on the outputs, read back through the loops.

use serde_json::json;
use tokio::time::{Duration, sleep};

use crate::analog::Input;
use crate::board::OutputPath;
use crate::frontend::{Hardware, NOISE_COUNTS, OUTPUT_TAU_NS};
use crate::tests::{Client, bench};
use crate::{Board, SimConfig};

#[tokio::test(start_paused = true)]
async fn voltages_are_met_and_read_back_through_the_loop() {
    for board in [Board::V2, Board::V3] {
        let pod = bench(SimConfig {
            board,
            ..SimConfig::default()
        });
        let mut client = Client::new(&pod).await;
        for volts in [0.5, 1.0, 2.5, 4.5] {
            let out = client
                .ok(json!({"cmd": "dac_out", "path": "5v", "volts": volts}))
                .await;
            assert_eq!(out["path"], "dac_5v");
            assert!((out["uv"].as_f64().unwrap() / 1e6 - volts).abs() < 0.001);
            let nominal = (volts - 0.0024) / (4.985 - 0.0024) * 255.0;
            assert!(
                (out["code"].as_f64().unwrap() - nominal).abs() <= 2.0,
                "{out}"
            );
            let read = client
                .ok(json!({"cmd": "adc_read", "source": "cal1"}))
                .await;
            assert!(
                (read["mv"].as_f64().unwrap() / 1e3 - volts).abs() < 0.01,
                "{read}"
            );
            assert!(read["span"].as_u64().unwrap() < 20);
        }
        let below = client
            .ok(json!({"cmd": "dac_out", "path": "12v", "volts": -40}))
            .await;
        assert!(below["mv"].as_i64().unwrap() < -12_000);
        let read = client
            .ok(json!({"cmd": "adc_read", "source": "cal2"}))
            .await;
        assert!((read["mv"].as_i64().unwrap() - below["mv"].as_i64().unwrap()).abs() < 10);
    }
}

#[tokio::test(start_paused = true)]
async fn routing_changes_switches_but_never_the_code() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    client.ok(json!({"cmd": "dac_set", "value": 128})).await;
    for (path, mux, relays) in [
        ("off", 0, 0),
        ("dac_3v3", 1, 0),
        ("dac_5v", 3, 0),
        ("dac_12v", 13, 0),
        ("cal1", 3, 9),
        ("cal2", 31, 10),
        ("adc_ext", 31, 0),
        ("current_in", 31, 4),
        ("current_out", 22, 4),
    ] {
        let reply = client.ok(json!({"cmd": "analog_path", "path": path})).await;
        assert_eq!(reply, json!({"path": path, "u55": mux, "u58": relays}));
    }
    client
        .ok(json!({"cmd": "analog_path", "path": "cal1"}))
        .await;
    assert_eq!(client.ok(json!({"cmd": "cal_switch"})).await["cal1"], 1);
    let read = client
        .ok(json!({"cmd": "adc_read", "source": "cal1"}))
        .await;
    let expected = 1e3 * Board::V3.dac_fits().out_5v.code_volts(128 << 8);
    assert!(
        (read["mv"].as_f64().unwrap() - expected).abs() < 10.0,
        "{read}"
    );
    client.ok(json!({"cmd": "dac_out", "path": "5v"})).await;
    assert_eq!(client.ok(json!({"cmd": "cal_switch"})).await["cal1"], 0);
    let both = json!({"cmd": "cal_switch", "cal1": 1, "cal2": 1});
    assert!(client.refused(both).await.contains("cal2"));
    client
        .refused(json!({"cmd": "analog_path", "path": "moon"}))
        .await;
}

#[tokio::test(start_paused = true)]
async fn the_open_inputs_read_almost_nothing() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let ext = client.ok(json!({"cmd": "adc_read"})).await;
    assert_eq!(ext["source"], "adc_ext");
    // 45 mV, plus the ADC's own offset of a few mV.
    assert!((43..58).contains(&ext["mv"].as_i64().unwrap()), "{ext}");
    let current = client
        .ok(json!({"cmd": "adc_read", "source": "current_in"}))
        .await;
    let (mv, ua) = (
        current["mv"].as_f64().unwrap(),
        current["ua"].as_f64().unwrap(),
    );
    assert!((ua - mv / 0.249).abs() < 4.0 && ua < 100.0, "{current}");
}

#[tokio::test(start_paused = true)]
async fn a_step_settles_with_the_time_constant_of_the_output() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    client
        .ok(json!({"cmd": "analog_path", "path": "cal1"}))
        .await;
    client.ok(json!({"cmd": "dac_set", "value": 20})).await;
    sleep(Duration::from_millis(1)).await;
    // No time passes before the capture, so the step is at its first sample.
    client.ok(json!({"cmd": "dac_set", "value": 220})).await;
    let captured = client
        .capture(json!({"cmd": "capture", "samples": 40, "enc": "b64"}))
        .await;
    let hardware = Hardware::new(Board::V3, 1);
    for (at, count) in (0_u16..).zip(&captured.adc) {
        let left = (-2_500.0 * f64::from(at) / OUTPUT_TAU_NS).exp();
        let level = 256.0 * (220.0 - 200.0 * left);
        let expected = hardware.count(Input::Cal1, hardware.volts(OutputPath::V5, level));
        let off = expected.wrapping_sub(*count).cast_signed();
        assert!(off.abs() <= 6, "sample {at}: {off} counts off");
    }
}

#[tokio::test(start_paused = true)]
async fn an_inputs_noise_has_its_size() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    client
        .ok(json!({"cmd": "dac_out", "path": "5v", "volts": 2.0}))
        .await;
    client
        .ok(json!({"cmd": "analog_path", "path": "cal1"}))
        .await;
    sleep(Duration::from_millis(1)).await;
    let counts = client
        .capture(json!({"cmd": "capture", "samples": 30_000, "enc": "b64"}))
        .await
        .adc;
    let mean = counts.iter().copied().map(f64::from).sum::<f64>() / 30_000.0;
    let squares = counts
        .iter()
        .map(|count| (f64::from(*count) - mean).powi(2));
    let rms = (squares.sum::<f64>() / 30_000.0).sqrt();
    // The converter's own noise, and rounding to whole counts.
    let expected = (NOISE_COUNTS * NOISE_COUNTS + 1.0 / 12.0).sqrt();
    assert!(
        (rms / expected - 1.0).abs() < 0.03,
        "{rms} counts, {expected}"
    );
}
