//! Hexadecimal digits and base 64, and a search in what they stand for: wherever a secret lies in what was encoded, and
//! however it was broken into lines.

use std::ops::Range;

use super::SECRET_BYTES_MIN;
use super::automaton::{Automaton, BASE64_BEHIND};
use super::view::{Finder, Piece, View};

/// What a byte is in one of the two.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Digit(u8),
    /// It may stand between digits.
    Between,
    /// It ends a row of digits.
    End,
}

/// A search in hexadecimal digits of either case, with white space, `:`, `-`, `,` and `0x` between them.
#[derive(Clone, Debug, Default)]
pub(super) struct Hexadecimal {
    /// From each of two digits on.
    views: [View; 2],
    /// Digits in this row.
    count: u64,
    /// The last two.
    last: [u8; 2],
}

/// A search in base 64 of either alphabet, with white space in between.
#[derive(Clone, Debug, Default)]
pub(super) struct Base64 {
    /// From each of four characters on.
    views: [View; 4],
    /// Characters in this row.
    count: u64,
    /// The last character.
    last: u8,
    /// Some view is not at its start.
    is_open: bool,
}

/// Decoded bytes from which on they are held back that could become a secret: one alone comes up at the end of many a
/// line.
const HELD_FROM: usize = 2;

/// The bytes that end with a character of base 64: how many characters before it their group of four began. The bits
/// of the character that belong to what comes next are as many as [`BASE64_BEHIND`] says.
const ENDINGS: [u64; 3] = [1, 2, 3];

/// Bytes of the shortest row of hexadecimal digits that can have a secret.
const ROW_BYTES_MIN: usize = 2 * SECRET_BYTES_MIN;

/// What each byte is in hexadecimal.
const HEXADECIMAL: [Role; 256] = {
    let mut roles = [Role::End; 256];
    let mut byte = u8::MAX;
    while byte > 0 {
        roles[byte as usize] = hexadecimal(byte);
        byte -= 1;
    }
    roles
};

/// What each byte is in base 64.
const BASE64: [Role; 256] = {
    let mut roles = [Role::End; 256];
    let mut byte = u8::MAX;
    while byte > 0 {
        roles[byte as usize] = base64(byte);
        byte -= 1;
    }
    roles
};

impl Hexadecimal {
    pub(super) fn feed(&mut self, piece: Piece<'_>, finder: &mut Finder<'_>) {
        let ends = |byte: &u8| HEXADECIMAL[usize::from(*byte)] == Role::End;
        let mut from = 0;
        while from < piece.bytes.len() {
            let rest = &piece.bytes[from..];
            // A row that ends too early has no secret, and need not be read.
            let early = match rest.get(..ROW_BYTES_MIN) {
                Some(row) if self.count == 0 => row.iter().rposition(ends),
                _ => None,
            };
            let length = match early {
                Some(at) => at + 1,
                None => {
                    let end = rest.iter().position(ends).map_or(rest.len(), |at| at + 1);
                    self.read(piece, from..from + end, finder);
                    end
                }
            };
            from += length;
        }
    }

    /// Reads some bytes of a piece.
    fn read(&mut self, piece: Piece<'_>, range: Range<usize>, finder: &mut Finder<'_>) {
        for index in range {
            let byte = piece.bytes[index];
            match HEXADECIMAL[usize::from(byte)] {
                Role::Digit(digit) => {
                    let of = usize::from(self.count % 2 == 1);
                    if self.count > 0 {
                        let meant = (self.last[0] << 4) | digit;
                        if !self.views[of].is_at_start() || finder.automaton.begins(meant) {
                            // Half a byte before it says nothing about the secret.
                            let place = piece.places.at(index);
                            self.views[of].feed(meant, place, place + 1, finder);
                        }
                    }
                    self.count += 1;
                    self.last = [digit, self.last[0]];
                }
                // The `0` before it was no digit.
                Role::Between if byte | 0x20 == b'x' && self.count > 0 && self.last[0] == 0 => {
                    self.count -= 1;
                    self.last = [self.last[1], 0];
                }
                Role::Between if byte | 0x20 != b'x' => {}
                Role::Between | Role::End => self.end(),
            }
        }
    }

    fn end(&mut self) {
        if self.count > 0 {
            self.views.iter_mut().for_each(View::reset);
            self.count = 0;
        }
    }

    /// Where what could become a secret begins.
    pub(super) fn open_from(&self, automaton: &Automaton) -> Option<u64> {
        open_from(&self.views, automaton)
    }
}

impl Base64 {
    pub(super) fn feed(&mut self, piece: Piece<'_>, finder: &mut Finder<'_>) {
        for (index, byte) in piece.bytes.iter().enumerate() {
            match BASE64[usize::from(*byte)] {
                Role::Digit(digit) => {
                    let both = (u16::from(self.last) << 6) | u16::from(digit);
                    if self.is_open || finder.automaton.begins_in_base64(both) != 0 {
                        self.digit(both, piece.places.at(index), finder);
                    }
                    self.count += 1;
                    self.last = digit;
                }
                Role::Between => {}
                Role::End => {
                    if self.is_open {
                        self.views.iter_mut().for_each(View::reset);
                        self.is_open = false;
                    }
                    self.count = 0;
                }
            }
        }
    }

    /// Takes what ends with a character, of which and the one before it these are the bits.
    fn digit(&mut self, both: u16, place: u64, finder: &mut Finder<'_>) {
        for (before, behind) in ENDINGS.into_iter().zip(BASE64_BEHIND) {
            if self.count < before {
                break;
            }
            let of = usize::try_from((self.count - before) % 4).unwrap_or_default();
            let [_, meant] = (both >> behind).to_be_bytes();
            if !self.views[of].is_at_start() || finder.automaton.begins(meant) {
                // A character before it has a few bits of it, and says little about the secret.
                self.views[of].feed(meant, place, place + 1, finder);
            }
        }
        self.is_open = !self.views.iter().all(View::is_at_start);
    }

    /// Where what could become a secret begins.
    pub(super) fn open_from(&self, automaton: &Automaton) -> Option<u64> {
        open_from(&self.views, automaton)
    }
}

fn open_from(views: &[View], automaton: &Automaton) -> Option<u64> {
    let open = views
        .iter()
        .filter_map(|view| view.open_from(automaton, HELD_FROM));
    open.min()
}

const fn hexadecimal(byte: u8) -> Role {
    match byte {
        b'0'..=b'9' => Role::Digit(byte - b'0'),
        b'a'..=b'f' => Role::Digit(byte - b'a' + 10),
        b'A'..=b'F' => Role::Digit(byte - b'A' + 10),
        b' ' | b'\t' | b'\n' | b'\r' | b':' | b'-' | b',' | b'x' | b'X' => Role::Between,
        _ => Role::End,
    }
}

const fn base64(byte: u8) -> Role {
    match byte {
        b'A'..=b'Z' => Role::Digit(byte - b'A'),
        b'a'..=b'z' => Role::Digit(byte - b'a' + 26),
        b'0'..=b'9' => Role::Digit(byte - b'0' + 52),
        b'+' | b'-' => Role::Digit(62),
        b'/' | b'_' => Role::Digit(63),
        b' ' | b'\t' | b'\n' | b'\r' => Role::Between,
        _ => Role::End,
    }
}
