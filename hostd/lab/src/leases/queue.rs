//! The callers waiting for a device, in order of arrival.
//!
//! A place belongs to a caller, however often and under however many lease ids it asks: one that
//! is refused and tries again under a new id stands where it stood, and one with many jobs has one
//! turn at a time. Clients wait by polling, so each keeps its part of the place for as long as it
//! has asked recently, and the first caller gets a moment to ask once the device is free. Who goes
//! away silently loses the place.

use std::collections::VecDeque;

/// A client stays in the line for this long after it last asked; published clients ask every 5 s.
pub(super) const KEPT_MS: u64 = 15_000;

/// Time the first caller has to ask once the device is free, before the next may have it.
pub(super) const TURN_MS: u64 = 8_000;

/// Callers in one queue. One that finds it full stays last until somebody leaves.
pub(super) const PLACES_MAX: usize = 256;

/// Clients of one caller that are remembered. A further one waits for those to leave.
pub(super) const CLIENTS_MAX: usize = 32;

/// The queue of one device.
#[derive(Debug, Default)]
pub(super) struct Queue {
    places: VecDeque<Place>,
    /// When the first caller's turn began; none while the device is not free.
    turn_since_ms: Option<u64>,
}

/// A caller, and its clients in order of arrival.
#[derive(Debug)]
struct Place {
    owner: String,
    clients: Vec<Client>,
}

#[derive(Debug)]
struct Client {
    lease_id: String,
    asked_ms: u64,
    /// It has asked more than once, so it means to wait. One that has not may be the former try of a
    /// client that now asks under another id, and goes before none of its caller's others.
    waits: bool,
}

impl Queue {
    /// Ask for the device, and wait for it; returns the place in the queue, 1 for the first.
    pub(super) fn wait(&mut self, lease_id: &str, owner: &str, now_ms: u64) -> u32 {
        self.drop_absent(lease_id, owner, now_ms);
        let known = self.places.iter().position(|place| place.owner == owner);
        let at = match known {
            Some(at) => at,
            None if self.places.len() >= PLACES_MAX => return ordinal(PLACES_MAX),
            None => {
                self.places.push_back(Place {
                    owner: owner.to_owned(),
                    clients: Vec::new(),
                });
                self.places.len() - 1
            }
        };
        self.places[at].asked(lease_id, now_ms);
        ordinal(self.ahead(at, lease_id))
    }

    /// Whether this client may have the device, now that it is free.
    pub(super) fn may_take(&mut self, lease_id: &str, owner: &str, now_ms: u64) -> bool {
        self.drop_absent(lease_id, owner, now_ms);
        let first = self.places.front();
        first.is_none_or(|place| place.owner == owner && place.ahead(lease_id) == 0)
    }

    /// A client gives up.
    pub(super) fn leave(&mut self, lease_id: &str, owner: &str, now_ms: u64) {
        self.keep(now_ms, |place, client| {
            place != owner || client.lease_id != lease_id
        });
    }

    /// A client has taken the device. Its caller's other clients wait for another turn.
    pub(super) fn taken(&mut self, lease_id: &str, owner: &str) {
        self.turn_since_ms = None;
        let Some(at) = self.places.iter().position(|place| place.owner == owner) else {
            return;
        };
        let Some(mut place) = self.places.remove(at) else {
            return;
        };
        place.clients.retain(|c| c.waits && c.lease_id != lease_id);
        if !place.clients.is_empty() {
            self.places.push_back(place);
        }
    }

    /// The device has become free: the first caller's turn begins.
    pub(super) fn opened(&mut self, now_ms: u64) {
        self.turn_since_ms = Some(now_ms);
    }

    /// The client that asks is present; the others must have asked recently.
    fn drop_absent(&mut self, lease_id: &str, owner: &str, now_ms: u64) {
        let asks = |place: &str, client: &Client| place == owner && client.lease_id == lease_id;
        self.keep(now_ms, |place, client| {
            asks(place, client) || now_ms < client.asked_ms + KEPT_MS
        });
        while let Some(since_ms) = self.turn_since_ms
            && now_ms >= since_ms + TURN_MS
            && let Some(Place { owner, clients }) = self.places.front_mut()
        {
            clients.retain(|client| asks(owner, client) || client.asked_ms >= since_ms);
            if clients.is_empty() {
                self.places.pop_front();
            }
            self.turn_since_ms = Some(since_ms + TURN_MS);
        }
    }

    /// Keep these clients. If the first caller has none left, the next one's turn begins.
    fn keep(&mut self, now_ms: u64, is_kept: impl Fn(&str, &Client) -> bool) {
        for Place { owner, clients } in &mut self.places {
            clients.retain(|client| is_kept(owner, client));
        }
        let is_first_gone = self.places.front().is_some_and(|p| p.clients.is_empty());
        self.places.retain(|place| !place.clients.is_empty());
        if is_first_gone {
            self.turn_since_ms = self.turn_since_ms.map(|since_ms| since_ms.max(now_ms));
        }
    }

    /// How many clients get the device before this one of the caller at `at`, if all stay: the
    /// callers take turns.
    fn ahead(&self, at: usize, lease_id: &str) -> usize {
        let own = self.places[at].ahead(lease_id);
        let turns = self.places.iter().enumerate().map(|(other, place)| {
            let turns = own + usize::from(other < at);
            if other == at {
                own
            } else {
                place.waiting().min(turns)
            }
        });
        turns.sum()
    }
}

impl Place {
    fn asked(&mut self, lease_id: &str, now_ms: u64) {
        if let Some(client) = self.clients.iter_mut().find(|c| c.lease_id == lease_id) {
            (client.asked_ms, client.waits) = (now_ms, true);
            return;
        }
        if self.clients.len() >= CLIENTS_MAX {
            let Some(former) = self.clients.iter().position(|c| !c.waits) else {
                return;
            };
            self.clients.remove(former);
        }
        self.clients.push(Client {
            lease_id: lease_id.to_owned(),
            asked_ms: now_ms,
            waits: false,
        });
    }

    /// The caller's clients that go before this one.
    fn ahead(&self, lease_id: &str) -> usize {
        let before = self.clients.iter().take_while(|c| c.lease_id != lease_id);
        before.filter(|client| client.waits).count()
    }

    /// Turns that its clients want.
    fn waiting(&self) -> usize {
        self.clients.iter().filter(|c| c.waits).count().max(1)
    }
}

/// The place of a client behind so many.
fn ordinal(ahead: usize) -> u32 {
    u32::try_from(ahead + 1).expect("the queue is short")
}
