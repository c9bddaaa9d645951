//! Capabilities of real and simulated status records.

use serde_json::{Map, Value, json};

use super::Capabilities;
use crate::sim::tests::{Client, Random, bench};
use crate::sim::{Board, SimConfig};

fn read(status: &Value) -> Capabilities {
    Capabilities::from_status(status.as_object().unwrap())
}

fn parameter<'a>(capabilities: &'a Capabilities, name: &str) -> Option<&'a str> {
    capabilities.parameters.get(name).map(String::as_str)
}

async fn simulated(config: SimConfig) -> Capabilities {
    let pod = bench(config);
    read(&Client::new(&pod).await.ok(json!({"cmd": "status"})).await)
}

#[tokio::test(start_paused = true)]
async fn the_simulated_boards_say_what_they_have() {
    let analog = simulated(SimConfig::default()).await;
    assert_eq!(
        (analog.ac_dac, analog.dac, analog.adc),
        (Some(true), Some(true), Some(true))
    );
    assert_eq!(
        (analog.la_channels, analog.la_max_samples),
        (Some(14), Some(4_194_304))
    );
    assert_eq!((analog.uart, analog.cmsis_dap), (Some(true), Some(true)));
    let dc_only = simulated(SimConfig {
        ac_dac: false,
        ..SimConfig::default()
    })
    .await;
    assert_eq!((dc_only.ac_dac, dc_only.dac), (Some(false), Some(true)));
    let digital = simulated(SimConfig {
        board: Board::Digital,
        ..SimConfig::default()
    })
    .await;
    assert_eq!(
        (digital.ac_dac, digital.dac, digital.adc),
        (Some(false), Some(false), Some(false))
    );
    assert_eq!(digital.adc_fit, None);
    assert_eq!(parameter(&digital, "cap.analog"), Some("false"));
    assert_eq!(parameter(&digital, "cap.adc_cal_a"), None);
}

#[tokio::test(start_paused = true)]
async fn the_pods_own_fit_is_always_published() {
    let v2 = simulated(SimConfig {
        board: Board::V2,
        ..SimConfig::default()
    })
    .await;
    assert_eq!(parameter(&v2, "cap.adc_cal_a"), Some("65.788900"));
    assert_eq!(parameter(&v2, "cap.adc_cal_b"), Some("-0.001003762"));
    assert_eq!(parameter(&v2, "cap.adc_cal_unwrap"), Some("true"));
    assert_eq!(parameter(&v2, "cap.generate_bits"), Some("16"));
    assert_eq!(parameter(&v2, "cap.board"), Some("stm32h563"));
    assert_eq!(parameter(&v2, "cap.firmware_version"), Some("3.9.4"));
    assert_eq!(parameter(&v2, "cap.analyzer"), Some("true"));
    assert_eq!(parameter(&v2, "cap.gps"), Some("true"));
    let silent = read(&json!({"board": "stm32h563"}));
    assert_eq!(parameter(&silent, "cap.adc_cal_b"), Some("-0.001003762"));
    assert_eq!(parameter(&silent, "cap.gps"), None);
}

#[test]
fn what_a_pod_does_not_say_is_unknown() {
    let silent = Capabilities::from_status(&Map::new());
    assert_eq!((silent.ac_dac, silent.adc, silent.can), (None, None, None));
    assert_eq!((silent.la_channels, silent.la_max_samples), (None, None));
}

#[test]
fn firmware_decides_the_channels() {
    let channels = |version: &str| read(&json!({"version": version, "caps": ["la"]})).la_channels;
    assert_eq!(channels("3.0.9"), Some(12));
    assert_eq!(channels("3.1"), Some(14));
    assert_eq!(channels("10.0"), Some(14));
    assert_eq!(channels("nightly"), None);
    assert_eq!(
        read(&json!({"version": "3.9", "caps": []})).la_channels,
        Some(0)
    );
}

#[test]
fn the_documented_counts_become_their_volts() {
    let fit = read(&json!({"board": "stm32h563"})).adc_fit.unwrap();
    for (count, volts) in [
        (6, 0.0),
        (64_845, 0.7),
        (63_251, 2.3),
        (63_052, 2.5),
        (60_561, 5.0),
        (1_003, -1.0),
        (53_587, 12.0),
        (11_961, -12.0),
    ] {
        assert!((fit.volts(count) - volts).abs() < 0.001, "{count}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_record_shows_unknown_as_null() {
    let digital = SimConfig {
        board: Board::Digital,
        ..SimConfig::default()
    };
    let record = serde_json::to_value(simulated(digital).await).unwrap();
    assert_eq!(record["ac_dac"], false);
    assert_eq!(record["la_channels"], 14);
    assert!(record.get("parameters").is_none());
    let record = serde_json::to_value(Capabilities::from_status(&Map::new())).unwrap();
    assert_eq!(record["ota"], Value::Null);
}

#[test]
fn no_status_breaks_the_reading() {
    let status = json!({"board": "stm32h563", "version": "3.9.4", "analog": true,
        "adc_cal_a_uv": 1, "adc_cal_b_nv": -1, "adc_cal_unwrap": true, "caps": ["la", "dac"]});
    let names: Vec<&String> = status.as_object().unwrap().keys().collect();
    let values = [
        json!(null),
        json!(-1),
        json!(1e308),
        json!("..."),
        json!([[], 4]),
        json!({}),
        json!("99999999999.1"),
        json!(true),
    ];
    let mut random = Random(2);
    for _ in 0..2_000 {
        let mut mutated = status.as_object().unwrap().clone();
        for _ in 0..=random.below(4) {
            let name = (*random.pick(&names)).clone();
            mutated.insert(name, random.pick(&values).clone());
        }
        let capabilities = Capabilities::from_status(&mutated);
        assert!(
            capabilities
                .la_channels
                .is_none_or(|channels| channels <= 14)
        );
    }
}

#[test]
fn only_the_deep_replay_image_tells_a_depth() {
    let depth = |status: &Value| {
        let found = Capabilities::from_status(status.as_object().unwrap());
        found.parameters.get("cap.dac_replay_max_samples").cloned()
    };
    let deep = json!({"board": "stm32h563", "caps": ["dac_replay", "dac_deep_replay"]});
    assert_eq!(depth(&deep).as_deref(), Some("4194304"));
    let told = json!({"caps": ["dac_deep_replay"], "dac_replay_max_samples": 1_000_000});
    assert_eq!(depth(&told).as_deref(), Some("1000000"));
    assert_eq!(depth(&json!({"caps": ["dac_replay"]})), None);
}
