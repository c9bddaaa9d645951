//! What happened lately, by organisation, for those who follow it: one bounded ring for each organisation, from which every
//! follower reads at its own place. A follower costs a place, not a queue, so a slow one holds up nothing and holds nothing.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};
use tokio::sync::watch;

use super::{Happening, Kind};
use crate::clock;
use crate::id;

/// Events that are kept of an organisation.
pub const EVENTS_MAX: usize = 1024;

/// Bytes of JSON that are kept of an organisation.
pub const BYTES_MAX: usize = 512 << 10;

/// Bytes of JSON of one event. One that has more is kept without its details.
pub const EVENT_BYTES_MAX: usize = 16 << 10;

/// Organisations of which events are kept while nobody follows them, those in which something happened last. Events of
/// organisations that somebody follows are always kept.
pub const ORGS_MAX: usize = 128;

/// Characters of what tells one ring from another.
const RING_CHARS: usize = 10;

/// Something that happened, as it is sent.
#[derive(Debug, PartialEq)]
pub struct Event {
    /// What.
    pub kind: Kind,
    /// Ids of the devices that it is about.
    pub devices: Vec<String>,
    /// An object: `kind`, `at`, `subject`, and the members of the kind.
    pub json: String,
    number: u64,
}

/// A place in what happened: behind one event and before the next. A text that means nothing to another ring, and so
/// nothing after a restart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    ring: Arc<str>,
    number: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.ring, self.number)
    }
}

/// How a follower begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// It named no place: it begins with what happens from now on.
    Now,
    /// At the place that it named.
    Resumed,
    /// What it missed is not known any more.
    Lost,
}

/// What comes next for a follower.
#[derive(Debug, PartialEq)]
pub enum Next {
    /// This happened; its place is the follower's now.
    Event(Arc<Event>),
    /// Nothing that it has not seen.
    Nothing,
    /// What it has not seen is not known any more; it goes on with what happens from now on.
    Lost,
}

/// All rings. Cloning shares them.
#[derive(Debug, Clone, Default)]
pub struct Recent(Arc<Mutex<Rings>>);

#[derive(Debug, Default)]
struct Rings {
    by_org: HashMap<String, (Shared, u64)>,
    /// Counts uses; each ring has the number of its last one.
    used: u64,
}

/// A ring, which its followers hold, too.
type Shared = Arc<Mutex<Ring>>;

#[derive(Debug)]
struct Ring {
    name: Arc<str>,
    /// Number of the newest event; the first one is 1.
    last: u64,
    /// The newest ones, without a gap.
    events: VecDeque<Arc<Event>>,
    bytes: usize,
    /// Number of the newest event.
    changed: watch::Sender<u64>,
}

impl Recent {
    /// Keep something that happened.
    pub fn keep(&self, happening: &Happening) {
        let ring = self.ring(&happening.org);
        let json = json_of(happening);
        lock(&ring).push(happening, json);
    }

    /// Follow what happens in an organisation, from a place on if one is given.
    #[must_use]
    pub fn follow(&self, org: &str, place: Option<&str>) -> (Follower, Begin) {
        let shared = self.ring(org);
        let ring = lock(&shared);
        let (number, begin) = match place {
            None => (ring.last, Begin::Now),
            Some(place) => match ring.number_of(place) {
                Some(number) => (number, Begin::Resumed),
                None => (ring.last, Begin::Lost),
            },
        };
        let place = Place {
            ring: ring.name.clone(),
            number,
        };
        let changed = ring.changed.subscribe();
        drop(ring);
        let follower = Follower {
            ring: shared,
            place,
            changed,
        };
        (follower, begin)
    }

    /// The ring of an organisation. If it is a new one, and there are many, one that nobody follows gives way: the one that was
    /// used least lately.
    fn ring(&self, org: &str) -> Shared {
        let mut rings = lock(&self.0);
        rings.used += 1;
        let used = rings.used;
        if !rings.by_org.contains_key(org) && rings.by_org.len() >= ORGS_MAX {
            let unfollowed = rings
                .by_org
                .iter()
                .filter(|(_, (ring, _))| Arc::strong_count(ring) == 1);
            let oldest = unfollowed.min_by_key(|(_, (_, used))| *used);
            if let Some(oldest) = oldest.map(|(org, _)| org.clone()) {
                rings.by_org.remove(&oldest);
            }
        }
        let entry = rings.by_org.entry(org.to_owned());
        let (ring, last_used) = entry.or_insert_with(|| (Shared::new(Ring::empty().into()), 0));
        *last_used = used;
        ring.clone()
    }
}

/// Each change leaves what is locked whole, so a panic elsewhere does not spoil it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ring {
    fn empty() -> Self {
        Self {
            name: id::base62(RING_CHARS).into(),
            last: 0,
            events: VecDeque::new(),
            bytes: 0,
            changed: watch::Sender::new(0),
        }
    }

    fn push(&mut self, happening: &Happening, json: String) {
        self.last += 1;
        let event = Event {
            kind: happening.kind,
            devices: happening.devices.clone(),
            json,
            number: self.last,
        };
        self.bytes += event.json.len();
        self.events.push_back(Arc::new(event));
        while self.events.len() > EVENTS_MAX || self.bytes > BYTES_MAX {
            let Some(oldest) = self.events.pop_front() else {
                break;
            };
            self.bytes -= oldest.json.len();
        }
        self.changed.send_replace(self.last);
    }

    /// Number of the last event that is not kept any more.
    fn gone(&self) -> u64 {
        self.last - self.events.len() as u64
    }

    /// The number of a place of this ring, from which on everything is known.
    fn number_of(&self, place: &str) -> Option<u64> {
        let (ring, number) = place.split_once('-')?;
        let number = number.parse().ok()?;
        let is_known = *ring == *self.name && (self.gone()..=self.last).contains(&number);
        is_known.then_some(number)
    }

    /// The event after this number, which is not [`gone`](Self::gone).
    fn after(&self, number: u64) -> Option<Arc<Event>> {
        let index = usize::try_from(number - self.gone()).ok()?;
        self.events.get(index).cloned()
    }
}

/// Who follows what happens in an organisation.
#[derive(Debug)]
pub struct Follower {
    ring: Shared,
    place: Place,
    changed: watch::Receiver<u64>,
}

impl Follower {
    /// What comes next, of what is there.
    pub fn take(&mut self) -> Next {
        let ring = lock(&self.ring);
        if self.place.number < ring.gone() {
            self.place.number = ring.last;
            return Next::Lost;
        }
        match ring.after(self.place.number) {
            Some(event) => {
                self.place.number = event.number;
                Next::Event(event)
            }
            None => Next::Nothing,
        }
    }

    /// Where it is.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Resolves when [`take`](Self::take) may have something.
    pub async fn changed(&mut self) {
        let number = self.place.number;
        // The sender is in the ring, which this holds.
        let _ = self.changed.wait_for(|last| *last > number).await;
    }
}

/// A happening as it is sent: without its details if they are too long.
fn json_of(happening: &Happening) -> String {
    let mut members = Map::new();
    members.insert("kind".to_owned(), happening.kind.as_str().into());
    members.insert("at".to_owned(), clock::text(happening.at_ms).into());
    members.insert("subject".to_owned(), happening.subject.clone().into());
    let mut whole = members.clone();
    if let Value::Object(told) = &happening.told {
        whole.extend(told.clone());
    }
    let whole = Value::Object(whole).to_string();
    if whole.len() <= EVENT_BYTES_MAX {
        return whole;
    }
    members.insert("is_cut".to_owned(), json!(true));
    Value::Object(members).to_string()
}

#[cfg(test)]
mod tests;
