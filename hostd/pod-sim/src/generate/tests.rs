//! Waveforms compared with their formulas.

use std::f64::consts::TAU;

use pod_protocol::rates::DAC_DIVIDERS;
use serde_json::{Value, json};
use tokio::time::{Duration, sleep};

use super::{Shape, period};
use crate::frontend::OUTPUT_TAU_NS;
use crate::tests::{Client, bench};
use crate::{Board, SimConfig};

/// Volts at the 5 V output, from counts read through its loop.
fn volts(counts: &[u16]) -> Vec<f64> {
    let fit = Board::V3.adc_fits().cal1;
    let unwrapped = |count: u16| f64::from(count) + if count < 32_768 { 65_536.0 } else { 0.0 };
    counts
        .iter()
        .map(|count| fit.volts(unwrapped(*count)))
        .collect()
}

/// Amplitude of the component at `freq_hz`, by correlation over the whole recording.
fn amplitude(samples: &[f64], freq_hz: f64, rate_hz: f64) -> f64 {
    let (mut re, mut im, mut at) = (0.0, 0.0, 0.0);
    for sample in samples {
        let phase = TAU * freq_hz / rate_hz * at;
        re += sample * phase.cos();
        im += sample * phase.sin();
        at += 1.0;
    }
    2.0 * re.hypot(im) / at
}

async fn looped(generate: Value, capture: Value) -> (Vec<f64>, f64) {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    client.ok(generate).await;
    client
        .ok(json!({"cmd": "analog_path", "path": "cal1"}))
        .await;
    let captured = client.capture(capture).await;
    (volts(&captured.adc), captured.adc_rate_hz)
}

#[tokio::test(start_paused = true)]
async fn a_sine_has_its_frequency_amplitude_and_offset() {
    for freq_hz in [50.0, 1_000.0, 7_300.0] {
        let generate = json!({"cmd": "generate", "waveform": "sine", "freq": freq_hz,
            "path": "5v", "amplitude_v": 1.5, "offset_v": 2.0, "route": false});
        let capture = json!({"cmd": "capture_dual", "adc_samples": 400_000,
            "adc_rate_mhz": 0.4, "enc": "b64"});
        let (volts, rate_hz) = looped(generate, capture).await;
        let count = f64::from(u32::try_from(volts.len()).unwrap());
        let mean = volts.iter().sum::<f64>() / count;
        assert!((mean - 2.0).abs() < 0.015, "{freq_hz} Hz: mean {mean}");
        // One second resolves 1 Hz: the whole amplitude lies within 0.2 % of the frequency.
        let steps = (-20..=20).map(|step| freq_hz * (1.0 + f64::from(step) * 1e-4));
        let peak = steps
            .map(|freq| amplitude(&volts, freq, rate_hz))
            .fold(0.0, f64::max);
        assert!((peak - 1.5).abs() < 0.02, "{freq_hz} Hz: amplitude {peak}");
        let elsewhere = amplitude(&volts, freq_hz * 1.4, rate_hz);
        assert!(
            elsewhere < 0.02,
            "{freq_hz} Hz: {elsewhere} at another frequency"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_sine_has_hardly_any_harmonics() {
    let generate = json!({"cmd": "generate", "waveform": "sine", "freq": 1000.0, "path": "5v",
        "amplitude_v": 2.0, "offset_v": 2.5, "route": false});
    let capture = json!({"cmd": "capture_dual", "adc_samples": 200_000, "adc_rate_mhz": 0.4,
        "enc": "b64"});
    let (volts, rate_hz) = looped(generate, capture).await;
    let at = |harmonic: u8| amplitude(&volts, 1000.0 * f64::from(harmonic), rate_hz);
    let squares = (2..=9).map(|harmonic| at(harmonic).powi(2));
    let distortion = squares.sum::<f64>().sqrt() / at(1);
    assert!(distortion < 1e-3, "{distortion}");
}

#[tokio::test(start_paused = true)]
async fn a_square_starts_high_on_the_captures_first_sample_and_stops_where_told() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let reply = client
        .ok(
            json!({"cmd": "generate", "waveform": "square", "freq": 200.0, "path": "5v",
            "amplitude_v": 1.0, "offset_v": 1.5, "on_capture": true}),
        )
        .await;
    assert_eq!(reply, json!({"cotrig": true, "bits": 16}));
    client
        .ok(json!({"cmd": "analog_path", "path": "cal1"}))
        .await;
    sleep(Duration::from_millis(33)).await;
    let captured = client
        .capture(
            json!({"cmd": "capture_dual", "adc_samples": 4_000, "adc_rate_mhz": 0.1,
            "stop_dac_after_us": 11_000}),
        )
        .await;
    let volts = volts(&captured.adc);
    let level = |range: std::ops::Range<usize>, expected: f64| {
        for (at, volts) in volts[range.clone()].iter().enumerate() {
            assert!(
                (volts - expected).abs() < 0.02,
                "{range:?} + {at}: {volts} V"
            );
        }
    };
    // Sample 0 is taken when the output starts to move.
    level(1..249, 2.5);
    level(251..499, 0.5);
    level(501..749, 2.5);
    level(1_001..4_000, 2.5);
}

#[tokio::test(start_paused = true)]
async fn a_duration_ends_by_itself_and_a_stop_holds_the_level() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let saw = json!({"cmd": "generate", "waveform": "sawtooth", "freq": 10.0, "path": "5v",
        "amplitude_v": 2.0, "offset_v": 2.0, "duration_ms": 225});
    client.ok(saw).await;
    sleep(Duration::from_millis(300)).await;
    let read = client
        .ok(json!({"cmd": "adc_read", "source": "cal1"}))
        .await;
    assert!((read["mv"].as_i64().unwrap() - 1_000).abs() < 20, "{read}");
    let slow = json!({"cmd": "generate", "waveform": "sawtooth", "freq": 1.0, "path": "5v",
        "amplitude_v": 2.0, "offset_v": 2.0});
    client.ok(slow).await;
    sleep(Duration::from_millis(500)).await;
    client.ok(json!({"cmd": "dac_stop"})).await;
    sleep(Duration::from_secs(7)).await;
    let read = client
        .ok(json!({"cmd": "adc_read", "source": "cal1"}))
        .await;
    assert!((read["mv"].as_i64().unwrap() - 2_000).abs() < 20, "{read}");
}

#[tokio::test(start_paused = true)]
async fn peaks_far_beyond_the_output_are_refused_and_near_ones_clamped() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let generate = |amplitude: f64| {
        json!({"cmd": "generate", "waveform": "sine", "freq": 100.0, "path": "5v",
            "amplitude_v": amplitude, "offset_v": 2.5})
    };
    client.ok(generate(2.6)).await;
    let text = client.refused(generate(3.0)).await;
    assert!(
        text.contains("5500 mV") || text.contains("-500 mV"),
        "{text}"
    );
    for bad in [
        json!({"cmd": "generate", "freq": 0}),
        json!({"cmd": "generate", "freq": 1e9}),
        json!({"cmd": "generate", "freq": 1e-6}),
        json!({"cmd": "generate", "amplitude": 0}),
        json!({"cmd": "generate", "waveform": "noise"}),
        json!({"cmd": "generate", "amplitude_v": 1.0}),
        json!({"cmd": "generate", "freq": 1.0, "sample_rate_mhz": 0.5}),
    ] {
        client.refused(bad).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_measurement_is_one_period_in_step() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    client
        .ok(json!({"cmd": "analog_path", "path": "cal1"}))
        .await;
    for (waveform, points) in [("square", 256_u32), ("sine", 256), ("square", 128)] {
        let reply = client
            .ask(
                json!({"cmd": "measure", "waveform": waveform, "freq": 1000.0,
                "samples": points}),
            )
            .await;
        assert_eq!(
            (&reply["status"], &reply["more"]),
            (&json!("ok"), &json!(false))
        );
        let counts: Vec<u16> = serde_json::from_value(reply["data"].clone()).unwrap();
        assert_eq!(counts.len(), usize::try_from(points).unwrap());
        let shape = if waveform == "sine" {
            Shape::Sine
        } else {
            Shape::Square
        };
        // Each sample is taken when the DAC moves on, so it shows how far the output has settled to
        // the point before.
        let fit = Board::V3.dac_fits().out_5v;
        let left = (-1e9 / (f64::from(points) * 1000.0) / OUTPUT_TAU_NS).exp();
        let volts = volts(&counts);
        let mut expected = volts[0];
        for (point, volts) in (0..points).zip(&volts[1..]) {
            let target = fit.a + fit.b * (128.0 + 127.0 * shape.at(point, points));
            expected = target + (expected - target) * left;
            assert!(
                (volts - expected).abs() < 0.02,
                "{waveform} {point}: {volts}, {expected}"
            );
        }
    }
}

#[test]
fn frequencies_are_met_within_their_range() {
    let mut freq_hz = 0.37;
    while freq_hz < 40_000.0 {
        let (points, divider) = period(freq_hz, None).unwrap();
        assert!((2..=2048).contains(&points) && DAC_DIVIDERS.contains(&divider));
        let played = 48e6 / (f64::from(points) * f64::from(divider));
        assert!(
            (played / freq_hz - 1.0).abs() < 0.002,
            "{freq_hz} Hz plays {played} Hz"
        );
        freq_hz *= 1.013;
    }
    assert!(period(0.1, None).is_err());
    assert!(period(1e6, None).is_err());
}
