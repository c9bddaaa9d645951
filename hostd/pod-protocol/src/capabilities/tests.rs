//! Capabilities of status records, whole, sparse and broken.

use fastrand::Rng;
use serde_json::{Map, Value, json};

use super::Capabilities;

fn read(status: &Value) -> Capabilities {
    Capabilities::from_status(status.as_object().unwrap())
}

#[test]
fn what_a_pod_does_not_say_is_unknown() {
    let silent = Capabilities::from_status(&Map::new());
    assert_eq!((silent.ac_dac, silent.adc, silent.can), (None, None, None));
    assert_eq!((silent.la_channels, silent.la_max_samples), (None, None));
    let record = serde_json::to_value(silent).unwrap();
    assert_eq!(record["ota"], Value::Null);
}

#[test]
fn a_fit_that_the_pod_does_not_tell_is_published_all_the_same() {
    let silent = read(&json!({"board": "stm32h563"})).parameters;
    let fit = silent.get("cap.adc_cal_b");
    assert_eq!(fit.map(String::as_str), Some("-0.001003762"));
    assert_eq!(silent.get("cap.gps"), None);
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
    let mut random = Rng::with_seed(2);
    for _ in 0..2_000 {
        let mut mutated = status.as_object().unwrap().clone();
        for _ in 0..=random.usize(..4) {
            let name = (*random.choice(&names).unwrap()).clone();
            mutated.insert(name, random.choice(&values).unwrap().clone());
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
