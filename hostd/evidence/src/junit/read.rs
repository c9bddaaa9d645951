//! Reads JUnit files that tests of a job wrote: every tool writes its own dialect, and whoever
//! controls the tests controls the bytes. Known elements are read, unknown ones are ignored, and
//! everything is bounded.

use std::io::{BufRead, Take};

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use thiserror::Error;

use crate::cases::Refused;
use crate::result::{Case, Fault, Outcome};

/// Bytes of XML that may stand for one byte of text, as `&#x10FFFF;` and the like do.
const ESCAPED_BYTES_MAX: usize = 10;

/// Bounds of a file.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Bytes of the file.
    pub bytes_max: u64,
    /// Depth of nested elements.
    pub depth_max: usize,
    /// Bytes that are kept of each output, message or name; the rest is dropped.
    pub text_max: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            bytes_max: 16 << 20,
            depth_max: 32,
            text_max: 64 << 10,
        }
    }
}

/// Why a file is refused.
#[derive(Debug, Error)]
pub enum ReadError {
    /// It is too large.
    #[error("read the JUnit file: it has more than {0} bytes")]
    Large(u64),
    /// Its cases were not taken.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// It is nested too deep.
    #[error("read the JUnit file: its elements are nested deeper than {0}")]
    Deep(usize),
    /// It is not XML.
    #[error("read the JUnit file: it is no XML at byte {at}")]
    Xml {
        /// At this byte.
        at: u64,
        /// The parser's error.
        source: quick_xml::Error,
    },
    /// It is XML, but not JUnit.
    #[error("read the JUnit file: it has neither `testsuites` nor `testsuite` in it")]
    NotJunit,
}

/// Where text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Output,
    Detail,
}

/// Reads the cases of a file, named `class::name`, and gives them to `each` in their order, those before an error too. A
/// test that reports an error counts as failed: tests cannot tell what the bench did. Besides one case, memory holds no
/// more than the longest text of the file, in `buffer`. Returns how many bytes were read.
///
/// # Errors
/// The file is not JUnit, exceeds a bound, or a case was not taken.
pub fn read(
    from: impl BufRead,
    bounds: &Bounds,
    buffer: &mut Vec<u8>,
    each: &mut dyn FnMut(Case) -> Result<(), Refused>,
) -> Result<u64, ReadError> {
    let most = bounds.bytes_max.saturating_add(1);
    let mut reader = Reader::from_reader(from.take(most));
    let mut cases = Cases {
        bounds,
        each,
        open: None,
        targets: Vec::new(),
        depth: 0,
        is_junit: false,
    };
    let left = |reader: &Reader<Take<_>>| match reader.get_ref().limit() {
        0 => Err(ReadError::Large(bounds.bytes_max)),
        left => Ok(left),
    };
    loop {
        buffer.clear();
        let at = reader.buffer_position();
        match reader.read_event_into(buffer) {
            // What was cut off is no XML either.
            Err(source) => {
                left(&reader)?;
                return Err(ReadError::Xml { at, source });
            }
            Ok(Event::Start(element)) => cases.begin(&element)?,
            Ok(Event::Empty(element)) => {
                cases.begin(&element)?;
                cases.end(element.local_name().as_ref())?;
            }
            Ok(Event::End(element)) => cases.end(element.local_name().as_ref())?,
            Ok(Event::Text(text)) => cases.text(&text),
            Ok(Event::CData(text)) => cases.text(&text),
            Ok(Event::GeneralRef(reference)) => cases.text(resolved(&reference).as_bytes()),
            Ok(Event::Eof) => break,
            Ok(_) => {}
        }
    }
    let left = left(&reader)?;
    if !cases.is_junit {
        return Err(ReadError::NotJunit);
    }
    Ok(most - left)
}

/// Reads the cases of a small file.
///
/// # Errors
/// As [`read`].
pub fn read_all(bytes: &[u8], bounds: &Bounds) -> Result<Vec<Case>, ReadError> {
    let mut cases = Vec::new();
    read(bytes, bounds, &mut Vec::new(), &mut |case| {
        cases.push(case);
        Ok(())
    })?;
    Ok(cases)
}

/// What has been read of the file so far, and not been given on.
struct Cases<'b> {
    bounds: &'b Bounds,
    each: &'b mut dyn FnMut(Case) -> Result<(), Refused>,
    open: Option<Case>,
    /// For each open element within a case, where its text goes.
    targets: Vec<Option<Target>>,
    depth: usize,
    is_junit: bool,
}

impl Cases<'_> {
    fn begin(&mut self, element: &BytesStart<'_>) -> Result<(), ReadError> {
        self.depth += 1;
        if self.depth > self.bounds.depth_max {
            return Err(ReadError::Deep(self.bounds.depth_max));
        }
        let name = element.local_name();
        match name.as_ref() {
            b"testsuites" | b"testsuite" => self.is_junit = true,
            b"testcase" if self.open.is_none() => {
                self.open = Some(self.case(element));
                self.targets.clear();
                return Ok(());
            }
            _ => {}
        }
        if self.open.is_some() {
            let target = self.within(name.as_ref(), element);
            self.targets.push(target);
        }
        Ok(())
    }

    fn case(&self, element: &BytesStart<'_>) -> Case {
        let name = self.attribute(element, "name").unwrap_or_default();
        let class = self.attribute(element, "classname").unwrap_or_default();
        let seconds = self.attribute(element, "time");
        let seconds = seconds.and_then(|time| time.replace(',', "").parse::<f64>().ok());
        let seconds = seconds.filter(|seconds| (0.0..1e9).contains(seconds));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and 1e15"
        )]
        let duration_us = seconds.map_or(0, |seconds| (seconds * 1e6) as u64);
        Case {
            name: if class.is_empty() {
                name
            } else {
                format!("{class}::{name}")
            },
            duration_us,
            ..Case::default()
        }
    }

    /// Handles an element within a case, and returns where its text goes.
    fn within(&mut self, name: &[u8], element: &BytesStart<'_>) -> Option<Target> {
        match name {
            b"failure" | b"error" => {
                let fault = Fault {
                    kind: self.attribute(element, "type").unwrap_or_default(),
                    message: self.attribute(element, "message").unwrap_or_default(),
                    detail: String::new(),
                };
                let case = self.open.as_mut()?;
                // The first failure is the reason; later ones go into its detail.
                if !matches!(case.outcome, Outcome::Failed(_)) {
                    case.outcome = Outcome::Failed(fault);
                }
                Some(Target::Detail)
            }
            b"skipped" => {
                let why = self.attribute(element, "message").unwrap_or_default();
                let case = self.open.as_mut()?;
                if case.outcome == Outcome::Passed {
                    case.outcome = Outcome::Skipped(why);
                }
                None
            }
            b"system-out" | b"system-err" => Some(Target::Output),
            _ => None,
        }
    }

    fn end(&mut self, name: &[u8]) -> Result<(), ReadError> {
        self.depth = self.depth.saturating_sub(1);
        if name != b"testcase" || !self.targets.is_empty() {
            self.targets.pop();
            return Ok(());
        }
        match self.open.take() {
            Some(case) => Ok((self.each)(case)?),
            None => Ok(()),
        }
    }

    fn text(&mut self, text: &[u8]) {
        let Some(Some(target)) = self.targets.last() else {
            return;
        };
        let Some(case) = &mut self.open else {
            return;
        };
        let to = match (target, &mut case.outcome) {
            (Target::Output, _) => &mut case.output,
            (Target::Detail, Outcome::Failed(fault)) => &mut fault.detail,
            (Target::Detail, _) => return,
        };
        let max = self.bounds.text_max;
        append(to, &String::from_utf8_lossy(first(text, max)), max);
    }

    fn attribute(&self, element: &BytesStart<'_>, name: &str) -> Option<String> {
        let attribute = element.try_get_attribute(name).ok().flatten()?;
        let max = self.bounds.text_max;
        let value = first(&attribute.value, max.saturating_mul(ESCAPED_BYTES_MAX));
        let value = String::from_utf8_lossy(value);
        let mut text = String::new();
        append(&mut text, &unescaped(&value), max);
        Some(text)
    }
}

/// No more than `max` bytes of a text, which may be long.
fn first(text: &[u8], max: usize) -> &[u8] {
    &text[..text.len().min(max)]
}

/// Appends as much as fits within `max` bytes.
fn append(to: &mut String, text: &str, max: usize) {
    let mut len = text.len().min(max.saturating_sub(to.len()));
    while !text.is_char_boundary(len) {
        len -= 1;
    }
    to.push_str(&text[..len]);
}

/// The character that a reference stands for; nothing for one that only a document type could
/// explain.
fn resolved(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return character.to_string();
    }
    let name = reference.decode().unwrap_or_default();
    resolve_predefined_entity(&name)
        .unwrap_or_default()
        .to_owned()
}

/// The text of an attribute; unchanged if a reference in it is unknown.
fn unescaped(value: &str) -> String {
    quick_xml::escape::unescape(value)
        .map_or_else(|_| value.to_owned(), std::borrow::Cow::into_owned)
}
