//! How the target of a build is wired, as the reporter says.

use guest::{Object, Shape, flag, integer, members, text};

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

impl Wiring {
    /// The text of an object with what was given.
    pub(crate) fn text(&self) -> String {
        let mut object = Object::new();
        object
            .some("target", self.target.as_ref())
            .some("swclk", self.swclk.as_ref())
            .some("swdio", self.swdio.as_ref())
            .some("nreset", self.nreset.as_ref())
            .some("efuse", self.efuse.as_ref());
        String::from_utf8_lossy(&object.finish()).into_owned()
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
