//! What is left of output when everything is gone that only a terminal understands: escape sequences and control
//! characters but for the end of a line and the tabulator.
//!
//! Pages show this, and secrets are looked for in it, so that both agree on what comes to stand next to each other.

/// Reads output byte by byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Plain {
    #[default]
    Ground,
    /// Behind an escape character.
    Escape,
    /// Behind an escape character and what goes before the letter that ends its sequence.
    Between,
    /// In a control sequence, which a letter ends.
    Control,
    /// In a text for the terminal alone, such as the title of its window.
    Text,
}

const BELL: u8 = 0x07;
const CANCEL: u8 = 0x18;
const SUBSTITUTE: u8 = 0x1a;
const ESCAPE: u8 = 0x1b;
const DELETE: u8 = 0x7f;

impl Plain {
    /// Whether this byte is seen, which comes next.
    pub(crate) fn shows(&mut self, byte: u8) -> bool {
        if *self == Self::Ground && byte >= b' ' {
            return byte != DELETE;
        }
        let (next, is_shown) = match (*self, byte) {
            (_, ESCAPE) => (Self::Escape, false),
            // A line ends what was never ended, or everything behind it would be gone.
            (Self::Ground | Self::Text, b'\n') => (Self::Ground, true),
            (now, b'\n') => (now, true),
            (Self::Ground, b'\t') => (Self::Ground, true),
            (_, CANCEL | SUBSTITUTE) | (Self::Text, BELL) => (Self::Ground, false),
            (Self::Text, _) => (Self::Text, false),
            (now, 0..=0x1f | DELETE) => (now, false),
            // No sequence has such a byte.
            (_, 0x80..) => (Self::Ground, true),
            (Self::Escape, b'[') => (Self::Control, false),
            (Self::Escape, b']' | b'P' | b'X' | b'^' | b'_') => (Self::Text, false),
            (Self::Escape | Self::Between, b' '..=b'/') => (Self::Between, false),
            (Self::Control, b' '..=b'?') => (Self::Control, false),
            (Self::Escape | Self::Between | Self::Control, _) => (Self::Ground, false),
            (Self::Ground, _) => (Self::Ground, true),
        };
        *self = next;
        is_shown
    }
}

/// `text` as it is seen.
#[must_use]
pub fn text(text: &str) -> String {
    let mut plain = Plain::default();
    let shown = text.bytes().filter(|byte| plain.shows(*byte)).collect();
    // Bytes of one character are all seen, or none is.
    String::from_utf8(shown).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_a_terminal_understands_is_gone() {
        for (said, seen) in [
            ("a\x1b[01;31mb\x1b[mc", "abc"),
            ("a\x1b[?25lb\x1b(Bc\x1b7d", "abcd"),
            ("a\x1b]0;title\x07b\x1b]8;;http://x\x1b\\c", "abc"),
            ("a\r\nb\tc\x08d\x7fe\x00", "a\nb\tcde"),
            // What never ends does so with its line.
            ("a\x1b]0;title\nb", "a\nb"),
            ("a\x1b[31\nb\x1b[0mc", "a\nc"),
            ("ü\x1b[1mß\x1b[€", "üß€"),
            ("\x1b", ""),
        ] {
            assert_eq!(text(said), seen, "{said:?}");
        }
    }

    #[test]
    fn whatever_comes_is_text_and_what_is_plain_stays() {
        let mut random = fastrand::Rng::with_seed(3);
        let letters = [
            'a', 'ü', '\u{9b}', '\x1b', '[', ']', '\x07', '\n', ';', '\\',
        ];
        for _ in 0..2000 {
            let said: String = (0..20)
                .map(|_| random.choice(letters).expect("there are some"))
                .collect();
            let seen = text(&said);
            assert_eq!(text(&seen), seen, "{said:?}");
        }
    }
}
