//! Texts of strangers, names of nets and parts above all, where something would obey them: a terminal, HTML, SVG.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// Most characters of a name that pages and pictures show.
pub(crate) const NAME_CHARS_MAX: usize = 80;

/// Most characters of a sentence that pages show; it may have several names in it.
pub(crate) const SENTENCE_CHARS_MAX: usize = 1000;

/// A text without what a terminal would obey, and without what turns the direction of the text around it.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_obeyed) {
        let shown = text
            .chars()
            .map(|c| if is_obeyed(c) { '\u{fffd}' } else { c });
        Cow::Owned(shown.collect())
    } else {
        Cow::Borrowed(text)
    }
}

fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        // No character at all, for XML.
        || matches!(c, '\u{fffe}' | '\u{ffff}')
}

/// The beginning of a text.
pub(crate) fn clip(text: &str, chars_max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// A text in HTML or XML, between tags or in a quoted attribute.
pub(crate) struct Escaped<'t>(pub(crate) &'t str);

/// A name in HTML or XML, of which only the beginning is shown if it is long.
pub(crate) struct Name<'t>(pub(crate) &'t str);

/// A sentence in HTML or XML, of which only the beginning is shown if it is long.
pub(crate) struct Sentence<'t>(pub(crate) &'t str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c if is_obeyed(c) => f.write_char('\u{fffd}')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Escaped(&clip(self.0, NAME_CHARS_MAX)).fmt(f)
    }
}

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Escaped(&clip(self.0, SENTENCE_CHARS_MAX)).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_obeyed() {
        let name = "<script>\"&'\n\u{1b}[2J\u{202e}x";
        assert_eq!(
            Escaped(name).to_string(),
            "&lt;script&gt;&quot;&amp;&#39;\u{fffd}\u{fffd}[2J\u{fffd}x"
        );
        assert_eq!(plain(name), "<script>\"&'\u{fffd}\u{fffd}[2J\u{fffd}x");
        assert_eq!(plain("GND"), "GND");
        let long = "ä".repeat(NAME_CHARS_MAX + 1);
        assert_eq!(Name(&long).to_string().chars().count(), NAME_CHARS_MAX + 1);
        assert!(Name(&long).to_string().ends_with('…'));
    }
}
