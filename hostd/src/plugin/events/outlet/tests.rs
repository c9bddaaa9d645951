//! What waits for plugins, and for how many.

use base::news::{Happening, Kind};

use super::super::queue::QUEUE_MAX;
use super::*;

fn of_org(org: &str, id: &str) -> What {
    What::Stored(EventKey {
        plugin: "p".into(),
        org: org.into(),
        id: id.into(),
    })
}

fn stored(id: &str) -> What {
    of_org("o", id)
}

fn held(org: &str) -> What {
    let happening = Happening {
        kind: Kind::DeviceOnline,
        at_ms: 1,
        org: org.into(),
        devices: vec!["d".into()],
        subject: "d".into(),
        told: serde_json::Value::Null,
    };
    What::Held("1".into(), Box::new(happening))
}

/// An outlet where a plugin has all places.
fn full() -> Outlet {
    let outlet = Outlet::default();
    for n in 0..ALL_MAX {
        let org = (n / QUEUE_MAX).to_string();
        let put = outlet.put("p", of_org(&org, &n.to_string()), true);
        assert_eq!(put, Ok(()));
    }
    outlet
}

#[test]
fn what_is_stored_waits_once_and_what_finds_no_room_is_counted() {
    let outlet = Outlet::default();
    for _ in 0..2 {
        assert_eq!(outlet.put("p", stored("0"), true), Ok(()));
    }
    assert_eq!(outlet.heard("p").unwrap().waiting, 1);
    for n in 1..QUEUE_MAX {
        assert_eq!(outlet.put("p", stored(&n.to_string()), true), Ok(()));
    }
    let put = |plugin: &str, id: &str| outlet.put(plugin, stored(id), true);
    assert_eq!(put("p", "x"), Err(Full::Dropped(1)));
    assert_eq!(put("p", "y"), Err(Full::Dropped(2)));
    // It waits already.
    assert_eq!(put("p", "0"), Ok(()));
    assert_eq!(put("q", "x"), Ok(()));
    assert_eq!(outlet.heard("p").unwrap().dropped, 2);
}

#[test]
fn a_plugin_that_has_all_places_leaves_others_their_share() {
    let outlet = full();
    for n in 0..OF_EACH {
        assert_eq!(outlet.put("q", stored(&n.to_string()), true), Ok(()));
    }
    assert_eq!(outlet.put("q", held("o"), false), Err(Full::Dropped(1)));
    assert_eq!(outlet.put("q", stored("x"), true), Err(Full::Left));
    assert_eq!(outlet.put("q", stored("x"), false), Err(Full::Dropped(2)));
    assert_eq!(outlet.heard("q").unwrap().dropped, 2);
}

#[test]
fn what_was_left_is_asked_for_once_there_is_room() {
    let outlet = full();
    for n in 0..OF_EACH {
        assert_eq!(outlet.put("q", stored(&n.to_string()), true), Ok(()));
    }
    assert_eq!(outlet.put("q", stored("x"), true), Err(Full::Left));
    let task = outlet.begin("q").unwrap();
    let mut asked = Vec::new();
    for told in 1..=OF_EACH {
        let Step::Tell(entry) = outlet.step(&task, 0, || true) else {
            panic!("it waits");
        };
        if outlet.done(&task, &entry.what, |_| {}) {
            asked.push(told);
        }
    }
    assert_eq!(asked, [OF_EACH - LOW]);
    assert_eq!(outlet.put("q", stored("x"), true), Ok(()));
}

#[test]
fn a_plugin_that_listens_no_more_takes_no_place() {
    let outlet = full();
    assert_eq!(outlet.put("q", held("o"), false), Ok(()));
    outlet.withdraw("p");
    outlet.withdraw("q");
    let heard = |plugin: &str| outlet.heard(plugin).unwrap();
    assert_eq!((heard("p").waiting, heard("p").dropped), (0, 0));
    assert_eq!((heard("q").waiting, heard("q").dropped), (0, 1));
    // It is read again from the store.
    assert_eq!(outlet.put("p", of_org("0", "0"), true), Ok(()));
    assert_eq!(heard("p").waiting, 1);
}

#[test]
fn one_task_tells_a_plugin_and_another_begins_when_it_has_ended() {
    let outlet = Outlet::default();
    assert!(outlet.begin("p").is_none());
    assert_eq!(outlet.put("p", stored("0"), true), Ok(()));
    let first = outlet.begin("p").unwrap();
    assert!(outlet.begin("p").is_none());
    assert!(matches!(outlet.step(&first, 0, || false), Step::End));
    let task = outlet.begin("p").unwrap();
    assert!(matches!(outlet.step(&task, 0, || true), Step::Tell(_)));
    outlet.done(&task, &stored("0"), |heard| heard.delivered += 1);
    assert!(matches!(outlet.step(&task, 0, || true), Step::End));
    assert_eq!(outlet.heard("p").unwrap().delivered, 1);
}

#[test]
fn a_plugin_that_is_installed_again_has_one_task() {
    let outlet = Outlet::default();
    assert_eq!(outlet.put("p", stored("0"), true), Ok(()));
    let old = outlet.begin("p").unwrap();
    let Step::Tell(entry) = outlet.step(&old, 0, || true) else {
        panic!("it waits");
    };
    // Removed and installed again, while the old one is told.
    outlet.forget("p");
    assert_eq!(outlet.put("p", stored("1"), true), Ok(()));
    let new = outlet.begin("p").unwrap();
    assert!(outlet.again(&old, entry.clone(), 0));
    outlet.later(&old, entry.clone(), 0);
    assert!(!outlet.done(&old, &stored("1"), |heard| heard.delivered += 1));
    assert!(matches!(outlet.step(&old, 0, || true), Step::End));
    assert!(outlet.begin("p").is_none());
    let heard = outlet.heard("p").unwrap();
    assert_eq!((heard.waiting, heard.delivered, heard.repeated), (1, 0, 0));
    assert!(matches!(outlet.step(&new, 0, || true), Step::Tell(_)));
}

#[test]
fn an_event_at_which_the_task_broke_off_is_told_again() {
    let outlet = Outlet::default();
    assert_eq!(outlet.put("p", stored("0"), true), Ok(()));
    let task = outlet.begin("p").unwrap();
    let Step::Tell(entry) = outlet.step(&task, 0, || true) else {
        panic!("it waits");
    };
    assert_eq!(outlet.broken_off(&task), Some(entry.clone()));
    assert!(outlet.again(&task, entry, 0));
    assert!(outlet.begin("p").is_none(), "the same task goes on");
    let Step::Wait(at_ms) = outlet.step(&task, 0, || true) else {
        panic!("it waits for its pause");
    };
    assert!(matches!(
        outlet.step(&task, at_ms, || true),
        Step::Tell(Entry { failures: 1, .. })
    ));
    outlet.done(&task, &stored("0"), |heard| heard.delivered += 1);
    // With nothing in hand it is over.
    assert_eq!(outlet.broken_off(&task), None);
    assert_eq!(outlet.put("p", stored("1"), true), Ok(()));
    assert!(outlet.begin("p").is_some());
}
