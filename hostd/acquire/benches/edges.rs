//! How fast samples become edges, against one comparison for each sample, in one run.
//!
//! `cargo bench -p acquire --bench edges`. Rounds are interleaved, so that a busy machine slows both alike; the best
//! round of each counts. An analyzer sends at most 24 MB/s.

#![allow(clippy::print_stdout, reason = "printing is what a bench is for")]

use std::hint::black_box;
use std::time::Instant;

use acquire::EdgesEach;

/// What the fastest analyzer sends.
const LINK_MB_PER_S: f64 = 24.0;

/// Samples of one frame, which is what is turned at once.
const PIECE: usize = 65_536;

fn main() {
    // `cargo test --benches` runs this too, to see that it still works.
    let quick = std::env::args().any(|argument| argument == "--test");
    let (bytes, rounds) = if quick { (1 << 20, 1) } else { (32 << 20, 9) };
    println!("samples of     edges/sample   naive MB/s   here MB/s   ratio   of 24 MB/s");
    for (name, unit, every) in [
        ("idle, 8", 1, usize::MAX),
        ("UART, 8", 1, 208),
        ("I2C, 8", 1, 60),
        ("SPI, 8", 1, 6),
        ("all change, 8", 1, 1),
        ("idle, 16", 2, usize::MAX),
        ("UART, 16", 2, 104),
        ("SPI, 16", 2, 6),
    ] {
        let raw = samples(bytes / unit, unit, every);
        let bits: Vec<usize> = (0..8 * unit).take(14).collect();
        let (mut simple, mut ours, mut edges) = (f64::MAX, f64::MAX, 0);
        for _ in 0..rounds {
            let mut expected = Sum::default();
            let began = Instant::now();
            naive(black_box(&raw), unit, &mut |edges| expected.add(edges));
            simple = simple.min(began.elapsed().as_secs_f64());
            let mut found = Sum::default();
            let began = Instant::now();
            let each = &mut |edges: &[(u64, u16)]| found.add(edges);
            acquire::edges_fast(unit, &bits, black_box(&raw), PIECE, each);
            ours = ours.min(began.elapsed().as_secs_f64());
            assert_eq!(found, expected, "both find the same");
            edges = found.count;
        }
        let (naive, here) = (rate(raw.len(), simple), rate(raw.len(), ours));
        println!(
            "{name:<14} {:>12.5} {naive:>12.0} {here:>11.0} {:>7.1} {:>12.0}×",
            ratio(edges, raw.len() / unit),
            here / naive,
            here / LINK_MB_PER_S,
        );
    }
}

/// Samples of which about one in `every` differs from the one before.
fn samples(count: usize, unit: usize, every: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(24);
    let mut raw = Vec::with_capacity(count * unit);
    let (mut word, mut left) = (0x15_u16, every);
    for _ in 0..count {
        if left == 0 || every == 1 {
            word ^= 1 << random.u32(..8);
            // Real signals are not periodic.
            left = every / 2 + random.usize(..=every);
        } else {
            left -= 1;
        }
        raw.extend_from_slice(&word.to_le_bytes()[..unit]);
    }
    raw
}

/// What was found, so that nothing of it is left out.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sum {
    count: usize,
    indices: u64,
    words: u64,
}

impl Sum {
    fn add(&mut self, edges: &[(u64, u16)]) {
        self.count += edges.len();
        for (index, word) in edges {
            self.indices = self.indices.wrapping_mul(31).wrapping_add(*index);
            self.words = self.words.wrapping_mul(31).wrapping_add((*word).into());
        }
    }
}

/// One comparison for each sample.
fn naive(raw: &[u8], unit: usize, each: &mut EdgesEach<'_>) {
    let (mut last, mut index) = (None, 0);
    for piece in raw.chunks(PIECE * unit) {
        let mut edges = Vec::new();
        for sample in piece.chunks_exact(unit) {
            let word = match *sample {
                [low, high] => u16::from_le_bytes([low, high]) & 0x3FFF,
                [low] => u16::from(low),
                _ => unreachable!("samples have 1 or 2 bytes"),
            };
            if last != Some(word) {
                edges.push((index, word));
                last = Some(word);
            }
            index += 1;
        }
        each(&edges);
    }
}

#[expect(clippy::cast_precision_loss, reason = "megabytes of a bench")]
fn rate(bytes: usize, seconds: f64) -> f64 {
    bytes as f64 / 1e6 / seconds
}

#[expect(clippy::cast_precision_loss, reason = "counts of a bench")]
fn ratio(part: usize, all: usize) -> f64 {
    part as f64 / all as f64
}
