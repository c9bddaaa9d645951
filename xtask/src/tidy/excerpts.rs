//! The source that a document shows is the source that is compiled: see `crate::excerpts`.

use super::Finding;
use super::repository::Repository;
use crate::excerpts;

/// Checks the excerpts of every document.
pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let documents = repository.files.iter().filter(|f| f.path.ends_with(".md"));
    documents
        .flat_map(|document| match excerpts::find(&document.text) {
            Err(error) => vec![Finding::violation(&document.path, error)],
            Ok(excerpts) => excerpts
                .iter()
                .filter(|excerpt| {
                    let mut files = repository.files.iter();
                    let source = files.find(|file| file.path == excerpt.path);
                    source.is_none_or(|source| !excerpt.is(&document.text, &source.text))
                })
                .map(|excerpt| {
                    let message = format!(
                        "shows {} as it no longer is; run `cargo xtask docs`",
                        excerpt.path
                    );
                    Finding::violation(&document.path, message)
                })
                .collect(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::repository::SourceFile;
    use super::*;

    fn findings(shown: &str) -> usize {
        let file = |path: &str, text: String| SourceFile {
            path: path.to_owned(),
            text,
        };
        let document =
            format!("<!-- cargo xtask docs writes a.rs here. -->\n```rust\n{shown}\n```\n");
        let repository = Repository {
            files: vec![
                file("docs/page.md", document),
                file("a.rs", "fn a() {}\n".to_owned()),
            ],
            paths: Vec::new(),
        };
        check(&repository).len()
    }

    #[test]
    fn an_excerpt_that_differs_from_its_file_is_found() {
        assert_eq!(findings("fn a() {}"), 0);
        assert_eq!(findings("fn b() {}"), 1);
    }
}
