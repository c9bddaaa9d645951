//! The line of a device: by example, and under clients that come, wait, give up, vanish, and try again
//! under other ids.
//!
//! What must hold, whatever came before:
//!
//! 1. **Never idle for long**: a device that is free while somebody goes on asking for it is taken as
//!    soon as those who went away silently have lost their places.
//! 2. **In order**: a client that goes on asking is overtaken by no other caller that came later, and its
//!    place only gets better.
//! 3. **No place without waiting**: what asks once takes none.

use std::collections::BTreeMap;

use super::*;
use crate::leases::queue::{CLIENTS_MAX, KEPT_MS, PLACES_MAX, TURN_MS};
use base::seeded::Random;

const SEEDS: u64 = 200;
const STEPS: u64 = 3_000;
const STEP_MS: u64 = 500;
const CALLERS: usize = 5;

/// Longest time between two requests of a client that waits, as published clients ask.
const POLL_MS: u64 = 5_000;

/// Longest time in which somebody who asks for a free device does not get it: everybody who is away has
/// lost their place, and those who are there have asked once more.
const IDLE_MS_MAX: u64 = KEPT_MS + TURN_MS + POLL_MS + STEP_MS;

fn of(id: &str, owner: usize) -> Claim {
    Claim {
        owner: format!("org/{owner}"),
        ..claim(id, 600)
    }
}

/// How a client behaves.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Manner {
    /// Asks until it has the device.
    Stays,
    /// Goes away after so many requests without a word.
    Vanishes(u64),
    /// Gives up after so many requests, and says so.
    Leaves(u64),
    /// Tries so often, each time under another id.
    Renames(u64),
    /// Asks once, and does not wait.
    Once,
}

#[derive(Debug)]
struct Person {
    owner: usize,
    manner: Manner,
    id: String,
    due_ms: u64,
    asked: u64,
    /// The last place, of a client that stays and whose caller has no other.
    place: Option<u32>,
    /// When it first asked in vain since the device is free.
    in_vain_ms: Option<u64>,
}

#[derive(Debug, Default)]
struct Seen {
    taken: u64,
    vanished: u64,
    left: u64,
    renamed: u64,
    once: u64,
    in_vain: u64,
    promised: u64,
}

struct Line {
    random: Random,
    machine: Machine,
    now_ms: u64,
    people: BTreeMap<u64, Person>,
    count: usize,
    /// Who has the device, and until when.
    holder: Option<(String, usize, u64)>,
    seen: Seen,
}

impl Line {
    fn new(seed: u64) -> Self {
        Self {
            random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            machine: Machine::default(),
            now_ms: 0,
            people: BTreeMap::new(),
            count: 0,
            holder: None,
            seen: Seen::default(),
        }
    }

    fn step(&mut self) {
        self.now_ms += STEP_MS;
        if self.people.len() < 8 && self.random.below(12) == 0 {
            self.come();
        }
        if let Some((id, owner, until_ms)) = self.holder.clone()
            && until_ms <= self.now_ms
        {
            let owner = format!("org/{owner}");
            self.machine.release(shown(&id, &owner), at(self.now_ms));
            pay(&mut self.machine, self.now_ms);
            self.holder = None;
        }
        let due = self.people.iter().filter(|(_, p)| p.due_ms <= self.now_ms);
        for number in due.map(|(number, _)| *number).collect::<Vec<_>>() {
            self.ask(number);
        }
    }

    fn come(&mut self) {
        self.count += 1;
        let tries = 1 + self.random.below(6);
        let mut owner = self.random.index(CALLERS);
        let manner = match self.random.below(7) {
            0 => Manner::Stays,
            1 | 2 => {
                // The only client of its caller.
                owner = CALLERS + self.count;
                Manner::Stays
            }
            3 => Manner::Vanishes(tries),
            4 => Manner::Leaves(tries),
            5 => Manner::Renames(8 * tries),
            _ => Manner::Once,
        };
        let person = Person {
            owner,
            manner,
            id: format!("lease-{}", self.count),
            due_ms: self.now_ms,
            asked: 0,
            place: None,
            in_vain_ms: None,
        };
        self.people.insert(self.count as u64, person);
    }

    fn ask(&mut self, number: u64) {
        let now = at(self.now_ms);
        let mut person = self.people.remove(&number).unwrap();
        person.asked += 1;
        person.due_ms = self.now_ms + 1_000 + self.random.below(POLL_MS - 1_000);
        if let Manner::Renames(_) = person.manner {
            person.id = format!("lease-{number}-{}", person.asked);
            self.seen.renamed += 1;
        }
        let ask = Ask {
            waits: person.manner != Manner::Once,
            overriding: false,
        };
        let asked = self.machine.acquire(of(&person.id, person.owner), ask, now);
        match asked {
            Ok(held) => return self.took(&person, held.fence),
            Err(busy) => self.refused(&mut person, busy.place),
        }
        let owner = format!("org/{}", person.owner);
        let (ends, count) = match person.manner {
            Manner::Stays => (false, &mut self.seen.promised),
            Manner::Once => (true, &mut self.seen.once),
            Manner::Vanishes(tries) | Manner::Renames(tries) => {
                (person.asked >= tries, &mut self.seen.vanished)
            }
            Manner::Leaves(tries) => (person.asked >= tries, &mut self.seen.left),
        };
        if !ends {
            self.people.insert(number, person);
            return;
        }
        *count += 1;
        if let Manner::Leaves(_) = person.manner {
            self.machine.release(shown(&person.id, &owner), now);
        }
    }

    fn took(&mut self, person: &Person, fence: u64) {
        assert!(self.holder.is_none(), "two have the device");
        self.machine.stored(true, at(self.now_ms));
        self.machine.left(fence);
        self.seen.taken += 1;
        for other in self.people.values_mut() {
            assert_ne!(other.place, Some(1), "2: {person:?} overtook it");
            self.seen.promised += u64::from(other.place.is_some());
            other.in_vain_ms = None;
        }
        let until_ms = self.now_ms + self.random.below(20_000);
        self.holder = Some((person.id.clone(), person.owner, until_ms));
    }

    fn refused(&mut self, person: &mut Person, place: Option<u32>) {
        if self.holder.is_none() {
            let since_ms = *person.in_vain_ms.get_or_insert(self.now_ms);
            let idle_ms = self.now_ms - since_ms;
            assert!(idle_ms <= IDLE_MS_MAX, "1: {person:?} for {idle_ms} ms");
            self.seen.in_vain += 1;
        }
        assert_eq!(
            place.is_some(),
            person.manner != Manner::Once,
            "3: {person:?}"
        );
        if person.owner < CALLERS {
            return;
        }
        if let (Some(before), Some(place)) = (person.place, place) {
            assert!(place <= before, "2: {person:?} has {place} now");
        }
        person.place = place;
    }
}

#[test]
fn whoever_vanishes_keeps_the_device_from_nobody_for_long() {
    let mut all = Seen::default();
    for seed in 1..=SEEDS {
        let mut line = Line::new(seed);
        for _ in 0..STEPS {
            line.step();
        }
        let seen = line.seen;
        all.taken += seen.taken;
        all.vanished += seen.vanished;
        all.left += seen.left;
        all.renamed += seen.renamed;
        all.once += seen.once;
        all.in_vain += seen.in_vain;
        all.promised += seen.promised;
    }
    for count in [
        all.taken,
        all.vanished,
        all.left,
        all.renamed,
        all.once,
        all.in_vain,
        all.promised,
    ] {
        assert!(count > 1_000, "{all:?}");
    }
}

#[test]
fn a_client_that_tries_again_under_other_ids_is_not_in_its_own_way() {
    let mut machine = Machine::default();
    take(&mut machine, "a", 600, 0).unwrap();
    for (try_, now_s) in (1..5).zip([1, 3, 5, 7]) {
        let asked = machine.acquire(of(&format!("try-{try_}"), 1), IN_LINE, at(now_s * SECOND));
        assert_eq!(asked.unwrap_err().place, Some(1));
    }
    machine.release(shown("a", "org/a"), at(8 * SECOND));
    pay(&mut machine, 8 * SECOND);
    let held = machine.acquire(of("try-5", 1), IN_LINE, at(9 * SECOND));
    let fence = held.unwrap().fence;
    machine.stored(true, at(9 * SECOND));
    machine.left(fence);
    // Its former tries are forgotten.
    machine.release(shown("try-5", "org/1"), at(10 * SECOND));
    pay(&mut machine, 10 * SECOND);
    assert!(take(&mut machine, "b", 60, 10 * SECOND).is_ok());
}

#[test]
fn one_that_does_not_wait_takes_no_place_and_nobodys_turn() {
    let mut machine = Machine::default();
    take(&mut machine, "a", 600, 0).unwrap();
    let once = machine.acquire(of("once", 1), Ask::ONCE, at(SECOND));
    assert_eq!(once.unwrap_err().place, None);
    let busy = take(&mut machine, "b", 60, SECOND).unwrap_err();
    assert_eq!(busy.place, Some(1));
    machine.release(shown("a", "org/a"), at(2 * SECOND));
    pay(&mut machine, 2 * SECOND);
    let once = machine.acquire(of("once", 1), Ask::ONCE, at(3 * SECOND));
    assert_eq!(once.unwrap_err().place, None, "it is the turn of b");
    // b gives up.
    machine.release(shown("b", "org/b"), at(4 * SECOND));
    assert!(
        machine
            .acquire(of("once", 1), Ask::ONCE, at(4 * SECOND))
            .is_ok()
    );
}

#[test]
fn callers_take_turns_and_the_clients_of_each_keep_their_order() {
    let mut machine = Machine::default();
    take(&mut machine, "a", 600, 0).unwrap();
    let waiting = [("x1", 1), ("x2", 1), ("x3", 1), ("y1", 2), ("y2", 2)];
    let mut places = Vec::new();
    for round in 0..3 {
        for (id, owner) in waiting {
            let asked = machine.acquire(of(id, owner), IN_LINE, at(round * SECOND));
            if round == 2 {
                places.push((asked.unwrap_err().place.unwrap(), id));
            }
        }
    }
    places.sort_unstable();
    assert_eq!(
        places,
        [(1, "x1"), (2, "y1"), (3, "x2"), (4, "y2"), (5, "x3")]
    );
    let mut holder = ("a".to_owned(), "org/a".to_owned());
    for turn in 0..5 {
        let now_ms = (3 + turn) * SECOND;
        machine.release(shown(&holder.0, &holder.1), at(now_ms));
        pay(&mut machine, now_ms);
        let mut asked = waiting.iter().rev().filter_map(|(id, owner)| {
            let held = machine.acquire(of(id, *owner), IN_LINE, at(now_ms)).ok()?;
            machine.stored(true, at(now_ms));
            machine.left(held.fence);
            Some(held.claim)
        });
        let claim = asked.next().expect("somebody gets it");
        assert_eq!(claim.lease_id, places[usize::try_from(turn).unwrap()].1);
        holder = (claim.lease_id, claim.owner);
    }
}

#[test]
fn no_caller_fills_the_line() {
    let mut machine = Machine::default();
    take(&mut machine, "a", 600, 0).unwrap();
    for number in 0..10 * CLIENTS_MAX {
        let id = format!("flood-{number}");
        for _ in 0..2 {
            let busy = machine.acquire(of(&id, 1), IN_LINE, at(SECOND));
            let place = busy.unwrap_err().place.unwrap() as usize;
            assert!(place <= CLIENTS_MAX + 1, "{place}");
        }
    }
    assert_eq!(
        take(&mut machine, "b", 60, SECOND).unwrap_err().place,
        Some(2)
    );
    for owner in 2..2 * PLACES_MAX {
        let busy = machine.acquire(of("one", owner), IN_LINE, at(SECOND));
        assert!(busy.unwrap_err().place.unwrap() as usize <= PLACES_MAX + CLIENTS_MAX + 1);
    }
    assert_eq!(
        take(&mut machine, "b", 60, SECOND).unwrap_err().place,
        Some(2)
    );
}
