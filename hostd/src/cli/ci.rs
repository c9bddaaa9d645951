//! What CI systems tell a job, and are told by it.

use std::env;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};

use jobs::Subject;

use super::printer::Ended;

/// True in a step of GitHub Actions.
pub(super) fn is_github() -> bool {
    env::var_os("GITHUB_ACTIONS").is_some_and(|value| !value.is_empty())
}

/// Branch, commit and person, as GitHub Actions and GitLab CI name them.
pub(super) fn subject() -> Subject {
    Subject {
        reference: first(&["GITHUB_REF_NAME", "CI_COMMIT_REF_NAME"]),
        commit: first(&["GITHUB_SHA", "CI_COMMIT_SHA"]),
        by: first(&["GITHUB_ACTOR", "GITLAB_USER_LOGIN", "USER"]).unwrap_or_default(),
        ..Subject::default()
    }
}

/// Appends a table of runs to the page that GitHub Actions shows of a step, where there is one.
pub(super) fn append_summary(ended: &Ended) -> io::Result<()> {
    match env::var_os("GITHUB_STEP_SUMMARY") {
        Some(path) if is_github() => {
            let mut file = File::options().append(true).create(true).open(path)?;
            file.write_all(summary(ended).as_bytes())
        }
        _ => Ok(()),
    }
}

fn summary(ended: &Ended) -> String {
    let mut text = format!(
        "**{}**: {}\n\n| run | |\n|---|---|\n",
        ended.word,
        plain(&ended.sentence)
    );
    for run in &ended.runs {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} | {} |", run.id, plain(&run.sentence));
    }
    text
}

/// The repository, as GitHub Actions and GitLab CI name it.
pub(super) fn repository() -> Option<String> {
    first(&["GITHUB_REPOSITORY", "CI_PROJECT_PATH"])
}

fn first(names: &[&str]) -> Option<String> {
    let mut values = names.iter().filter_map(|name| env::var(name).ok());
    values.find(|value| !value.is_empty())
}

/// Text without what Markdown or a table would take for its own.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '|' | '<' | '>' | '*' | '_' | '`' | '[' | ']' | '\\' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// Data of a workflow command: what would end it is escaped.
pub(super) fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// A property of a workflow command.
pub(super) fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_command_or_a_table_early() {
        assert_eq!(data("100%\n::error::x"), "100%25%0A::error::x");
        assert_eq!(property("a:b,c"), "a%3Ab%2Cc");
        assert_eq!(plain("a|b\n`c`"), "a\\|b \\`c\\`");
    }
}
