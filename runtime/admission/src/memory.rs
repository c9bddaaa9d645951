//! Memory that callers can make large: so much of it in all, and no caller takes it all.
//!
//! As with places, a share is not a fixed number: an organisation may hold up to twice as many bytes as are free. So one
//! alone gets two thirds, and however many hold all they can, there is room for the next.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes that an organisation may hold per free byte.
const ORG_SHARE: u64 = 2;

/// An account of memory.
#[derive(Debug)]
pub struct Memory {
    bytes_max: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    all: u64,
    orgs: HashMap<Arc<str>, u64>,
}

/// Bytes that somebody has, until this is dropped.
#[derive(Debug)]
pub struct Held {
    memory: Arc<Memory>,
    org: Arc<str>,
    bytes: u64,
}

/// There is no room for so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scarce;

impl Memory {
    /// With so many bytes, all free.
    #[must_use]
    pub fn new(bytes_max: u64) -> Arc<Self> {
        Arc::new(Self {
            bytes_max,
            state: Mutex::default(),
        })
    }

    /// Bytes for an organisation.
    ///
    /// # Errors
    /// It has its share, or there are not so many.
    pub fn take(self: &Arc<Self>, org: &str, bytes: u64) -> Result<Held, Scarce> {
        let mut state = self.lock();
        self.check(&state, org, bytes)?;
        Ok(self.hold(&mut state, org, bytes))
    }

    /// Whether an organisation may have so many more.
    fn check(&self, state: &State, org: &str, bytes: u64) -> Result<(), Scarce> {
        let all = state.all.saturating_add(bytes);
        let free = self.bytes_max.checked_sub(all).ok_or(Scarce)?;
        let own = state.orgs.get(org).copied().unwrap_or(0);
        match own.saturating_add(bytes) > free.saturating_mul(ORG_SHARE) {
            true => Err(Scarce),
            false => Ok(()),
        }
    }

    /// Bytes for what is there already, as after a restart: they count, whether or not there is room for them.
    pub fn note(self: &Arc<Self>, org: &str, bytes: u64) -> Held {
        self.hold(&mut self.lock(), org, bytes)
    }

    /// The most that an organisation alone can hold.
    #[must_use]
    pub fn org_bytes_max(&self) -> u64 {
        self.bytes_max / (ORG_SHARE + 1) * ORG_SHARE
    }

    /// Bytes that are held.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.lock().all
    }

    fn hold(self: &Arc<Self>, state: &mut State, org: &str, bytes: u64) -> Held {
        let org: Arc<str> = match state.orgs.get_key_value(org) {
            Some((known, _)) => known.clone(),
            None => org.into(),
        };
        state.add(&org, bytes);
        Held {
            memory: self.clone(),
            org,
            bytes,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change leaves it consistent, so a panic elsewhere does too.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, org: &Arc<str>, bytes: u64) {
        self.all = self.all.saturating_add(bytes);
        let own = self.orgs.entry(org.clone()).or_default();
        *own = own.saturating_add(bytes);
    }
}

impl Held {
    /// How many they are.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// More of them, for what turns out to be larger while it is read.
    ///
    /// # Errors
    /// As of [`Memory::take`]; what is held stays.
    pub fn grow(&mut self, bytes: u64) -> Result<(), Scarce> {
        let mut state = self.memory.lock();
        self.memory.check(&state, &self.org, bytes)?;
        state.add(&self.org, bytes);
        drop(state);
        self.bytes = self.bytes.saturating_add(bytes);
        Ok(())
    }

    /// The same for what is there already: it counts, whether or not there is room for it.
    pub fn grow_anyway(&mut self, bytes: u64) {
        self.memory.lock().add(&self.org, bytes);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut state = self.memory.lock();
        state.all = state.all.saturating_sub(self.bytes);
        if let Some(own) = state.orgs.get_mut(&self.org) {
            *own = own.saturating_sub(self.bytes);
            if *own == 0 {
                state.orgs.remove(&self.org);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_holds_all_and_the_next_finds_room() {
        let memory = Memory::new(900);
        assert_eq!(memory.org_bytes_max(), 600);
        let mut held = Vec::new();
        for org in ["a", "b", "c", "d"] {
            let before = held.len();
            while let Ok(bytes) = memory.take(org, 1) {
                held.push(bytes);
            }
            let own = held.len() - before;
            assert!(own > 20, "{org} got {own}");
        }
        assert!(memory.held() < 900);
        assert_eq!(memory.take("a", 901).unwrap_err(), Scarce);
        held.clear();
        assert_eq!(memory.held(), 0);
        assert!(memory.lock().orgs.is_empty());
        let most = memory.take("a", 600).unwrap();
        assert_eq!(most.bytes(), 600);
        assert_eq!(memory.take("a", 1).unwrap_err(), Scarce);
        drop(most);
        assert_eq!(memory.take("a", 601).unwrap_err(), Scarce);
    }

    #[test]
    fn what_grows_is_bounded_as_what_is_taken() {
        let memory = Memory::new(90);
        let mut held = memory.take("a", 10).unwrap();
        assert_eq!(held.grow(50), Ok(()));
        assert_eq!(held.grow(1), Err(Scarce));
        assert_eq!(memory.held(), 60);
        assert_eq!(memory.take("a", 1).unwrap_err(), Scarce);
        held.grow_anyway(100);
        assert_eq!(memory.take("b", 1).unwrap_err(), Scarce);
        drop(held);
        assert_eq!(memory.held(), 0);
        // What has nothing yet may grow after others of its organisation have ended.
        let mut none = memory.note("a", 0);
        drop(memory.take("a", 1).unwrap());
        assert_eq!(none.grow(60), Ok(()));
        drop(none);
        assert!(memory.lock().orgs.is_empty());
    }

    #[test]
    fn what_is_there_already_counts() {
        let memory = Memory::new(90);
        let before = memory.note("a", 100);
        assert_eq!(memory.take("b", 1).unwrap_err(), Scarce);
        drop(before);
        assert!(memory.take("b", 60).is_ok());
    }
}
