//! What is owed, by time, and who is being told at the moment. Nobody waits for somebody else's slow receiver: each
//! receiver, each organisation and all together are told so much at once and no more.

use std::collections::{BTreeSet, HashMap};

use store::webhooks::DeliveryKey;

/// Attempts at once.
const ALL_MAX: usize = 16;

/// Of them one organisation's.
const PER_ORG_MAX: usize = 4;

/// Something that is owed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Owed {
    /// A message to a webhook.
    Message(DeliveryKey),
    /// What a repository is to say of a commit.
    Status {
        org: String,
        target: String,
        key: String,
    },
}

impl Owed {
    fn org(&self) -> &str {
        match self {
            Self::Message(key) => &key.org,
            Self::Status { org, .. } => org,
        }
    }

    /// Who is told. One attempt at a time, so that each hears things in their order.
    fn receiver(&self) -> &str {
        match self {
            Self::Message(key) => &key.webhook,
            Self::Status { target, .. } => target,
        }
    }
}

/// What is owed and what is under way.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    by_time: BTreeSet<(u64, Owed)>,
    times: HashMap<Owed, u64>,
    busy: HashMap<String, Owed>,
    busy_of_org: HashMap<String, usize>,
}

impl Queue {
    /// Owes something, or changes when it is tried.
    pub(crate) fn put(&mut self, owed: Owed, at_ms: u64) {
        if let Some(before) = self.times.insert(owed.clone(), at_ms) {
            self.by_time.remove(&(before, owed.clone()));
        }
        self.by_time.insert((at_ms, owed));
    }

    /// Takes what is due and may begin.
    pub(crate) fn take_due(&mut self, now_ms: u64) -> Vec<Owed> {
        let mut taken = Vec::new();
        let due = self
            .by_time
            .iter()
            .take_while(|(at_ms, _)| *at_ms <= now_ms);
        for (_, owed) in due {
            if self.busy.len() >= ALL_MAX {
                break;
            }
            let of_org = self.busy_of_org.get(owed.org()).copied().unwrap_or(0);
            if of_org >= PER_ORG_MAX || self.busy.contains_key(owed.receiver()) {
                continue;
            }
            self.busy_of_org.insert(owed.org().to_owned(), of_org + 1);
            self.busy.insert(owed.receiver().to_owned(), owed.clone());
            taken.push(owed.clone());
        }
        for owed in &taken {
            self.forget(owed);
        }
        taken
    }

    /// Something that was taken has come to its end, or is to be tried again. What was owed anew meanwhile stays.
    pub(crate) fn done(&mut self, owed: Owed, next_ms: Option<u64>) {
        self.busy.remove(owed.receiver());
        if let Some(count) = self.busy_of_org.get_mut(owed.org()) {
            *count -= 1;
            if *count == 0 {
                self.busy_of_org.remove(owed.org());
            }
        }
        if let Some(next_ms) = next_ms
            && !self.times.contains_key(&owed)
        {
            self.put(owed, next_ms);
        }
    }

    /// The oldest messages of an organisation beyond `max`, which are not owed any more.
    pub(crate) fn take_surplus(&mut self, org: &str, max: usize) -> Vec<DeliveryKey> {
        let of_org = |owed: &Owed| match owed {
            Owed::Message(key) if key.org == org => Some(key.clone()),
            _ => None,
        };
        let mut waiting: Vec<DeliveryKey> = self.times.keys().filter_map(of_org).collect();
        let surplus = waiting.len().saturating_sub(max);
        // Ids sort by time.
        waiting.sort_by(|a, b| a.id.cmp(&b.id));
        waiting.truncate(surplus);
        for key in &waiting {
            self.forget(&Owed::Message(key.clone()));
        }
        waiting
    }

    /// How many messages of an organisation wait.
    pub(crate) fn waiting(&self, org: &str) -> usize {
        let of_org = |owed: &&Owed| matches!(owed, Owed::Message(key) if key.org == org);
        self.times.keys().filter(of_org).count()
    }

    /// When the next attempt is due, of those that are not due already; these go on when another one is done.
    pub(crate) fn next_ms(&self, now_ms: u64) -> Option<u64> {
        let mut times = self.by_time.iter().map(|(at_ms, _)| *at_ms);
        times.find(|at_ms| *at_ms > now_ms)
    }

    fn forget(&mut self, owed: &Owed) {
        if let Some(at_ms) = self.times.remove(owed) {
            self.by_time.remove(&(at_ms, owed.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(org: &str, webhook: &str, id: &str) -> Owed {
        Owed::Message(DeliveryKey {
            org: org.into(),
            webhook: webhook.into(),
            id: id.into(),
        })
    }

    #[test]
    fn each_receiver_is_told_one_thing_at_a_time_in_order() {
        let mut queue = Queue::default();
        queue.put(message("o", "a", "2"), 20);
        queue.put(message("o", "a", "1"), 10);
        queue.put(message("o", "b", "3"), 30);
        assert_eq!(queue.next_ms(0), Some(10));
        assert_eq!(queue.take_due(25), [message("o", "a", "1")]);
        assert_eq!(queue.take_due(30), [message("o", "b", "3")]);
        queue.done(message("o", "a", "1"), Some(90));
        assert_eq!(queue.take_due(30), [message("o", "a", "2")]);
        assert_eq!(queue.next_ms(30), Some(90));
    }

    #[test]
    fn an_organisation_and_all_together_have_their_bounds() {
        let mut queue = Queue::default();
        for org in 0..10 {
            for hook in 0..10 {
                queue.put(
                    message(&format!("o{org}"), &format!("h{org}.{hook}"), "1"),
                    1,
                );
            }
        }
        let taken = queue.take_due(1);
        assert_eq!(taken.len(), ALL_MAX);
        for org in 0..10 {
            let org = format!("o{org}");
            assert!(taken.iter().filter(|owed| owed.org() == org).count() <= PER_ORG_MAX);
        }
        for owed in taken {
            queue.done(owed, None);
        }
        assert_eq!(queue.take_due(1).len(), ALL_MAX);
    }

    #[test]
    fn what_is_owed_anew_while_it_is_told_stays_owed() {
        let mut queue = Queue::default();
        queue.put(message("o", "a", "1"), 1);
        let taken = queue.take_due(1);
        queue.put(message("o", "a", "1"), 5);
        queue.done(taken[0].clone(), None);
        assert_eq!(queue.take_due(5), taken);
    }

    #[test]
    fn the_oldest_messages_give_way() {
        let mut queue = Queue::default();
        for id in ["3", "1", "2"] {
            queue.put(message("o", "a", id), 9);
        }
        queue.put(message("p", "b", "0"), 9);
        let gone = queue.take_surplus("o", 2);
        assert_eq!(gone.len(), 1);
        assert_eq!(gone[0].id, "1");
        assert_eq!(queue.take_surplus("o", 2), []);
        assert_eq!(queue.times.len(), 3);
    }
}
