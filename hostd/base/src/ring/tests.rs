//! Rings by example, and against what was pushed in random interleavings.

use super::*;
use crate::seeded::Random;

/// Bytes of a stream, merged up to eight.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Chunk(Vec<u8>);

impl Piece for Chunk {
    fn positions(&self) -> u64 {
        self.0.len() as u64
    }

    fn weight(&self) -> usize {
        self.0.len()
    }

    fn after(&self, positions: u64) -> Self {
        Self(self.0[usize::try_from(positions).unwrap()..].to_vec())
    }

    fn absorb(&mut self, next: &Self) -> bool {
        let fits = self.0.len() + next.0.len() <= 8;
        if fits {
            self.0.extend_from_slice(&next.0);
        }
        fits
    }
}

/// What is there now, without waiting.
fn now(cursor: &mut Cursor<Chunk>) -> Option<Found<Chunk>> {
    let mut next = std::pin::pin!(cursor.next());
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    match next.as_mut().poll(&mut cx) {
        std::task::Poll::Ready(found) => found,
        std::task::Poll::Pending => None,
    }
}

fn piece(at: u64, text: &str) -> Option<Found<Chunk>> {
    let piece = Chunk(text.as_bytes().to_vec());
    Some(Found::Piece { at, piece })
}

fn run(text: &str) -> Chunk {
    Chunk(text.as_bytes().to_vec())
}

#[test]
fn readers_begin_anywhere_and_what_is_gone_is_told() {
    let ring = Ring::new(100, 12);
    ring.push(run("abc"));
    ring.push(run("def"));
    let mut early = ring.cursor(100);
    assert_eq!(now(&mut early), piece(100, "abcdef"));
    assert_eq!(now(&mut early), None);
    assert_eq!(now(&mut ring.cursor(104)), piece(104, "ef"));
    ring.push(run("ghijk"));
    assert_eq!(now(&mut early), piece(106, "ghijk"));
    // The first piece makes room.
    ring.push(run("lmnop"));
    let mut late = ring.cursor(101);
    assert_eq!(now(&mut late), Some(Found::Lost { from: 101, to: 106 }));
    assert_eq!(now(&mut late), piece(106, "ghijk"));
    assert_eq!((ring.start(), ring.end()), (106, 116));
    // A position from an earlier run: it continues with the oldest piece.
    let mut foreign = ring.cursor(9999);
    assert_eq!(
        now(&mut foreign),
        Some(Found::Lost {
            from: 9999,
            to: 106
        })
    );
    assert_eq!(now(&mut foreign), piece(106, "ghijk"));
    assert_eq!(
        now(&mut ring.cursor_where(|p| p.0.contains(&b'm'))),
        piece(111, "lmnop")
    );
    ring.clear();
    assert_eq!(now(&mut late), Some(Found::Lost { from: 111, to: 116 }));
    assert_eq!(now(&mut late), None);
}

#[test]
fn a_piece_over_the_limit_is_kept_alone() {
    let ring = Ring::new(0, 4);
    ring.push(run("ab"));
    ring.push(run("0123456789"));
    assert_eq!((ring.start(), ring.end()), (2, 12));
}

#[tokio::test]
async fn a_reader_waits_and_learns_of_the_end() {
    let ring = Ring::<Chunk>::new(0, 64);
    let mut cursor = ring.cursor(0);
    let reader = tokio::spawn(async move {
        let mut read = Vec::new();
        while let Some(Found::Piece { piece, .. }) = cursor.next().await {
            read.extend(piece.0);
        }
        read
    });
    for text in ["one ", "two ", "three"] {
        ring.push(run(text));
        tokio::task::yield_now().await;
    }
    drop(ring);
    assert_eq!(reader.await.unwrap(), b"one two three");
}

/// Whatever the pace: each reader gets every byte once, in order, or learns that it is lost.
#[test]
fn nothing_is_lost_in_silence() {
    for seed in 1..=200 {
        let mut random = Random(seed * 0x9e37_79b9);
        let weight_max = usize::try_from(random.below(60) + 8).unwrap();
        let start = random.below(1000);
        let ring = Ring::new(start, weight_max);
        let mut all: Vec<u8> = Vec::new();
        let mut readers: Vec<(Cursor<Chunk>, u64)> = Vec::new();
        for _ in 0..400 {
            match random.below(8) {
                0 => {
                    let behind = random.below(all.len() as u64 + 1);
                    let at = start + all.len() as u64 - behind;
                    readers.push((ring.cursor(at), at));
                }
                1..=3 => {
                    let count = random.below(12) + 1;
                    let bytes: Vec<u8> = (0..count)
                        .map(|_| u8::try_from(random.below(256)).unwrap())
                        .collect();
                    all.extend(&bytes);
                    ring.push(Chunk(bytes));
                }
                _ if readers.is_empty() => {}
                _ => {
                    let which = usize::try_from(random.below(readers.len() as u64)).unwrap();
                    let (cursor, at) = &mut readers[which];
                    follow(cursor, at, start, &all);
                }
            }
            let state = ring.shared.state();
            let held: usize = state.pieces.iter().map(|(_, p)| p.weight()).sum();
            assert_eq!(state.weight, held);
            assert!(held <= weight_max || state.pieces.len() == 1);
        }
        for (mut cursor, mut at) in readers {
            while follow(&mut cursor, &mut at, start, &all) {}
            assert_eq!(at, start + all.len() as u64);
        }
    }
}

/// One step of a reader that is at `at`, checked against everything pushed; false at the end.
fn follow(cursor: &mut Cursor<Chunk>, at: &mut u64, start: u64, all: &[u8]) -> bool {
    match now(cursor) {
        None => false,
        Some(Found::Lost { from, to }) => {
            assert_eq!(from, *at);
            assert!(to > from);
            *at = to;
            true
        }
        Some(Found::Piece { at: begins, piece }) => {
            assert_eq!(begins, *at);
            let from = usize::try_from(begins - start).unwrap();
            assert_eq!(piece.0, all[from..from + piece.0.len()]);
            *at += piece.positions();
            true
        }
    }
}
