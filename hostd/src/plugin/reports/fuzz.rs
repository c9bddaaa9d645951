//! A fuzz entry: any text as what a plugin calls its document, and as the query that asks for one.

use runtime::ReplyBody;

use super::{artifact, options, wit};

/// Sends a document whose name is the text up to its first line feed, and whose type is the rest; then reads the text as a
/// query.
///
/// # Panics
/// Headers do not hold the name and the type as one file and one media type. Nothing else may panic.
pub(in crate::plugin) fn document(text: &str) {
    let (name, content_type) = text.split_once('\n').unwrap_or((text, text));
    let sent = artifact::reply(
        wit::Artifact {
            name: name.to_owned(),
            content_type: content_type.to_owned(),
            content: Vec::new(),
            extra: Vec::new(),
        },
        0,
    );
    let reply = sent.expect("an empty document is not too large, and its headers are plain");
    assert!(matches!(reply.body, ReplyBody::Empty));
    for (header, value) in &reply.headers {
        assert!(
            value.bytes().all(|b| b == b' ' || b.is_ascii_graphic()),
            "{header}: {value:?}"
        );
        if header == "content-disposition" {
            assert_eq!(value.matches('"').count(), 2, "{value}");
            assert!(!value.contains(['/', '\\']) && value.len() < 700, "{value}");
        }
    }
    let known = ["a", "name"].map(|id| (id.to_owned(), String::new()));
    if let Ok(pairs) = options::of(text, &known) {
        assert!(pairs.len() <= known.len());
    }
}

#[cfg(test)]
mod tests {
    use base::seeded::Random;

    /// What is likely to mean something.
    const PIECES: [&str; 24] = [
        "../",
        "\"",
        "\\",
        "\r\n",
        "\n",
        ";",
        "%",
        "%2f",
        "%ff",
        "=",
        "&",
        "+",
        "a",
        "name",
        ".",
        " ",
        "\0",
        "\u{202e}",
        "ü",
        "😀",
        "text/",
        "html",
        "filename*=UTF-8''",
        "\u{7f}",
    ];

    /// What the fuzzer looks for, with fixed seeds.
    #[test]
    fn any_text_is_a_name_a_type_and_a_query() {
        for seed in 1..=5_000 {
            let mut random = Random(seed * 0x9e37_79b9);
            let count = random.index(200);
            let text: String = (0..count)
                .map(|_| PIECES[random.index(PIECES.len())])
                .collect();
            super::document(&text);
        }
    }
}
