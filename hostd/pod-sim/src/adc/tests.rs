//! Readings of the analog input.

use pod_protocol::rates;
use serde_json::json;

use crate::analog::Input;
use crate::frontend::Hardware;
use crate::tests::{Client, bench};
use crate::{AnalogSource, Board, Signal, SimConfig};

fn source(signal: Signal) -> SimConfig {
    SimConfig {
        ext: AnalogSource {
            signal,
            noise_v: 0.0,
        },
        ..SimConfig::default()
    }
}

#[tokio::test(start_paused = true)]
async fn a_synthesised_signal_is_seen_sample_by_sample() {
    let pod = bench(source(Signal::Sine {
        freq_hz: 440.0,
        amplitude_v: 3.0,
        offset_v: 0.5,
    }));
    let mut client = Client::new(&pod).await;
    let captured = client
        .capture(json!({"cmd": "capture", "samples": 5_000, "sample_rate_mhz": 0.4}))
        .await;
    let hardware = Hardware::new(Board::V3, 1);
    for (index, count) in (0..).zip(&captured.adc) {
        let seconds = std::time::Duration::from_nanos(rates::sample_ns(index, 60)).as_secs_f64();
        let volts = 0.5 + 3.0 * (std::f64::consts::TAU * 440.0 * seconds).sin();
        // Counts wrap around 0 V, so the distance is measured on the circle.
        let off = hardware
            .count(Input::Ext, volts)
            .wrapping_sub(*count)
            .cast_signed();
        assert!(off.abs() <= 8, "sample {index}: {off} counts off");
    }
}

#[tokio::test(start_paused = true)]
async fn a_moving_input_is_refused_and_a_wrapping_one_is_read() {
    let pod = bench(source(Signal::Square {
        freq_hz: 50_000.0,
        amplitude_v: 2.0,
        offset_v: 2.0,
    }));
    let mut client = Client::new(&pod).await;
    let text = client.refused(json!({"cmd": "adc_read"})).await;
    assert!(text.contains("1024"), "{text}");
    // This board wraps at 65.716013 V - 65536 counts, just below 0 V.
    let hardware = Hardware::new(Board::V3, 1);
    let mut below_0 = (0..200).map(|step| f64::from(step) * -1e-4);
    let at_wrap = below_0.find(|volts| hardware.count(Input::Ext, *volts) == 0);
    let pod = bench(source(Signal::Dc {
        volts: at_wrap.unwrap(),
    }));
    let mut client = Client::new(&pod).await;
    let read = client.ok(json!({"cmd": "adc_read"})).await;
    assert!((-4..=2).contains(&read["mv"].as_i64().unwrap()), "{read}");
    assert!(read["span"].as_u64().unwrap() < 20, "{read}");
}

#[tokio::test(start_paused = true)]
async fn noise_is_the_seeds_and_nothing_elses() {
    let mut captures = Vec::new();
    for seed in [1, 1, 2] {
        let pod = bench(SimConfig {
            seed,
            ..SimConfig::default()
        });
        let request = json!({"cmd": "capture", "samples": 1_000, "enc": "b64"});
        captures.push(Client::new(&pod).await.capture(request).await.adc);
    }
    assert_eq!(captures[0], captures[1]);
    assert_ne!(captures[0], captures[2]);
}
