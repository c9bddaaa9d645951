//! The loop compared with its formula: settling, sweeping, following the input.

mod closed;

use pod_protocol::chunk::encode_b64;
use serde_json::{Value, json};
use tokio::time::{Duration, advance};

use crate::tests::{Client, bench};
use crate::{AnalogSource, Signal, SimConfig};

/// A curve of 64 points that falls from the maximum.
fn curve() -> Vec<u16> {
    (0..64).map(|point| 60_000 - 900 * point).collect()
}

fn arm(source: &str) -> Value {
    json!({"cmd": "dac_control_loop", "k": 8192, "vmin": 0, "vmax": 65535, "tick_div": 64,
        "curve": encode_b64(&curve()), "source": source, "input": 20_000, "step": 1})
}

#[tokio::test(start_paused = true)]
async fn a_fixed_input_settles_exponentially_on_its_point() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let mut request = arm("fixed");
    // k = 1: one tick takes 1/32768 of the way, so 32768 ticks leave 1/e.
    (request["k"], request["tick_div"]) = (json!(1), json!(48));
    let armed = client.ok(request).await;
    assert_eq!(
        (&armed["armed"], &armed["curve_pts"]),
        (&json!(true), &json!(64))
    );
    let target = f64::from(curve()[20_000 / 32 * 64 / 2048]);
    for ms in [0_u32, 30, 60, 2000] {
        advance(Duration::from_millis(u64::from(ms))).await;
        let probe = client.ok(json!({"cmd": "dac_loop_probe"})).await;
        assert_eq!(probe["in"], 20_000);
        let elapsed_us = f64::from(match ms {
            60 => 90_000,
            2000 => 2_090_000,
            first => first * 1000,
        });
        let expected = target * (1.0 - (-elapsed_us / 32_768.0).exp());
        assert!(
            (probe["v"].as_f64().unwrap() - expected).abs() < 100.0,
            "{ms} ms: {probe}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_sweep_advances_and_an_input_change_takes_effect() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    client.ok(arm("sweep")).await;
    let probe = json!({"cmd": "dac_loop_probe"});
    let first = client.ok(probe.clone()).await["in"].as_u64().unwrap();
    advance(Duration::from_millis(10)).await;
    let second = client.ok(probe.clone()).await["in"].as_u64().unwrap();
    // 48 MHz / 64 = 750 kHz, one step each.
    assert_eq!((second + 65_536 - first) % 65_536, 7500);
    let fixed = json!({"cmd": "dac_loop_input", "source": "fixed", "input": 0});
    assert_eq!(client.ok(fixed).await["source"], "fixed");
    advance(Duration::from_millis(10)).await;
    assert_eq!(client.ok(probe).await["v"], 60_000);
}

#[tokio::test(start_paused = true)]
async fn the_adc_indexes_the_curve() {
    let pod = bench(SimConfig {
        ext: AnalogSource {
            signal: Signal::Dc { volts: 2.0 },
            noise_v: 0.0,
        },
        ..SimConfig::default()
    });
    let mut client = Client::new(&pod).await;
    client.ok(arm("adc")).await;
    advance(Duration::from_millis(10)).await;
    let probe = client.ok(json!({"cmd": "dac_loop_probe"})).await;
    let count = usize::try_from(probe["i"].as_u64().unwrap()).unwrap();
    assert_eq!(probe["v"], curve()[count / 32 * 64 / 2048]);
    client.ok(json!({"cmd": "dac_stop"})).await;
    let held = client.ok(json!({"cmd": "dac_loop_probe"})).await;
    assert_eq!(held["v"], probe["v"]);
}

#[tokio::test(start_paused = true)]
async fn wrong_images_and_values_are_refused() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let mut crossed = arm("fixed");
    (crossed["vmin"], crossed["vmax"]) = (json!(2), json!(1));
    let mut still = arm("sweep");
    still["step"] = json!(0);
    for (request, text) in [
        (crossed, "vmin"),
        (still, "step"),
        (arm("noise"), "source"),
        (json!({"cmd": "dac_control_loop", "curve": ""}), "curve"),
        (json!({"cmd": "dac_loop_input", "input": 1}), "loop"),
    ] {
        assert!(client.refused(request).await.contains(text));
    }
    client.ok(json!({"cmd": "fpga_image", "image": 1})).await;
    for request in [arm("fixed"), json!({"cmd": "dac_loop_probe"})] {
        let text = client.refused(request).await;
        assert!(text.contains(r#"{"cmd":"fpga_image","image":0}"#));
    }
}
