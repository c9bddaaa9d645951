//! A value over time: what it was, what it is, and what it is already known to become.

use std::collections::VecDeque;

/// Maximum number of changes kept; beyond it the oldest are forgotten (a capture that runs for
/// hours while pins are toggled all the time then starts from the oldest known value).
const CHANGES_MAX: usize = 1 << 18;

/// Changes of a value, each with its instant in nanoseconds since the pod started. Never empty.
#[derive(Debug, Clone)]
pub(crate) struct Timeline<T> {
    changes: VecDeque<(u64, T)>,
}

impl<T: Clone> Timeline<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            changes: VecDeque::from([(0, value)]),
        }
    }

    /// From `at_ns` on the value is `value`; anything planned for later is dropped.
    pub(crate) fn set(&mut self, at_ns: u64, value: T) {
        while self.changes.back().is_some_and(|(at, _)| *at >= at_ns) {
            self.changes.pop_back();
        }
        self.changes.push_back((at_ns, value));
        if self.changes.len() > CHANGES_MAX {
            self.changes.pop_front();
        }
    }

    /// Drops everything planned for after `now_ns`.
    pub(crate) fn cancel_after(&mut self, now_ns: u64) {
        let planned = self.changes.partition_point(|(at, _)| *at <= now_ns);
        self.changes.truncate(planned.max(1));
    }

    /// The value at an instant.
    pub(crate) fn at(&self, at_ns: u64) -> &T {
        &self.since(at_ns).1
    }

    /// The change in effect at an instant: when it came, and the value.
    pub(crate) fn since(&self, at_ns: u64) -> &(u64, T) {
        let later = self.changes.partition_point(|(at, _)| *at <= at_ns);
        &self.changes[later.saturating_sub(1)]
    }

    /// Every change that is known, ascending.
    pub(crate) fn changes(&self) -> impl Iterator<Item = &(u64, T)> {
        self.changes.iter()
    }

    /// The value at `from_ns`, then the changes up to and including `to_ns`.
    pub(crate) fn window(&self, from_ns: u64, to_ns: u64) -> Vec<(u64, T)> {
        let first = self.changes.partition_point(|(at, _)| *at <= from_ns);
        let end = self.changes.partition_point(|(at, _)| *at <= to_ns);
        let mut pieces = vec![(from_ns, self.at(from_ns).clone())];
        pieces.extend(self.changes.range(first..end.max(first)).cloned());
        pieces
    }

    /// Forgets what ended before `before_ns`.
    pub(crate) fn prune(&mut self, before_ns: u64) {
        while self.changes.get(1).is_some_and(|(at, _)| *at <= before_ns) {
            self.changes.pop_front();
        }
    }
}

/// A span of a timeline, walked mostly forward.
#[derive(Debug, Clone)]
pub(crate) struct Pieces<T> {
    pieces: Vec<(u64, T)>,
    at: usize,
}

impl<T> Pieces<T> {
    /// From the result of [`Timeline::window`].
    pub(crate) fn new(pieces: Vec<(u64, T)>) -> Self {
        Self { pieces, at: 0 }
    }

    /// The value at an instant.
    pub(crate) fn at(&mut self, ns: u64) -> &T {
        while self.at > 0 && self.pieces[self.at].0 > ns {
            self.at -= 1;
        }
        while self.next_ns().is_some_and(|at| at <= ns) {
            self.at += 1;
        }
        &self.pieces[self.at].1
    }

    /// The value at the current position.
    pub(crate) fn current(&self) -> &T {
        &self.pieces[self.at].1
    }

    /// When the value at the current position ends.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.pieces.get(self.at + 1).map(|(at, _)| *at)
    }

    /// Moves on to the next value, if there is one.
    pub(crate) fn step(&mut self) {
        self.at = (self.at + 1).min(self.pieces.len() - 1);
    }
}

#[cfg(test)]
mod tests;
