//! Languages that write some bytes as several others, and a search in what they mean.

use super::automaton::Automaton;
use super::view::{Finder, Piece, View};

/// Longest escape: `\ud83d\ude00`.
const ESCAPE_BYTES_MAX: usize = 12;

/// A way to write bytes as others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// URLs: `%2F`.
    Url,
    /// Forms: as URLs, and a plus is a space.
    Form,
    /// JSON, Python, C, and the shell where it does not quote: `\"`, `\n`, `\x2f`, `\057`, `\u002f`.
    Backslash,
    /// The shell between single quotes: `'\''` and `'"'"'` are a quote.
    Quoted,
    /// HTML and XML: `&amp;`, `&#47;`, `&#x2f;`.
    Html,
}

/// What some bytes mean.
enum Meaning {
    /// More must come to tell.
    Open,
    /// The first of them stands for itself.
    Plain,
    /// All of them stand for these.
    Bytes([u8; 4], usize),
}

/// A search in what a stream means in a language.
#[derive(Clone, Debug)]
pub(super) struct Escapes {
    language: Language,
    view: View,
    /// No escape has set it apart from a search in the bytes as they are: that one finds everything, and `view` is unused.
    follows: bool,
    /// The beginning of an escape, and where its bytes are.
    begun: Vec<u8>,
    places: Vec<u64>,
    /// So many of its first bytes could be one that goes on.
    open: usize,
}

impl Escapes {
    pub(super) fn new(language: Language) -> Self {
        Self {
            language,
            view: View::default(),
            follows: true,
            begun: Vec::new(),
            places: Vec::new(),
            open: 0,
        }
    }

    /// Takes what comes next. `before` and `after` are what a search in the bytes as they are was and is; `kinds` is what
    /// [`kinds`] says of the bytes.
    pub(super) fn feed(
        &mut self,
        piece: Piece<'_>,
        kinds: u8,
        (before, after): (&View, &View),
        finder: &mut Finder<'_>,
    ) {
        if self.follows {
            if kinds & self.language.bit() == 0 {
                return;
            }
            self.view.clone_from(before);
            self.follows = false;
        }
        let mut index = 0;
        while index < piece.bytes.len() {
            if self.begun.is_empty() && self.view.is_at_start() {
                let Some(skipped) = self.next(&piece.bytes[index..], finder.automaton) else {
                    break;
                };
                index += skipped;
            }
            let (byte, place) = (piece.bytes[index], piece.places.at(index));
            if self.begun.is_empty() && !self.language.begins_with(byte) {
                self.view.feed(byte, place, place + 1, finder);
            } else {
                self.begun.push(byte);
                self.places.push(place);
                self.resolve(false, finder);
            }
            index += 1;
        }
        if self.begun.is_empty() && self.view == *after {
            self.follows = true;
            self.view.reset();
        }
    }

    /// Whether it has found, and will find, what a search in the bytes as they are does.
    pub(super) fn follows(&self) -> bool {
        self.follows
    }

    /// The first place at which an escape or a secret could begin.
    fn next(&self, bytes: &[u8], automaton: &Automaton) -> Option<usize> {
        let bit = self.language.bit();
        let is_escape = |byte: u8| KINDS[usize::from(byte)] & bit != 0;
        let two = bytes.windows(2).position(|two| {
            is_escape(two[0])
                || automaton.begins_with(two[0], two[1])
                || is_escape(two[1]) && automaton.begins(two[0])
        });
        two.or_else(|| {
            let (last, before) = bytes.split_last()?;
            (is_escape(*last) || automaton.begins(*last)).then_some(before.len())
        })
    }

    /// Nothing more comes.
    pub(super) fn finish(&mut self, finder: &mut Finder<'_>) {
        self.resolve(true, finder);
    }

    /// Takes what has become clear.
    fn resolve(&mut self, is_end: bool, finder: &mut Finder<'_>) {
        while let (Some(&first), Some(&start)) = (self.begun.first(), self.places.first()) {
            let known = self.begun.len().min(ESCAPE_BYTES_MAX);
            let (meaning, length) = match self.language.begins_with(first) {
                true => self.language.first_of(&self.begun[..known], self.open),
                false => (Meaning::Plain, 1),
            };
            match meaning {
                Meaning::Open if !is_end && known < ESCAPE_BYTES_MAX => {
                    self.open = known;
                    return;
                }
                Meaning::Open | Meaning::Plain => {
                    self.view.feed(first, start, start + 1, finder);
                    self.forget(1);
                }
                Meaning::Bytes(meant, count) => {
                    let last = self.places[length - 1];
                    for byte in &meant[..count] {
                        self.view.feed(*byte, start, last + 1, finder);
                    }
                    self.forget(length);
                }
            }
        }
    }

    /// So many bytes are resolved.
    fn forget(&mut self, count: usize) {
        self.begun.drain(..count);
        self.places.drain(..count);
        self.open = 0;
    }

    /// Where what could become a secret begins.
    pub(super) fn open_from(&self, automaton: &Automaton) -> Option<u64> {
        let open = self.view.open_from(automaton, 1);
        let begun = self.places.first().copied();
        // Whatever quotes mean, it is a quote.
        let can_begin = self.language != Language::Quoted || automaton.begins(b'\'');
        open.or(begun.filter(|_| can_begin))
    }
}

/// What all bytes are together, as bits: [`UNSEEN`], and the languages in which one begins an escape.
pub(super) fn kinds(bytes: &[u8]) -> u8 {
    let each = bytes.iter().map(|byte| KINDS[usize::from(*byte)]);
    each.fold(0, |all, kinds| all | kinds)
}

/// The bit of bytes that may not be seen: those that a terminal understands.
pub(super) const UNSEEN: u8 = 1 << 7;

/// What each byte is, as bits.
const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte: usize = 0;
    while byte < b' ' as usize {
        kinds[byte] = UNSEEN;
        byte += 1;
    }
    kinds[b'\n' as usize] = 0;
    kinds[b'\t' as usize] = 0;
    kinds[0x7f] = UNSEEN;
    kinds[b'%' as usize] = Language::Url.bit() | Language::Form.bit();
    kinds[b'+' as usize] = Language::Form.bit();
    kinds[b'\\' as usize] = Language::Backslash.bit();
    kinds[b'\'' as usize] = Language::Quoted.bit();
    kinds[b'&' as usize] = Language::Html.bit();
    kinds
};

impl Language {
    /// The bit of bytes that begin an escape.
    const fn bit(self) -> u8 {
        1 << self as u8
    }

    fn begins_with(self, byte: u8) -> bool {
        KINDS[usize::from(byte)] & self.bit() != 0
    }

    /// The meaning of the shortest beginning of these bytes that has one, and how long that is. Those of up to `open` bytes
    /// have none.
    fn first_of(self, bytes: &[u8], open: usize) -> (Meaning, usize) {
        for length in open + 1..=bytes.len() {
            match self.meaning(&bytes[..length]) {
                Meaning::Open => {}
                meaning => return (meaning, length),
            }
        }
        (Meaning::Open, bytes.len())
    }

    /// What bytes mean of which the first is the begin of an escape.
    fn meaning(self, bytes: &[u8]) -> Meaning {
        match self {
            Self::Url | Self::Form if bytes == b"+" => one(b' '),
            Self::Url | Self::Form => digits(&bytes[1..], 16, 2, byte_of),
            Self::Backslash => backslash(bytes),
            Self::Quoted => fixed(bytes, &[(r"'\''", b'\''), ("'\"'\"'", b'\'')]),
            Self::Html => html(bytes),
        }
    }
}

fn one(byte: u8) -> Meaning {
    Meaning::Bytes([byte, 0, 0, 0], 1)
}

fn byte_of(number: u32) -> Meaning {
    u8::try_from(number).map_or(Meaning::Plain, one)
}

/// A character, as UTF-8.
fn character(number: u32) -> Meaning {
    let Some(character) = char::from_u32(number) else {
        return Meaning::Plain;
    };
    let mut bytes = [0; 4];
    let count = character.encode_utf8(&mut bytes).len();
    Meaning::Bytes(bytes, count)
}

/// So many digits, and what they mean.
fn digits(text: &[u8], radix: u32, count: usize, meaning: fn(u32) -> Meaning) -> Meaning {
    let mut number: u32 = 0;
    for byte in text.iter().take(count) {
        let Some(digit) = char::from(*byte).to_digit(radix) else {
            return Meaning::Plain;
        };
        number = number.saturating_mul(radix).saturating_add(digit);
    }
    match text.len().cmp(&count) {
        std::cmp::Ordering::Less => Meaning::Open,
        _ => meaning(number),
    }
}

fn backslash(bytes: &[u8]) -> Meaning {
    let Some(letter) = bytes.get(1) else {
        return Meaning::Open;
    };
    match letter {
        b'n' => one(b'\n'),
        b't' => one(b'\t'),
        b'r' => one(b'\r'),
        b'b' => one(8),
        b'f' => one(12),
        b'a' => one(7),
        b'v' => one(11),
        b'e' | b'E' => one(27),
        b'x' => digits(&bytes[2..], 16, 2, byte_of),
        b'0'..=b'3' => digits(&bytes[1..], 8, 3, byte_of),
        b'u' => utf16(bytes),
        b'U' => digits(&bytes[2..], 16, 8, character),
        other => one(*other),
    }
}

/// `\u002f`, or two such for a character that takes two.
fn utf16(bytes: &[u8]) -> Meaning {
    let unit = |text: &[u8]| {
        let text = std::str::from_utf8(text.get(..4)?).ok()?;
        u16::from_str_radix(text, 16).ok()
    };
    let single = digits(&bytes[2..], 16, 4, character);
    let Some(high) = unit(&bytes[2..]).filter(|unit| (0xd800..0xdc00).contains(unit)) else {
        return single;
    };
    match bytes.get(6..) {
        Some(rest) if !b"\\u".starts_with(&rest[..rest.len().min(2)]) => Meaning::Plain,
        Some(rest) if rest.len() >= 6 => {
            let pair = unit(&rest[2..]).map(|low| char::decode_utf16([high, low]).next());
            match pair {
                Some(Some(Ok(found))) => character(u32::from(found)),
                _ => Meaning::Plain,
            }
        }
        _ => Meaning::Open,
    }
}

/// One of some texts.
fn fixed(bytes: &[u8], texts: &[(&str, u8)]) -> Meaning {
    for (text, meant) in texts {
        if text.as_bytes() == bytes {
            return one(*meant);
        }
        if text.as_bytes().starts_with(bytes) {
            return Meaning::Open;
        }
    }
    Meaning::Plain
}

fn html(bytes: &[u8]) -> Meaning {
    let Some(number) = bytes.strip_prefix(b"&#") else {
        let names = [
            ("&amp;", b'&'),
            ("&lt;", b'<'),
            ("&gt;", b'>'),
            ("&quot;", b'"'),
            ("&apos;", b'\''),
        ];
        return fixed(bytes, &names);
    };
    let (radix, number) = match number {
        [b'x' | b'X', rest @ ..] => (16, rest),
        _ => (10, number),
    };
    match number.split_last() {
        None => Meaning::Open,
        Some((b';', number)) if !number.is_empty() => {
            digits(number, radix, number.len(), character)
        }
        // At most what is left of the longest escape.
        Some(_) => match digits(number, radix, number.len(), |_| Meaning::Open) {
            Meaning::Plain => Meaning::Plain,
            _ => Meaning::Open,
        },
    }
}
