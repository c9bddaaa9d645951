//! Reads a TOML document table by table, notes everything that is wrong with its line, and refuses keys that nobody
//! asked for.

use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// Most problems that are reported at once.
pub const PROBLEMS_MAX: usize = 20;

/// Most bytes of a text that a problem repeats.
const SHOWN_BYTES_MAX: usize = 60;

/// Something that is wrong with a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line, from 1.
    pub line: usize,
    /// The key's path, such as `wants.http[0]`; empty for the whole.
    pub path: String,
    /// What is wrong, as a fragment that follows the path.
    pub what: String,
}

impl Problem {
    pub(super) fn new(line: usize, path: &str, what: String) -> Self {
        let path = path.to_owned();
        Self { line, path, what }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gap = if self.path.is_empty() { "" } else { " " };
        write!(f, "{}: {}{gap}{}", self.line, self.path, self.what)
    }
}

/// What was found wrong so far.
#[derive(Debug)]
pub(crate) struct Report<'t> {
    text: &'t str,
    problems: Vec<Problem>,
}

impl<'t> Report<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let problems = Vec::new();
        Self { text, problems }
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    pub(crate) fn problems(mut self) -> Vec<Problem> {
        self.problems.sort_by_key(|problem| problem.line);
        self.problems.truncate(PROBLEMS_MAX);
        self.problems
    }

    pub(crate) fn note(&mut self, at: usize, path: &str, what: impl Into<String>) {
        let before = self.text.as_bytes().iter().take(at);
        let line = 1 + before.filter(|b| **b == b'\n').count();
        self.problems.push(Problem::new(line, path, what.into()));
    }
}

/// Foreign text in a message: short and without controls.
pub(crate) fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take_while(|c| !c.is_control()).collect();
    if let Some((cut, _)) = short.char_indices().find(|(at, _)| *at >= SHOWN_BYTES_MAX) {
        short.truncate(cut);
    }
    let dots = if short.len() < text.len() { "…" } else { "" };
    format!("\"{short}{dots}\"")
}

/// A table of which keys are taken one by one.
#[derive(Debug)]
pub(crate) struct Section<'d> {
    path: String,
    at: usize,
    table: DeTable<'d>,
}

/// A value with its place.
#[derive(Debug)]
pub(crate) struct Found<'d> {
    pub(crate) path: String,
    pub(crate) at: usize,
    pub(crate) value: DeValue<'d>,
}

impl<'d> Section<'d> {
    /// The whole document; none if it is no TOML.
    pub(crate) fn whole(text: &'d str, report: &mut Report<'_>) -> Option<Self> {
        match DeTable::parse(text) {
            Ok(table) => Some(Self {
                path: String::new(),
                at: 0,
                table: table.into_inner(),
            }),
            Err(error) => {
                let at = error.span().map_or(0, |span: Range<usize>| span.start);
                let what = error.message().lines().next().unwrap_or_default();
                report.note(at, "", format!("is no TOML: {what}"));
                None
            }
        }
    }

    /// One without keys.
    pub(crate) fn none() -> Self {
        Self {
            path: String::new(),
            at: 0,
            table: DeTable::new(),
        }
    }

    /// The table under a key; an empty one if there is none.
    pub(crate) fn section(&mut self, key: &str, report: &mut Report<'_>) -> Self {
        let found = self.take(key);
        found
            .and_then(|found| found.table(report))
            .unwrap_or_else(|| Self {
                path: self.join(key),
                at: self.at,
                table: DeTable::new(),
            })
    }

    /// The path of a key.
    pub(crate) fn join(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    /// Where it begins.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Its own path.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The value of a key, which is not unknown any more.
    pub(crate) fn take(&mut self, key: &str) -> Option<Found<'d>> {
        let value = self.table.remove(key)?;
        let (at, path) = (value.span().start, self.join(key));
        let value = value.into_inner();
        Some(Found { path, at, value })
    }

    /// All that is left, by key.
    pub(crate) fn rest(&mut self) -> Vec<(Spanned<DeString<'d>>, Found<'d>)> {
        let table = std::mem::take(&mut self.table);
        let found = table.into_iter().map(|(key, value)| {
            let (at, path) = (value.span().start, self.join(key.get_ref()));
            let value = value.into_inner();
            (key, Found { path, at, value })
        });
        found.collect()
    }

    /// A text that must be there.
    pub(crate) fn needed<T>(
        &mut self,
        key: &str,
        report: &mut Report<'_>,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        if !self.table.contains_key(key) {
            report.note(self.at, &self.join(key), "is missing");
            return None;
        }
        self.text(key, report, read)
    }

    /// A text that may be there.
    pub(crate) fn text<T>(
        &mut self,
        key: &str,
        report: &mut Report<'_>,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        self.take(key)?.text(report, read)
    }

    /// A yes or no that may be there.
    pub(crate) fn flag(&mut self, key: &str, report: &mut Report<'_>) -> Option<bool> {
        let found = self.take(key)?;
        let flag = found.value.as_bool();
        if flag.is_none() {
            report.note(found.at, &found.path, "must be true or false");
        }
        flag
    }

    /// A whole number that may be there.
    pub(crate) fn integer(
        &mut self,
        key: &str,
        report: &mut Report<'_>,
    ) -> Option<(i64, Found<'d>)> {
        let found = self.take(key)?;
        let number = found.integer();
        if number.is_none() {
            report.note(found.at, &found.path, "must be a whole number");
        }
        number.map(|number| (number, found))
    }

    /// Different texts, of which there may be `most`.
    pub(crate) fn texts<T: Ord>(
        &mut self,
        key: &str,
        most: usize,
        report: &mut Report<'_>,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> std::collections::BTreeSet<T> {
        let mut all = std::collections::BTreeSet::new();
        for item in self.items(key, most, report) {
            let (at, path) = (item.at, item.path.clone());
            if let Some(value) = item.text(report, &read)
                && !all.insert(value)
            {
                report.note(at, &path, "is there twice");
            }
        }
        all
    }

    /// The items of a list, of which there may be `most`.
    pub(crate) fn items(
        &mut self,
        key: &str,
        most: usize,
        report: &mut Report<'_>,
    ) -> Vec<Found<'d>> {
        let Some(found) = self.take(key) else {
            return Vec::new();
        };
        let DeValue::Array(list) = found.value else {
            report.note(found.at, &found.path, "must be a list");
            return Vec::new();
        };
        if list.len() > most {
            report.note(
                found.at,
                &found.path,
                format!("must have at most {most} items"),
            );
            return Vec::new();
        }
        let items = list.into_iter().enumerate().map(|(index, item)| Found {
            path: format!("{}[{index}]", found.path),
            at: item.span().start,
            value: item.into_inner(),
        });
        items.collect()
    }

    /// Notes the keys that were not taken.
    pub(crate) fn finish(mut self, report: &mut Report<'_>) {
        for (key, _) in self.rest() {
            let what = format!("has no key {}", quoted(key.get_ref()));
            let path = if self.path.is_empty() {
                "the manifest"
            } else {
                &self.path
            };
            report.note(key.span().start, path, what);
        }
    }
}

impl<'d> Found<'d> {
    /// As a table.
    pub(crate) fn table(self, report: &mut Report<'_>) -> Option<Section<'d>> {
        let DeValue::Table(table) = self.value else {
            report.note(self.at, &self.path, "must be a table");
            return None;
        };
        let (path, at) = (self.path, self.at);
        Some(Section { path, at, table })
    }

    /// As a text.
    pub(crate) fn text<T>(
        &self,
        report: &mut Report<'_>,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let Some(text) = self.value.as_str() else {
            report.note(self.at, &self.path, "must be a text");
            return None;
        };
        match read(text) {
            Ok(value) => Some(value),
            Err(what) => {
                report.note(self.at, &self.path, what);
                None
            }
        }
    }

    /// As a whole number.
    pub(crate) fn integer(&self) -> Option<i64> {
        let number = self.value.as_integer()?;
        i64::from_str_radix(number.as_str(), number.radix()).ok()
    }
}
