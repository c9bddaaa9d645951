//! A looped recording: its words at given instants, and the instants of its changes.

use std::time::Duration;

use super::{PlayError, Playback, Recording};

fn recording(rate: f64, samples: u64, edges: &[(u64, u16)]) -> Recording {
    Recording {
        sample_rate_hz: rate,
        samples,
        edges: edges.to_vec(),
    }
}

#[test]
fn changes_come_when_they_were_recorded_turn_after_turn() {
    let played = recording(1e6, 10, &[(0, 0b10), (3, 0b01), (7, 0b11)]);
    let playback = Playback::new(&played, &[(0, 2), (1, 1)], None).unwrap();
    assert_eq!(playback.mask(), 0b11);
    let mut cursor = playback.cursor(2_500);
    assert_eq!(cursor.word(), 0b01);
    let mut seen = Vec::new();
    for _ in 0..5 {
        let at = cursor.next_ns().unwrap();
        cursor.advance();
        seen.push((at, cursor.word()));
    }
    let expected = [
        (3_000, 2),
        (7_000, 3),
        (10_000, 1),
        (13_000, 2),
        (17_000, 3),
    ];
    assert_eq!(seen, expected);
    for (at, word) in seen {
        assert_eq!(playback.cursor(at).word(), word);
        assert_ne!(playback.cursor(at - 1).word(), word);
    }
}

#[test]
fn a_window_starts_with_the_word_in_force() {
    let played = recording(1e3, 100, &[(10, 1), (20, 0), (50, 1)]);
    let playback = Playback::new(&played, &[(0, 1)], Some((15, 40))).unwrap();
    assert_eq!(playback.cursor(0).word(), 1);
    assert_eq!(playback.cursor(0).next_ns(), Some(5_000_000));
    assert_eq!(playback.cursor(5_000_000).next_ns(), Some(25_000_000));
}

#[test]
fn a_constant_window_never_changes() {
    let played = recording(1e3, 100, &[(10, 1), (20, 0)]);
    let playback = Playback::new(&played, &[(0, 1)], Some((30, 40))).unwrap();
    assert_eq!(playback.cursor(u64::MAX).next_ns(), None);
}

/// All changes of the first 100 ms, and the word before them.
fn changes(playback: &Playback) -> (u16, Vec<(u64, u16)>) {
    let mut cursor = playback.cursor(0);
    let first = cursor.word();
    let mut seen = Vec::new();
    while let Some(at) = cursor.next_ns().filter(|at| *at < 100_000_000) {
        cursor.advance();
        seen.push((at, cursor.word()));
    }
    (first, seen)
}

#[test]
fn played_once_its_last_levels_hold() {
    let played = recording(1e3, 10, &[(0, 1), (4, 0), (8, 1)]);
    let playback = Playback::new(&played, &[(0, 1)], None).unwrap().once();
    assert_eq!(
        changes(&playback),
        (1, vec![(4_000_000, 0), (8_000_000, 1)])
    );
    for at in [8_000_000, 10_000_000, u64::MAX] {
        let cursor = playback.cursor(at);
        assert_eq!((cursor.word(), cursor.next_ns()), (1, None), "{at}");
    }
    assert_eq!(playback.cursor(7_999_999).word(), 0);
}

#[test]
fn played_later_its_first_levels_hold_until_then() {
    let played = recording(1e3, 10, &[(0, 1), (4, 0)]);
    let playback = Playback::new(&played, &[(0, 1)], None).unwrap();
    let later = playback.clone().starting_after(Duration::from_millis(70));
    let expected = vec![
        (74_000_000, 0),
        (80_000_000, 1),
        (84_000_000, 0),
        (90_000_000, 1),
    ];
    let (first, mut seen) = changes(&later);
    seen.truncate(4);
    assert_eq!((first, seen), (1, expected));
    assert_eq!(later.cursor(69_000_000).word(), 1);
    let both = later.once();
    assert_eq!(changes(&both), (1, vec![(74_000_000, 0)]));
    assert_eq!(both.cursor(99_000_000).word(), 0);
    // So late that the start never comes.
    let never = playback.starting_after(Duration::MAX);
    assert_eq!(never.cursor(u64::MAX - 1).next_ns(), None);
}

#[test]
fn recordings_that_make_no_sense_are_refused() {
    let good = recording(1e3, 100, &[(10, 1)]);
    let error = |recording: &Recording, map: &[(u8, u8)], window| {
        Playback::new(recording, map, window).err().unwrap()
    };
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e12, 1e-9] {
        assert_eq!(error(&recording(rate, 9, &[]), &[], None), PlayError::Rate);
    }
    let window = |from, to| PlayError::Window {
        from,
        to,
        samples: 100,
    };
    assert_eq!(error(&good, &[], Some((5, 5))), window(5, 5));
    assert_eq!(error(&good, &[], Some((5, 101))), window(5, 101));
    let disordered = recording(1e3, 100, &[(10, 1), (10, 0)]);
    assert_eq!(
        error(&disordered, &[], None),
        PlayError::Order { index: 10 }
    );
    let outside = recording(1e3, 100, &[(100, 1)]);
    assert_eq!(error(&outside, &[], None), PlayError::Order { index: 100 });
    for (bit, la) in [(16, 1), (0, 0), (0, 15), (255, 255)] {
        assert_eq!(error(&good, &[(bit, la)], None), PlayError::Map { bit, la });
    }
    let twice = error(&good, &[(0, 3), (1, 3)], None);
    assert_eq!(twice, PlayError::Map { bit: 1, la: 3 });
}
