//! Base64 as in RFC 4648 section 4, padded. Encoding only.

use std::fmt::{Display, Formatter};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes that are encoded at a time: whole groups.
const PIECE_BYTES: usize = 3 << 10;

/// Bytes as base64 text, which is written piece by piece and never held as a whole.
pub(crate) struct Text<'a>(pub(crate) &'a [u8]);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let mut text = Vec::new();
        for piece in self.0.chunks(PIECE_BYTES) {
            text.clear();
            encode(piece, &mut text);
            f.write_str(str::from_utf8(&text).map_err(|_| std::fmt::Error)?)?;
        }
        Ok(())
    }
}

/// Append the text of `bytes` to `out`.
fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len().div_ceil(3) * 4);
    let mut groups = bytes.chunks_exact(3);
    for group in &mut groups {
        out.extend_from_slice(&digits([group[0], group[1], group[2]]));
    }
    match *groups.remainder() {
        [a] => {
            let [first, second, ..] = digits([a, 0, 0]);
            out.extend_from_slice(&[first, second, b'=', b'=']);
        }
        [a, b] => {
            let [first, second, third, _] = digits([a, b, 0]);
            out.extend_from_slice(&[first, second, third, b'=']);
        }
        _ => {}
    }
}

fn digits([a, b, c]: [u8; 3]) -> [u8; 4] {
    let digit = |sextet: u8| ALPHABET[usize::from(sextet & 63)];
    [
        digit(a >> 2),
        digit(a << 4 | b >> 4),
        digit(b << 2 | c >> 6),
        digit(c),
    ]
}

#[cfg(test)]
mod tests {
    use super::{PIECE_BYTES, Text};

    fn text(bytes: &[u8]) -> String {
        Text(bytes).to_string()
    }

    #[test]
    fn vectors_of_rfc_4648() {
        for (bytes, expected) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(text(bytes.as_bytes()), expected);
        }
    }

    #[test]
    fn pieces_are_one_text() {
        let text = text(&vec![0; 2 * PIECE_BYTES + 1]);
        assert_eq!(text.len(), 8 * PIECE_BYTES / 3 + 4);
        assert_eq!(text.trim_start_matches('A'), "==");
    }

    #[test]
    fn every_digit_is_used() {
        let all: Vec<u8> = (0..=255).collect();
        let text = text(&all);
        assert!(
            super::ALPHABET
                .iter()
                .all(|&d| text.as_bytes().contains(&d))
        );
        assert_eq!(&text[text.len() - 8..], "/P3+/w==");
    }
}
