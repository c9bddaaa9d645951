//! Rows that were not written yet, column by column.

use super::Row;

/// Rows of a group.
pub(super) struct Rows {
    pub(super) times: Vec<i64>,
    levels: Vec<u64>,
    pub(super) values: Vec<f64>,
    max: usize,
}

impl Rows {
    /// Of groups of so many rows.
    pub(super) fn new(max: usize) -> Self {
        Self {
            times: Vec::with_capacity(max),
            levels: Vec::with_capacity(max),
            values: Vec::with_capacity(max),
            max,
        }
    }

    /// Takes a row; returns whether the group is full.
    pub(super) fn push(&mut self, row: Row) -> bool {
        self.times.push(row.time);
        self.levels.push(row.levels);
        self.values.push(row.value);
        self.times.len() >= self.max
    }

    pub(super) fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The levels of a logic channel.
    pub(super) fn channel(&self, channel: usize) -> Vec<bool> {
        let levels = self.levels.iter();
        levels.map(|levels| levels >> channel & 1 == 1).collect()
    }

    pub(super) fn clear(&mut self) {
        self.times.clear();
        self.levels.clear();
        self.values.clear();
    }
}
