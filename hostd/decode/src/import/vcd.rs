//! Value change dumps (IEEE 1364-2005, clause 18): a logic channel for each bit of a variable, an analog one for each real.

mod header;
mod tokens;
mod values;

use super::choice::Choice;
use super::source::{Shape, Sink, Source, Wanted};
use super::{ImportError, Limits};
use header::Header;
use tokens::Tokens;
use values::Targets;

/// What is said of levels that are neither high nor low.
pub(super) const UNKNOWN: &str = "Levels `x` and `z` were read as 0.";

/// A dump whose definitions were read.
pub(super) struct Dump<'a> {
    shape: Shape,
    header: Header<'a>,
    targets: Targets,
    /// The value changes.
    body: Tokens<'a>,
}

impl<'a> Dump<'a> {
    pub(super) fn open(bytes: &'a [u8], limits: &Limits) -> Result<Self, ImportError> {
        let mut tokens = Tokens::new(bytes, limits.line_bytes_max);
        let header = Header::read(&mut tokens, limits)?;
        let mut shape = header.shape();
        if values::has_unknown(tokens.clone())? {
            shape.notes.push(UNKNOWN.to_owned());
        }
        let targets = Targets::default();
        Ok(Self {
            shape,
            header,
            targets,
            body: tokens,
        })
    }
}

impl Source for Dump<'_> {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn choose(&mut self, choice: &Choice) {
        self.targets = Targets::new(&self.header, choice);
    }

    fn walk(&self, wanted: Wanted, sink: &mut dyn Sink) -> Result<u64, ImportError> {
        values::walk(self.body.clone(), &self.targets, wanted, sink)
    }
}
