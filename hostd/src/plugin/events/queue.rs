//! Events that one plugin is to be told of: organisations take turns, and each has its own bound.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

use base::news::Happening;
use store::plugins::EventKey;

/// Events of one organisation that wait for one plugin.
pub(super) const QUEUE_MAX: usize = 256;

/// Pauses before an event is told again; after the last one it is given up.
const PAUSES_MS: [u64; 3] = [1_000, 5_000, 25_000];

/// An event, or where it is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum What {
    /// In memory alone, under this id.
    Held(String, Box<Happening>),
    /// In the store.
    Stored(EventKey),
}

/// One event that waits.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) what: What,
    /// How often it was told in vain.
    pub(super) failures: u32,
    /// When it is told next, by the steady clock.
    next_ms: u64,
}

/// What comes next.
#[derive(Debug, PartialEq)]
pub(super) enum Next {
    Now(Entry),
    /// Nothing before this moment, by the steady clock.
    At(u64),
    Nothing,
}

/// All that wait for one plugin.
#[derive(Debug, Default)]
pub(super) struct Queue {
    by_org: BTreeMap<String, VecDeque<Entry>>,
    /// The organisation whose turn was last.
    last: String,
}

impl Entry {
    pub(super) fn new(what: What) -> Self {
        Self {
            what,
            failures: 0,
            next_ms: 0,
        }
    }

    pub(super) fn org(&self) -> &str {
        match &self.what {
            What::Held(_, happening) => &happening.org,
            What::Stored(key) => &key.org,
        }
    }

    /// As it waits when it was not told at all, and no fault of its own: for the longest pause, which costs none of its tries.
    pub(super) fn later(mut self, now_ms: u64) -> Self {
        self.next_ms = now_ms + PAUSES_MS[PAUSES_MS.len() - 1];
        self
    }

    /// As it waits after one more failure; none if it is given up.
    pub(super) fn again(mut self, now_ms: u64) -> Option<Self> {
        let pause_ms = PAUSES_MS.get(usize::try_from(self.failures).ok()?)?;
        self.failures += 1;
        self.next_ms = now_ms + pause_ms;
        Some(self)
    }
}

impl Queue {
    /// Whether one more event of an organisation may wait.
    pub(super) fn has_room(&self, org: &str) -> bool {
        let waiting = self.by_org.get(org);
        waiting.is_none_or(|waiting| waiting.len() < QUEUE_MAX)
    }

    /// Let one wait for which there is room, or that was taken and had a place.
    pub(super) fn put(&mut self, entry: Entry) {
        let org = entry.org().to_owned();
        self.by_org.entry(org).or_default().push_back(entry);
    }

    /// Take the first one that is due, of the organisation after the last one.
    pub(super) fn take(&mut self, now_ms: u64) -> Next {
        let after = (Bound::Excluded(self.last.clone()), Bound::Unbounded);
        let later = self.by_org.range::<String, _>(after);
        let orgs: Vec<String> = later
            .chain(&self.by_org)
            .map(|(org, _)| org.clone())
            .collect();
        let mut first_ms = None::<u64>;
        for org in orgs {
            let Some(waiting) = self.by_org.get_mut(&org) else {
                continue;
            };
            if let Some(at) = waiting.iter().position(|entry| entry.next_ms <= now_ms)
                && let Some(entry) = waiting.remove(at)
            {
                if waiting.is_empty() {
                    self.by_org.remove(&org);
                }
                self.last = org;
                return Next::Now(entry);
            }
            let soonest = waiting.iter().map(|entry| entry.next_ms).min();
            first_ms = first_ms.into_iter().chain(soonest).min();
        }
        first_ms.map_or(Next::Nothing, Next::At)
    }

    /// Forget everything, and say what that was.
    pub(super) fn clear(&mut self) -> impl Iterator<Item = What> + use<> {
        let all = std::mem::take(&mut self.by_org);
        all.into_values().flatten().map(|entry| entry.what)
    }

    pub(super) fn len(&self) -> usize {
        self.by_org.values().map(VecDeque::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(org: &str, id: &str) -> Entry {
        Entry::new(What::Stored(EventKey {
            plugin: "p".into(),
            org: org.into(),
            id: id.into(),
        }))
    }

    fn id(next: Next) -> String {
        match next {
            Next::Now(Entry {
                what: What::Stored(key),
                ..
            }) => format!("{}{}", key.org, key.id),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn organisations_take_turns_and_each_has_its_room() {
        let mut queue = Queue::default();
        for n in 0..QUEUE_MAX {
            assert!(queue.has_room("a"));
            queue.put(entry("a", &n.to_string()));
        }
        assert!(!queue.has_room("a") && queue.has_room("b"));
        queue.put(entry("b", "0"));
        queue.put(entry("c", "0"));
        let order: Vec<_> = (0..5).map(|_| id(queue.take(0))).collect();
        assert_eq!(order, ["a0", "b0", "c0", "a1", "a2"]);
        assert!(queue.has_room("a"));
    }

    #[test]
    fn an_event_is_told_again_three_times_while_others_go_on() {
        let mut queue = Queue::default();
        queue.put(entry("a", "bad"));
        queue.put(entry("a", "good"));
        let mut now_ms = 100;
        for pause_ms in PAUSES_MS {
            let Next::Now(bad) = queue.take(now_ms) else {
                panic!("it is due");
            };
            queue.put(bad.again(now_ms).unwrap());
            if pause_ms == PAUSES_MS[0] {
                assert_eq!(id(queue.take(now_ms)), "agood");
            }
            assert_eq!(queue.take(now_ms), Next::At(now_ms + pause_ms));
            now_ms += pause_ms;
        }
        let Next::Now(bad) = queue.take(now_ms) else {
            panic!("it is due");
        };
        assert_eq!((bad.failures, bad.again(now_ms)), (3, None));
        assert_eq!(queue.take(now_ms), Next::Nothing);
    }

    #[test]
    fn an_event_that_could_not_be_told_waits_as_often_as_it_must() {
        let mut queue = Queue::default();
        queue.put(entry("a", "0"));
        let mut now_ms = 100;
        for _ in 0..10 {
            let Next::Now(entry) = queue.take(now_ms) else {
                panic!("it is due");
            };
            assert_eq!(entry.failures, 0);
            queue.put(entry.later(now_ms));
            assert_eq!(queue.take(now_ms), Next::At(now_ms + 25_000));
            now_ms += 25_000;
        }
    }

    #[test]
    fn what_is_cleared_is_told() {
        let mut queue = Queue::default();
        queue.put(entry("a", "0"));
        queue.put(entry("b", "1"));
        let cleared: Vec<_> = queue.clear().collect();
        assert_eq!(cleared, [entry("a", "0").what, entry("b", "1").what]);
        assert_eq!((queue.len(), queue.take(0)), (0, Next::Nothing));
    }
}
