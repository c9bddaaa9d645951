//! Nonces that were given out: each for one device on one connection, for a short time, and once.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base::id;
use subtle::ConstantTimeEq;

use crate::http::address::Address;

/// Bytes of a nonce.
const NONCE_BYTES: usize = 32;

/// How long one can be used: a pod asks and signs in one go, but its processor is slow.
const LIFE: Duration = Duration::from_secs(30);

/// Nonces given out and not used, in all. One more takes the place of the oldest.
const PENDING_MAX: usize = 4096;

/// Those of one address. One more takes the place of its oldest, so that nobody uses up those of others.
const PER_ADDRESS_MAX: usize = 32;

/// What a nonce is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The connection with this number.
    Connection(u64),
    /// A client that a trusted proxy names.
    Client(IpAddr),
}

#[derive(Debug)]
struct Pending {
    nonce: [u8; NONCE_BYTES],
    device: Box<str>,
    origin: Origin,
    share: Option<Address>,
    until: Instant,
}

/// Nonces that were given out and not used.
#[derive(Debug, Default)]
pub(super) struct Nonces {
    /// The oldest first.
    pending: Mutex<VecDeque<Pending>>,
}

impl Nonces {
    /// A new one, in the share of an address.
    pub(super) fn issue(
        &self,
        device: &str,
        origin: Origin,
        share: Option<Address>,
    ) -> [u8; NONCE_BYTES] {
        let mut nonce = [0; NONCE_BYTES];
        id::fill_random(&mut nonce);
        let mut pending = self.pending();
        if pending.iter().filter(|one| one.share == share).count() >= PER_ADDRESS_MAX {
            let oldest = pending.iter().position(|one| one.share == share);
            oldest.and_then(|oldest| pending.remove(oldest));
        }
        if pending.len() >= PENDING_MAX {
            pending.pop_front();
        }
        pending.push_back(Pending {
            nonce,
            device: device.into(),
            origin,
            share,
            until: Instant::now() + LIFE,
        });
        nonce
    }

    /// Uses one up; false if it was not given to this device there, or is too old.
    pub(super) fn take(&self, device: &str, origin: Origin, nonce: &[u8]) -> bool {
        let mut pending = self.pending();
        let found = pending.iter().position(|one| {
            let is_it: bool = one.nonce.as_slice().ct_eq(nonce).into();
            is_it && &*one.device == device && one.origin == origin
        });
        found.and_then(|found| pending.remove(found)).is_some()
    }

    /// Those that are not too old.
    fn pending(&self) -> MutexGuard<'_, VecDeque<Pending>> {
        // Each change leaves a valid list, so a panic elsewhere does no harm.
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        while pending.front().is_some_and(|oldest| oldest.until <= now) {
            pending.pop_front();
        }
        pending
    }
}

#[cfg(test)]
mod tests {
    //! What a nonce is good for.

    use super::*;

    const HERE: Origin = Origin::Connection(1);

    fn share(last: u8) -> Option<Address> {
        Some(IpAddr::from([192, 0, 2, last]).into())
    }

    #[test]
    fn a_nonce_is_for_one_device_on_one_connection_and_once() {
        let nonces = Nonces::default();
        let nonce = nonces.issue("a", HERE, share(1));
        let elsewhere = Origin::Client([192, 0, 2, 1].into());
        assert!(!nonces.take("b", HERE, &nonce));
        assert!(!nonces.take("a", Origin::Connection(2), &nonce));
        assert!(!nonces.take("a", elsewhere, &nonce));
        assert!(!nonces.take("a", HERE, &nonce[1..]));
        assert!(nonces.take("a", HERE, &nonce));
        assert!(!nonces.take("a", HERE, &nonce));
        let old = nonces.issue("a", HERE, share(1));
        nonces.pending()[0].until = Instant::now();
        assert!(!nonces.take("a", HERE, &old));
    }

    #[test]
    fn whoever_asks_for_many_loses_their_own() {
        let nonces = Nonces::default();
        let other = nonces.issue("a", HERE, share(1));
        let first = nonces.issue("a", HERE, share(2));
        for _ in 0..PER_ADDRESS_MAX {
            nonces.issue("a", HERE, share(2));
        }
        assert!(!nonces.take("a", HERE, &first));
        assert!(nonces.take("a", HERE, &other));
        for number in 0..PENDING_MAX {
            let address: IpAddr = [
                10,
                0,
                u8::try_from(number / 256).unwrap(),
                u8::try_from(number % 256).unwrap(),
            ]
            .into();
            nonces.issue("a", HERE, Some(address.into()));
        }
        assert_eq!(nonces.pending().len(), PENDING_MAX);
    }
}
