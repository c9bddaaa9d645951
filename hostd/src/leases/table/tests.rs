//! The lease state machine by example, and under random interleavings against its rules.

use super::*;

const SECOND: u64 = 1_000;

fn claim(id: &str, ttl_s: u64) -> Claim {
    Claim {
        lease_id: id.to_owned(),
        owner: format!("org/{id}"),
        holder: format!("run {id}"),
        ttl_ms: ttl_s * SECOND,
    }
}

fn shown<'r>(id: &'r str, owner: &'r str) -> Shown<'r> {
    Shown {
        lease_id: Some(id),
        owner,
    }
}

const NOBODY: Shown<'static> = Shown {
    lease_id: None,
    owner: "org/x",
};

#[test]
fn one_holder_at_a_time_and_its_claim_renews() {
    let mut table = Table::default();
    let first = table.acquire("d", claim("a", 120), 0).unwrap();
    assert_eq!(first.expires_ms, 120 * SECOND);
    let busy = table.acquire("d", claim("b", 120), SECOND).unwrap_err();
    assert_eq!(busy.holder.as_deref(), Some("run a"));
    assert_eq!((busy.place, busy.expires_ms), (Some(1), Some(120 * SECOND)));
    let again = table.acquire("d", claim("a", 60), 30 * SECOND).unwrap();
    assert_eq!((again.expires_ms, again.fence), (90 * SECOND, first.fence));
    assert!(table.acquire("other", claim("b", 120), 0).is_ok());
}

#[test]
fn the_id_of_somebody_else_opens_nothing() {
    let mut table = Table::default();
    table.acquire("d", claim("a", 120), 0).unwrap();
    let thief = shown("a", "org/thief");
    assert!(table.admit("d", thief, 0).is_err());
    assert!(table.renew("d", thief, SECOND, 0).is_err());
    assert_eq!(table.release("d", thief), None);
    let mut stolen = claim("a", 120);
    stolen.owner = "org/thief".into();
    assert!(table.acquire("d", stolen, 0).is_err());
    assert!(table.admit("d", NOBODY, 0).is_err());
    assert!(table.admit("d", shown("a", "org/a"), 0).is_ok());
}

#[test]
fn an_ended_lease_is_lost_and_its_device_waits_until_it_is_safe() {
    let mut table = Table::default();
    let held = table.acquire("d", claim("a", 15), 0).unwrap();
    assert_eq!(table.next_expiry(), Some(15 * SECOND));
    assert!(table.expire(15 * SECOND - 1).is_empty());
    let ending = table.expire(15 * SECOND).remove(0);
    assert!(ending.fence > held.fence);
    assert_eq!(table.next_expiry(), None);
    let mine = shown("a", "org/a");
    for refused in [
        table.renew("d", mine, SECOND, 15 * SECOND).is_err(),
        table.admit("d", mine, 15 * SECOND).is_err(),
        table.acquire("d", claim("a", 15), 15 * SECOND).is_err(),
    ] {
        assert!(refused);
    }
    table.ended("d", ending.fence - 1, 16 * SECOND);
    assert!(
        table.admit("d", NOBODY, 16 * SECOND).is_err(),
        "an older end frees nothing"
    );
    table.ended("d", ending.fence, 16 * SECOND);
    assert!(table.admit("d", NOBODY, 16 * SECOND).is_ok());
    assert!(matches!(
        table.renew("d", mine, SECOND, 16 * SECOND),
        Err(Refused::Lost(_))
    ));
}

#[test]
fn those_who_wait_are_served_in_order_and_the_absent_are_passed_over() {
    let mut table = Table::default();
    table.acquire("d", claim("a", 600), 0).unwrap();
    for (place, id) in (1..).zip(["b", "c", "d"]) {
        let busy = table.acquire("d", claim(id, 60), 0).unwrap_err();
        assert_eq!(busy.place, Some(place), "{id}");
    }
    // b goes away; c and d go on asking.
    for at in [5, 10, 14] {
        table.acquire("d", claim("c", 60), at * SECOND).unwrap_err();
        table.acquire("d", claim("d", 60), at * SECOND).unwrap_err();
    }
    let ending = table.release("d", shown("a", "org/a")).unwrap();
    table.ended("d", ending.fence, 14 * SECOND);
    assert_eq!(
        table
            .acquire("d", claim("d", 60), 14 * SECOND)
            .unwrap_err()
            .place,
        Some(3)
    );
    let place = table
        .acquire("d", claim("d", 60), 16 * SECOND)
        .unwrap_err()
        .place;
    assert_eq!(place, Some(2), "b has not asked for 15 s");
    table.acquire("d", claim("c", 60), 17 * SECOND).unwrap();
    assert_eq!(
        table
            .acquire("d", claim("d", 60), 17 * SECOND)
            .unwrap_err()
            .place,
        Some(1)
    );
}

#[test]
fn a_first_that_does_not_come_loses_its_turn() {
    let mut table = Table::default();
    table.acquire("d", claim("a", 600), 0).unwrap();
    table.acquire("d", claim("b", 60), SECOND).unwrap_err();
    table.acquire("d", claim("c", 60), SECOND).unwrap_err();
    let ending = table.release("d", shown("a", "org/a")).unwrap();
    table.ended("d", ending.fence, 2 * SECOND);
    assert!(table.acquire("d", claim("c", 60), 9 * SECOND).is_err());
    assert!(table.acquire("d", claim("c", 60), 10 * SECOND).is_ok());
}

#[test]
fn an_administrator_ends_only_the_lease_it_names() {
    let mut table = Table::default();
    table.acquire("d", claim("a", 60), 0).unwrap();
    let refused = table.take_away("d", "run b", SECOND).unwrap_err();
    assert!(
        matches!(refused, Refused::OtherHolder(busy) if busy.holder.as_deref() == Some("run a"))
    );
    assert_eq!(
        table.take_away("d", "run a", SECOND).unwrap().holder,
        "run a"
    );
    assert!(table.take_away("d", "run a", SECOND).is_err());
}

#[test]
fn a_restored_lease_lives_no_longer_than_it_was_given() {
    let mut table = Table::default();
    table.restore("d", claim("a", 60), 3_600 * SECOND, 0);
    assert_eq!(table.next_expiry(), Some(60 * SECOND));
    assert!(table.admit("d", shown("a", "org/a"), 0).is_ok());
    assert!(table.forget("d").is_some());
    assert!(table.admit("d", NOBODY, 0).is_ok());
}

/// Xorshift, so that a failure can be run again by its seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    fn pick(&mut self, of: [&'static str; 4]) -> &'static str {
        of[usize::try_from(self.below(4)).unwrap()]
    }
}

/// What any sequence must keep: one holder, no admission beside it, nothing held past its expiry
/// once that was looked at, fences that only grow, and a device that is never lost for good.
#[test]
fn random_interleavings_keep_the_rules() {
    for seed in 1..=200_u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut table = Table::default();
        let mut endings: Vec<Ending> = Vec::new();
        let (mut now_ms, mut fence) = (0, 0);
        for step in 0..400 {
            now_ms += random.below(7_000);
            let id = random.pick(["a", "b", "c", "d"]);
            let owner = format!("org/{id}");
            let me = shown(id, &owner);
            match random.below(8) {
                0..=2 => {
                    let before = table.get("d").cloned();
                    let asked = claim(id, 15 + random.below(60));
                    if table.acquire("d", asked, now_ms).is_ok() {
                        assert!(endings.is_empty(), "seed {seed} step {step}: not safe yet");
                        assert!(before.is_none_or(|b| b.claim.lease_id == id), "seed {seed}");
                    }
                }
                3 => {
                    let held = table.get("d").is_some_and(|h| h.claim.lease_id == id);
                    let renewed = table.renew("d", me, 20 * SECOND, now_ms).is_ok();
                    assert_eq!(renewed, held, "seed {seed} step {step}");
                }
                4 => endings.extend(table.release("d", me)),
                5 => endings.extend(table.expire(now_ms)),
                6 => {
                    let holder = format!("run {id}");
                    endings.extend(table.take_away("d", &holder, now_ms).ok());
                }
                _ => {
                    for ending in endings.drain(..) {
                        table.ended("d", ending.fence, now_ms);
                    }
                }
            }
            assert!(
                endings.len() <= 1,
                "seed {seed} step {step}: two ends at once"
            );
            assert!(table.fence("d") >= fence, "seed {seed} step {step}");
            fence = table.fence("d");
            let admitted = ["a", "b", "c", "d"]
                .into_iter()
                .filter(|id| {
                    table
                        .admit("d", shown(id, &format!("org/{id}")), now_ms)
                        .is_ok()
                })
                .count();
            let expected = match (table.get("d").is_some(), endings.is_empty()) {
                (true, _) => 1,
                (false, true) => 4,
                (false, false) => 0,
            };
            assert_eq!(admitted, expected, "seed {seed} step {step}");
        }
        for ending in endings.into_iter().chain(table.expire(u64::MAX / 2)) {
            table.ended("d", ending.fence, now_ms);
        }
        let late = now_ms + 1_000_000;
        assert!(
            table.acquire("d", claim("z", 15), late).is_ok(),
            "seed {seed}: stuck"
        );
    }
}
