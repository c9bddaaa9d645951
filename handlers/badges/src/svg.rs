//! The picture: a label and a word on two fields, which a screen reader says as one.

use guest::badges::Word;
use guest::page::escaped;

/// Width of a character, in tenths of a unit: that of the widest common ones, since nobody knows the reader's font.
const CHAR_TENTHS: usize = 70;

/// Space beside a text on both sides together, in units.
const PADDING: usize = 12;

/// The field behind a word. White text on each has a contrast of at least 4.5.
pub(crate) fn colour(word: Word) -> &'static str {
    match word {
        Word::Unknown => "#5f6670",
        Word::Running => "#1f5fa8",
        Word::Passing => "#1e7a34",
        Word::Failing => "#b3261e",
        Word::Infrastructure => "#8a5a00",
    }
}

/// Draws it. `word` and `colour` are this program's own; the label is anybody's.
pub(crate) fn draw(label: &str, word: &str, colour: &str) -> String {
    let (left, right) = (width(label), width(word));
    let whole = left + right;
    let (label_at, word_at) = (left / 2, left + right / 2);
    let label = escaped(label);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{whole}\" height=\"20\" role=\"img\" \
         aria-label=\"{label}: {word}\"><title>{label}: {word}</title>\
         <rect width=\"{left}\" height=\"20\" fill=\"#3d434b\"/>\
         <rect x=\"{left}\" width=\"{right}\" height=\"20\" fill=\"{colour}\"/>\
         <g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\" text-anchor=\"middle\">\
         <text x=\"{label_at}\" y=\"14\">{label}</text><text x=\"{word_at}\" y=\"14\">{word}</text></g></svg>\n"
    )
}

fn width(text: &str) -> usize {
    text.chars().count() * CHAR_TENTHS / 10 + PADDING
}

#[cfg(test)]
mod tests {
    use guest::testing::mutations;

    use super::{draw, escaped};

    #[test]
    fn a_label_stays_a_label() {
        assert_eq!(
            escaped("a<b>&\"'\u{1}"),
            "a&lt;b&gt;&amp;&quot;&#39;\u{fffd}"
        );
        let drawn = draw("</text><script>alert(1)</script>", "passing", "#1e7a34");
        assert!(!drawn.contains("<script"), "{drawn}");
        assert!(drawn.len() < 2000, "{}", drawn.len());
    }

    #[test]
    fn any_label_leaves_the_same_elements() {
        let tags = |drawn: &str| drawn.matches('<').count();
        let plain = tags(&draw("x", "passing", "#fff"));
        mutations(0xBAD6E, b"a<b>&\"'</title><script>", 5000, |label| {
            let drawn = draw(&String::from_utf8_lossy(label), "passing", "#fff");
            assert_eq!(tags(&drawn), plain, "{drawn}");
            assert!(
                drawn.chars().all(|c| c == '\n' || !c.is_control()),
                "{drawn}"
            );
        });
    }
}
