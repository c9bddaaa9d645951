//! Frame headers, whole, in pieces, and among arbitrary bytes.

use super::*;
use base::seeded::Random;

/// A frame of this kind with zeros.
fn frame(kind: u8, length: usize) -> Vec<u8> {
    let size = u32::try_from(length).unwrap().to_be_bytes();
    let mut frame = vec![size[1], size[2], size[3], kind, 0, 0, 0, 0, 0];
    frame.resize(HEAD_BYTES + length, 0);
    frame
}

#[test]
fn heads_are_found_behind_the_preface() {
    let mut sent = PREFACE.to_vec();
    sent.extend(frame(4, 6));
    sent.extend(frame(HEADERS, 70_000));
    sent.extend(frame(DATA, 0));
    sent.extend(&frame(6, 8)[..12]);
    for size in [1, 2, 7, 9, 10, 1000, sent.len()] {
        let found = fuzz::heads(sent.chunks(size));
        let kinds: Vec<_> = found
            .iter()
            .map(|frame| (frame.kind, frame.length))
            .collect();
        assert_eq!(kinds, [(4, 6), (1, 70_000), (0, 0), (6, 8)]);
        assert!(found[1].is_request() && found[2].is_data());
    }
}

#[test]
fn other_protocols_are_let_pass() {
    let mut frames = Frames::default();
    frames.pass(b"PRI * HT", |_| panic!("too early"));
    frames.pass(b"TQ/1.1", |_| panic!("it is none"));
    frames.pass(&[PREFACE, &frame(6, 8)].concat(), |_| panic!("too late"));
    assert!(!frames.is_http2());
}

/// What the fuzzer looks for, with fixed seeds.
#[test]
fn any_bytes_are_read_alike_in_pieces_and_at_once() {
    for seed in 1..=2_000 {
        let mut random = Random(seed * 0x9e37_79b9);
        let mut data = vec![u8::try_from(random.below(256)).unwrap()];
        while random.below(12) != 0 {
            let mut next = if random.below(3) == 0 {
                (0..random.index(40))
                    .map(|_| u8::try_from(random.below(256)).unwrap())
                    .collect()
            } else {
                frame(u8::try_from(random.below(12)).unwrap(), random.index(300))
            };
            if random.below(8) == 0 {
                next.truncate(random.index(next.len() + 1));
            }
            data.extend(next);
        }
        fuzz::frames(&data);
    }
}
