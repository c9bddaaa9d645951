//! Which logins signed in from which addresses. Only a right password or code adds to it.

use std::collections::HashMap;

/// Most pairs of a login and an address; the one seen longest ago is evicted.
const PAIRS_MAX: usize = 8_192;

/// Most addresses of one login, evicted likewise. A user who moves between networks only evicts
/// their own.
const PER_LOGIN_MAX: usize = 8;

/// How long a pair stays known after it was last seen: 30 days.
const KNOWN_MS: u64 = 30 * 24 * 3600 * 1000;

#[derive(Debug, Clone, Copy)]
struct Seen {
    login: u64,
    at_ms: u64,
}

#[derive(Debug, Default)]
pub(super) struct Known(HashMap<u64, Seen>);

impl Known {
    pub(super) fn has(&self, pair: u64, now_ms: u64) -> bool {
        let seen = self.0.get(&pair);
        seen.is_some_and(|seen| now_ms.saturating_sub(seen.at_ms) < KNOWN_MS)
    }

    pub(super) fn add(&mut self, pair: u64, login: u64, now_ms: u64) {
        if !self.0.contains_key(&pair) {
            let of_login = self.0.values().filter(|seen| seen.login == login).count();
            if of_login >= PER_LOGIN_MAX {
                self.forget_oldest(|seen| seen.login == login);
            } else if self.0.len() >= PAIRS_MAX {
                self.forget_oldest(|_| true);
            }
        }
        let at_ms = now_ms;
        self.0.insert(pair, Seen { login, at_ms });
    }

    fn forget_oldest(&mut self, of: impl Fn(&Seen) -> bool) {
        let some = self.0.iter().filter(|(_, seen)| of(seen));
        let oldest = some.min_by_key(|(_, seen)| seen.at_ms);
        if let Some(pair) = oldest.map(|(pair, _)| *pair) {
            self.0.remove(&pair);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_gives_way() {
        let mut known = Known::default();
        known.add(0, 77, 0);
        for pair in 1..=PER_LOGIN_MAX as u64 {
            known.add(pair, 5, pair);
        }
        known.add(1, 5, 100);
        known.add(99, 5, 100);
        assert!(known.has(0, 100) && known.has(1, 100) && known.has(99, 100));
        assert!(!known.has(2, 100), "the oldest of its login");
        for pair in 0..PAIRS_MAX as u64 {
            known.add(1000 + pair, pair, 200 + pair);
        }
        assert_eq!(known.0.len(), PAIRS_MAX);
        assert!(!known.has(0, 100), "the oldest of all");
    }

    #[test]
    fn a_month_is_long_enough() {
        let mut known = Known::default();
        known.add(1, 1, 50);
        assert!(known.has(1, 49 + KNOWN_MS));
        assert!(!known.has(1, 50 + KNOWN_MS));
    }
}
