//! Source files that a document shows: `cargo xtask docs` copies them there, and `tidy` checks that
//! they match the files that are compiled and tested.
//!
//! ```text
//! <!-- cargo xtask docs writes handlers/devices/src/get.rs here. -->
//! (a block of code)
//! ```

use std::ops::Range;

/// The text before and after the path of a file.
const MARK: (&str, &str) = ("<!-- cargo xtask docs writes ", " here. -->\n");

/// The text before and after the shown source.
const FENCE: (&str, &str) = ("```rust\n", "\n```\n");

/// A file that is shown.
pub(crate) struct Excerpt<'a> {
    pub(crate) path: &'a str,
    /// Position of the shown source in the document.
    shown: Range<usize>,
}

impl Excerpt<'_> {
    pub(crate) fn is(&self, document: &str, source: &str) -> bool {
        document[self.shown.clone()] == *source.trim_end()
    }
}

/// Every excerpt of a document; an error names a mark without a block of code after it.
pub(crate) fn find(document: &str) -> Result<Vec<Excerpt<'_>>, String> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(mark) = document[at..].find(MARK.0) {
        let path = at + mark + MARK.0.len();
        let block = || {
            let path_end = path + document[path..].find(MARK.1)?;
            let text = path_end + MARK.1.len();
            let start = text
                + document[text..]
                    .strip_prefix(FENCE.0)
                    .map(|_| FENCE.0.len())?;
            let end = start + document[start..].find(FENCE.1)?;
            Some((&document[path..path_end], start..end))
        };
        let Some((path, shown)) = block() else {
            let line = document[path..].lines().next().unwrap_or_default();
            return Err(format!("no block of Rust follows the mark of `{line}`"));
        };
        at = shown.end;
        found.push(Excerpt { path, shown });
    }
    Ok(found)
}

/// The document with each excerpt replaced by what `read` returns for its path.
pub(crate) fn renewed(
    document: &str,
    read: impl Fn(&str) -> anyhow::Result<String>,
) -> anyhow::Result<String> {
    let mut renewed = String::new();
    let mut at = 0;
    for excerpt in find(document).map_err(anyhow::Error::msg)? {
        renewed.push_str(&document[at..excerpt.shown.start]);
        renewed.push_str(read(excerpt.path)?.trim_end());
        at = excerpt.shown.end;
    }
    renewed.push_str(&document[at..]);
    Ok(renewed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "\
Before.\n\n<!-- cargo xtask docs writes a.rs here. -->\n```rust\nold\n```\n\nBetween.\n\n\
<!-- cargo xtask docs writes b.rs here. -->\n```rust\nfn b() {\n}\n```\nAfter.\n";

    #[test]
    fn each_block_becomes_its_file() {
        let read = |path: &str| Ok(format!("// {path}\n"));
        let new = renewed(DOCUMENT, read).unwrap();
        let expected = DOCUMENT
            .replace("old", "// a.rs")
            .replace("fn b() {\n}", "// b.rs");
        assert_eq!(new, expected);
        let found = find(&new).unwrap();
        assert!(found[0].is(&new, "// a.rs\n") && !found[0].is(&new, "// b.rs\n"));
        assert_eq!(renewed(&new, read).unwrap(), new);
    }

    #[test]
    fn a_mark_without_a_block_is_an_error() {
        let error = find("<!-- cargo xtask docs writes a.rs here. -->\nText.\n").err();
        assert!(error.unwrap().contains("`a.rs here"));
        assert!(find("<!-- cargo xtask docs writes a.rs here. -->\n```rust\nopen").is_err());
        assert!(find("No mark.").unwrap().is_empty());
    }
}
