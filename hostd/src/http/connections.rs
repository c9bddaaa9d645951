//! Limits on connections, per address and in total. When a limit is reached, the idlest connection is
//! closed: first one that has never sent a request, then the one that has been quiet longest, never one
//! with a request under way. If none is idle, the newcomer goes into a small reserve, where only health
//! checks and callers with a valid credential are answered. So a client that holds silent connections
//! keeps nobody out.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::address::Address;
use super::flow::Flows;

/// Time for a connection in the reserve to send its request.
const RESERVE_HEAD_WAIT: Duration = Duration::from_secs(1);

/// Time for any connection while most are taken.
const PRESSED_HEAD_WAIT: Duration = Duration::from_secs(5);

/// What "most" means: three of four.
const PRESSED: (u32, u32) = (3, 4);

/// Bounds of connections.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionLimits {
    /// In total, without the reserve.
    pub total_max: u32,
    /// Of one address.
    pub per_address_max: u32,
    /// Connections beyond that, which are answered only if they matter.
    pub reserve_max: u32,
}

/// What became of connections, for the metrics.
#[derive(Debug, Default)]
pub struct ConnectionCounters {
    pub open: AtomicU64,
    /// Turned away at once.
    pub refused: AtomicU64,
    /// Closed in favour of another.
    pub shed: AtomicU64,
    /// Let into the reserve.
    pub reserved: AtomicU64,
    /// Cut for a flood of HTTP/2 frames.
    pub flooded: AtomicU64,
}

/// All connections.
#[derive(Debug)]
pub struct Connections {
    limits: ConnectionLimits,
    counters: Arc<ConnectionCounters>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    /// Connections with an ordinary place.
    ordinary: HashMap<u64, Entry>,
    by_address: HashMap<Address, u32>,
    reserve: HashMap<u64, Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    /// The address in whose share it counts.
    address: Option<Address>,
    flows: Arc<Flows>,
    shed: Arc<Notify>,
}

/// How a connection may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Ordinary,
    Reserve,
}

/// The number of a connection, among a request's extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbered(pub u64);

/// A connection's place among all, until it is dropped.
#[derive(Debug)]
pub struct Seat {
    connections: Arc<Connections>,
    number: u64,
    entry: Entry,
}

impl Connections {
    /// None so far.
    #[must_use]
    pub fn new(limits: ConnectionLimits, counters: Arc<ConnectionCounters>) -> Arc<Self> {
        Arc::new(Self {
            limits,
            counters,
            state: Mutex::default(),
        })
    }

    /// A seat for a connection whose answers are `flows`, in the share of `address`; without an
    /// address only the total counts. None: it must be closed.
    pub fn admit(self: &Arc<Self>, address: Option<Address>, flows: Arc<Flows>) -> Option<Seat> {
        let entry = Entry {
            address,
            flows,
            shed: Arc::default(),
        };
        let mut state = self.lock();
        let number = state.next;
        if state.room(&self.limits, address) || self.shed_ordinary(&mut state, address) {
            state.seat(number, entry.clone());
        } else {
            let full = state.reserve.len() >= self.limits.reserve_max as usize;
            if full && !self.shed_reserve(&mut state) {
                count(&self.counters.refused);
                return None;
            }
            state.reserve.insert(number, entry.clone());
            count(&self.counters.reserved);
        }
        state.next += 1;
        drop(state);
        count(&self.counters.open);
        Some(Seat {
            connections: self.clone(),
            number,
            entry,
        })
    }

    /// Close up to `count` idle connections, the idlest first, because they hold another scarce
    /// resource.
    pub fn relieve(&self, count: u32) {
        let mut state = self.lock();
        for _ in 0..count {
            let victim = idlest(state.ordinary.iter());
            if !victim.is_some_and(|number| self.shed(&mut state, number)) {
                return;
            }
        }
    }

    /// Whether most connections are taken.
    fn is_pressed(&self) -> bool {
        let taken = self.lock().ordinary.len() as u64;
        let (part, whole) = PRESSED;
        taken * u64::from(whole) >= u64::from(self.limits.total_max) * u64::from(part)
    }

    /// Make room for a connection from `address`.
    fn shed_ordinary(&self, state: &mut State, address: Option<Address>) -> bool {
        // A connection from an address with a full share can only replace another one of that
        // address.
        let is_own = state.count(address) >= self.limits.per_address_max;
        let among = state.ordinary.iter();
        let victim = idlest(among.filter(|(_, entry)| !is_own || entry.address == address));
        victim.is_some_and(|number| self.shed(state, number))
    }

    fn shed_reserve(&self, state: &mut State) -> bool {
        let victim = idlest(state.reserve.iter());
        victim.is_some_and(|number| self.shed(state, number))
    }

    fn shed(&self, state: &mut State, number: u64) -> bool {
        let Some(entry) = state.remove(number) else {
            return false;
        };
        entry.shed.notify_one();
        count(&self.counters.shed);
        true
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change leaves it consistent, so a panic elsewhere does too.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn count(&self, address: Option<Address>) -> u32 {
        let held = address.and_then(|address| self.by_address.get(&address));
        held.copied().unwrap_or(0)
    }

    fn room(&self, limits: &ConnectionLimits, address: Option<Address>) -> bool {
        self.ordinary.len() < limits.total_max as usize
            && self.count(address) < limits.per_address_max
    }

    fn seat(&mut self, number: u64, entry: Entry) {
        if let Some(address) = entry.address {
            *self.by_address.entry(address).or_default() += 1;
        }
        self.ordinary.insert(number, entry);
    }

    /// Remove a connection, wherever it is.
    fn remove(&mut self, number: u64) -> Option<Entry> {
        let Some(entry) = self.ordinary.remove(&number) else {
            return self.reserve.remove(&number);
        };
        if let Some(address) = entry.address
            && let Some(count) = self.by_address.get_mut(&address)
        {
            *count -= 1;
            if *count == 0 {
                self.by_address.remove(&address);
            }
        }
        Some(entry)
    }
}

impl Seat {
    /// Which connection it is, of all that the server has had.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// How it may be used now. A connection in the reserve moves to an ordinary place as soon as one
    /// is free.
    #[must_use]
    pub fn standing(&self) -> Standing {
        let Connections { limits, .. } = &*self.connections;
        let mut state = self.connections.lock();
        if !state.reserve.contains_key(&self.number) {
            return Standing::Ordinary;
        }
        if !state.room(limits, self.entry.address) {
            return Standing::Reserve;
        }
        state.reserve.remove(&self.number);
        state.seat(self.number, self.entry.clone());
        Standing::Ordinary
    }

    /// Resolves when the connection must make room.
    pub(crate) async fn shed(&self) {
        loop {
            self.entry.shed.notified().await;
            if self.entry.flows.resting().is_some() {
                return;
            }
            // A request came in between: it stays, one too many until another closes.
            let mut state = self.connections.lock();
            state.seat(self.number, self.entry.clone());
        }
    }

    /// Resolves when the connection has been silent too long: for `head_wait`, or less while most
    /// connections are taken. Until the protocol version is known, no other limit applies: a client that
    /// sends nothing, or half a preface, would keep its place indefinitely.
    pub async fn silence(&self, head_wait: Duration) {
        let flows = &self.entry.flows;
        let is_silent = || flows.resting().is_some_and(|rest| !rest.has_asked);
        let is_reserved = self.standing() == Standing::Reserve;
        let first = if is_reserved {
            RESERVE_HEAD_WAIT
        } else {
            PRESSED_HEAD_WAIT
        };
        tokio::time::sleep(first.min(head_wait)).await;
        if is_silent() && (is_reserved || self.connections.is_pressed()) {
            return;
        }
        tokio::time::sleep(head_wait.saturating_sub(first)).await;
        if is_silent() {
            return;
        }
        std::future::pending().await
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.connections.lock().remove(self.number);
        let open = &self.connections.counters.open;
        open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whichever can be spared first.
fn idlest<'e>(among: impl Iterator<Item = (&'e u64, &'e Entry)>) -> Option<u64> {
    let resting = among.filter_map(|(number, entry)| Some((entry.flows.resting()?, *number)));
    resting.min().map(|(_, number)| number)
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

#[cfg(test)]
mod tests;
