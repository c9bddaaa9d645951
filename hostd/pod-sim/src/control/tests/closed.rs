//! The loop through the real path: its steps compared with the formula, closed over the pod's own
//! relay and over a cable, with an input map and its trip.

use pod_protocol::chunk::encode_b64;
use serde_json::{Value, json};
use tokio::time::{Duration, advance, sleep};

use crate::analog::Input;
use crate::board::{Board, OutputPath};
use crate::frontend::Hardware;
use crate::tests::{Client, bench};
use crate::{AnalogSource, Signal, SimConfig};

/// Fraction of the way per tick, and the tick in µs: a time constant of 1 ms.
const K: u16 = 328;
const TICK_DIV: u16 = 480;
const TICK_US: f64 = 10.0;

fn gain() -> f64 {
    f64::from(K) / 32_768.0
}

/// A cable from the output to the front input.
fn cabled() -> SimConfig {
    SimConfig {
        ext: AnalogSource {
            signal: Signal::Output,
            noise_v: 0.0,
        },
        ..SimConfig::default()
    }
}

fn code(volts: f64) -> u16 {
    Board::V3.dac_fits().out_5v.code(volts)
}

/// out = 2 · set − in over an axis of 0 to 5 V: it settles where the input is `set`.
fn regulator(set: f64) -> String {
    let point = |at: u16| code((2.0 * set - 5.0 * f64::from(at) / 319.0).clamp(0.0, 4.8));
    encode_b64(&(0..320).map(point).collect::<Vec<u16>>())
}

fn arm(curve: &str) -> Value {
    json!({"cmd": "dac_control_loop", "k": K, "tick_div": TICK_DIV, "curve": curve,
        "source": "adc", "in_mv_per_unit": 1000.0, "in_min": 0.0, "in_max": 5.0})
}

/// Output volts, from counts read through the output's loop.
fn looped_volts(counts: &[u16]) -> Vec<f64> {
    let fit = Board::V3.adc_fits().cal1;
    let unwrapped = |count: u16| f64::from(crate::adc::unwrapped(count));
    counts
        .iter()
        .map(|count| fit.volts(unwrapped(*count)))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_step_follows_the_formula_sample_by_sample() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    client
        .ok(json!({"cmd": "dac_out", "path": "5v", "volts": 1.0}))
        .await;
    client
        .ok(json!({"cmd": "analog_path", "path": "cal1"}))
        .await;
    sleep(Duration::from_millis(1)).await;
    let target = code(4.0);
    client
        .ok(
            json!({"cmd": "dac_control_loop", "k": K, "tick_div": TICK_DIV, "source": "fixed",
            "input": 0, "curve": encode_b64(&[target])}),
        )
        .await;
    // No time passes between the two, so the capture starts together with the loop.
    let captured = client
        .capture(json!({"cmd": "capture", "samples": 4_000, "enc": "b64"}))
        .await;
    let hardware = Hardware::new(Board::V3, 1);
    let (from, to) = (f64::from(code(1.0)), f64::from(target));
    for (at, count) in (0_u16..).zip(&captured.adc).skip(1) {
        // A sample at the instant of a tick is taken before the tick.
        let ticks = ((f64::from(at) * 2.5 - 0.001) / TICK_US).floor();
        let level = to + (from - to) * (1.0 - gain()).powf(ticks);
        let expected = hardware.count(Input::Cal1, hardware.volts(OutputPath::V5, level));
        let off = expected.wrapping_sub(*count).cast_signed();
        // Noise of 1.2 counts, and the rest of the last tick's step after 2.5 µs.
        assert!(off.abs() <= 9, "sample {at}: {off} counts off");
    }
}

#[tokio::test(start_paused = true)]
async fn closed_over_the_relay_it_settles_twice_as_fast_on_its_set_point() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    client
        .ok(json!({"cmd": "dac_out", "path": "5v", "volts": 1.0}))
        .await;
    client
        .ok(json!({"cmd": "analog_path", "path": "cal1"}))
        .await;
    sleep(Duration::from_millis(1)).await;
    client.ok(arm(&regulator(3.0))).await;
    let captured = client
        .capture(json!({"cmd": "capture", "samples": 8_000, "enc": "b64"}))
        .await;
    // The curve falls by one volt per volt of input, so a tick covers twice the fraction.
    for (at, volts) in looped_volts(&captured.adc)
        .into_iter()
        .enumerate()
        .step_by(40)
    {
        let ticks = f64::from(u16::try_from(at).unwrap()) * 2.5 / TICK_US;
        let expected = 3.0 - 2.0 * (1.0 - 2.0 * gain()).powf(ticks);
        assert!(
            (volts - expected).abs() < 0.06,
            "sample {at}: {volts}, {expected}"
        );
    }
    let settled = looped_volts(&captured.adc[7_000..]);
    assert!(settled.iter().all(|volts| (volts - 3.0).abs() < 0.03));
}

#[tokio::test(start_paused = true)]
async fn over_a_cable_it_regulates_trips_and_is_armed_again() {
    let pod = bench(cabled());
    let mut client = Client::new(&pod).await;
    client.ok(json!({"cmd": "dac_out", "path": "5v"})).await;
    client
        .ok(json!({"cmd": "analog_path", "path": "adc_ext"}))
        .await;
    for set in [2.0, 3.0] {
        client.ok(arm(&regulator(set))).await;
        advance(Duration::from_millis(500)).await;
        assert!(
            (pod.meter_volts() - set).abs() < 0.03,
            "{}",
            pod.meter_volts()
        );
    }
    // Above 3.5 V it switches off for good.
    let mut over = arm(&encode_b64(&[code(4.5)]));
    over["in_trip"] = json!(3.5);
    let armed = client.ok(over.clone()).await;
    assert_eq!(armed["curve_pts"], 1);
    advance(Duration::from_millis(500)).await;
    let probe = client.ok(json!({"cmd": "dac_loop_probe"})).await;
    assert_eq!((&probe["tripped"], &probe["v"]), (&json!(true), &json!(0)));
    assert!(pod.meter_volts() < 0.5);
    let status = client.ok(json!({"cmd": "status"})).await;
    assert_eq!(status["loop_tripped"], true);
    client
        .ok(json!({"cmd": "dac_loop_input", "input": 3}))
        .await;
    advance(Duration::from_millis(500)).await;
    let probe = client.ok(json!({"cmd": "dac_loop_probe"})).await;
    assert_eq!(probe["tripped"], true, "only arming lets it run again");
    // Without a curve the last one stays; without a trip, the loop reaches that level.
    over.as_object_mut().unwrap().remove("in_trip");
    over.as_object_mut().unwrap().remove("curve");
    let armed = client.ok(over).await;
    assert_eq!(
        (&armed["curve_pts"], &armed["trip_idx"]),
        (&json!(0), &json!(-1))
    );
    advance(Duration::from_millis(500)).await;
    assert!(
        (pod.meter_volts() - 4.5).abs() < 0.02,
        "{}",
        pod.meter_volts()
    );
    assert_eq!(
        client.ok(json!({"cmd": "status"})).await["loop_tripped"],
        false
    );
}

#[tokio::test(start_paused = true)]
async fn a_trip_is_noticed_however_long_nobody_looks() {
    // 4 V for half of each 20-second period.
    let pod = bench(SimConfig {
        ext: AnalogSource {
            signal: Signal::Square {
                freq_hz: 0.05,
                amplitude_v: 1.5,
                offset_v: 2.5,
            },
            noise_v: 0.0,
        },
        ..SimConfig::default()
    });
    let mut client = Client::new(&pod).await;
    sleep(Duration::from_secs(11)).await;
    let mut request = arm(&regulator(2.0));
    request["in_trip"] = json!(3.5);
    client.ok(request).await;
    advance(Duration::from_secs(8)).await;
    let status = json!({"cmd": "status"});
    assert_eq!(client.ok(status.clone()).await["loop_tripped"], false);
    // An hour later the input is low again, but was not low all the time.
    advance(Duration::from_secs(3595)).await;
    assert_eq!(client.ok(status).await["loop_tripped"], true);
}

#[tokio::test(start_paused = true)]
async fn maps_have_the_numbers_of_their_window() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let armed = client.ok(arm(&regulator(2.0))).await;
    let fit = Board::V3.adc_fits().ext;
    assert_eq!(armed["in_zero"], fit.count(0.0));
    // 5 V are 4986 counts, over which 2047 entries are spread.
    let entries = 5.0 / fit.b * armed["in_gain"].as_f64().unwrap() / 32_768.0;
    assert!((entries - 2047.0).abs() < 1.0, "{armed}");
    assert_eq!(
        (&armed["idx_max"], &armed["trip_idx"]),
        (&json!(2047), &json!(-1))
    );
    // A window of 100 mV has 100 counts, and cannot have more than one entry per count.
    let mut narrow = arm(&regulator(2.0));
    narrow["in_max"] = json!(0.1);
    let armed = client.ok(narrow).await;
    assert!(
        (95..=101).contains(&armed["idx_max"].as_i64().unwrap()),
        "{armed}"
    );
    let mut swept = arm(&regulator(2.0));
    (swept["source"], swept["step"]) = (json!("sweep"), json!(5));
    let text = client.refused(swept).await;
    assert!(text.contains("dac_loop_input"), "{text}");
    for (field, value) in [
        ("in_mv_per_unit", -1.0),
        ("in_max", 0.0),
        ("in_max", 99.0),
        ("in_trip", -2.0),
    ] {
        let mut wrong = arm(&regulator(2.0));
        wrong[field] = json!(value);
        let text = client.refused(wrong).await;
        assert!(text.contains(field), "{text}");
    }
}
