//! A report as a terminal shows it, each problem with its line and a caret, as compilers do.

use std::fmt::Write as _;

use super::{Problem, Report};
use crate::yaml::Span;

/// Characters of a line that are shown.
const LINE_CHARS_MAX: usize = 120;

/// Characters before the column that are shown of a longer line.
const BEFORE_CHARS: usize = 40;

impl Report {
    /// Text for people. `file` is what the document is called there.
    #[must_use]
    pub fn render(&self, file: &str) -> String {
        let mut text = String::new();
        for problem in &self.problems {
            problem.render(file, &mut text);
            text.push('\n');
        }
        let count = match (self.problems.len(), self.truncated) {
            (1, _) => "1 problem".to_owned(),
            (count, false) => format!("{count} problems"),
            (count, true) => format!("the first {count} problems; there are more"),
        };
        text + &count + "\n"
    }
}

impl Problem {
    fn render(&self, file: &str, text: &mut String) {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let Excerpt {
            line,
            before,
            marked,
        } = &self.excerpt;
        let carets = " ".repeat(*before) + &"^".repeat(*marked);
        let (line_number, column) = (self.line, self.column);
        let lines = [
            format!(
                "{file}:{line_number}:{column}: error[{}]: {}",
                self.code.as_str(),
                self.message
            ),
            format!("{margin} |"),
            format!("{number} | {line}").trim_end().to_owned(),
            format!("{margin} | {carets}"),
        ];
        for line in lines {
            let _ = writeln!(text, "{line}");
        }
        if !self.path.is_empty() {
            let _ = writeln!(text, "{margin} = in {}", self.path);
        }
    }
}

/// The part of a line that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Excerpt {
    line: String,
    /// Characters before the carets.
    before: usize,
    /// Carets.
    marked: usize,
}

impl Excerpt {
    /// What is shown of `text` for a problem at `span`. What a terminal would act on is replaced, so that
    /// columns stay.
    pub(super) fn new(text: &str, span: Span) -> Self {
        let index = (span.line.max(1) - 1) as usize;
        let line = text.lines().nth(index).unwrap_or_default();
        let column = (span.column.max(1) - 1) as usize;
        let skipped = match line.chars().count() {
            chars if chars <= LINE_CHARS_MAX => 0,
            _ => column.saturating_sub(BEFORE_CHARS),
        };
        let visible = |c: char| match c {
            '\t' => ' ',
            c if c.is_control() => '\u{fffd}',
            c => c,
        };
        let line: String = line
            .chars()
            .skip(skipped)
            .take(LINE_CHARS_MAX)
            .map(visible)
            .collect();
        let before = (column - skipped).min(LINE_CHARS_MAX);
        let rest = line.chars().count().saturating_sub(before);
        Self {
            line,
            before,
            marked: (span.width as usize).clamp(1, rest.max(1)),
        }
    }
}
