//! How far a pod command reaches, and who may send it.
//!
//! Reading and driving instruments is what `bench:control` is for. What outlives the session (stored
//! settings, calibration, network) or touches the pod's own firmware takes an administrator, since a
//! mistake there takes the bench away from everybody. A verb that the table does not know may be
//! such a one.

use guest::{Caller, Credential};
use serde_json::{Map, Value};

/// Weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tier {
    /// T0: changes nothing.
    Read,
    /// T1: drives instruments and the target.
    Instrument,
    /// T2: writes the pod's stored settings.
    Settings,
    /// T3: the pod's firmware, and unknown verbs.
    Firmware,
}

const READ: &[&str] = &[
    "ping",
    "status",
    "cloud_status",
    "wifi_status",
    "la_pins",
    "usb_cc",
    "target_status",
    "power_status",
    "identity_public",
    "identity_pop",
    "identity_wipe",
    "spi_status",
    "sensor_status",
    "can_status",
    "ota_status",
    "blob_status",
    "dac_loop_probe",
    "capture",
    "capture_dual",
    "capture_read",
    "stream",
    "la_capture",
    "sensor_regs",
    "sensor_la",
    "can_read",
    "psram_ping",
    "test",
    "gps_status",
    "sensor_types",
];

const INSTRUMENT: &[&str] = &[
    "generate",
    "measure",
    "load",
    "load_bin",
    "replay",
    "dac_stop",
    "dac_set",
    "dac_mux",
    "cal_switch",
    "analog_path",
    "dac_out",
    "current_out",
    "adc_read",
    "dac_control_loop",
    "dac_loop_input",
    "la",
    "gpio",
    "la_voltage",
    "nrst",
    "target_power",
    "power_profile",
    "dap_start",
    "uart_proxy_start",
    "spi_start",
    "spi_stop",
    "spi_xfer",
    "spi_stream",
    "spi_flash",
    "sensor_start",
    "sensor_set",
    "sensor_stop",
    "can_config",
    "can_write",
    "can_term",
    "can_respond",
    "can_disable",
    "speedtest",
    "fpga_image",
    "psram_recover",
    "gps_start",
    "gps_set",
    "gps_stop",
];

const SETTINGS: &[&str] = &["cloud_set", "cloud_clear", "wifi_set", "wifi_clear"];

/// Tier of a command. Some verbs read or change depending on their fields.
pub(crate) fn of(command: &Map<String, Value>) -> Tier {
    let Some(verb) = command.get("cmd").and_then(Value::as_str) else {
        return Tier::Firmware;
    };
    if READ.contains(&verb) {
        Tier::Read
    } else if INSTRUMENT.contains(&verb) {
        Tier::Instrument
    } else if SETTINGS.contains(&verb) {
        Tier::Settings
    } else {
        match changes(verb, command) {
            Some(true) => Tier::Settings,
            Some(false) => Tier::Read,
            None => Tier::Firmware,
        }
    }
}

/// Whether a verb with a reading form is about to change something; none for other verbs.
fn changes(verb: &str, command: &Map<String, Value>) -> Option<bool> {
    // The pod's own reading of a flag is not known here, so anything but a plain false counts.
    let set = |name: &str| {
        command
            .get(name)
            .is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)))
    };
    Some(match verb {
        "dac_limits" => set("path") || command.get("enabled").is_some_and(|v| *v != true),
        "calibrate" => set("source") || set("dac") || set("adc") || set("clear"),
        "eth" => !matches!(
            command.get("action").and_then(Value::as_str),
            Some("stats" | "refclk")
        ),
        "sig_policy" | "lan_policy" => set("set"),
        "cloud_ca" | "cloud_proxy" => set("set") || set("clear"),
        // Newer than the published table: whatever they carry beside the verb changes them.
        "usb_network" | "lan_tls" => command.len() > 1,
        _ => return None,
    })
}

/// Whether the caller may send commands of this tier, given that it may control devices at all.
pub(crate) fn allows(caller: &Caller, tier: Tier) -> bool {
    tier <= Tier::Instrument
        || caller.is_admin()
            && (caller.credential == Credential::UserSession || caller.has_scope("bench:admin"))
}

#[cfg(test)]
mod tests {
    use guest::testing::caller;
    use guest::{Credential, Role};
    use serde_json::{Value, json};

    use super::{Tier, allows, of};

    fn tier(command: Value) -> Tier {
        match command {
            Value::Object(command) => of(&command),
            other => panic!("{other} is no command"),
        }
    }

    #[test]
    fn verbs() {
        for (command, expected) in [
            (json!({"cmd": "ping"}), Tier::Read),
            (json!({"cmd": "la_capture"}), Tier::Read),
            (json!({"cmd": "target_power", "state": 1}), Tier::Instrument),
            (json!({"cmd": "generate"}), Tier::Instrument),
            (json!({"cmd": "wifi_set"}), Tier::Settings),
            (json!({"cmd": "ota_begin"}), Tier::Firmware),
            (json!({"cmd": "no_such_verb"}), Tier::Firmware),
            (json!({"cmd": "PING"}), Tier::Firmware),
            (json!({"cmd": 7}), Tier::Firmware),
            (json!({}), Tier::Firmware),
        ] {
            assert_eq!(tier(command.clone()), expected, "{command}");
        }
    }

    #[test]
    fn reading_and_changing_forms() {
        for (command, expected) in [
            (json!({"cmd": "dac_limits"}), Tier::Read),
            (json!({"cmd": "dac_limits", "path": "5v"}), Tier::Settings),
            (
                json!({"cmd": "dac_limits", "enabled": false}),
                Tier::Settings,
            ),
            (json!({"cmd": "dac_limits", "enabled": true}), Tier::Read),
            (json!({"cmd": "calibrate"}), Tier::Read),
            (json!({"cmd": "calibrate", "clear": false}), Tier::Read),
            (json!({"cmd": "calibrate", "clear": 1}), Tier::Settings),
            (
                json!({"cmd": "calibrate", "source": "cal1"}),
                Tier::Settings,
            ),
            (json!({"cmd": "calibrate", "dac": {}}), Tier::Settings),
            (json!({"cmd": "eth", "action": "stats"}), Tier::Read),
            (json!({"cmd": "eth", "action": "stop"}), Tier::Settings),
            (json!({"cmd": "eth"}), Tier::Settings),
            (json!({"cmd": "sig_policy"}), Tier::Read),
            (json!({"cmd": "lan_policy", "set": "off"}), Tier::Settings),
            (json!({"cmd": "cloud_ca", "clear": true}), Tier::Settings),
            (json!({"cmd": "usb_network"}), Tier::Read),
            (
                json!({"cmd": "usb_network", "enabled": true}),
                Tier::Settings,
            ),
        ] {
            assert_eq!(tier(command.clone()), expected, "{command}");
        }
    }

    #[test]
    fn settings_take_an_administrator() {
        let (user, key) = (Credential::UserSession, Credential::ApiKey);
        let (control, admin) = (
            &["bench:control"][..],
            &["bench:control", "bench:admin"][..],
        );
        for (role, credential, scopes, expected) in [
            (Role::Owner, user, &[][..], true),
            (Role::Admin, user, &[], true),
            (Role::Member, user, &[], false),
            (Role::Owner, key, control, false),
            (Role::Owner, key, admin, true),
            (Role::Member, key, admin, false),
            (Role::Owner, Credential::CloudSession, control, false),
            (Role::Admin, Credential::CloudSession, admin, true),
        ] {
            let caller = caller(role, credential, scopes);
            assert_eq!(allows(&caller, Tier::Settings), expected, "{caller:?}");
            assert_eq!(allows(&caller, Tier::Firmware), expected, "{caller:?}");
            assert!(allows(&caller, Tier::Instrument));
        }
    }
}
