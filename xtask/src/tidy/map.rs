//! The map is true: every path that ARCHITECTURE.md names exists.

use super::Finding;
use super::repository::Repository;

/// The document that is checked.
const MAP: &str = "ARCHITECTURE.md";

/// Checks the map against the files of the repository.
pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let Some(map) = repository.files.iter().find(|file| file.path == MAP) else {
        return vec![Finding::violation(
            MAP,
            "is missing; it is where a newcomer starts",
        )];
    };
    let is_built = |path: &str| path.starts_with("target/");
    let exists = |path: &str| {
        let folder = format!("{}/", path.trim_end_matches('/'));
        repository
            .paths
            .iter()
            .any(|file| file == path || file.starts_with(&folder))
    };
    named_paths(&map.text)
        .into_iter()
        .filter(|path| !is_built(path) && !exists(path))
        .map(|path| Finding::violation(MAP, format!("names `{path}`, which does not exist")))
        .collect()
}

/// Everything between backticks that looks like a path: it has a slash or a file's ending, and no
/// placeholder in it.
fn named_paths(text: &str) -> Vec<&str> {
    const ENDINGS: &[&str] = &[".md", ".rs", ".toml", ".wit"];
    let is_path = |span: &str| {
        let has_shape = span.contains('/') || ENDINGS.iter().any(|ending| span.ends_with(ending));
        let is_plain = span
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "./_-".contains(c));
        has_shape && is_plain && !span.starts_with('/')
    };
    // The text after an odd number of backticks, up to the next one, is code.
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(|span| is_path(span))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::repository::SourceFile;
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let paths = ["Cargo.toml", "hostd/src/main.rs"];
        let map = SourceFile {
            path: MAP.to_owned(),
            text: text.to_owned(),
        };
        let repository = Repository {
            files: vec![map],
            paths: paths.map(str::to_owned).to_vec(),
        };
        check(&repository).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn paths_that_exist_and_things_that_are_no_paths_pass() {
        let text = "`hostd/src/main.rs` in `hostd/` and `hostd/src`, `Cargo.toml`, `cargo xtask`, \
                    `GET /capture/{id}`, `handlers/<group>`, `/healthz`, `target/release/hostd`";
        assert!(found(text).is_empty(), "{:?}", found(text));
    }

    #[test]
    fn paths_that_do_not_exist_are_found() {
        assert_eq!(found("see `hostd/src/gone.rs`").len(), 1);
        assert_eq!(
            found("`gone.md`, then `hostd/src/main.rs`, then `hos`, then `wit/x`").len(),
            2
        );
    }

    #[test]
    fn a_missing_map_is_found() {
        let empty = Repository {
            files: Vec::new(),
            paths: Vec::new(),
        };
        assert_eq!(check(&empty).len(), 1);
    }
}
