//! The order of tasks: level, then the user who has had least, then who came first. Nothing is sorted:
//! tasks of one user, class and kind are in a line that is always in order, and the heads of the lines
//! are merged.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Bound;

use crate::groups::Kind;
use crate::limits::AGE_STEP_MS;
use crate::submission::Class;
use crate::task::TaskKey;

/// A line of tasks that differ only in when they came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LineKey {
    pub(crate) user: usize,
    pub(crate) class: Class,
    pub(crate) kind: Kind,
}

/// All tasks that wait for a place, each with the time at which its job was submitted.
#[derive(Debug, Default)]
pub(crate) struct Lines(BTreeMap<LineKey, BTreeMap<TaskKey, u64>>);

impl Lines {
    pub(crate) fn add(&mut self, line: LineKey, task: TaskKey, since_ms: u64) {
        self.0.entry(line).or_default().insert(task, since_ms);
    }

    pub(crate) fn remove(&mut self, line: LineKey, task: TaskKey) {
        if let Some(tasks) = self.0.get_mut(&line) {
            tasks.remove(&task);
            if tasks.is_empty() {
                self.0.remove(&line);
            }
        }
    }
}

/// A task at the head of the rest of its line. The greatest has the next turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Head {
    level: u64,
    virtual_ms: Reverse<u64>,
    task: Reverse<TaskKey>,
    line: LineKey,
}

/// A walk through all lines, or through one user's, in order.
#[derive(Debug)]
pub(crate) struct Walk<'l> {
    lines: &'l Lines,
    heads: BinaryHeap<Head>,
    now_ms: u64,
}

impl<'l> Walk<'l> {
    /// Through the lines of `user`, or all lines. `virtual_ms` says how much a user has had.
    pub(crate) fn new(
        lines: &'l Lines,
        user: Option<usize>,
        now_ms: u64,
        virtual_ms: impl Fn(usize) -> u64,
    ) -> Self {
        let mut walk = Self {
            lines,
            heads: BinaryHeap::new(),
            now_ms,
        };
        let first = |user| LineKey {
            user,
            class: Class::Low,
            kind: Kind::Build,
        };
        let from = user.map_or(Bound::Unbounded, |user| Bound::Included(first(user)));
        let to = user.map_or(Bound::Unbounded, |user| Bound::Excluded(first(user + 1)));
        for (line, tasks) in lines.0.range((from, to)) {
            if let Some((task, since_ms)) = tasks.first_key_value() {
                walk.push(*line, *task, *since_ms, virtual_ms(line.user));
            }
        }
        walk
    }

    /// The task whose turn is next. It stays at the head of its line until
    /// [`pass_on`](Self::pass_on); without that, the rest of its line is left out. `virtual_ms` may
    /// have grown since the last call.
    pub(crate) fn next(&mut self, virtual_ms: impl Fn(usize) -> u64) -> Option<(LineKey, TaskKey)> {
        loop {
            let head = self.heads.pop()?;
            let present = virtual_ms(head.line.user);
            if present == head.virtual_ms.0 {
                return Some((head.line, head.task.0));
            }
            self.heads.push(Head {
                virtual_ms: Reverse(present),
                ..head
            });
        }
    }

    /// The task after `task` in its line moves to the head.
    pub(crate) fn pass_on(&mut self, line: LineKey, task: TaskKey, virtual_ms: u64) {
        let behind = (Bound::Excluded(task), Bound::Unbounded);
        let next = self.lines.0.get(&line).and_then(|l| l.range(behind).next());
        if let Some((task, since_ms)) = next {
            self.push(line, *task, *since_ms, virtual_ms);
        }
    }

    fn push(&mut self, line: LineKey, task: TaskKey, since_ms: u64, virtual_ms: u64) {
        let steps = self.now_ms.saturating_sub(since_ms) / AGE_STEP_MS;
        self.heads.push(Head {
            level: line.class as u64 + steps,
            virtual_ms: Reverse(virtual_ms),
            task: Reverse(task),
            line,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, LineKey, Lines, Walk};
    use crate::limits::AGE_STEP_MS;
    use crate::submission::Class;

    fn turns(lines: &Lines, now_ms: u64, cost_ms: u64) -> Vec<u64> {
        let mut had = [0; 3];
        let mut walk = Walk::new(lines, None, now_ms, |_| 0);
        let mut turns = Vec::new();
        while let Some((line, task)) = walk.next(|user| had[user]) {
            had[line.user] += cost_ms;
            walk.pass_on(line, task, had[line.user]);
            turns.push(task.0);
        }
        turns
    }

    fn line(user: usize, class: Class) -> LineKey {
        LineKey {
            user,
            class,
            kind: Kind::Build,
        }
    }

    #[test]
    fn users_take_turns_and_each_ones_tasks_keep_their_order() {
        let mut lines = Lines::default();
        for number in 0..4 {
            lines.add(line(0, Class::Normal), (number, 0), 0);
        }
        lines.add(line(1, Class::Normal), (7, 0), 0);
        lines.add(line(1, Class::Normal), (8, 0), 0);
        assert_eq!(turns(&lines, 0, 10), [0, 7, 1, 8, 2, 3]);
        assert_eq!(turns(&lines, 0, 0), [0, 1, 2, 3, 7, 8]);
    }

    #[test]
    fn a_class_goes_first_until_waiting_has_raised_the_others() {
        let mut lines = Lines::default();
        lines.add(line(0, Class::Low), (1, 0), 0);
        lines.add(line(1, Class::High), (2, 0), 2 * AGE_STEP_MS - 1);
        assert_eq!(turns(&lines, 2 * AGE_STEP_MS - 1, 0), [2, 1]);
        assert_eq!(turns(&lines, 2 * AGE_STEP_MS, 0), [1, 2]);
    }
}
