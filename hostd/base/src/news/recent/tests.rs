//! Places, rings that are full, and followers of all speeds.

use super::*;

/// Characters of a place that the endpoint takes, which has this bound.
const PLACE_CHARS_MAX: usize = 64;

fn happening(org: &str, subject: &str) -> Happening {
    Happening {
        kind: Kind::CaptureDone,
        at_ms: 0,
        org: org.into(),
        devices: vec!["d".into()],
        subject: subject.into(),
        told: json!({"capture": {"id": subject}}),
    }
}

fn subjects(follower: &mut Follower) -> Vec<String> {
    let mut found = Vec::new();
    loop {
        match follower.take() {
            Next::Event(event) => {
                let json: Value = serde_json::from_str(&event.json).unwrap();
                found.push(json["subject"].as_str().unwrap().to_owned());
            }
            Next::Lost => found.push("lost".into()),
            Next::Nothing => return found,
        }
    }
}

#[test]
fn a_follower_goes_on_where_it_was() {
    let recent = Recent::default();
    recent.keep(&happening("a", "1"));
    let (mut first, begin) = recent.follow("a", None);
    assert_eq!(begin, Begin::Now);
    assert_eq!(first.take(), Next::Nothing);
    for subject in ["2", "3"] {
        recent.keep(&happening("a", subject));
    }
    recent.keep(&happening("b", "of another organisation"));
    let Next::Event(event) = first.take() else {
        panic!("there is one");
    };
    assert_eq!(
        serde_json::from_str::<Value>(&event.json).unwrap(),
        json!({
            "kind": "capture.done", "at": "1970-01-01T00:00:00Z", "subject": "2", "capture": {"id": "2"},
        })
    );
    let place = first.place().to_string();
    assert!(place.len() <= PLACE_CHARS_MAX);
    drop(first);
    recent.keep(&happening("a", "4"));
    let (mut again, begin) = recent.follow("a", Some(&place));
    assert_eq!(begin, Begin::Resumed);
    assert_eq!(subjects(&mut again), ["3", "4"]);
    // A place of another organisation, of another process, or of the future, is none.
    let (_, begin) = recent.follow("b", Some(&place));
    assert_eq!(begin, Begin::Lost);
    let (_, begin) = Recent::default().follow("a", Some(&place));
    assert_eq!(begin, Begin::Lost);
    let ring = place.split_once('-').unwrap().0;
    for place in [
        "",
        "-",
        "x",
        &format!("{ring}-5"),
        &format!("{ring}--1"),
        ring,
    ] {
        let (mut lost, begin) = recent.follow("a", Some(place));
        assert_eq!(
            (begin, lost.take()),
            (Begin::Lost, Next::Nothing),
            "{place}"
        );
    }
}

#[test]
fn what_is_pushed_out_is_lost_to_the_slow_and_said_once() {
    let recent = Recent::default();
    let (mut slow, _) = recent.follow("a", None);
    let (mut quick, _) = recent.follow("a", None);
    let place = slow.place().to_string();
    for n in 0..=EVENTS_MAX {
        recent.keep(&happening("a", &n.to_string()));
        assert_eq!(subjects(&mut quick), [n.to_string()]);
    }
    assert_eq!(subjects(&mut slow), ["lost"]);
    recent.keep(&happening("a", "next"));
    assert_eq!(subjects(&mut slow), ["next"]);
    let (_, begin) = recent.follow("a", Some(&place));
    assert_eq!(begin, Begin::Lost);
}

#[test]
fn bytes_are_bounded_of_one_and_of_all() {
    let recent = Recent::default();
    let mut large = happening("a", "large");
    large.told = json!({"text": "x".repeat(EVENT_BYTES_MAX)});
    let (mut follower, _) = recent.follow("a", None);
    recent.keep(&large);
    let Next::Event(event) = follower.take() else {
        panic!("there is one");
    };
    assert_eq!(
        event.json,
        r#"{"at":"1970-01-01T00:00:00Z","is_cut":true,"kind":"capture.done","subject":"large"}"#
    );
    large.told = json!({"text": "x".repeat(EVENT_BYTES_MAX - 200)});
    for _ in 0..EVENTS_MAX {
        recent.keep(&large);
    }
    let ring = recent.ring("a");
    let ring = lock(&ring);
    let bytes: usize = ring.events.iter().map(|event| event.json.len()).sum();
    assert_eq!(ring.bytes, bytes);
    assert!(bytes <= BYTES_MAX && bytes > BYTES_MAX - EVENT_BYTES_MAX);
}

#[tokio::test]
async fn organisations_that_nobody_follows_give_way_to_others() {
    let recent = Recent::default();
    let (mut follower, _) = recent.follow("followed", None);
    recent.keep(&happening("idle", "1"));
    let place = recent.follow("idle", None).0.place().to_string();
    for n in 0..ORGS_MAX {
        recent.keep(&happening(&format!("org {n}"), "1"));
    }
    assert_eq!(lock(&recent.0).by_org.len(), ORGS_MAX);
    let (_, begin) = recent.follow("idle", Some(&place));
    assert_eq!(begin, Begin::Lost);
    recent.keep(&happening("followed", "2"));
    follower.changed().await;
    assert_eq!(subjects(&mut follower), ["2"]);
    // Those that are followed stay, however many they are: whoever follows them has a place.
    let others: Vec<_> = (0..=ORGS_MAX)
        .map(|n| recent.follow(&format!("other {n}"), None).0)
        .collect();
    assert_eq!(lock(&recent.0).by_org.len(), ORGS_MAX + 2);
    drop((others, follower));
}
