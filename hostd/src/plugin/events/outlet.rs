//! What waits for each plugin, and what has become of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use store::plugins::EventKey;
use tokio::sync::{Notify, Semaphore};

use super::queue::{Entry, Next, Queue, What};

/// Events that wait for all plugins together,
const ALL_MAX: usize = 8 * super::queue::QUEUE_MAX;

/// and those that wait for one of them in any case, however many wait for others.
const OF_EACH: usize = 32;

/// Stored events of a plugin that found no room are read again when no more than this wait for it.
const LOW: usize = OF_EACH / 2;

/// What has become of a plugin's events and timers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Heard {
    /// Events that it took.
    pub delivered: u64,
    /// Events that it was told again, each time counted.
    pub repeated: u64,
    /// Events that were given up after the last time.
    pub failed: u64,
    /// Events that found no room, or came too late, or waited in memory for a plugin that was disabled.
    pub dropped: u64,
    /// Events that wait now.
    pub waiting: u64,
    /// Times that a timer called it.
    pub timers: u64,
    /// Times that a timer was still at work, and did not call it.
    pub timers_skipped: u64,
}

/// One plugin.
#[derive(Debug)]
pub(super) struct Line {
    queue: Queue,
    /// Stored events that wait or are being told.
    known: BTreeSet<EventKey>,
    /// Whether some found no room and are in the store alone.
    is_behind: bool,
    /// Whether a task tells them.
    is_told: bool,
    /// What that task is telling: if it breaks off, this is not lost.
    in_hand: Option<Entry>,
    /// The same for its timers: one at a time.
    striking: Arc<Semaphore>,
    wake: Arc<Notify>,
    pub(super) heard: Heard,
}

/// All plugins.
#[derive(Debug, Default)]
pub(in super::super) struct Outlet {
    lines: Mutex<BTreeMap<String, Line>>,
}

/// The task that tells a plugin. When the plugin was removed and is installed again, it has another, and this one ends.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) plugin: String,
    pub(super) wake: Arc<Notify>,
}

/// Why an event does not wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Full {
    /// It is given up, as so many of the plugin's so far.
    Dropped(u64),
    /// It stays in the store, until there is room.
    Left,
}

/// What the task of a plugin does next.
pub(super) enum Step {
    Tell(Entry),
    /// Until this moment of the steady clock, unless something comes.
    Wait(u64),
    /// It is over: nothing waits, or nobody listens.
    End,
}

impl Default for Line {
    fn default() -> Self {
        Self {
            queue: Queue::default(),
            known: BTreeSet::new(),
            is_behind: false,
            is_told: false,
            in_hand: None,
            striking: Arc::new(Semaphore::new(1)),
            wake: Arc::default(),
            heard: Heard::default(),
        }
    }
}

impl Outlet {
    /// Let an event wait for a plugin. One that is stored and `may_stay` is not given up for what waits for others.
    pub(super) fn put(&self, plugin: &str, what: What, may_stay: bool) -> Result<(), Full> {
        let mut lines = self.lines();
        let all: usize = lines.values().map(|line| line.queue.len()).sum();
        let line = lines.entry(plugin.to_owned()).or_default();
        let stored = match &what {
            What::Stored(key) if line.known.contains(key) => return Ok(()),
            What::Stored(key) => Some(key.clone()),
            What::Held(..) => None,
        };
        let entry = Entry::new(what);
        let is_full = all >= ALL_MAX && line.queue.len() >= OF_EACH;
        let has_room = line.queue.has_room(entry.org());
        if is_full && has_room && may_stay && stored.is_some() {
            line.is_behind = true;
            return Err(Full::Left);
        }
        if is_full || !has_room {
            line.heard.dropped += 1;
            return Err(Full::Dropped(line.heard.dropped));
        }
        line.known.extend(stored);
        line.queue.put(entry);
        line.wake.notify_one();
        Ok(())
    }

    /// Begin to tell a plugin, unless a task does already.
    pub(super) fn begin(&self, plugin: &str) -> Option<Task> {
        let mut lines = self.lines();
        let line = lines.get_mut(plugin)?;
        let begins = !std::mem::replace(&mut line.is_told, true);
        begins.then(|| Task {
            plugin: plugin.to_owned(),
            wake: line.wake.clone(),
        })
    }

    /// What comes next for a plugin. `listens` is asked while nothing can be put.
    pub(super) fn step(&self, task: &Task, now_ms: u64, listens: impl FnOnce() -> bool) -> Step {
        let mut lines = self.lines();
        let Some(line) = task.line(&mut lines) else {
            return Step::End;
        };
        let next = match listens() {
            true => line.queue.take(now_ms),
            false => Next::Nothing,
        };
        match next {
            Next::Now(entry) => {
                line.in_hand = Some(entry.clone());
                Step::Tell(entry)
            }
            Next::At(at_ms) => Step::Wait(at_ms),
            Next::Nothing => {
                line.is_told = false;
                Step::End
            }
        }
    }

    /// Tell an event again; false if that was the last time. Of a plugin that is gone nothing more is told, nor given up.
    pub(super) fn again(&self, task: &Task, entry: Entry, now_ms: u64) -> bool {
        let mut lines = self.lines();
        let Some(line) = task.line(&mut lines) else {
            return true;
        };
        match entry.again(now_ms) {
            Some(entry) => {
                line.heard.repeated += 1;
                line.in_hand = None;
                line.queue.put(entry);
                true
            }
            None => false,
        }
    }

    /// Tell an event later that could not be told, through no fault of the plugin.
    pub(super) fn later(&self, task: &Task, entry: Entry, now_ms: u64) {
        if let Some(line) = task.line(&mut self.lines()) {
            line.in_hand = None;
            line.queue.put(entry.later(now_ms));
        }
    }

    /// The task broke off: what it was telling. If that is nothing, it is over, and the next event begins another.
    pub(super) fn broken_off(&self, task: &Task) -> Option<Entry> {
        let mut lines = self.lines();
        let line = task.line(&mut lines)?;
        let entry = line.in_hand.take();
        line.is_told = entry.is_some();
        entry
    }

    /// An event is over. Whether there is room now for some that are in the store alone.
    pub(super) fn done(&self, task: &Task, what: &What, count: impl FnOnce(&mut Heard)) -> bool {
        let mut lines = self.lines();
        let Some(line) = task.line(&mut lines) else {
            return false;
        };
        if let What::Stored(key) = what {
            line.known.remove(key);
        }
        line.in_hand = None;
        count(&mut line.heard);
        let catches_up = line.is_behind && line.queue.len() <= LOW;
        line.is_behind &= !catches_up;
        catches_up
    }

    /// Count something.
    pub(super) fn count(&self, plugin: &str, count: impl FnOnce(&mut Heard)) {
        let mut lines = self.lines();
        count(&mut lines.entry(plugin.to_owned()).or_default().heard);
    }

    /// What lets one timer of a plugin at a time work.
    pub(super) fn striking(&self, plugin: &str) -> Arc<Semaphore> {
        let mut lines = self.lines();
        let line = lines.entry(plugin.to_owned()).or_default();
        line.striking.clone()
    }

    /// A plugin listens no more: what is in memory alone is dropped, and what is stored is read again when it is back.
    pub(in super::super) fn withdraw(&self, plugin: &str) {
        if let Some(line) = self.lines().get_mut(plugin) {
            for what in line.queue.clear() {
                match what {
                    What::Held(..) => line.heard.dropped += 1,
                    What::Stored(key) => {
                        line.known.remove(&key);
                    }
                }
            }
            line.is_behind = false;
        }
    }

    /// A plugin is gone.
    pub(in super::super) fn forget(&self, plugin: &str) {
        self.lines().remove(plugin);
    }

    /// What has become of a plugin's events and timers; none if it never had any.
    pub(in super::super) fn heard(&self, plugin: &str) -> Option<Heard> {
        let lines = self.lines();
        let line = lines.get(plugin)?;
        Some(Heard {
            waiting: line.queue.len() as u64,
            ..line.heard
        })
    }

    fn lines(&self) -> MutexGuard<'_, BTreeMap<String, Line>> {
        // Each change leaves the map whole, so a panic elsewhere does not spoil it.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Task {
    /// What it tells, unless that is another's by now.
    fn line<'a>(&self, lines: &'a mut BTreeMap<String, Line>) -> Option<&'a mut Line> {
        let line = lines.get_mut(&self.plugin)?;
        Arc::ptr_eq(&line.wake, &self.wake).then_some(line)
    }
}

#[cfg(test)]
mod tests;
