//! A line of a drill file as words: a letter and what follows it.

/// Words of a line.
pub(super) struct Words<'a> {
    words: Vec<(u8, &'a [u8])>,
}

/// Most words of a line.
const WORDS_MAX: usize = 16;

impl<'a> Words<'a> {
    /// Reads a line; `None` if it has anything else.
    pub(super) fn read(text: &'a [u8]) -> Option<Self> {
        let mut words = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let letter = text[at];
            if letter.is_ascii_whitespace() {
                at += 1;
                continue;
            }
            if !letter.is_ascii_uppercase() || words.len() == WORDS_MAX {
                return None;
            }
            let rest = &text[at + 1..];
            let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+');
            let length = rest.iter().position(|byte| !is_part(byte));
            let length = length.unwrap_or(rest.len());
            words.push((letter, &rest[..length]));
            at += 1 + length;
        }
        Some(Self { words })
    }

    /// What follows the letter, where it stands for the `nth` time.
    pub(super) fn text(&self, letter: u8, nth: usize) -> Option<&'a [u8]> {
        let mut of_letter = self.words.iter().filter(|(other, _)| *other == letter);
        of_letter.nth(nth).map(|(_, text)| *text)
    }

    /// The whole number that follows the letter.
    pub(super) fn number(&self, letter: u8) -> Option<u32> {
        std::str::from_utf8(self.text(letter, 0)?)
            .ok()?
            .parse()
            .ok()
    }
}
