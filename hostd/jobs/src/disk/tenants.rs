//! Who holds how much of a disk that attempts share, and who leaves it when it is nearly full: whoever took it.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::floor::Amount;

/// How long attempts go on while the disk is nearly full, if none of them holds as much as is missing.
const SHORTAGE_BORNE: Duration = Duration::from_secs(20);

/// How long is waited for others to look at what they hold, before it is decided who leaves.
const LOOKS_WITHIN: Duration = Duration::from_secs(5);

/// How long others stay while one leaves: its folder is removed when its attempt ends.
const LEAVING_WITHIN: Duration = Duration::from_secs(30);

/// The attempts of one runner.
#[derive(Debug, Default)]
pub(crate) struct Tenants {
    state: Mutex<State>,
}

/// One of them, until this is dropped.
#[derive(Debug)]
pub(crate) struct Tenant<'t> {
    tenants: &'t Tenants,
    number: u64,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    holdings: BTreeMap<u64, Holding>,
    /// Since when the disk is nearly full.
    short_since: Option<Instant>,
}

#[derive(Debug)]
struct Holding {
    org: String,
    held: Amount,
    /// It holds something where it cannot be counted.
    hides: bool,
    /// Commands of it run, which are looked at.
    is_watched: bool,
    looked: Option<Instant>,
    leaving: Option<Instant>,
}

impl Tenants {
    /// An attempt of an organisation begins.
    pub(crate) fn enter(&self, org: &str) -> Tenant<'_> {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        let holding = Holding {
            org: org.to_owned(),
            held: Amount::default(),
            hides: false,
            is_watched: false,
            looked: None,
            leaving: None,
        };
        state.holdings.insert(number, holding);
        Tenant {
            tenants: self,
            number,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves numbers of which each may be old.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tenant<'_> {
    /// Commands of it run from now on, or no longer.
    pub(crate) fn set_watched(&self, is_watched: bool) {
        if let Some(own) = self.tenants.lock().holdings.get_mut(&self.number) {
            own.is_watched = is_watched;
        }
    }

    /// It holds this much now.
    pub(crate) fn hold(&self, held: Amount, hides: bool) {
        if let Some(own) = self.tenants.lock().holdings.get_mut(&self.number) {
            (own.held, own.hides) = (held, hides);
            own.looked = Some(Instant::now());
        }
    }

    /// What it holds could not be counted.
    pub(crate) fn hide(&self) {
        if let Some(own) = self.tenants.lock().holdings.get_mut(&self.number) {
            own.hides = true;
            own.looked = Some(Instant::now());
        }
    }

    /// Whether it is the one that must leave, now that so much is missing.
    pub(crate) fn must_leave(&self, missing: Amount) -> bool {
        let mut state = self.tenants.lock();
        state.must_leave(self.number, missing, Instant::now())
    }

    /// There is room again.
    pub(crate) fn has_room(&self) {
        self.tenants.lock().short_since = None;
    }
}

impl Drop for Tenant<'_> {
    fn drop(&mut self) {
        let mut state = self.tenants.lock();
        let gone = state.holdings.remove(&self.number);
        if gone.is_some_and(|gone| gone.leaving.is_some()) {
            // Whether that was enough is seen from here on.
            state.short_since = None;
        }
    }
}

impl State {
    fn must_leave(&mut self, number: u64, missing: Amount, now: Instant) -> bool {
        let since = *self.short_since.get_or_insert(now);
        let short_for = now.saturating_duration_since(since);
        let within = |at: Option<Instant>, time| {
            at.is_some_and(|at| now.saturating_duration_since(at) < time)
        };
        let mut others = self.holdings.iter().filter(|(other, _)| **other != number);
        let must_wait = others.any(|(_, other)| {
            let is_old = other.is_watched && other.looked.is_none_or(|looked| looked < since);
            within(other.leaving, LEAVING_WITHIN) || is_old && short_for < LOOKS_WITHIN
        });
        // One of which nothing runs just now cannot be ended. What it has goes soon, or runs again.
        let is_borne = short_for < SHORTAGE_BORNE;
        if must_wait || self.first(missing, is_borne) != Some(number) {
            return false;
        }
        let Some(own) = self.holdings.get_mut(&number) else {
            return false;
        };
        let is_enough = measure(missing, missing) <= measure(own.held, missing);
        let leaves = own.hides || is_enough || !is_borne;
        if leaves {
            own.leaving = Some(now);
        }
        leaves
    }

    /// Who leaves first, of all or of those that run: whoever hides what it holds; then the one that holds most, of the
    /// organisation whose attempts hold most; then the one that came last.
    fn first(&self, missing: Amount, has_all: bool) -> Option<u64> {
        let mut of_orgs: BTreeMap<&str, u64> = BTreeMap::new();
        for holding in self.holdings.values() {
            let sum = of_orgs.entry(&holding.org).or_default();
            *sum = sum.saturating_add(measure(holding.held, missing));
        }
        let all = self.holdings.iter();
        let some = all.filter(|(_, own)| has_all || own.is_watched);
        let first = some.min_by_key(|(number, own)| {
            let of_org = of_orgs.get(own.org.as_str()).copied();
            let held = measure(own.held, missing);
            Reverse((own.hides, of_org, held, **number))
        });
        first.map(|(number, _)| *number)
    }
}

/// What of an amount is scarce: bytes, or files if bytes are not.
fn measure(of: Amount, missing: Amount) -> u64 {
    match missing.bytes {
        0 => of.files,
        _ => of.bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn bytes(mib: u64) -> Amount {
        Amount {
            bytes: mib * MIB,
            files: 1,
        }
    }

    /// Attempts with their organisations and what they hold, all looked at, and who leaves when so much is missing.
    fn leaving(attempts: &[(&str, Amount, bool)], missing: Amount, after: Duration) -> Vec<usize> {
        let tenants = Tenants::default();
        let enter = |(org, held, hides): &(&str, Amount, bool)| {
            let tenant = tenants.enter(org);
            tenant.set_watched(true);
            tenant.hold(*held, *hides);
            tenant
        };
        let inside: Vec<Tenant<'_>> = attempts.iter().map(enter).collect();
        let mut state = tenants.lock();
        let now = Instant::now();
        state.short_since = Some(now.checked_sub(after).unwrap());
        for holding in state.holdings.values_mut() {
            holding.looked = Some(now);
        }
        let found = inside.iter().map(|tenant| tenant.number);
        let found = found.filter(|number| state.must_leave(*number, missing, now));
        let found = found
            .map(|number| usize::try_from(number).unwrap())
            .collect();
        drop(state);
        found
    }

    #[test]
    fn whoever_took_the_disk_leaves_it_and_nobody_else() {
        let soon = Duration::from_secs(1);
        let leaves = |attempts: &[(&str, Amount, bool)]| leaving(attempts, bytes(10), soon);
        assert_eq!(
            leaves(&[("a", bytes(330), false), ("b", bytes(2000), false)]),
            [1]
        );
        // Those of one organisation count together, and the largest of them goes.
        let three = [
            ("a", bytes(300), false),
            ("b", bytes(200), false),
            ("b", bytes(250), false),
        ];
        assert_eq!(leaves(&three), [2]);
        // Who hides goes before all others.
        assert_eq!(
            leaves(&[("a", bytes(330), false), ("b", bytes(1), true)]),
            [1]
        );
        // Of none is it known that it would help.
        assert_eq!(
            leaves(&[("a", bytes(3), false), ("b", bytes(2), false)]),
            [0; 0]
        );
    }

    #[test]
    fn files_count_when_they_are_what_is_missing() {
        let soon = Duration::from_secs(1);
        let many = Amount {
            bytes: 1,
            files: 100_000,
        };
        let files = Amount { bytes: 0, files: 5 };
        let attempts = [("a", bytes(2000), false), ("b", many, false)];
        assert_eq!(leaving(&attempts, files, soon), [1]);
        assert_eq!(leaving(&attempts, bytes(1), soon), [0]);
    }

    #[test]
    fn a_shortage_that_is_nobody_s_is_borne_for_a_while() {
        let attempts = [("a", bytes(3), false), ("b", bytes(2), false)];
        let missing = bytes(1000);
        assert_eq!(leaving(&attempts, missing, SHORTAGE_BORNE / 2), [0; 0]);
        assert_eq!(leaving(&attempts, missing, SHORTAGE_BORNE), [0]);
    }

    #[test]
    fn an_attempt_that_is_about_to_end_is_waited_for() {
        let tenants = Tenants::default();
        let (large, small) = (tenants.enter("a"), tenants.enter("b"));
        small.set_watched(true);
        large.hold(bytes(2000), false);
        small.hold(bytes(300), false);
        let must_leave = |after: Duration| {
            let mut state = tenants.lock();
            let now = Instant::now();
            state.short_since = Some(now.checked_sub(after).unwrap());
            state.must_leave(small.number, bytes(10), now)
        };
        assert!(!must_leave(LOOKS_WITHIN));
        assert!(must_leave(SHORTAGE_BORNE));
        drop(large);
        assert!(must_leave(Duration::ZERO));
    }

    #[test]
    fn others_are_waited_for_and_one_leaves_at_a_time() {
        let tenants = Tenants::default();
        let (one, two) = (tenants.enter("a"), tenants.enter("b"));
        for (tenant, mib) in [(&one, 50), (&two, 40)] {
            tenant.set_watched(true);
            tenant.hold(bytes(mib), false);
        }
        // The other one has not looked since the disk was nearly full.
        assert!(!one.must_leave(bytes(10)));
        two.hold(bytes(60), false);
        assert!(!one.must_leave(bytes(10)));
        one.hold(bytes(50), false);
        assert!(two.must_leave(bytes(10)));
        // Nothing of it runs any more, but its folder is still there.
        two.set_watched(false);
        assert!(!one.must_leave(bytes(10)));
        drop(two);
        assert!(tenants.lock().short_since.is_none());
        assert!(one.must_leave(bytes(10)));
        drop(one);
        assert!(tenants.lock().holdings.is_empty());
    }
}
