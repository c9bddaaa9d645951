//! The order of tasks: the organisation that has had least, then its user who has had least, then the
//! level, then who came first. The level is the class and what waiting adds to it: it counts among the
//! tasks of one user, so that no number of old jobs holds up somebody else's new one. Nothing is sorted:
//! tasks of one user, class and kind are in a line that is always in order, and the heads of the lines
//! are merged.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Bound;

use crate::accounts::Had;
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

    /// All tasks that wait for a device, each with its group.
    pub(crate) fn benches(&self) -> Vec<(usize, TaskKey)> {
        let lines = self.0.iter().filter_map(|(line, tasks)| match line.kind {
            Kind::Bench(group) => Some((group, tasks)),
            Kind::Build => None,
        });
        lines
            .flat_map(|(group, tasks)| tasks.keys().map(move |task| (group, *task)))
            .collect()
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
    had: Reverse<Had>,
    level: u64,
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
    /// Through the lines of `user`, or all lines. `had` says how much a user has had.
    pub(crate) fn new(
        lines: &'l Lines,
        user: Option<usize>,
        now_ms: u64,
        had: impl Fn(usize) -> Had,
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
                walk.push(*line, *task, *since_ms, had(line.user));
            }
        }
        walk
    }

    /// The task whose turn is next. It stays at the head of its line until
    /// [`pass_on`](Self::pass_on); without that, the rest of its line is left out. What `had` says may
    /// have grown since the last call.
    pub(crate) fn next(&mut self, had: impl Fn(usize) -> Had) -> Option<(LineKey, TaskKey)> {
        loop {
            let head = self.heads.pop()?;
            let present = had(head.line.user);
            if present == head.had.0 {
                return Some((head.line, head.task.0));
            }
            self.heads.push(Head {
                had: Reverse(present),
                ..head
            });
        }
    }

    /// The task after `task` in its line moves to the head.
    pub(crate) fn pass_on(&mut self, line: LineKey, task: TaskKey, had: Had) {
        let behind = (Bound::Excluded(task), Bound::Unbounded);
        let next = self.lines.0.get(&line).and_then(|l| l.range(behind).next());
        if let Some((task, since_ms)) = next {
            self.push(line, *task, *since_ms, had);
        }
    }

    fn push(&mut self, line: LineKey, task: TaskKey, since_ms: u64, had: Had) {
        let steps = self.now_ms.saturating_sub(since_ms) / AGE_STEP_MS;
        self.heads.push(Head {
            had: Reverse(had),
            level: line.class as u64 + steps,
            task: Reverse(task),
            line,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{Had, Kind, LineKey, Lines, Walk};
    use crate::limits::AGE_STEP_MS;
    use crate::submission::Class;

    /// Users 0 and 1 are of one organisation, user 2 of another.
    const ORG: [usize; 3] = [0, 0, 1];

    fn turns(lines: &Lines, now_ms: u64, cost_ms: u64) -> Vec<u64> {
        let mut users = [0; 3];
        let mut orgs = [0; 2];
        let had = |users: &[u64; 3], orgs: &[u64; 2], user: usize| Had {
            org_ms: orgs[ORG[user]],
            user_ms: users[user],
        };
        let mut walk = Walk::new(lines, None, now_ms, |_| Had::default());
        let mut turns = Vec::new();
        while let Some((line, task)) = walk.next(|user| had(&users, &orgs, user)) {
            users[line.user] += cost_ms;
            orgs[ORG[line.user]] += cost_ms;
            walk.pass_on(line, task, had(&users, &orgs, line.user));
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
    fn organisations_take_turns_however_many_users_they_have() {
        let mut lines = Lines::default();
        for number in 0..3 {
            lines.add(line(0, Class::Normal), (number, 0), 0);
            lines.add(line(1, Class::Normal), (10 + number, 0), 0);
            lines.add(line(2, Class::Normal), (20 + number, 0), 0);
        }
        assert_eq!(turns(&lines, 0, 10), [0, 20, 10, 21, 1, 22, 11, 2, 12]);
    }

    #[test]
    fn a_class_goes_first_until_waiting_has_raised_the_others_of_its_user() {
        let mut lines = Lines::default();
        lines.add(line(0, Class::Low), (1, 0), 0);
        lines.add(line(0, Class::High), (2, 0), 2 * AGE_STEP_MS - 1);
        assert_eq!(turns(&lines, 2 * AGE_STEP_MS - 1, 0), [2, 1]);
        assert_eq!(turns(&lines, 2 * AGE_STEP_MS, 0), [1, 2]);
    }

    #[test]
    fn neither_class_nor_age_goes_before_what_others_have_had() {
        let mut lines = Lines::default();
        for number in 0..3 {
            lines.add(line(0, Class::High), (number, 0), 0);
        }
        lines.add(line(1, Class::Low), (7, 0), 60 * AGE_STEP_MS);
        assert_eq!(turns(&lines, 60 * AGE_STEP_MS, 10)[..2], [0, 7]);
    }
}
