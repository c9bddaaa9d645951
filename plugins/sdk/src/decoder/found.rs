//! What a decoder has found, in the order in which the host takes it: that of the ends.

use super::{Annotation, Value};

/// Collects annotations. Within one call they may come in any order; across calls, those that end after what
/// [`Found::hold`] names wait.
#[derive(Debug)]
pub struct Found {
    waiting: Vec<Annotation>,
    held_from: u64,
}

impl Default for Found {
    fn default() -> Self {
        Self {
            waiting: Vec::new(),
            held_from: u64::MAX,
        }
    }
}

impl Found {
    /// The class is enough.
    pub fn mark(&mut self, start: u64, end: u64, class: u32) {
        self.push(start, end, class, Value::Mark);
    }

    /// A number.
    pub fn number(&mut self, start: u64, end: u64, class: u32, number: u64) {
        self.push(start, end, class, Value::Number(number));
    }

    /// Several words.
    pub fn words(&mut self, start: u64, end: u64, class: u32, words: impl Into<Vec<u64>>) {
        self.push(start, end, class, Value::Words(words.into()));
    }

    /// A text, at most 1 KiB.
    pub fn text(&mut self, start: u64, end: u64, class: u32, text: impl Into<String>) {
        self.push(start, end, class, Value::Text(text.into()));
    }

    /// About the samples `start..=end`.
    pub fn push(&mut self, start: u64, end: u64, class: u32, value: Value) {
        self.waiting.push(Annotation {
            start,
            end,
            class,
            value,
        });
    }

    /// Keep annotations that end at `at` or later: a later call may find one that ends before them. `u64::MAX`, as at the
    /// beginning, keeps none.
    pub fn hold(&mut self, at: u64) {
        self.held_from = at;
    }

    /// What need not wait, by end.
    pub(super) fn ready(&mut self) -> Vec<Annotation> {
        if !self.waiting.is_sorted_by_key(|found| found.end) {
            self.waiting.sort_by_key(|found| found.end);
        }
        if self.held_from == u64::MAX {
            return std::mem::take(&mut self.waiting);
        }
        let ready = self
            .waiting
            .partition_point(|found| found.end < self.held_from);
        let rest = self.waiting.split_off(ready);
        std::mem::replace(&mut self.waiting, rest)
    }

    /// All that is left, nowhere beyond the end of the capture.
    pub(super) fn rest(&mut self, end: u64) -> Vec<Annotation> {
        for found in &mut self.waiting {
            found.end = found.end.min(end);
            found.start = found.start.min(found.end);
        }
        self.held_from = u64::MAX;
        self.ready()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(found: &[Annotation]) -> Vec<u64> {
        found.iter().map(|found| found.end).collect()
    }

    #[test]
    fn annotations_leave_by_their_ends_and_wait_where_they_must() {
        let mut found = Found::default();
        found.mark(3, 9, 0);
        found.mark(0, 5, 0);
        assert_eq!(ends(&found.ready()), [5, 9]);
        found.hold(12);
        found.mark(9, 20, 0);
        found.mark(9, 11, 0);
        assert_eq!(ends(&found.ready()), [11]);
        found.hold(21);
        found.mark(10, 15, 0);
        assert_eq!(ends(&found.ready()), [15, 20]);
        found.hold(0);
        found.mark(40, 50, 0);
        assert!(found.ready().is_empty());
        let rest = found.rest(30);
        assert_eq!((rest[0].start, rest[0].end), (30, 30));
    }
}
