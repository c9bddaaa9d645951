//! Conditions and errors on a bus.

use decode::Annotation;

use crate::run::Done;
use crate::seen::{Places, Seen, Take};

/// Looks for annotations of some classes.
pub(crate) struct Marks {
    text: &'static str,
    /// On this line alone.
    line: Option<&'static str>,
}

impl Marks {
    pub(crate) fn new(text: &'static str, line: Option<&'static str>) -> Self {
        Self { text, line }
    }
}

impl Take for Marks {
    fn take(&mut self, seen: Seen, note: &Annotation, out: &mut Places<'_, '_>) -> Done {
        match seen {
            Seen::Mark(line) if self.line.is_none_or(|only| only == line) => {
                out.hit(note.start, note.end, format!("{} on {line}", self.text))
            }
            _ => Ok(()),
        }
    }
}
