//! Calibration makes readings more accurate, survives a restart, and refuses what it should.

use serde_json::{Value, json};
use tokio::time::{Duration, Instant, sleep};

use crate::reboot::BOOT;
use crate::tests::{Client, bench};
use crate::{AnalogSource, Board, Signal, SimConfig, SimPod};

async fn read_mv(client: &mut Client, source: &str) -> f64 {
    let read = client
        .ok(json!({"cmd": "adc_read", "source": source}))
        .await;
    read["mv"].as_f64().unwrap()
}

/// Drives both set points, reads a voltmeter, and stores the line.
async fn line(pod: &SimPod, client: &mut Client, path: &str, volts: [f64; 2]) -> Value {
    let mut points = Vec::new();
    for volts in volts {
        let out = client
            .ok(json!({"cmd": "dac_out", "path": path, "volts": volts}))
            .await;
        sleep(Duration::from_millis(1)).await;
        points.push((out["code16"].clone(), (pod.meter_volts() * 1e6).round()));
    }
    client
        .ok(
            json!({"cmd": "calibrate", "dac": path, "code1": points[0].0, "uv1": points[0].1,
            "code2": points[1].0, "uv2": points[1].1}),
        )
        .await
}

#[tokio::test(start_paused = true)]
async fn a_full_calibration_improves_outputs_and_inputs_of_every_board() {
    for (board, seed) in [(Board::V2, 1), (Board::V3, 2), (Board::V3, 3)] {
        let pod = bench(SimConfig {
            board,
            seed,
            ext: AnalogSource {
                signal: Signal::Dc { volts: 4.0 },
                noise_v: 0.0,
            },
            ..SimConfig::default()
        });
        let mut client = Client::new(&pod).await;
        let before_ext = (read_mv(&mut client, "ext").await - 4000.0).abs();
        let dac_error = async |client: &mut Client| {
            let out = client
                .ok(json!({"cmd": "dac_out", "path": "5v", "volts": 3.0}))
                .await;
            sleep(Duration::from_millis(1)).await;
            (out["uv"].as_f64().unwrap() / 1e6 - pod.meter_volts()).abs()
        };
        let before_dac = dac_error(&mut client).await;
        let started = Instant::now();
        let offset = client
            .ok(json!({"cmd": "calibrate", "source": "current_in"}))
            .await;
        assert!(started.elapsed() >= Duration::from_millis(300));
        assert_eq!(
            (&offset["calibrated"], &offset["samples"]),
            (&json!(true), &json!(512))
        );
        assert!(
            (2_000..9_000).contains(&offset["offset_uv"].as_i64().unwrap()),
            "{offset}"
        );
        let zero = client
            .ok(json!({"cmd": "adc_read", "source": "current_in"}))
            .await;
        assert!(zero["ua"].as_i64().unwrap().abs() < 6, "{zero}");
        line(&pod, &mut client, "5v", [1.0, 4.0]).await;
        let lines = line(&pod, &mut client, "12v", [-5.0, 5.0]).await;
        assert_eq!(lines["dmm"], true);
        assert_eq!(lines["dac"]["3v3"], Value::Null);
        let started = Instant::now();
        let gain = client.ok(json!({"cmd": "calibrate", "adc": "cal1"})).await;
        assert!(started.elapsed() >= Duration::from_millis(600));
        let ppm = gain["adc_gain_ppm"]["cal1"].as_i64().unwrap();
        assert!(ppm.abs() <= 450, "{gain}");
        assert!(
            gain["measured"]["residual_uv"].as_i64().unwrap().abs() < 1500,
            "{gain}"
        );
        // Afterwards the outputs are off.
        assert_eq!(client.ok(json!({"cmd": "dac_mux"})).await["reg"], 0);
        let after_dac = dac_error(&mut client).await;
        assert!(
            after_dac < 30e-6 && after_dac < before_dac,
            "{before_dac} then {after_dac} V"
        );
        let after_ext = (read_mv(&mut client, "ext").await - 4000.0).abs();
        // Only this input's offset is known, so the remaining error is its gain.
        assert!(
            after_ext <= 2.6 && after_ext < before_ext,
            "{before_ext} then {after_ext} mV"
        );
        // The loop reads the same as the voltmeter.
        client
            .ok(json!({"cmd": "dac_out", "path": "5v", "volts": 2.0}))
            .await;
        let looped = read_mv(&mut client, "cal1").await;
        assert!((looped - pod.meter_volts() * 1e3).abs() <= 1.6, "{looped}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cable_calibrates_the_front_input_and_status_tells_its_fit() {
    let pod = bench(SimConfig {
        ext: AnalogSource {
            signal: Signal::Output,
            noise_v: 0.0,
        },
        seed: 5,
        ..SimConfig::default()
    });
    let mut client = Client::new(&pod).await;
    let built_in = client.ok(json!({"cmd": "status"})).await;
    let early = client
        .refused(json!({"cmd": "calibrate", "adc": "ext"}))
        .await;
    assert!(early.contains("offset comes first"), "{early}");
    client
        .ok(json!({"cmd": "calibrate", "source": "current_in"}))
        .await;
    let early = client
        .refused(json!({"cmd": "calibrate", "adc": "ext"}))
        .await;
    assert!(early.contains("12v output has no line"), "{early}");
    line(&pod, &mut client, "12v", [-5.0, 5.0]).await;
    let gain = client.ok(json!({"cmd": "calibrate", "adc": "ext"})).await;
    assert!(gain["adc_gain_ppm"]["ext"].is_i64(), "{gain}");
    let status = client.ok(json!({"cmd": "status"})).await;
    assert_ne!(status["adc_cal_a_uv"], built_in["adc_cal_a_uv"]);
    assert_ne!(status["adc_cal_b_nv"], built_in["adc_cal_b_nv"]);
    for volts in [-8.0, -1.0, 2.0, 9.0] {
        client
            .ok(json!({"cmd": "dac_out", "path": "12v", "volts": volts}))
            .await;
        let read = read_mv(&mut client, "ext").await;
        assert!(
            (read - pod.meter_volts() * 1e3).abs() <= 1.5,
            "{volts} V: {read} mV"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_stored_survives_a_restart_until_it_is_cleared() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    client
        .ok(json!({"cmd": "calibrate", "source": "current_in"}))
        .await;
    line(&pod, &mut client, "5v", [1.0, 4.0]).await;
    let stored = client.ok(json!({"cmd": "calibrate", "adc": "cal1"})).await;
    pod.reboot();
    sleep(BOOT).await;
    let mut client = Client::new(&pod).await;
    let read = client.ok(json!({"cmd": "calibrate"})).await;
    for field in [
        "offset_uv",
        "a_uv",
        "b_nv",
        "dac",
        "adc_gain_ppm",
        "zero_count_mc",
    ] {
        assert_eq!(read[field], stored[field], "{field}");
    }
    assert!(read.get("count").is_none() && read.get("measured").is_none());
    let no_dac = client.ok(json!({"cmd": "calibrate", "clear": "dac"})).await;
    assert_eq!(
        (&no_dac["dac"]["5v"], &no_dac["calibrated"]),
        (&Value::Null, &json!(true))
    );
    let no_gain = client.ok(json!({"cmd": "calibrate", "clear": "adc"})).await;
    assert_eq!(
        (&no_gain["adc_gain_ppm"]["cal1"], &no_gain["dmm"]),
        (&Value::Null, &json!(false))
    );
    let none = client.ok(json!({"cmd": "calibrate", "clear": true})).await;
    assert_eq!(
        (&none["calibrated"], &none["offset_uv"]),
        (&json!(false), &json!(0))
    );
    let built_in = Board::V3.adc_fits().cal1;
    assert_eq!(none["a_uv"].as_f64().unwrap(), (built_in.a * 1e6).round());
    assert_eq!(none["b_nv"].as_f64().unwrap(), (built_in.b * 1e9).round());
}

#[tokio::test(start_paused = true)]
async fn a_driven_or_moving_input_is_refused_and_the_old_value_stays() {
    for (signal, words) in [
        (Signal::Dc { volts: 0.2 }, "drives"),
        (
            Signal::Sine {
                freq_hz: 3.0,
                amplitude_v: 0.1,
                offset_v: 0.0,
            },
            "moving",
        ),
    ] {
        let pod = bench(SimConfig {
            current_in: AnalogSource {
                signal,
                noise_v: 0.0,
            },
            ..SimConfig::default()
        });
        let mut client = Client::new(&pod).await;
        let text = client
            .refused(json!({"cmd": "calibrate", "source": "current_in"}))
            .await;
        assert!(text.contains(words), "{text}");
        let read = client.ok(json!({"cmd": "calibrate"})).await;
        assert_eq!(read["calibrated"], false);
    }
}

#[tokio::test(start_paused = true)]
async fn lines_that_cannot_be_are_refused() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let line = |code1: u32, uv1: u32, code2: u32, uv2: u32| {
        json!({"cmd": "calibrate", "dac": "5v", "code1": code1, "uv1": uv1, "code2": code2,
            "uv2": uv2})
    };
    for (request, words) in [
        (line(20_000, 1_528_000, 21_000, 1_605_000), "too close"),
        (line(13_000, 994_600, 52_000, 2_000_000), "far from"),
        (line(20_000, 1_528_800, 30_000, 2_400_000), "% off"),
        (json!({"cmd": "calibrate", "dac": "9v"}), "dac"),
        (
            json!({"cmd": "calibrate", "dac": "5v", "code1": 1}),
            "missing",
        ),
        (json!({"cmd": "calibrate", "adc": "current_in"}), "adc"),
        (json!({"cmd": "calibrate", "source": "ext"}), "source"),
        (json!({"cmd": "calibrate", "clear": "moon"}), "clear"),
    ] {
        let text = client.refused(request).await;
        assert!(text.contains(words), "{text} should say {words}");
    }
    // Without a cable, the front input reads nothing similar to the output.
    client
        .ok(json!({"cmd": "calibrate", "source": "current_in"}))
        .await;
    super::tests::line(&pod, &mut client, "12v", [-5.0, 5.0]).await;
    let text = client
        .refused(json!({"cmd": "calibrate", "adc": "ext"}))
        .await;
    assert!(text.contains("far from"), "{text}");
}
