//! Slows down guessing of passwords and codes, without shutting out known users.
//!
//! Every attempt counts against its source address (for IPv6, the network) and against the login
//! that it names:
//!
//! - An address that fails often waits, whatever it names.
//! - A login that fails often waits too, but only at addresses that have recently failed
//!   themselves: strangers who guess do not lock its owner out.
//! - A login is known at an address from which it signed in before. Where strangers must wait, such a
//!   pair is counted separately: nothing that others do there or elsewhere holds it up.
//!
//! Only its password makes a login known. Everything else is forgotten after a while, and a new
//! entry for which there is no room replaces the one with the fewest failures. Since every admitted
//! attempt costs a hash, the tables empty about as fast as they can be filled.
//!
//! Whether a login exists makes no difference. Where a stranger would have to wait, a wrong password
//! for a known login gets the same answer as the stranger; only timing could tell them apart, at a
//! shared address.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use super::password::{Rank, Turn};

mod fills;
mod known;

use fills::{Fills, Limit};
use known::Known;

/// Attempts at one address, and of a login where it is known. Nobody waits longer than a minute.
const OFTEN: Limit = Limit {
    at_once: 20,
    every_ms: 60_000,
};

/// Failures after which an address loses its good standing.
const STANDING: Limit = Limit {
    at_once: 3,
    every_ms: 15 * 60_000,
};

/// Attempts for one login from all addresses that have recently failed.
const OF_STRANGERS: Limit = Limit {
    at_once: 10,
    every_ms: 60_000,
};

/// Leading bytes of an IPv6 address that count. The network's owner chooses the rest.
const IPV6_NETWORK_LEN: usize = 8;

/// Where an attempt comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Somebody at this address, or at an unknown one.
    Address(Option<IpAddr>),
    /// Somebody who is signed in.
    Session,
}

/// What attempts are counted by, as an index into the fills.
#[derive(Clone, Copy)]
enum By {
    Address,
    Standing,
    Login,
    /// A login at an address where it is known, or in a session.
    Pair,
}

const ALL: [By; 4] = [By::Address, By::Standing, By::Login, By::Pair];

/// An admitted attempt. It has been counted.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) turn: Turn,
    /// Seconds to wait, reported if the attempt is wrong, as if it had not been admitted.
    pub(super) hidden_wait_s: Option<u32>,
    origin: Origin,
    keys: [Option<u64>; ALL.len()],
    /// What was added for it, so that it can be taken back.
    added_ms: [u64; ALL.len()],
}

/// Recent attempts, whether or not their logins exist.
pub(super) struct Throttle {
    /// Turns addresses and logins into unpredictable numbers.
    hasher: RandomState,
    tables: Mutex<Tables>,
}

struct Tables {
    fills: [Fills; ALL.len()],
    known: Known,
}

impl Throttle {
    pub(super) fn new() -> Self {
        let fills = ALL.map(|by| {
            Fills::new(match by {
                By::Address | By::Pair => OFTEN,
                By::Standing => STANDING,
                By::Login => OF_STRANGERS,
            })
        });
        Self {
            hasher: RandomState::new(),
            tables: Mutex::new(Tables {
                fills,
                known: Known::default(),
            }),
        }
    }

    /// Count an attempt, before its outcome is known so that parallel guesses count too. One with a
    /// code names no login.
    ///
    /// # Errors
    /// Seconds to wait, at least 1.
    pub(super) fn attempt(
        &self,
        origin: Origin,
        login: Option<&str>,
        now_ms: u64,
    ) -> Result<Attempt, u32> {
        let mut keys = self.keys(origin, login);
        let mut guard = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let tables = &mut *guard;
        let wait_ms = |by: By| {
            let key = keys[by as usize];
            key.map_or(0, |key| tables.fills[by as usize].wait_ms(key, now_ms))
        };
        let pair = keys[By::Pair as usize];
        let is_known = match origin {
            Origin::Session => true,
            Origin::Address(_) => pair.is_some_and(|pair| tables.known.has(pair, now_ms)),
        };
        let of_pair_ms = wait_ms(By::Pair);
        let is_fresh = wait_ms(By::Standing) == 0;
        let own_ms = match origin {
            Origin::Session => of_pair_ms,
            Origin::Address(_) if is_fresh => wait_ms(By::Address),
            Origin::Address(_) => wait_ms(By::Address).max(wait_ms(By::Login)),
        };
        let hidden_wait_s = (own_ms > 0).then(|| seconds(own_ms));
        if let Some(wait_s) = hidden_wait_s {
            if !is_known || of_pair_ms > 0 {
                return Err(wait_s);
            }
            // Answer as if it had been refused.
            keys = [None; ALL.len()];
        }
        keys[By::Pair as usize] = pair.filter(|_| is_known);
        let added_ms = ALL.map(|by| {
            let fills = &mut tables.fills[by as usize];
            keys[by as usize].map_or(0, |key| fills.add(key, now_ms))
        });
        let rank = match (is_known, is_fresh) {
            (true, _) => Rank::Known,
            (false, true) => Rank::Fresh,
            (false, false) => Rank::Suspect,
        };
        let source = keys[By::Address as usize].unwrap_or_default();
        Ok(Attempt {
            turn: Turn { rank, source },
            hidden_wait_s,
            origin,
            keys,
            added_ms,
        })
    }

    /// Undo the count of an attempt that was not made after all.
    pub(super) fn take_back(&self, attempt: &Attempt) {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        for by in ALL {
            if let Some(key) = attempt.keys[by as usize] {
                tables.fills[by as usize].take_back(key, attempt.added_ms[by as usize]);
            }
        }
    }

    /// `login` has signed in: it is now known there, and its own failures are forgotten. The
    /// address's failures stay, or a user could guess the passwords of others.
    pub(super) fn succeeded(&self, attempt: &Attempt, login: &str, now_ms: u64) {
        self.take_back(attempt);
        let keys = self.keys(attempt.origin, Some(login));
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pair) = keys[By::Pair as usize] {
            tables.fills[By::Pair as usize].empty(pair);
            if let Some(login) = keys[By::Login as usize] {
                tables.known.add(pair, login, now_ms);
            }
        }
    }

    fn keys(&self, origin: Origin, login: Option<&str>) -> [Option<u64>; ALL.len()] {
        let pair = login.map(|login| match origin {
            Origin::Address(address) => self.hasher.hash_one((1, network(address), login)),
            Origin::Session => self.hasher.hash_one((2, login)),
        });
        let Origin::Address(address) = origin else {
            return [None, None, None, pair];
        };
        let source = Some(self.hasher.hash_one((3, network(address))));
        let login = login.map(|login| self.hasher.hash_one((4, login)));
        [source, source, login, pair]
    }
}

/// The part of an address that is counted.
fn network(address: Option<IpAddr>) -> Option<Vec<u8>> {
    Some(match address?.to_canonical() {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets()[..IPV6_NETWORK_LEN].to_vec(),
    })
}

/// Whole seconds, at least 1, of a wait of at most a few minutes.
fn seconds(wait_ms: u64) -> u32 {
    u32::try_from(wait_ms.div_ceil(1000)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
