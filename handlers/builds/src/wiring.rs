//! How the target of a build is wired, as the reporter says.

use guest::{Fields, Object, Shape, flag, integer, text};

/// Longest name of a target, in characters.
const TARGET_CHARS_MAX: usize = 255;

/// A logic-analyzer channel of the pod.
fn channel() -> impl Shape<Value = u8> {
    integer(1..=14)
}

/// Read the member `wiring`: the text of an object with what was given.
pub(crate) fn read(body: &mut Fields) -> Option<String> {
    body.nested("wiring", |wiring| {
        let target = wiring.optional("target", text(0..=TARGET_CHARS_MAX));
        let swclk = wiring.optional("swclk", channel());
        let swdio = wiring.optional("swdio", channel());
        let nreset = wiring.optional("nreset", flag());
        let efuse = wiring.optional("efuse", integer::<u8>(0..=2));
        let mut object = Object::new();
        object
            .some("target", target.as_ref())
            .some("swclk", swclk.as_ref())
            .some("swdio", swdio.as_ref())
            .some("nreset", nreset.as_ref())
            .some("efuse", efuse.as_ref());
        String::from_utf8_lossy(&object.finish()).into_owned()
    })
}

#[cfg(test)]
mod tests {
    use guest::Fields;

    #[test]
    fn what_is_given_is_kept() {
        let body = br#"{"wiring":{"target":"t.cfg","swclk":1,"swdio":14,"nreset":true,"efuse":0}}"#;
        let mut fields = Fields::parse(body).unwrap();
        let text = super::read(&mut fields).unwrap();
        assert!(fields.finish().is_ok());
        let whole = format!(r#"{{"wiring":{text}}}"#);
        assert_eq!(whole.as_bytes(), body);
        let mut none = Fields::parse(b"{}").unwrap();
        assert_eq!(super::read(&mut none), None);
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
            let mut fields = Fields::parse(body.as_bytes()).unwrap();
            super::read(&mut fields);
            assert!(fields.finish().is_err(), "{body}");
        }
    }
}
