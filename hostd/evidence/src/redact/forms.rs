//! The forms in which a secret appears in output.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::SECRET_BYTES_MIN;

/// The line lengths into which the tools `base64` and `openssl` break their output.
const COLUMNS: [usize; 2] = [76, 64];

/// Shortest such line that is searched for: a shorter one would be found in innocent text.
const PIECE_MIN: usize = 16;

/// A secret as it is, each of its lines, and all of them in base 64 and percent-encoded.
pub(super) fn of(value: &[u8]) -> Vec<Vec<u8>> {
    let mut values = vec![value.to_vec(), value.trim_ascii().to_vec()];
    values.extend(
        value
            .split(|byte| *byte == b'\n')
            .map(|line| line.trim_ascii().to_vec()),
    );
    values.retain(|value| value.len() >= SECRET_BYTES_MIN);
    values.sort_unstable();
    values.dedup();
    let mut forms = Vec::new();
    for value in values {
        forms.extend(base64(&value));
        forms.extend(percent_encoded(&value));
        for columns in COLUMNS {
            let encoded = STANDARD_NO_PAD.encode(&value);
            let lines = encoded.as_bytes().chunks(columns);
            let lines = lines.filter(|line| line.len() >= PIECE_MIN);
            forms.extend(lines.map(<[u8]>::to_vec));
        }
        forms.push(value);
    }
    forms
}

/// Base 64 of anything that contains `value` contains one of these: the bytes before it shift it by 0, 1
/// or 2 bytes. Characters that also depend on its neighbours are left out.
fn base64(value: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for before in 0..3 {
        let mut moved = vec![0; before];
        moved.extend_from_slice(value);
        // A byte has 8 bits and a character 6: this is the first character that depends on the
        // value alone.
        let first = (before * 8).div_ceil(6);
        let last = moved.len() * 8 / 6;
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            forms.push(engine.encode(&moved).as_bytes()[first..last].to_vec());
        }
    }
    forms
}

/// As in a URL, with upper-case and lower-case hexadecimal digits, and as in a form, where a space
/// is a plus.
fn percent_encoded(value: &[u8]) -> Vec<Vec<u8>> {
    let encode = |is_capital: bool, is_form: bool| {
        let mut text = String::new();
        for &byte in value {
            let is_plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
            // Writing to a string cannot fail.
            let _ = match byte {
                b' ' if is_form => write!(text, "+"),
                _ if is_plain => write!(text, "{}", char::from(byte)),
                _ if is_capital => write!(text, "%{byte:02X}"),
                _ => write!(text, "%{byte:02x}"),
            };
        }
        text.into_bytes()
    };
    vec![
        encode(true, false),
        encode(false, false),
        encode(true, true),
        encode(false, true),
    ]
}
