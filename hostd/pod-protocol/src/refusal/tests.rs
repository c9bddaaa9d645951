//! Each phrase and its kind, and that no text can break the reading.

use fastrand::Rng;

use super::{Refusal, RefusalKind, missing_part, no_parts, parts_in};
use crate::MissingPart;

fn kind(text: &str) -> RefusalKind {
    Refusal::new(text).kind
}

#[test]
fn each_phrase_has_its_kind() {
    for (text, expected) in [
        (
            "pin conflict: LA5 is in use by uart_rx; stop the uart proxy first",
            RefusalKind::PinConflict {
                la: 5,
                function: "uart_rx".to_owned(),
            },
        ),
        (
            "refused: pull conflict: LA12 has its pull-down engaged",
            RefusalKind::PullConflict { la: 12 },
        ),
        (
            "trigger timeout: no rising edge on LA3 within 500 ms",
            RefusalKind::TriggerTimeout {
                edge: "rising".to_owned(),
                la: 3,
            },
        ),
        (
            "missing part: power: this bench has none",
            RefusalKind::MissingPart {
                part: "power".to_owned(),
                is_away: false,
            },
        ),
        (
            "missing part: uart: it is away: busy: pin conflict: LA3 is in use by x",
            RefusalKind::MissingPart {
                part: "uart".to_owned(),
                is_away: true,
            },
        ),
        ("locked: cloud_set", RefusalKind::Locked),
        (
            "lan_policy: change it from the cloud or the USB console",
            RefusalKind::Locked,
        ),
        (
            "busy: a cloud job holds this pod (alice, ci, 40 s left)",
            RefusalKind::Leased {
                holder: "alice, ci".to_owned(),
                left_s: 40,
            },
        ),
        (
            "busy: a cloud job holds this pod (job 7 (bob), 3 s left)",
            RefusalKind::Leased {
                holder: "job 7 (bob)".to_owned(),
                left_s: 3,
            },
        ),
        (
            "busy: gw0 update from lan is in progress",
            RefusalKind::Busy,
        ),
        ("busy", RefusalKind::Busy),
        ("forbidden: ota_begin", RefusalKind::Forbidden),
        (" unknown cmd\n", RefusalKind::UnknownCommand),
        (
            "this BenchPod has no analog front end: x",
            RefusalKind::NoAnalog,
        ),
        ("uart busy", RefusalKind::Plain),
        ("unknown cmd x", RefusalKind::Plain),
        ("", RefusalKind::Plain),
    ] {
        assert_eq!(kind(text), expected, "{text}");
    }
}

#[test]
fn phrases_with_broken_numbers_are_plain_or_the_next_kind() {
    for text in [
        "pin conflict: LA is in use by gpio",
        "pin conflict: LA999 is in use by gpio",
        "pin conflict: LA5 was in use",
        "pull conflict: LA",
        "trigger timeout: no rising edge",
    ] {
        assert_eq!(kind(text), RefusalKind::Plain, "{text}");
    }
    let unread = "busy: a cloud job holds this pod (alice, soon)";
    assert_eq!(kind(unread), RefusalKind::Busy);
}

#[test]
fn no_text_breaks_the_reading() {
    let seeds = [
        "pin conflict: LA5 is in use by gpio; hint",
        "trigger timeout: no high edge on LA3 within 5 ms",
        "busy: a cloud job holds this pod (me, 5 s left)",
    ];
    let letters: Vec<char> = "LA 0123456789:(),é\u{1F600}abc".chars().collect();
    let mut random = Rng::with_seed(3);
    for _ in 0..5_000 {
        let mut text: Vec<char> = random.choice(&seeds).unwrap().chars().collect();
        for _ in 0..random.usize(..6) {
            let at = random.usize(..text.len());
            match random.usize(..3) {
                0 => text[at] = *random.choice(&letters).unwrap(),
                1 => text.insert(at, *random.choice(&letters).unwrap()),
                _ => drop(text.remove(at)),
            }
        }
        let text: String = text.into_iter().collect();
        assert_eq!(Refusal::new(text.as_str()).text, text);
    }
}

#[test]
fn a_missing_part_is_told_and_read_alike() {
    for away in [None, Some("192.0.2.7:5025 refuses the connection")] {
        let text = missing_part("power", away);
        let expected = RefusalKind::MissingPart {
            part: "power".to_owned(),
            is_away: away.is_some(),
        };
        assert_eq!(kind(&text), expected, "{text}");
    }
}

#[test]
fn the_parts_of_a_bench_that_are_all_away_are_told_apart() {
    let away = |part: &str, reason: &str| MissingPart {
        part: part.to_owned(),
        reason: reason.to_owned(),
    };
    let reason = "cannot connect to the supply at 192.168.1.50:5025: Connection refused";
    let missing = [
        away("power", reason),
        away("uart", "it is gone; plug: it in"),
    ];
    let told = no_parts(&missing);
    let expected = [
        away("power", reason),
        away("uart", "it is gone, plug: it in"),
    ];
    assert_eq!(parts_in(&told), expected);
    assert_eq!(
        parts_in(&format!("the connection failed: {told}")),
        expected
    );
    assert_eq!(parts_in("the connection failed: power: no"), []);
    assert_eq!(parts_in(&no_parts(&[])), []);
}
