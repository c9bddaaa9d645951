//! What a device is wired to, as far as steps leave that open.

use serde_json::{Map, Value};

/// The wiring of a device: its stored profile over what a profile has that says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wiring {
    /// The chip, or an OpenOCD target configuration; none if nobody said.
    pub target: Option<String>,
    /// Channel of the debug clock, from 1.
    pub swclk: Option<u8>,
    /// Channel of the debug data.
    pub swdio: Option<u8>,
    /// Channel that listens to the target.
    pub uart_rx: Option<u8>,
    /// Channel that talks to it.
    pub uart_tx: Option<u8>,
    /// The rail that feeds the target, 1 or 2.
    pub efuse: u8,
    /// Level of the channels in mV: 1800 or 3300.
    pub la_mv: u32,
}

impl Default for Wiring {
    fn default() -> Self {
        Self {
            target: None,
            swclk: Some(11),
            swdio: Some(12),
            uart_rx: Some(5),
            uart_tx: Some(4),
            efuse: 1,
            la_mv: 3300,
        }
    }
}

impl Wiring {
    /// The wiring that a stored profile tells. What it leaves out, or says wrongly, is as without a profile; a role
    /// that is null is not wired.
    #[must_use]
    pub fn of(profile: &Map<String, Value>) -> Self {
        let other = Self::default();
        let number = |name: &str| profile.get(name)?.as_u64();
        let channel = |name: &str, otherwise: Option<u8>| match profile.get(name) {
            None => otherwise,
            Some(value) => value.as_u64().and_then(|la| u8::try_from(la).ok()),
        };
        let target = profile.get("swd_target").and_then(Value::as_str);
        Self {
            target: target.filter(|name| !name.is_empty()).map(str::to_owned),
            swclk: channel("swd_swclk", other.swclk),
            swdio: channel("swd_swdio", other.swdio),
            uart_rx: channel("uart_rx", other.uart_rx),
            uart_tx: channel("uart_tx", other.uart_tx),
            efuse: if number("efuse") == Some(2) { 2 } else { 1 },
            la_mv: if number("la_mv") == Some(1800) {
                1800
            } else {
                3300
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_profile_stands_over_the_defaults() {
        let of = |profile: Value| Wiring::of(profile.as_object().unwrap());
        assert_eq!(of(json!({})), Wiring::default());
        let told = of(json!({
            "swd_target": "STM32F030R8", "uart_rx": 3, "uart_tx": null, "efuse": 2, "la_mv": 1800
        }));
        let wanted = Wiring {
            target: Some("STM32F030R8".to_owned()),
            uart_rx: Some(3),
            uart_tx: None,
            efuse: 2,
            la_mv: 1800,
            ..Wiring::default()
        };
        assert_eq!(told, wanted);
        assert_eq!(of(json!({"swd_target": ""})).target, None);
    }

    /// The API tells the defaults from its own list.
    #[test]
    fn the_defaults_are_those_of_the_api() {
        let api = include_str!("../../../handlers/devices/src/wiring.rs");
        for default in [
            "(\"uart_rx\", Some(5))",
            "(\"uart_tx\", Some(4))",
            "(\"swd_swclk\", Some(11))",
            "(\"swd_swdio\", Some(12))",
            "(\"efuse\", json!(1))",
            "(\"la_mv\", json!(3300))",
            "(\"swd_target\", json!(\"\"))",
        ] {
            assert!(api.contains(default), "{default}");
        }
    }
}
