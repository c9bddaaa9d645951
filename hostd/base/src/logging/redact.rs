//! Redacts from a log line whatever looks like a credential of this server, wherever it comes from: a
//! path that somebody pasted a key into, a body, a panic. It recognises plain text, percent-encoding
//! (even double) and JSON escapes.
//!
//! `bk_4fPq0aZ81LmN_[redacted]` still shows which key must be revoked.

use std::borrow::Cow;
use std::ops::Range;

use crate::id::{CODE_LEN, KEY_ID_LEN, ULID_LEN};

const MARK: &[u8] = b"[redacted]";

/// The first characters of a JSON object in base 64, and so of every JSON Web Token.
const TOKEN_START: &[u8] = b"eyJ";

/// Characters from there on that are too many for a word.
const TOKEN_LEN_MIN: usize = 12;

/// Characters after a key's or a sign-in's id that may be a truncated secret.
const SECRET_LEN_MIN: usize = 8;

/// Shortest run of letters, digits and `_ - .` that may hold a secret.
const WORD_LEN_MIN: usize = TOKEN_LEN_MIN;

/// Changes between capitals, small letters and digits that make a text of a code's length look
/// random. One in 100,000 codes has fewer; names have few.
const CODE_TURNS_MIN: usize = 5;

/// `line` without secrets; copied only if there are any.
#[must_use]
pub fn redact(line: &[u8]) -> Cow<'_, [u8]> {
    let mut kept = Vec::new();
    let mut copied = 0;
    let mut at = 0;
    let mut word = Word::default();
    while at < line.len() {
        at = word.read(line, at);
        for secret in word.secrets() {
            kept.extend_from_slice(&line[copied..secret.start]);
            kept.extend_from_slice(MARK);
            copied = secret.end;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(line);
    }
    kept.extend_from_slice(&line[copied..]);
    Cow::Owned(kept)
}

/// A run of characters that credentials are made of, decoded.
#[derive(Default)]
struct Word {
    text: Vec<u8>,
    /// Where in the line each character begins, and where the last one ends.
    places: Vec<usize>,
    /// Whether the first character may belong to an escape before it.
    is_doubtful: bool,
}

/// One character as it is written in a line.
struct Char {
    /// None = not a character of credentials.
    decoded: Option<u8>,
    len: usize,
}

impl Word {
    /// Read the word at `at`. Returns where to continue, after what ends it.
    fn read(&mut self, line: &[u8], mut at: usize) -> usize {
        self.text.clear();
        self.places.clear();
        self.is_doubtful = false;
        let rest = &line[at..];
        let plain = rest.iter().position(|b| !is_of_word(*b));
        let plain = plain.unwrap_or(rest.len());
        let is_encoded = matches!(rest.get(plain), Some(b'%' | b'\\'));
        if plain < WORD_LEN_MIN && !is_encoded {
            return at + plain + 1;
        }
        while at < line.len() {
            let Char { decoded, len } = char_at(&line[at..]);
            match decoded {
                Some(byte) => {
                    self.text.push(byte);
                    self.places.push(at);
                }
                None if self.text.is_empty() => {
                    let is_slash = |b: &u8| *b == b'\\';
                    let written = &line[at..at + len];
                    self.is_doubtful = written.iter().all(is_slash) && len.is_multiple_of(2);
                }
                None => break,
            }
            at += len;
        }
        self.places.push(at);
        at
    }

    /// Where the word's secrets are in the line, in order and disjoint.
    fn secrets(&self) -> Vec<Range<usize>> {
        if self.text.len() < WORD_LEN_MIN {
            return Vec::new();
        }
        let mut found = self.parts();
        let start = memchr::memmem::find(&self.text, TOKEN_START);
        if let Some(start) = start.filter(|start| self.text.len() - start >= TOKEN_LEN_MIN) {
            // The rest of the word, however much of it is the token, and everything that it
            // touches.
            let touched = found.iter().position(|part| start < part.end);
            let from = touched.map_or(start, |at| found[at].start.min(start));
            found.truncate(touched.unwrap_or(found.len()));
            found.push(from..self.text.len());
        }
        let in_line = |part: &Range<usize>| self.places[part.start]..self.places[part.end];
        found.iter().map(in_line).collect()
    }

    /// Secrets of keys and sign-ins, and codes.
    fn parts(&self) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        // The length of the previous part, if an underscore separates the two and another precedes it.
        let mut id_len = None;
        let mut start = 0;
        let mut before = None;
        for part in self.text.split(|b| !b.is_ascii_alphanumeric()) {
            let end = start + part.len();
            let is_secret = part.len() >= SECRET_LEN_MIN
                && matches!(id_len, Some(KEY_ID_LEN | ULID_LEN))
                && before == Some(&b'_');
            if is_secret || is_code(part) {
                found.push(start..end);
            } else if start == 0 && self.is_doubtful && is_code(part.get(1..).unwrap_or_default()) {
                found.push(1..end);
            }
            id_len = (before == Some(&b'_')).then_some(part.len());
            before = self.text.get(end);
            start = end + 1;
        }
        found
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Whether it looks like a one-time code.
fn is_code(part: &[u8]) -> bool {
    if part.len() != CODE_LEN {
        return false;
    }
    let class = |b: &u8| (b.is_ascii_uppercase(), b.is_ascii_lowercase());
    let turns = part
        .windows(2)
        .filter(|pair| class(&pair[0]) != class(&pair[1]));
    let mixed = |is: fn(&u8) -> bool| part.iter().any(is);
    turns.count() >= CODE_TURNS_MIN
        && mixed(u8::is_ascii_uppercase)
        && mixed(u8::is_ascii_lowercase)
}

/// The character that `rest` begins with.
fn char_at(rest: &[u8]) -> Char {
    let (decoded, len) = match rest[0] {
        b'%' => percent_encoded(rest),
        b'\\' => escaped(rest),
        plain => (plain, 1),
    };
    Char {
        decoded: Some(decoded).filter(|b| is_of_word(*b)),
        len,
    }
}

/// RFC 3986 encoding, applied once or more: `%2541` is `%41` is `A`.
fn percent_encoded(rest: &[u8]) -> (u8, usize) {
    let mut at = 1;
    while rest[at..].starts_with(b"25") {
        at += 2;
    }
    match hex(&rest[at..], 2) {
        Some(byte) => (byte, at + 2),
        None => (0, at),
    }
}

/// Escapes of JSON and Rust, the backslashes doubled or not: `\u0041`, `\x41`, `\u{41}`, `\n`.
fn escaped(rest: &[u8]) -> (u8, usize) {
    let slashes = rest.iter().take_while(|b| **b == b'\\').count();
    let tail = &rest[slashes..];
    let digits = match tail {
        [b'u', b'{', digits @ ..] => {
            let count = digits.iter().take(8).position(|b| *b == b'}');
            count.map(|count| (2, count, 1))
        }
        [b'u', ..] => Some((1, 4, 0)),
        [b'x', ..] => Some((1, 2, 0)),
        _ => None,
    };
    if let Some((before, count, after)) = digits
        && let Some(byte) = hex(&tail[before..], count)
    {
        return (byte, slashes + before + count + after);
    }
    // A single backslash consumes the letter after it. After two, that is unclear.
    let takes = slashes % 2 == 1 && matches!(tail.first(), Some(b'n' | b'r' | b't' | b'b' | b'f'));
    (0, slashes + usize::from(takes))
}

/// The value of the first `count` hexadecimal digits; 0 if it is not an ASCII character.
fn hex(text: &[u8], count: usize) -> Option<u8> {
    let digits = text.get(..count).filter(|digits| !digits.is_empty())?;
    let mut value = 0u32;
    for digit in digits {
        value = value << 4 | char::from(*digit).to_digit(16)?;
    }
    Some(u8::try_from(value).unwrap_or(0))
}

#[cfg(test)]
mod tests;
