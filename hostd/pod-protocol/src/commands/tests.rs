//! The table is consistent in itself, and tiers follow from requests.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{GROUPS, Tier, all, find, markdown, tier_of};

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[test]
fn every_verb_is_there_once() {
    let verbs: BTreeSet<&str> = all().map(|command| command.verb).collect();
    assert_eq!(verbs.len(), all().count());
    assert!(GROUPS.iter().all(|group| !group.commands.is_empty()));
    for verb in verbs {
        assert_eq!(find(verb).unwrap().verb, verb);
    }
    assert!(find("warp").is_none());
}

#[test]
fn what_a_request_changes_is_its_tier() {
    for (request, tier, light) in [
        (json!({"cmd": "status"}), 0, true),
        (json!({"cmd": "la_capture"}), 0, false),
        (json!({"cmd": "can_read"}), 0, false),
        (json!({"cmd": "la_voltage"}), 1, false),
        (json!({"cmd": "dac_limits"}), 0, true),
        (json!({"cmd": "dac_limits", "enabled": false}), 2, false),
        (json!({"cmd": "dac_limits", "path": "5v"}), 2, false),
        (json!({"cmd": "calibrate", "clear": false}), 0, true),
        (json!({"cmd": "calibrate", "clear": "adc"}), 2, false),
        (
            json!({"cmd": "calibrate", "source": "current_in"}),
            2,
            false,
        ),
        (json!({"cmd": "eth", "action": "stats"}), 0, true),
        (json!({"cmd": "eth", "action": "stop"}), 2, false),
        (json!({"cmd": "lan_policy", "set": null}), 0, true),
        (json!({"cmd": "lan_policy", "set": "off"}), 2, false),
        (json!({"cmd": "cloud_set"}), 2, false),
        (json!({"cmd": "ota_begin"}), 3, false),
    ] {
        let request = object(&request);
        let command = find(request["cmd"].as_str().unwrap()).unwrap();
        assert_eq!(command.tier_of(&request).number(), tier, "{request:?}");
        assert_eq!(command.is_light_read(&request), light, "{request:?}");
    }
    assert_eq!(tier_of(&object(&json!({"cmd": "warp"}))), Tier::Firmware);
    assert_eq!(tier_of(&Map::new()), Tier::Firmware);
    assert!((0..4).all(|number| Tier::from_number(number).unwrap().number() == number));
}

#[test]
fn the_page_for_makers_has_the_present_table() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/pod-protocol.md");
    let page = std::fs::read_to_string(page).unwrap();
    let renewed = markdown::renewed(&page).expect("a place for the table");
    assert!(page == renewed, "run `cargo xtask docs`");
    for command in all() {
        assert!(page.contains(&format!("\n#### `{}`\n", command.verb)));
    }
}
