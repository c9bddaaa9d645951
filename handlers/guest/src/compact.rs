//! Takes the white space out of JSON at compile time, so that documents can be laid out for people
//! and still be small in the component.

/// Bytes of `json` without white space between its tokens.
#[must_use]
pub const fn compact_len(json: &str) -> usize {
    let json = json.as_bytes();
    let (mut len, mut at, mut in_string, mut escaped) = (0, 0, false, false);
    while at < json.len() {
        if in_string || !json[at].is_ascii_whitespace() {
            len += 1;
        }
        (in_string, escaped) = step(json[at], in_string, escaped);
        at += 1;
    }
    len
}

/// The text itself; `N` must be [`compact_len`] of it.
#[must_use]
pub const fn compact<const N: usize>(json: &str) -> [u8; N] {
    let json = json.as_bytes();
    let mut out = [0; N];
    let (mut len, mut at, mut in_string, mut escaped) = (0, 0, false, false);
    while at < json.len() {
        if in_string || !json[at].is_ascii_whitespace() {
            out[len] = json[at];
            len += 1;
        }
        (in_string, escaped) = step(json[at], in_string, escaped);
        at += 1;
    }
    out
}

/// Whether the byte after this one is inside a string, and whether it is escaped.
const fn step(byte: u8, in_string: bool, escaped: bool) -> (bool, bool) {
    match byte {
        b'"' if !escaped => (!in_string, false),
        b'\\' if in_string && !escaped => (true, true),
        _ => (in_string, false),
    }
}

/// A route's description from JSON text, without white space between its tokens.
#[macro_export]
macro_rules! compact_json {
    ($($part:expr),+ $(,)?) => {{
        const TEXT: &str = concat!($($part),+);
        const BYTES: &[u8] = &$crate::compact::<{ $crate::compact_len(TEXT) }>(TEXT);
        match ::core::str::from_utf8(BYTES) {
            Ok(text) => $crate::Openapi::text(text),
            Err(_) => panic!("white space was cut out of a character"),
        }
    }};
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    const JSON: &str = "{ \"a b\" : [ 1 ,\n\t\"c \\\" d \\\\\" , \"€ x\" ] , \"e\" : { } }\n";

    #[test]
    fn only_white_space_between_tokens_goes() {
        const SMALL: crate::Openapi = crate::compact_json!(
            "{ \"a b\" : [ 1 ,\n\t\"c \\\" d \\\\\" , ",
            "\"€ x\" ] , \"e\" : { } }\n"
        );
        assert_eq!(SMALL.declared(), r#"{"a b":[1,"c \" d \\","€ x"],"e":{}}"#);
        let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(parse(SMALL.declared()), parse(JSON));
    }
}
