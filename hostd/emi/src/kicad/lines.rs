//! The lines that items are on, for findings that point into the file.

use crate::sexp::Expr;

/// Counts lines up to where it was asked last. Items are asked about in the order of the file, so that all of it is counted
/// once.
#[derive(Default)]
pub(super) struct Lines {
    offset: usize,
    breaks: u32,
}

impl Lines {
    /// The line of an item, from 1.
    pub(super) fn of(&mut self, item: Expr<'_>) -> u32 {
        let (text, offset) = item.place();
        if offset < self.offset {
            *self = Self::default();
        }
        let between = &text.as_bytes()[self.offset..offset];
        let breaks = between.iter().filter(|byte| **byte == b'\n').count();
        self.breaks = self
            .breaks
            .saturating_add(u32::try_from(breaks).unwrap_or(u32::MAX));
        self.offset = offset;
        self.breaks.saturating_add(1)
    }
}
