//! Rules for files: how they begin, how long they get, what they are called, what they must not
//! mention.

use super::Finding;
use super::repository::{Repository, SourceFile};

/// Most lines of a source file.
const LINES_MAX: usize = 800;

/// A file with more lines of code than this, not counting tests, probably has two subjects.
const CODE_LINES_WARN: usize = 400;

/// Names that say nothing about what is inside.
const NAMELESS: &[&str] = &["common", "helper", "helpers", "misc", "util", "utils"];

/// Folders of somebody's machine, which other machines do not have. Split so that this file passes
/// its own rule.
const MACHINE_PATHS: &[&str] = &[
    concat!("/ro", "ot/"),
    concat!("/wo", "rk/"),
    concat!("/home", "/"),
];

/// Checks every file of the repository.
pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    repository.files.iter().flat_map(check_file).collect()
}

fn check_file(file: &SourceFile) -> Vec<Finding> {
    let mut findings = check_machine_paths(file);
    if file.path.ends_with(".rs") {
        findings.extend(check_name(file));
        findings.extend(check_first_line(file));
        findings.extend(check_length(file));
    }
    if file.path.ends_with("/Cargo.toml") {
        findings.extend(check_manifest(file));
    }
    findings
}

fn check_name(file: &SourceFile) -> Option<Finding> {
    let mut parts = file.path.trim_end_matches(".rs").rsplit('/');
    let stem = parts.next().unwrap_or_default();
    if stem == "mod" {
        return Some(Finding::violation(
            &file.path,
            "is a mod.rs; name it after its module",
        ));
    }
    let nameless = std::iter::once(stem)
        .chain(parts)
        .find(|part| NAMELESS.contains(part))?;
    let message = format!("`{nameless}` says nothing; name the thing that is inside");
    Some(Finding::violation(&file.path, message))
}

fn check_first_line(file: &SourceFile) -> Option<Finding> {
    let first = file.text.lines().next().unwrap_or_default();
    let says_what_it_is = first.starts_with("//! ") || first.starts_with("#!");
    (!says_what_it_is).then(|| {
        Finding::violation(
            &file.path,
            "does not begin with a `//!` line that says what it is for",
        )
    })
}

fn check_length(file: &SourceFile) -> Option<Finding> {
    let lines = file.text.lines().count();
    if lines > LINES_MAX {
        let message = format!("has {lines} lines, more than {LINES_MAX}; split it");
        return Some(Finding::violation(&file.path, message));
    }
    let is_test = file.path.ends_with("/tests.rs") || file.path.contains("tests/");
    let code = file
        .text
        .lines()
        .take_while(|line| *line != "#[cfg(test)]")
        .count();
    (code > CODE_LINES_WARN && !is_test).then(|| {
        let message =
            format!("has {code} lines of code, more than {CODE_LINES_WARN}; split it soon");
        Finding::warning(&file.path, message)
    })
}

fn check_machine_paths(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for path in MACHINE_PATHS.iter().filter(|path| mentions(line, path)) {
            let place = format!("{}:{}", file.path, index + 1);
            findings.push(Finding::violation(
                place,
                format!("names a machine's own folder {path}…"),
            ));
        }
    }
    findings
}

/// Whether `line` contains `path` as the beginning of an absolute path, not as part of a longer
/// one.
fn mentions(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-}>$".contains(c))
    })
}

/// Every package uses the workspace's lints, which limit the length of functions and forbid
/// `unsafe`. Fuzz targets are a workspace of their own, since they need another compiler, and templates are of others.
fn check_manifest(file: &SourceFile) -> Option<Finding> {
    let stands_alone =
        file.path.ends_with("/fuzz/Cargo.toml") || file.path.starts_with("plugins/templates/");
    let inherits = file.text.contains("[lints]\nworkspace = true");
    (!inherits && !stands_alone).then(|| {
        Finding::violation(
            &file.path,
            "does not take the workspace's lints (`[lints] workspace = true`)",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let file = SourceFile {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        check_file(&file).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn a_file_as_it_should_be_passes() {
        assert!(found("pods/src/usb.rs", "//! USB.\n").is_empty());
        assert!(found("hostd/build.rs", "#!/usr/bin/env cargo\n").is_empty());
        assert!(found("pods/Cargo.toml", "[lints]\nworkspace = true\n").is_empty());
    }

    #[test]
    fn a_first_line_that_says_nothing_is_found() {
        assert_eq!(found("a/b.rs", "use std::fmt;\n").len(), 1);
        assert_eq!(found("a/b.rs", "").len(), 1);
        assert_eq!(found("a/b.rs", "//!\n").len(), 1);
        assert!(found("a/b.txt", "anything\n").is_empty());
    }

    #[test]
    fn names_without_meaning_are_found() {
        assert!(found("a/mod.rs", "//! A.\n")[0].contains("is a mod.rs"));
        assert!(found("a/utils.rs", "//! A.\n")[0].contains("`utils` says nothing"));
        assert!(found("a/common/b.rs", "//! A.\n")[0].contains("`common` says nothing"));
    }

    #[test]
    fn length_warns_first_and_fails_later() {
        let text = |lines: usize| format!("//! A.\n{}", "x\n".repeat(lines - 1));
        assert!(found("a/b.rs", &text(400)).is_empty());
        assert!(
            found("a/b.rs", &text(401))[0].starts_with("warning: a/b.rs: has 401 lines of code")
        );
        assert!(found("a/b/tests.rs", &text(800)).is_empty());
        assert!(found("a/b/tests.rs", &text(801))[0].starts_with("a/b/tests.rs: has 801 lines"));
        let tested = format!("{}#[cfg(test)]\n{}", text(400), "t\n".repeat(300));
        assert!(found("a/b.rs", &tested).is_empty());
    }

    #[test]
    fn folders_of_a_machine_are_found_in_any_text() {
        for path in MACHINE_PATHS {
            let text = format!("# Notes\nsee {path}x\n");
            assert_eq!(found("docs/a.md", &text).len(), 1, "{path}");
            assert!(
                found("docs/a.md", &format!("target{path}x\n")).is_empty(),
                "{path}"
            );
        }
    }

    #[test]
    fn a_package_without_the_shared_lints_is_found() {
        assert_eq!(
            found("pods/Cargo.toml", "[package]\nname = \"pods\"\n").len(),
            1
        );
        assert!(found("pods/fuzz/Cargo.toml", "[workspace]\n").is_empty());
        assert!(found("plugins/templates/rust/Cargo.toml", "[workspace]\n").is_empty());
    }
}
