//! Leaky buckets by key: each attempt fills one a little, and time empties it.

use std::collections::HashMap;

/// Most buckets, of 16 bytes each: about as many as the attempts that hashing admits in a quarter of
/// an hour, the time the slowest bucket takes to lose one.
pub(super) const BUCKETS_MAX: usize = 50_000;

/// Buckets evicted together when none is empty, so that searching for them is rare.
const FORGOTTEN_AT_ONCE: usize = BUCKETS_MAX / 16;

/// How much a bucket holds, and how fast it empties.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    pub(super) at_once: u64,
    /// Time in which one attempt drains.
    pub(super) every_ms: u64,
}

/// Buckets of one limit. Empty ones are not stored.
#[derive(Debug)]
pub(super) struct Fills {
    limit: Limit,
    /// When each will be empty.
    empty_at_ms: HashMap<u64, u64>,
}

impl Fills {
    pub(super) fn new(limit: Limit) -> Self {
        Self {
            limit,
            empty_at_ms: HashMap::new(),
        }
    }

    /// How long until there is room for one more; 0 = now.
    pub(super) fn wait_ms(&self, key: u64, now_ms: u64) -> u64 {
        let wanted_ms = self.fill_ms(key, now_ms) + self.limit.every_ms;
        wanted_ms.saturating_sub(self.whole_ms())
    }

    /// Add one, as far as there is room. Returns how much was added.
    pub(super) fn add(&mut self, key: u64, now_ms: u64) -> u64 {
        let fill_ms = self.fill_ms(key, now_ms);
        let added_ms = self.limit.every_ms.min(self.whole_ms() - fill_ms);
        if !self.empty_at_ms.contains_key(&key) && self.empty_at_ms.len() >= BUCKETS_MAX {
            self.make_room(now_ms);
        }
        self.empty_at_ms.insert(key, now_ms + fill_ms + added_ms);
        added_ms
    }

    pub(super) fn take_back(&mut self, key: u64, added_ms: u64) {
        if let Some(at_ms) = self.empty_at_ms.get_mut(&key) {
            *at_ms = at_ms.saturating_sub(added_ms);
        }
    }

    pub(super) fn empty(&mut self, key: u64) {
        self.empty_at_ms.remove(&key);
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.empty_at_ms.len()
    }

    fn fill_ms(&self, key: u64, now_ms: u64) -> u64 {
        let empty_at_ms = self.empty_at_ms.get(&key).copied().unwrap_or_default();
        empty_at_ms.saturating_sub(now_ms).min(self.whole_ms())
    }

    fn whole_ms(&self) -> u64 {
        self.limit.at_once * self.limit.every_ms
    }

    /// Evict empty buckets, or if there are none, those that would be empty first.
    fn make_room(&mut self, now_ms: u64) {
        self.empty_at_ms.retain(|_, at_ms| now_ms < *at_ms);
        if self.empty_at_ms.len() < BUCKETS_MAX {
            return;
        }
        let all = self.empty_at_ms.iter();
        let mut all: Vec<_> = all.map(|(key, at_ms)| (*at_ms, *key)).collect();
        all.select_nth_unstable(FORGOTTEN_AT_ONCE);
        for (_, key) in &all[..FORGOTTEN_AT_ONCE] {
            self.empty_at_ms.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Limit = Limit {
        at_once: 3,
        every_ms: 1000,
    };

    #[test]
    fn a_few_at_once_and_then_one_each_period() {
        let mut fills = Fills::new(LIMIT);
        for _ in 0..3 {
            assert_eq!(fills.wait_ms(7, 500), 0);
            assert_eq!(fills.add(7, 500), 1000);
        }
        assert_eq!(fills.wait_ms(7, 500), 1000);
        assert_eq!(fills.wait_ms(7, 1100), 400);
        assert_eq!(fills.wait_ms(7, 1500), 0);
        assert_eq!(fills.wait_ms(8, 500), 0);
        // It never exceeds a full bucket.
        assert_eq!(fills.add(7, 1100), 600);
        assert_eq!(fills.add(7, 1100), 0);
        assert_eq!(fills.wait_ms(7, 1100), 1000);
        // Only what was added is taken back.
        fills.take_back(7, 600);
        assert_eq!(fills.wait_ms(7, 1100), 400);
        fills.empty(7);
        assert_eq!(fills.wait_ms(7, 1100), 0);
    }

    #[test]
    fn what_finds_no_room_takes_that_of_the_emptiest() {
        let mut fills = Fills::new(LIMIT);
        fills.add(0, 0);
        fills.add(0, 0);
        for key in 1..=2 * BUCKETS_MAX as u64 {
            fills.add(key, 0);
            assert!(fills.len() <= BUCKETS_MAX);
        }
        assert!(fills.len() >= BUCKETS_MAX - FORGOTTEN_AT_ONCE);
        assert_eq!(fills.fill_ms(0, 0), 2000);
        while fills.len() < BUCKETS_MAX {
            fills.add(u64::MAX - fills.len() as u64, 0);
        }
        fills.add(u64::MAX, 1500);
        assert_eq!(fills.len(), 2, "the empty ones are gone");
    }
}
