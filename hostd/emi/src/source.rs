//! The file that a board was read from, as reports point into it.

use std::collections::BTreeMap;
use std::fmt;

use crate::check::Report;
use crate::plain::plain;

/// A board's file.
#[derive(Clone, Debug, Default)]
pub struct SourceFile {
    /// What it is called, as whoever reads the reports would open it: `hardware/board.kicad_pcb`.
    pub file: String,
    /// The columns at which lines begin, of those that findings are on.
    columns: BTreeMap<u32, u32>,
}

/// A place in a file, both counted from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPlace {
    /// The line.
    pub line: u32,
    /// The first character that is no blank.
    pub column: u32,
}

impl SourceFile {
    /// A file of which nobody has the text: reports have lines without columns.
    pub fn named(file: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            columns: BTreeMap::new(),
        }
    }

    /// A file with its text.
    pub fn new(file: impl Into<String>, text: &[u8], report: &Report) -> Self {
        let lines = report.findings.iter().filter_map(|finding| finding.at.line);
        let mut columns: BTreeMap<u32, u32> = lines.map(|line| (line, 1)).collect();
        let mut texts = text.split(|byte| *byte == b'\n').zip(1..);
        for (line, column) in &mut columns {
            let Some((text, _)) = texts.find(|(_, number)| number == line) else {
                break;
            };
            let blanks = text.iter().take_while(|byte| byte.is_ascii_whitespace());
            *column =
                u32::try_from(blanks.count()).map_or(u32::MAX, |blanks| blanks.saturating_add(1));
        }
        Self {
            file: file.into(),
            columns,
        }
    }

    /// Where a line begins.
    pub(crate) fn place(&self, line: u32) -> TextPlace {
        let column = self.columns.get(&line).copied().unwrap_or(1);
        TextPlace { line, column }
    }

    /// The last part of its name.
    pub(crate) fn short(&self) -> &str {
        self.file.rsplit(['/', '\\']).next().unwrap_or_default()
    }

    /// What messages about a line begin with, as compilers write it; nothing without a line.
    pub(crate) fn prefix(&self, line: Option<u32>) -> Prefix<'_> {
        Prefix(self, line)
    }
}

/// `board.kicad_pcb:12:3: `, or nothing.
pub(crate) struct Prefix<'s>(&'s SourceFile, Option<u32>);

impl fmt::Display for Prefix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (false, Some(line)) = (self.0.file.is_empty(), self.1) else {
            return Ok(());
        };
        let TextPlace { line, column } = self.0.place(line);
        write!(f, "{}:{line}:{column}: ", plain(&self.0.file))
    }
}
