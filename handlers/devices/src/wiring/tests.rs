//! Profiles by example: what is accepted, what is refused and where, what only gets a warning.

use guest::testing::mutations;
use serde_json::{Map, Value, json};

use super::{changed, check, check_changes, completed, defaults, warnings};

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn blamed(profile: Value) -> Vec<String> {
    match check(&object(profile)) {
        Ok(()) => Vec::new(),
        Err(error) => error.fields.into_iter().map(|p| p.field).collect(),
    }
}

#[test]
fn the_defaults_are_a_profile_without_a_warning() {
    assert!(check(&defaults()).is_ok());
    assert!(check(&Map::new()).is_ok());
    assert!(warnings(&defaults()).is_empty());
    assert_eq!(completed(&object(json!({"efuse": 2})))["efuse"], 2);
    assert_eq!(completed(&Map::new())["uart_rx"], 5);
}

#[test]
fn rules_name_the_member() {
    for (profile, field) in [
        (json!({"version": 2}), "version"),
        (json!({"la_mv": 2500}), "la_mv"),
        (json!({"efuse": 3}), "efuse"),
        (json!({"uart_baud": 299}), "uart_baud"),
        (json!({"uart_baud": "fast"}), "uart_baud"),
        (json!({"uart_rx": 15}), "uart_rx"),
        (json!({"uart_rx": 0}), "uart_rx"),
        (json!({"spi_cs": "LA3"}), "spi_cs"),
        (json!({"i2c_addr": "0x78"}), "i2c_addr"),
        (json!({"i2c_addr": "zz"}), "i2c_addr"),
        (json!({"swd_nreset": 1}), "swd_nreset"),
        (json!({"swd_target": "x".repeat(129)}), "swd_target"),
        (json!({"signals": {}}), "signals"),
        (json!({"signals": [7]}), "signals.0"),
        (
            json!({"signals": [{"name": "1st", "la": 6}]}),
            "signals.0.name",
        ),
        (
            json!({"signals": [{"name": "UART_RX", "la": 6}]}),
            "signals.0.name",
        ),
        (json!({"signals": [{"name": "led"}]}), "signals.0.la"),
        (
            json!({"signals": [{"name": "led", "la": 6, "direction": "up"}]}),
            "signals.0.direction",
        ),
        (
            json!({"signals": [{"name": "led", "la": 6, "active_low": 1}]}),
            "signals.0.active_low",
        ),
        (
            json!({"signals": [{"name": "led", "la": 6, "description": 1}]}),
            "signals.0.description",
        ),
    ] {
        assert_eq!(blamed(profile.clone()), [field], "{profile}");
    }
    let names = json!({"signals": [{"name": "led", "la": 6}, {"name": "LED", "la": 7}]});
    assert_eq!(blamed(names), ["signals.1.name"]);
}

#[test]
fn a_channel_has_one_use() {
    assert_eq!(blamed(json!({"uart_rx": 4})), ["uart_tx"]);
    assert_eq!(
        blamed(json!({"signals": [{"name": "led", "la": 11}]})),
        ["signals.0.la"]
    );
    let freed = json!({"uart_tx": null, "uart_rx": 4, "signals": [{"name": "led", "la": 5}]});
    assert!(blamed(freed).is_empty());
}

#[test]
fn biased_channels_and_unknown_members_are_warned_of() {
    let profile =
        json!({"i2c_sda": 7, "i2c_scl": 9, "uart_rx": 8, "uart_rxx": 1, "loop_input_a": 1});
    let told = warnings(&object(profile));
    assert_eq!(told.len(), 4, "{told:?}");
    assert!(told[0].contains("i2c_sda") && told[3].contains("uart_rxx"));
}

#[test]
fn mutated_profiles_never_panic() {
    let valid = br#"{"version":1,"uart_rx":3,"i2c_addr":"0x40","signals":[{"name":"led","la":9,"direction":"output"}]}"#;
    mutations(0x3172_1176, valid, 5_000, |bytes| {
        if let Ok(Value::Object(profile)) = serde_json::from_slice(bytes) {
            let _ = (check(&profile), warnings(&profile));
        }
    });
}

#[test]
fn changes_are_judged_with_what_stays() {
    let stored = object(json!({"uart_rx": 3, "uart_tx": 6, "swd_target": "stm32f030r8"}));
    // By the defaults, the other line of the UART has this channel.
    let changes = object(json!({"uart_rx": 4}));
    assert!(check_changes(&changes).is_ok() && check(&changes).is_err());
    let profile = changed(Some(stored.clone()), &changes);
    assert!(check(&profile).is_ok());
    assert_eq!(profile["swd_target"], "stm32f030r8");
    assert_eq!(
        (&profile["uart_rx"], &profile["uart_tx"]),
        (&json!(4), &json!(6))
    );
    let twice = changed(Some(stored), &object(json!({"uart_rx": 6})));
    assert!(check(&twice).is_err());
    assert_eq!(changed(None, &changes), changes);
    assert!(check_changes(&object(json!({"uart_rx": 99}))).is_err());
    assert!(check_changes(&object(json!({"uart_rx": 3, "uart_tx": 3}))).is_err());
}
