//! How the target of a build is wired, as the reporter says.

use guest::{Shape, flag, integer, members, text};
use serde::Serialize;

/// Longest name of a target, in characters.
const TARGET_CHARS_MAX: usize = 255;

/// A logic-analyzer channel of the pod.
fn channel() -> impl Shape<Value = u8> {
    integer(1..=14)
}

members! {
    pub(crate) struct Wiring {
        /// Chip name or target config.
        target: Option<String> = optional(text(0..=TARGET_CHARS_MAX)),
        swclk: Option<u8> = optional(channel()),
        swdio: Option<u8> = optional(channel()),
        /// Whether the reset line is wired.
        nreset: Option<bool> = optional(flag()),
        efuse: Option<u8> = optional(integer(0..=2)),
    }
}

/// What was given, as it is stored.
#[derive(Serialize)]
struct Given<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    swclk: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    swdio: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nreset: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    efuse: Option<u8>,
}

impl Wiring {
    /// The given members as the text of a JSON object.
    pub(crate) fn text(&self) -> String {
        let given = Given {
            target: self.target.as_deref(),
            swclk: self.swclk,
            swdio: self.swdio,
            nreset: self.nreset,
            efuse: self.efuse,
        };
        serde_json::to_string(&given).expect("memory takes every byte, and its keys are text")
    }
}

#[cfg(test)]
mod tests {
    use guest::{ApiError, Fields, members, nested};

    use super::Wiring;

    members! {
        struct Body {
            wiring: Option<Wiring> = optional(nested()),
        }
    }

    fn read(body: &[u8]) -> Result<Option<String>, ApiError> {
        let body: Body = Fields::parse(body)?.read()?;
        Ok(body.wiring.map(|wiring| wiring.text()))
    }

    #[test]
    fn what_is_given_is_kept() {
        let body = br#"{"wiring":{"target":"t.cfg","swclk":1,"swdio":14,"nreset":true,"efuse":0}}"#;
        let text = read(body).unwrap().unwrap();
        let whole = format!(r#"{{"wiring":{text}}}"#);
        assert_eq!(whole.as_bytes(), body);
        assert_eq!(read(br#"{"wiring":{}}"#).unwrap().as_deref(), Some("{}"));
        assert_eq!(read(b"{}").unwrap(), None);
    }

    #[test]
    fn wrong_pins_are_told() {
        for body in [
            r#"{"wiring":{"swclk":0}}"#,
            r#"{"wiring":{"swdio":15}}"#,
            r#"{"wiring":{"efuse":3}}"#,
            r#"{"wiring":{"pin":1}}"#,
            r#"{"wiring":[]}"#,
        ] {
            assert!(read(body.as_bytes()).is_err(), "{body}");
        }
    }
}
