//! What a follower is told about what it missed.

use super::*;
use crate::captures::reader::Data;
use store::captures::{CaptureRecord, Kind};

fn record(id: &str, status: Status) -> CaptureRecord {
    CaptureRecord {
        status,
        ..CaptureRecord::new(id.to_owned(), "o".into(), "d".into(), Kind::Logic, 0)
    }
}

fn frame(id: &str, seq: u32) -> Message {
    let span = layout::Span {
        seq,
        channel: 0,
        start_sample: 0,
        count: 1,
    };
    let data = Data::Counts(vec![0, 0]);
    let frame = framer::Frame { span, data };
    Message::new(Event::Frame {
        capture: id.into(),
        frame,
    })
}

fn state(id: &str, status: Status) -> Message {
    Message::new(Event::State(record(id, status)))
}

fn done(id: &str, frames: u32) -> Message {
    Message::new(Event::Done(record(id, Status::Done), frames))
}

/// Capture, from, to of each.
fn dropped(told: &[Value]) -> Vec<(&str, u64, Option<u64>)> {
    let one = |told: &'_ Value| {
        let from = told["from"].as_u64().unwrap();
        (from, told["to"].as_u64())
    };
    told.iter()
        .map(|told| {
            let (from, to) = one(told);
            (told["capture_id"].as_str().unwrap(), from, to)
        })
        .collect()
}

#[test]
fn who_keeps_up_is_told_of_no_loss() {
    let mut position = Position::default();
    for message in [
        state("a", Status::Pending),
        state("a", Status::Running),
        frame("a", 0),
        // Another one waits, and is cancelled while it does.
        state("b", Status::Pending),
        Message::new(Event::Failed(record("b", Status::Cancelled))),
        frame("a", 1),
        done("a", 2),
        state("c", Status::Armed),
        frame("c", 0),
    ] {
        assert!(position.step(&message).is_empty(), "{:?}", message.event);
    }
}

#[test]
fn every_gap_is_told() {
    let mut position = Position::default();
    position.step(&state("a", Status::Running));
    position.step(&frame("a", 0));
    position.lost = 3;
    assert_eq!(dropped(&position.step(&frame("a", 4))), [("a", 1, Some(4))]);
    // The end of one capture and the beginning of the next.
    position.lost = 9;
    assert_eq!(
        dropped(&position.step(&frame("b", 2))),
        [("a", 5, None), ("b", 0, Some(2))]
    );
    position.lost = 1;
    assert_eq!(dropped(&position.step(&done("b", 4))), [("b", 3, Some(4))]);
    // In between: that some were lost, but not which.
    position.lost = 2;
    assert_eq!(
        dropped(&position.step(&state("c", Status::Running))),
        [("c", 0, Some(0))]
    );
    // A late follower, or one that continues where nothing is kept any more.
    let mut late = Position {
        at: Some(("a".into(), 3)),
        lost: 0,
    };
    assert_eq!(dropped(&late.step(&frame("a", 7))), [("a", 3, Some(7))]);
}
