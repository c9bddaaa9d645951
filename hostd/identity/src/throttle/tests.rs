//! What a guesser, a botnet and a bad neighbour can do, and what they cannot.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::*;
use base::seeded::Random;

fn at(number: u32) -> Origin {
    Origin::Address(Some(Ipv4Addr::from_bits(0x0a00_0000 + number).into()))
}

fn v6(text: &str) -> Origin {
    Origin::Address(Some(text.parse::<Ipv6Addr>().unwrap().into()))
}

/// A wrong password: whether it was tried.
fn fails(throttle: &Throttle, origin: Origin, login: &str, now_ms: u64) -> bool {
    throttle.attempt(origin, Some(login), now_ms).is_ok()
}

/// The right password: whether it was tried, which lets in.
fn gets_in(throttle: &Throttle, origin: Origin, login: &str, now_ms: u64) -> bool {
    let attempt = throttle.attempt(origin, Some(login), now_ms);
    let attempt = attempt.inspect(|attempt| throttle.succeeded(attempt, login, now_ms));
    attempt.is_ok()
}

#[test]
fn an_address_has_few_guesses_whatever_it_names() {
    let throttle = Throttle::new();
    let tried = (0..1000).filter(|n| fails(&throttle, at(1), &n.to_string(), 0));
    assert_eq!(tried.count(), 20);
    let wait_s = |now_ms| throttle.attempt(at(1), Some("x"), now_ms).unwrap_err();
    assert_eq!((wait_s(0), wait_s(100), wait_s(59_999)), (60, 60, 1));
    // A code counts as a password does.
    assert!(throttle.attempt(at(1), None, 0).is_err());
    assert!(throttle.attempt(at(2), None, 0).is_ok());
    let later = (0..60 * 24).filter(|minute| fails(&throttle, at(1), "ann", minute * 60_000));
    assert_eq!(later.count(), 60 * 24 - 1, "one a minute");
}

#[test]
fn all_of_an_ipv6_network_is_one_address() {
    let throttle = Throttle::new();
    let fails = |address: &str, n: u32| fails(&throttle, v6(address), &n.to_string(), 0);
    for n in 0..20 {
        assert!(fails(&format!("2001:db8:0:7:{n}::1"), n));
    }
    assert!(!fails("2001:db8:0:7::99", 20));
    assert!(fails("2001:db8:0:8::99", 20));
    for n in 0..20 {
        assert!(fails("::ffff:10.0.0.9", n));
    }
    let same = throttle.attempt(at(9), Some("bob"), 0);
    assert!(same.is_err(), "the same one in IPv4");
}

#[test]
fn many_addresses_share_the_guesses_of_a_login() {
    let throttle = Throttle::new();
    let guess = |address| fails(&throttle, at(address), "ann", 0);
    let tried = (0..5_000).map(|n| n % 1000).filter(|n| guess(*n)).count();
    // Three each while in good standing, and nothing is left for the rest.
    assert_eq!(tried, 3 * 1000);
    let later = (0..5_000).filter(|n| fails(&throttle, at(n % 1000), "ann", 60_000));
    assert_eq!(later.count(), 1, "one a minute among all of them");
    assert!(fails(&throttle, at(1), "bob", 60_000), "another login");
}

#[test]
fn a_right_password_gets_through_what_others_do() {
    let throttle = Throttle::new();
    let home = at(0xff_0000);
    assert!(gets_in(&throttle, home, "ann", 0));
    // Everybody guesses hers from everywhere, and others' from where she is.
    for n in 0..100_000 {
        let login = if n % 2 == 0 { "ann" } else { "junk" };
        fails(&throttle, at(n), login, 1000);
        fails(&throttle, home, &n.to_string(), 1000);
    }
    let attempt = throttle.attempt(home, Some("ann"), 2000).unwrap();
    assert_eq!(attempt.turn.rank, Rank::Known);
    throttle.succeeded(&attempt, "ann", 2000);
    // From a new place, too, and with a typo.
    let hotel = at(0xfe_0000);
    assert!(fails(&throttle, hotel, "ann", 2000));
    let attempt = throttle.attempt(hotel, Some("ann"), 2000).unwrap();
    assert_eq!(attempt.turn.rank, Rank::Fresh);
}

#[test]
fn a_password_of_ones_own_buys_no_guesses() {
    let throttle = Throttle::new();
    let mut guesses = 0;
    for n in 0..500 {
        assert!(gets_in(&throttle, at(1), "mallory", 0));
        guesses += u32::from(fails(&throttle, at(1), &format!("victim{n}"), 0));
    }
    assert_eq!(guesses, 20);
    // Nor do the victim's own successes, at the same address.
    let throttle = Throttle::new();
    for n in 0..20 {
        assert!(fails(&throttle, at(1), &n.to_string(), 0));
    }
    for _ in 0..50 {
        gets_in(&throttle, at(1), "ann", 0);
        assert!(!fails(&throttle, at(1), "junk", 0));
    }
}

#[test]
fn where_a_login_is_known_it_has_few_guesses_too() {
    let throttle = Throttle::new();
    assert!(gets_in(&throttle, at(1), "ann", 0));
    let tried = (0..100).filter(|_| fails(&throttle, at(1), "ann", 0));
    assert_eq!(tried.count(), 20);
    assert!(!gets_in(&throttle, at(1), "ann", 59_999));
    assert!(gets_in(&throttle, at(1), "ann", 60_000));
    assert!(fails(&throttle, at(1), "ann", 60_000), "forgiven");
}

/// Wrong passwords get the same answers for a known login and for one that does not exist.
#[test]
fn a_known_login_is_not_told_from_an_unknown_one() {
    let answers = |victim: &str| {
        let throttle = Throttle::new();
        assert!(gets_in(&throttle, at(1), "ann", 0));
        let mut random = Random(0x5eed_0001);
        let answer = |random: &mut Random| {
            let now_ms = random.below(100) * 1000;
            let (address, login) = match random.below(4) {
                0 => (at(2), victim),
                1 => (at(1), "other"),
                _ => (at(1), victim),
            };
            match throttle.attempt(address, Some(login), now_ms) {
                Ok(attempt) => attempt.hidden_wait_s,
                Err(wait_s) => Some(wait_s),
            }
        };
        (0..500).map(|_| answer(&mut random)).collect::<Vec<_>>()
    };
    assert_eq!(answers("ann"), answers("nobody"));
}

#[test]
fn somebody_signed_in_is_bound_by_himself_alone() {
    let throttle = Throttle::new();
    for n in 0..1000 {
        fails(&throttle, at(n), "ann", 0);
    }
    let tried = (0..100).filter(|_| fails(&throttle, Origin::Session, "ann", 0));
    assert_eq!(tried.count(), 20);
    assert!(fails(&throttle, Origin::Session, "bob", 0));
    assert!(gets_in(&throttle, Origin::Session, "bob", 0));
}

#[test]
fn what_was_not_tried_does_not_count() {
    let throttle = Throttle::new();
    for _ in 0..100 {
        let attempt = throttle.attempt(at(1), Some("ann"), 0).unwrap();
        assert_eq!(attempt.turn.rank, Rank::Fresh);
        throttle.take_back(&attempt);
    }
    // Nor do right codes and passwords.
    for _ in 0..100 {
        let attempt = throttle.attempt(at(1), None, 0).unwrap();
        throttle.succeeded(&attempt, "ann", 0);
        assert!(gets_in(&throttle, at(1), "ann", 0));
    }
}

#[test]
fn memory_is_bounded() {
    let throttle = Throttle::new();
    let mut random = Random(0x5eed_0002);
    for n in 0..u32::try_from(fills::BUCKETS_MAX).unwrap() + 500 {
        fails(&throttle, at(n), &random.next().to_string(), 0);
    }
    let tables = throttle.tables.lock().unwrap();
    for fills in &tables.fills {
        assert!(fills.len() <= fills::BUCKETS_MAX);
    }
}
