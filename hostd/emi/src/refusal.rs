//! Why a file was not read, and where.

use std::fmt;

/// A place in a text, both counted from 1. Columns count bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The byte on that line.
    pub column: usize,
}

impl Position {
    /// The place of byte `offset` of `text`.
    pub fn of(text: &[u8], offset: usize) -> Self {
        let before = &text[..offset.min(text.len())];
        let line_start = before
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |at| at + 1);
        Self {
            line: before.iter().filter(|b| **b == b'\n').count() + 1,
            column: before.len() - line_start + 1,
        }
    }
}

/// A file that is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Where, if it is at one place.
    pub at: Option<Position>,
    /// What is wrong and what to do.
    pub message: String,
}

impl Refusal {
    /// The file as a whole.
    pub(crate) fn whole(message: impl Into<String>) -> Self {
        Self {
            at: None,
            message: message.into(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = self.at {
            write!(f, "line {}, column {}: ", at.line, at.column)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}
