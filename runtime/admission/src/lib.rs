//! Limits how many requests are in at once, lets no caller take all the places, and bounds how many
//! wait and for how long.
//!
//! When the engine runs out of instances it fails instead of waiting, so an admission stands in
//! front of it; an embedder may put one in front of any other scarce resource.
//!
//! A share is not a fixed number: a user may hold up to twice as many places as are free, and all users
//! of an organisation together up to three times as many. So a single user gets two thirds of all
//! places, and however many hold all they can, there is a free place for the next. Waiting users get
//! places in turn.

mod memory;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

pub use memory::{Held, Memory, Scarce};

/// Places that a user may hold per free place.
const USER_SHARE: u32 = 2;

/// The same for an organisation.
const ORG_SHARE: u32 = 3;

/// Who asks for a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requester {
    /// Organisation, or whatever else stands for many users.
    pub org: Arc<str>,
    /// User; no two organisations share one.
    pub user: Arc<str>,
}

/// The limits of an [`Admission`].
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Places.
    pub permits_max: u32,
    /// Most of them for one user, whatever is free.
    pub per_user_max: u32,
    /// Most of them for one organisation, whatever is free.
    pub per_org_max: u32,
    /// Most waiters; further ones are refused at once. One user may take half of the remaining
    /// waiting places.
    pub queued_max: u32,
    /// Longest wait.
    pub wait_max: Duration,
}

/// Why somebody was not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crowded {
    /// All places are taken.
    All,
    /// The organisation has its share.
    Org,
    /// The user has its share.
    User,
}

/// A number of places, shared fairly.
#[derive(Debug)]
pub struct Admission {
    limits: Limits,
    state: Mutex<State>,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub struct Permit<'a> {
    admission: &'a Admission,
    requester: Option<Requester>,
}

/// A place that a task or a thread of its own may hold, until it is dropped.
#[derive(Debug)]
pub struct OwnedPermit {
    admission: Arc<Admission>,
    requester: Option<Requester>,
}

#[derive(Debug, Default)]
struct State {
    inside: u32,
    users: HashMap<Arc<str>, u32>,
    orgs: HashMap<Arc<str>, u32>,
    waiting: u32,
    /// Waiters by user; the user whose turn is next comes first.
    queues: VecDeque<Queue>,
    next: u64,
}

#[derive(Debug)]
struct Queue {
    requester: Option<Requester>,
    waiters: VecDeque<Waiter>,
}

#[derive(Debug)]
struct Waiter {
    number: u64,
    admitted: oneshot::Sender<()>,
}

/// Leaves the queue when dropped, even when the waiting caller goes away.
struct Waiting<'a> {
    admission: &'a Admission,
    requester: Option<&'a Requester>,
    number: u64,
    admitted: oneshot::Receiver<()>,
}

impl Admission {
    /// With all places free.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            state: Mutex::default(),
        }
    }

    /// A place for `requester`; without one, only the number of places counts.
    ///
    /// # Errors
    /// None became free within the time limit, or too many are waiting.
    pub async fn enter(&self, requester: Option<&Requester>) -> Result<Permit<'_>, Crowded> {
        let place = || Permit {
            admission: self,
            requester: requester.cloned(),
        };
        let mut waiting = {
            let mut state = self.lock();
            let Err(crowded) = state.fits(requester, &self.limits) else {
                state.count_in(requester);
                return Ok(place());
            };
            let admitted = state.queue(requester, &self.limits).ok_or(crowded)?;
            Waiting {
                admission: self,
                requester,
                number: state.next,
                admitted,
            }
        };
        let admitted = tokio::time::timeout(self.limits.wait_max, &mut waiting.admitted).await;
        if matches!(admitted, Ok(Ok(()))) {
            return Ok(place());
        }
        let crowded = self.lock().fits(requester, &self.limits);
        Err(crowded.err().unwrap_or(Crowded::All))
    }

    /// As [`enter`](Self::enter), for work that outlives the caller.
    ///
    /// # Errors
    /// As [`enter`](Self::enter).
    pub async fn enter_owned(
        self: &Arc<Self>,
        requester: Option<&Requester>,
    ) -> Result<OwnedPermit, Crowded> {
        let mut place = self.enter(requester).await?;
        let requester = place.requester.take();
        // The owned permit leaves in its place.
        std::mem::forget(place);
        Ok(OwnedPermit {
            admission: self.clone(),
            requester,
        })
    }

    /// As [`enter_owned`](Self::enter_owned), without waiting.
    ///
    /// # Errors
    /// None is free for `requester` now.
    pub fn try_enter_owned(
        self: &Arc<Self>,
        requester: Option<&Requester>,
    ) -> Result<OwnedPermit, Crowded> {
        let mut state = self.lock();
        state.fits(requester, &self.limits)?;
        state.count_in(requester);
        Ok(OwnedPermit {
            admission: self.clone(),
            requester: requester.cloned(),
        })
    }

    /// Places that are taken.
    #[must_use]
    pub fn taken(&self) -> u32 {
        self.lock().inside
    }

    fn leave(&self, requester: Option<&Requester>) {
        let mut state = self.lock();
        state.count_out(requester);
        state.hand_on(&self.limits);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change leaves it consistent, so a panic elsewhere does too.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether `requester` may have a place now.
    fn fits(&self, requester: Option<&Requester>, limits: &Limits) -> Result<(), Crowded> {
        let free = limits.permits_max.saturating_sub(self.inside);
        if free == 0 {
            return Err(Crowded::All);
        }
        let Some(Requester { org, user }) = requester else {
            return Ok(());
        };
        let held = |by: &HashMap<Arc<str>, u32>, name| by.get(name).copied().unwrap_or(0);
        if held(&self.users, user) >= limits.per_user_max.min(free.saturating_mul(USER_SHARE)) {
            return Err(Crowded::User);
        }
        if held(&self.orgs, org) >= limits.per_org_max.min(free.saturating_mul(ORG_SHARE)) {
            return Err(Crowded::Org);
        }
        Ok(())
    }

    fn count_in(&mut self, requester: Option<&Requester>) {
        self.inside += 1;
        if let Some(Requester { org, user }) = requester {
            for (by, name) in [(&mut self.users, user), (&mut self.orgs, org)] {
                match by.get_mut(name) {
                    Some(held) => *held += 1,
                    None => drop(by.insert(name.clone(), 1)),
                }
            }
        }
    }

    fn count_out(&mut self, requester: Option<&Requester>) {
        self.inside -= 1;
        if let Some(Requester { org, user }) = requester {
            for (by, name) in [(&mut self.users, user), (&mut self.orgs, org)] {
                if let Some(held) = by.get_mut(name) {
                    *held -= 1;
                    if *held == 0 {
                        by.remove(name);
                    }
                }
            }
        }
    }

    /// Join the queue; None if too many are waiting.
    fn queue(
        &mut self,
        requester: Option<&Requester>,
        limits: &Limits,
    ) -> Option<oneshot::Receiver<()>> {
        let left = limits.queued_max.saturating_sub(self.waiting);
        let at = self.place_of(requester);
        let own = at.map_or(0, |at| self.queues[at].waiters.len());
        if left == 0 || (requester.is_some() && own >= left as usize) {
            return None;
        }
        let at = at.unwrap_or_else(|| {
            self.queues.push_back(Queue {
                requester: requester.cloned(),
                waiters: VecDeque::new(),
            });
            self.queues.len() - 1
        });
        let (admitted, told) = oneshot::channel();
        self.next += 1;
        self.waiting += 1;
        let number = self.next;
        self.queues[at]
            .waiters
            .push_back(Waiter { number, admitted });
        Some(told)
    }

    fn place_of(&self, requester: Option<&Requester>) -> Option<usize> {
        let wanted = requester.map(|r| &*r.user);
        let mut queues = self.queues.iter();
        queues.position(|queue| queue.requester.as_ref().map(|r| &*r.user) == wanted)
    }

    /// Give free places to waiters, user by user.
    fn hand_on(&mut self, limits: &Limits) {
        let mut passed = 0;
        while passed < self.queues.len() && self.inside < limits.permits_max {
            let Some(mut queue) = self.queues.pop_front() else {
                return;
            };
            if self.fits(queue.requester.as_ref(), limits).is_err() {
                self.queues.push_back(queue);
                passed += 1;
                continue;
            }
            if let Some(waiter) = queue.waiters.pop_front() {
                self.waiting -= 1;
                if waiter.admitted.send(()).is_ok() {
                    self.count_in(queue.requester.as_ref());
                    passed = 0;
                }
            }
            if !queue.waiters.is_empty() {
                self.queues.push_back(queue);
            }
        }
    }

    /// Leave the queue; false if the place was already given.
    fn unqueue(&mut self, requester: Option<&Requester>, number: u64) -> bool {
        let Some(at) = self.place_of(requester) else {
            return false;
        };
        let waiters = &mut self.queues[at].waiters;
        let Some(place) = waiters.iter().position(|waiter| waiter.number == number) else {
            return false;
        };
        waiters.remove(place);
        if waiters.is_empty() {
            self.queues.remove(at);
        }
        self.waiting -= 1;
        true
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.admission.lock();
        if !state.unqueue(self.requester, self.number) && self.admitted.try_recv().is_ok() {
            // The place was given but will not be taken.
            state.count_out(self.requester);
            state.hand_on(&self.admission.limits);
        }
    }
}

impl Drop for OwnedPermit {
    fn drop(&mut self) {
        self.admission.leave(self.requester.as_ref());
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.admission.leave(self.requester.as_ref());
    }
}

#[cfg(test)]
mod tests;
