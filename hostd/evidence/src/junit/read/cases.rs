//! The elements of a JUnit file, and the cases that they come to.

use std::io::BufRead;

use quick_xml::Reader;
use quick_xml::errors::SyntaxError;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::{Bounds, ReadError};
use crate::cases::Refused;
use crate::junit::seconds;
use crate::result::{Case, Fault, Outcome};

/// Words of the attributes `result` and `status` of a case that was not run (GoogleTest, CTest and others).
const SKIPPED: [&str; 7] = [
    "suppressed",
    "skipped",
    "notrun",
    "not_run",
    "disabled",
    "ignored",
    "pending",
];

/// Words of the same attributes of a case that failed.
const FAILED: [&str; 8] = [
    "fail", "failed", "failure", "error", "errored", "broken", "crashed", "timeout",
];

/// Characters of a name that a message repeats.
const NAME_CHARS_SHOWN: usize = 80;

/// Kind of the fault of a case within which the file ends.
const CUT_KIND: &str = "cut";

/// Kind of the fault of a suite that counts failures which none of its cases is.
const COUNT_KIND: &str = "count";

/// Bytes of XML that may stand for one byte of text, as `&#x10FFFF;` and the like do.
const ESCAPED_BYTES_MAX: usize = 10;

/// Where text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Output,
    Detail,
    Why,
}

/// What has been read of the file so far, and not been given on.
pub(super) struct Cases<'b> {
    bounds: &'b Bounds,
    each: &'b mut dyn FnMut(Case) -> Result<(), Refused>,
    /// The case, or the error of a suite, that is being read.
    open: Option<Open>,
    /// For each open element of that, where its text goes.
    targets: Vec<Option<Target>>,
    /// The open suites, from the outermost.
    suites: Vec<Suite>,
    depth: usize,
    is_junit: bool,
}

struct Open {
    case: Case,
    /// How it went by its attributes, if they say so.
    said: Option<Outcome>,
}

struct Suite {
    name: String,
    /// Failures and errors that it counts, those of its inner suites included.
    counted: u64,
    /// Those that were given on.
    given: u64,
}

impl<'b> Cases<'b> {
    pub(super) fn new(
        bounds: &'b Bounds,
        each: &'b mut dyn FnMut(Case) -> Result<(), Refused>,
    ) -> Self {
        Self {
            bounds,
            each,
            open: None,
            targets: Vec::new(),
            suites: Vec::new(),
            depth: 0,
            is_junit: false,
        }
    }

    /// Whether there was a suite.
    pub(super) fn is_junit(&self) -> bool {
        self.is_junit
    }

    /// Reads up to the end.
    pub(super) fn read<R: BufRead>(
        &mut self,
        reader: &mut Reader<R>,
        buffer: &mut Vec<u8>,
    ) -> Result<(), ReadError> {
        loop {
            buffer.clear();
            let at = reader.buffer_position();
            match reader.read_event_into(buffer) {
                // A tag, a comment or the like that does not end.
                Err(quick_xml::Error::Syntax(error)) if error != SyntaxError::InvalidBangMarkup => {
                    return Err(self.cut());
                }
                Err(source) => return Err(ReadError::Xml { at, source }),
                Ok(Event::Start(element)) => self.begin(&element)?,
                Ok(Event::Empty(element)) => {
                    self.begin(&element)?;
                    self.end(element.local_name().as_ref())?;
                }
                Ok(Event::End(element)) => self.end(element.local_name().as_ref())?,
                Ok(Event::Text(text)) => self.text(&text),
                Ok(Event::CData(text)) => self.text(&text),
                Ok(Event::GeneralRef(reference)) => self.text(resolved(&reference).as_bytes()),
                Ok(Event::Eof) if self.depth > 0 => return Err(self.cut()),
                Ok(Event::Eof) => return Ok(()),
                Ok(_) => {}
            }
        }
    }

    /// The file ends here, in the middle.
    fn cut(&self) -> ReadError {
        let shown = |name: &str| -> String {
            let plain = name.chars().filter(|c| !c.is_control());
            plain.take(NAME_CHARS_SHOWN).collect()
        };
        let within = match (&self.open, self.suites.last()) {
            (Some(open), _) => format!("the case `{}`", shown(&open.case.name)),
            (None, Some(suite)) => format!("the suite `{}`", shown(&suite.name)),
            (None, None) => "its first element".to_owned(),
        };
        ReadError::Cut { within }
    }

    /// Gives on what was being read when the file ended: how it would have gone on is not known.
    pub(super) fn give_up(&mut self) -> Result<(), ReadError> {
        let Some(Open { mut case, .. }) = self.open.take() else {
            return Ok(());
        };
        if !matches!(case.outcome, Outcome::Failed(_)) {
            case.outcome = failed(CUT_KIND, "the JUnit file ends within this case".to_owned());
        }
        self.give(case)
    }

    fn give(&mut self, case: Case) -> Result<(), ReadError> {
        if matches!(case.outcome, Outcome::Failed(_)) {
            self.suites.iter_mut().for_each(|suite| suite.given += 1);
        }
        Ok((self.each)(case)?)
    }

    fn begin(&mut self, element: &BytesStart<'_>) -> Result<(), ReadError> {
        self.depth += 1;
        if self.depth > self.bounds.depth_max {
            return Err(ReadError::Deep(self.bounds.depth_max));
        }
        let name = element.local_name();
        if self.open.is_some() {
            let target = self.within(name.as_ref(), element);
            self.targets.push(target);
            return Ok(());
        }
        match name.as_ref() {
            name @ (b"testsuites" | b"testsuite") => {
                self.is_junit = true;
                self.suites.push(self.suite(name, element));
            }
            b"testcase" => {
                self.open = Some(Open {
                    case: self.case(element),
                    said: self.said(element),
                });
                self.targets = vec![None];
            }
            b"failure" | b"error" => {
                // Of a suite as a whole: its set-up, its end, or what it was to run in.
                let Some(suite) = self.suites.last() else {
                    return Ok(());
                };
                let case = Case {
                    name: suite.name.clone(),
                    outcome: Outcome::Failed(self.fault(element)),
                    ..Case::default()
                };
                self.open = Some(Open { case, said: None });
                self.targets = vec![Some(Target::Detail)];
            }
            _ => {}
        }
        Ok(())
    }

    fn suite(&self, element: &[u8], start: &BytesStart<'_>) -> Suite {
        let name = self.attribute(start, "name").unwrap_or_default();
        let count = |name| {
            let text = self.attribute(start, name)?;
            text.trim().parse::<u64>().ok()
        };
        let counts = ["failures", "errors"].map(|name| count(name).unwrap_or(0));
        Suite {
            name: match name.is_empty() {
                true => String::from_utf8_lossy(element).into_owned(),
                false => name,
            },
            counted: counts[0].saturating_add(counts[1]),
            given: 0,
        }
    }

    fn case(&self, element: &BytesStart<'_>) -> Case {
        let name = self.attribute(element, "name").unwrap_or_default();
        let class = self.attribute(element, "classname").unwrap_or_default();
        let time = self.attribute(element, "time");
        Case {
            name: if class.is_empty() {
                name
            } else {
                format!("{class}::{name}")
            },
            duration_us: time.and_then(|time| seconds::micros(&time)).unwrap_or(0),
            ..Case::default()
        }
    }

    /// How a case went by its attributes: what failed comes before what was skipped.
    fn said(&self, element: &BytesStart<'_>) -> Option<Outcome> {
        let words = ["result", "status"].map(|name| {
            let word = self.attribute(element, name);
            word.unwrap_or_default().to_ascii_lowercase()
        });
        let one_of = |known: &[&str]| words.iter().find(|word| known.contains(&word.as_str()));
        let failure = one_of(&FAILED).map(|word| {
            failed(
                word,
                format!("its attribute says `{word}`, and the file does not say why"),
            )
        });
        failure.or_else(|| one_of(&SKIPPED).cloned().map(Outcome::Skipped))
    }

    fn fault(&self, element: &BytesStart<'_>) -> Fault {
        Fault {
            kind: self.attribute(element, "type").unwrap_or_default(),
            message: self.attribute(element, "message").unwrap_or_default(),
            detail: String::new(),
        }
    }

    /// Handles an element within a case, and returns where its text goes.
    fn within(&mut self, name: &[u8], element: &BytesStart<'_>) -> Option<Target> {
        match name {
            b"failure" | b"error" => {
                let fault = self.fault(element);
                let case = &mut self.open.as_mut()?.case;
                // The first failure is the reason; later ones go into its detail.
                if !matches!(case.outcome, Outcome::Failed(_)) {
                    case.outcome = Outcome::Failed(fault);
                }
                Some(Target::Detail)
            }
            b"skipped" => {
                let message = self.attribute(element, "message");
                let case = &mut self.open.as_mut()?.case;
                if case.outcome != Outcome::Passed {
                    return None;
                }
                let target = message.is_none().then_some(Target::Why);
                case.outcome = Outcome::Skipped(message.unwrap_or_default());
                target
            }
            b"system-out" | b"system-err" => Some(Target::Output),
            _ => None,
        }
    }

    fn end(&mut self, name: &[u8]) -> Result<(), ReadError> {
        self.depth = self.depth.saturating_sub(1);
        if self.open.is_some() {
            self.targets.pop();
            return match self.targets.is_empty() {
                true => self.end_case(),
                false => Ok(()),
            };
        }
        match name {
            b"testsuites" | b"testsuite" => self.end_suite(),
            _ => Ok(()),
        }
    }

    fn end_case(&mut self) -> Result<(), ReadError> {
        let Some(Open { mut case, said }) = self.open.take() else {
            return Ok(());
        };
        case.outcome = match (case.outcome, said) {
            (failed @ Outcome::Failed(_), _) | (_, Some(failed @ Outcome::Failed(_))) => failed,
            (Outcome::Passed, Some(said)) => said,
            (outcome, _) => outcome,
        };
        self.give(case)
    }

    fn end_suite(&mut self) -> Result<(), ReadError> {
        let Some(Suite {
            name,
            counted,
            given,
        }) = self.suites.pop()
        else {
            return Ok(());
        };
        if counted == 0 || given > 0 {
            return Ok(());
        }
        let message =
            format!("the file counts {counted} failures and errors here, but no case has one");
        self.give(Case {
            name,
            outcome: failed(COUNT_KIND, message),
            ..Case::default()
        })
    }

    fn text(&mut self, text: &[u8]) {
        let Some(Some(target)) = self.targets.last() else {
            return;
        };
        let Some(Open { case, .. }) = &mut self.open else {
            return;
        };
        let to = match (target, &mut case.outcome) {
            (Target::Output, _) => &mut case.output,
            (Target::Detail, Outcome::Failed(fault)) => &mut fault.detail,
            (Target::Why, Outcome::Skipped(why)) => why,
            (Target::Detail | Target::Why, _) => return,
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

fn failed(kind: &str, message: String) -> Outcome {
    Outcome::Failed(Fault {
        kind: kind.to_owned(),
        message,
        detail: String::new(),
    })
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
