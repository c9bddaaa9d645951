//! Slows down guessing of passwords: after a few failures for a login, each further attempt has to
//! wait twice as long as the one before. Nobody is locked out for longer than a minute at a time,
//! so a stranger cannot keep a user out for good.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Attempts before the first wait.
const FREE_ATTEMPTS: u32 = 5;

/// Longest wait between two attempts.
const WAIT_S_MAX: u64 = 60;

/// A login without attempts for this long starts afresh.
const FORGET_MS: u64 = 15 * 60 * 1000;

/// Logins remembered; beyond that the one that waits least is forgotten.
const LOGINS_MAX: usize = 16_384;

#[derive(Clone, Copy)]
struct Attempts {
    count: u32,
    last_ms: u64,
    free_ms: u64,
}

/// Recent attempts by login, whether or not the login exists.
#[derive(Default)]
pub(super) struct Throttle(Mutex<HashMap<String, Attempts>>);

impl Throttle {
    /// Count an attempt, before its outcome is known so that parallel guesses count too.
    ///
    /// # Errors
    /// Seconds to wait, at least 1.
    pub(super) fn attempt(&self, login: &str, now_ms: u64) -> Result<(), u32> {
        let mut logins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let old = logins
            .get(login)
            .copied()
            .filter(|a| now_ms.saturating_sub(a.last_ms) < FORGET_MS);
        if let Some(old) = old
            && now_ms < old.free_ms
        {
            let wait_s = (old.free_ms - now_ms).div_ceil(1000).min(WAIT_S_MAX);
            return Err(u32::try_from(wait_s).expect("bounded just above"));
        }
        let count = old.map_or(0, |a| a.count).saturating_add(1);
        if logins.len() >= LOGINS_MAX && !logins.contains_key(login) {
            make_room(&mut logins, now_ms);
        }
        logins.insert(
            login.to_owned(),
            Attempts {
                count,
                last_ms: now_ms,
                free_ms: now_ms + wait_ms(count),
            },
        );
        Ok(())
    }

    /// The login signed in: its attempts are forgotten.
    pub(super) fn succeeded(&self, login: &str) {
        let mut logins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        logins.remove(login);
    }
}

fn wait_ms(count: u32) -> u64 {
    match count.checked_sub(FREE_ATTEMPTS) {
        None => 0,
        Some(over) => 1000 * (1u64 << over.min(16)).min(WAIT_S_MAX),
    }
}

fn make_room(logins: &mut HashMap<String, Attempts>, now_ms: u64) {
    logins.retain(|_, a| now_ms.saturating_sub(a.last_ms) < FORGET_MS);
    if logins.len() >= LOGINS_MAX {
        let least = logins.iter().min_by_key(|(_, a)| a.free_ms);
        if let Some(login) = least.map(|(login, _)| login.clone()) {
            logins.remove(&login);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_minute() {
        let throttle = Throttle::default();
        let mut now_ms = 1_000_000;
        for _ in 0..FREE_ATTEMPTS {
            throttle.attempt("ann", now_ms).unwrap();
        }
        let mut waits = Vec::new();
        for _ in 0..8 {
            let wait_s = throttle.attempt("ann", now_ms).unwrap_err();
            waits.push(wait_s);
            now_ms += u64::from(wait_s) * 1000;
            throttle.attempt("ann", now_ms).unwrap();
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        throttle.attempt("bob", now_ms).unwrap();
    }

    #[test]
    fn success_and_time_forgive() {
        let throttle = Throttle::default();
        for _ in 0..FREE_ATTEMPTS {
            throttle.attempt("ann", 0).unwrap();
            throttle.attempt("bob", 0).unwrap();
        }
        assert!(throttle.attempt("ann", 0).is_err());
        throttle.succeeded("ann");
        throttle.attempt("ann", 0).unwrap();
        assert!(throttle.attempt("bob", 0).is_err());
        throttle.attempt("bob", FORGET_MS).unwrap();
        throttle.attempt("bob", FORGET_MS).unwrap();
    }

    #[test]
    fn memory_is_bounded() {
        let throttle = Throttle::default();
        for n in 0..LOGINS_MAX + 100 {
            throttle.attempt(&n.to_string(), 0).unwrap();
        }
        assert_eq!(throttle.0.lock().unwrap().len(), LOGINS_MAX);
    }
}
