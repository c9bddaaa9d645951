//! Packets become frames in order, or an error that says what is wrong.

use std::ops::Range;

use fastrand::Rng;

use super::{Assembly, AssemblyError};
use crate::capture::Frame;
use crate::chunk::{Chunk, Extent, Payload};

fn packet(payload: Payload, more: bool) -> Chunk {
    Chunk {
        payload,
        adc_rate_hz: None,
        la_rate_hz: None,
        trigger: None,
        extent: None,
        gap: None,
        more,
    }
}

fn dense(values: &[u16], more: bool) -> Chunk {
    packet(Payload::Dense(values.to_vec()), more)
}

fn edges(edges: &[(u64, u16)], upto: u64, more: bool) -> Chunk {
    let edges = edges.to_vec();
    packet(Payload::Edges { edges, upto }, more)
}

fn la(edges: &[(u64, u16)], upto: u64) -> Frame {
    Frame::La {
        edges: edges.to_vec(),
        upto,
    }
}

#[test]
fn analog_frames_carry_their_place() {
    let mut assembly = Assembly::new((5, 0));
    let place = |start_sample, counts: &[u16]| {
        vec![Frame::Adc {
            start_sample,
            counts: counts.to_vec(),
        }]
    };
    assert_eq!(
        assembly.push(dense(&[1, 2, 3], true)).unwrap(),
        place(0, &[1, 2, 3])
    );
    assert_eq!(
        assembly.push(dense(&[4, 5], false)).unwrap(),
        place(3, &[4, 5])
    );
}

#[test]
fn dense_values_beyond_the_analog_samples_are_logic_words() {
    let mut assembly = Assembly::new((2, 4));
    let frames = assembly.push(dense(&[9, 9, 1, 1, 0, 1], false)).unwrap();
    assert_eq!(frames.len(), 2);
    assert_eq!(frames[1], la(&[(0, 1), (2, 0), (3, 1)], 4));
}

#[test]
fn logic_frames_start_at_zero_and_name_changes_only() {
    let mut assembly = Assembly::new((0, 40));
    let frame = assembly
        .push(edges(&[(3, 7), (3, 6), (5, 6)], 10, true))
        .unwrap();
    assert_eq!(frame, [la(&[(0, 6)], 10)]);
    let frame = assembly.push(edges(&[(10, 6), (12, 1)], 20, true)).unwrap();
    assert_eq!(frame, [la(&[(12, 1)], 20)]);
    let frame = assembly.push(edges(&[], 40, false)).unwrap();
    assert_eq!(frame, [la(&[], 40)]);
    let silent = Assembly::new((0, 8)).push(edges(&[], 8, false)).unwrap();
    assert_eq!(silent, [la(&[(0, 0)], 8)]);
}

#[test]
fn contradictions_are_named() {
    let push = |asked, chunks: &[Chunk]| {
        let mut assembly = Assembly::new(asked);
        let results: Result<Vec<_>, _> = chunks
            .iter()
            .map(|chunk| assembly.push(chunk.clone()))
            .collect();
        results.unwrap_err()
    };
    let too_many = push((2, 0), &[dense(&[1, 2, 3], false)]);
    assert!(matches!(
        too_many,
        AssemblyError::TooMany {
            found: 3,
            asked: 2,
            ..
        }
    ));
    let too_few = push((0, 9), &[edges(&[(0, 1)], 8, false)]);
    assert!(matches!(
        too_few,
        AssemblyError::TooFew {
            found: 8,
            asked: 9,
            ..
        }
    ));
    let beyond = push((0, 9), &[edges(&[(0, 1)], 10, false)]);
    assert!(matches!(
        beyond,
        AssemblyError::TooMany { kind: "logic", .. }
    ));
    let back = push((0, 9), &[edges(&[(0, 1)], 5, true), edges(&[], 4, true)]);
    assert!(matches!(
        back,
        AssemblyError::Backwards { upto: 4, seen: 5 }
    ));
    let order = push((0, 9), &[edges(&[(4, 1), (3, 1)], 9, false)]);
    assert!(matches!(
        order,
        AssemblyError::EdgeOutOfOrder { index: 3, .. }
    ));
    let late = push(
        (0, 9),
        &[edges(&[(0, 1)], 5, true), edges(&[(4, 0)], 9, false)],
    );
    assert!(matches!(
        late,
        AssemblyError::EdgeOutOfOrder {
            index: 4,
            from: 5,
            ..
        }
    ));
    let stalled = push((0, 9), &vec![edges(&[], 0, true); 65]);
    assert_eq!(stalled, AssemblyError::Stalled { limit: 64 });
}

#[test]
fn any_cut_of_a_capture_gives_the_same_edges() {
    let mut random = Rng::with_seed(8);
    for _ in 0..200 {
        let length = 1 + random.usize(..300);
        let expected: Vec<u16> = (0..length)
            .map(|_| u16::try_from(random.usize(..3)).unwrap())
            .collect();
        let is_change = |at: &usize| *at == 0 || expected[*at] != expected[*at - 1];
        let changes_in = |range: Range<usize>| -> Vec<(u64, u16)> {
            let changes = range.filter(is_change);
            changes.map(|at| (at as u64, expected[at])).collect()
        };
        let mut assembly = Assembly::new((0, length as u64));
        let mut seen = Vec::new();
        let mut from = 0;
        while from < length {
            let to = (from + 1 + random.usize(..60)).min(length);
            let more = to < length;
            let packet = edges(&changes_in(from..to), to as u64, more);
            for frame in assembly.push(packet).unwrap() {
                let Frame::La { edges, upto } = frame else {
                    panic!("no ADC was asked for")
                };
                assert_eq!(upto, to as u64);
                seen.extend(edges);
            }
            from = to;
        }
        assert_eq!(seen, changes_in(0..length));
    }
}

fn extent(trigger_sample: u64, adc_samples: u64, la_samples: u64) -> Extent {
    Extent {
        trigger_sample,
        adc_samples,
        la_samples,
    }
}

#[test]
fn a_trigger_that_came_early_makes_the_capture_shorter() {
    let mut assembly = Assembly::new((0, 10)).with_pre_samples(4);
    let mut first = edges(&[(0, 1)], 3, true);
    first.extent = Some(extent(1, 0, 7));
    assert_eq!(assembly.push(first).unwrap(), [la(&[(0, 1)], 3)]);
    assert_eq!(assembly.samples(), (0, 7));
    assert!(assembly.push(edges(&[], 7, false)).is_ok());
    let mut both = Assembly::new((5, 10)).with_pre_samples(4);
    let mut first = packet(Payload::Dense(vec![1, 2, 3]), true);
    first.extent = Some(extent(1, 3, 7));
    both.push(first).unwrap();
    assert!(both.push(edges(&[(0, 1)], 7, false)).is_ok());
}

#[test]
fn a_capture_is_no_shorter_than_its_trigger_says() {
    for (asked, pre, said) in [
        ((0, 10), 4, extent(5, 0, 10)),
        ((0, 10), 4, extent(1, 0, 8)),
        ((0, 10), 4, extent(4, 0, 11)),
        ((0, 10), 4, extent(1, 0, 6)),
        ((0, 10), 0, extent(0, 0, 9)),
        ((0, 10), 4, extent(1, 1, 7)),
        ((5, 10), 4, extent(1, 0, 7)),
        ((10, 0), 4, extent(1, 6, 0)),
        ((10, 0), 4, extent(u64::MAX, u64::MAX, 0)),
    ] {
        let mut assembly = Assembly::new(asked).with_pre_samples(pre);
        let mut first = packet(Payload::Dense(Vec::new()), true);
        first.extent = Some(said);
        let error = assembly.push(first).unwrap_err();
        assert!(matches!(error, AssemblyError::Extent { .. }), "{said:?}");
    }
    // Nor once samples have come.
    let mut assembly = Assembly::new((0, 10)).with_pre_samples(4);
    assembly.push(edges(&[(0, 1)], 1, true)).unwrap();
    let mut late = edges(&[], 2, true);
    late.extent = Some(extent(1, 0, 7));
    assert!(assembly.push(late).is_err());
}

fn gap(from: u64, to: u64, upto: u64) -> Chunk {
    let mut packet = edges(&[], upto, true);
    packet.gap = Some((from, to));
    packet
}

#[test]
fn samples_that_were_lost_are_a_gap() {
    let mut assembly = Assembly::new((0, 100));
    assembly.push(edges(&[(0, 5)], 10, true)).unwrap();
    assert_eq!(assembly.push(gap(10, 40, 40)).unwrap(), [la(&[], 40)]);
    // What follows at once is one gap.
    assembly.push(gap(40, 50, 50)).unwrap();
    assembly.push(edges(&[(50, 6)], 60, true)).unwrap();
    assembly.push(gap(60, 61, 61)).unwrap();
    assembly.push(edges(&[], 100, false)).unwrap();
    assert_eq!(assembly.gaps(), [(10, 50), (60, 61)]);
}

#[test]
fn a_gap_lies_between_what_came_and_what_comes() {
    for wrong in [
        gap(9, 40, 40),
        gap(11, 40, 40),
        gap(10, 40, 41),
        gap(10, 10, 10),
    ] {
        let mut assembly = Assembly::new((0, 100));
        assembly.push(edges(&[(0, 5)], 10, true)).unwrap();
        let error = assembly.push(wrong).unwrap_err();
        assert!(matches!(error, AssemblyError::Gap { .. }), "{error}");
    }
    let mut assembly = Assembly::new((0, 1 << 20));
    assembly.push(edges(&[(0, 5)], 1, true)).unwrap();
    let many = (0..).map(|at| {
        let from = 1 + 2 * at;
        let lost = assembly.push(gap(from, from + 1, from + 1));
        lost.and_then(|_| assembly.push(edges(&[], from + 2, true)))
    });
    let error = { many }.find_map(Result::err).unwrap();
    assert!(matches!(error, AssemblyError::ManyGaps { .. }), "{error}");
}
