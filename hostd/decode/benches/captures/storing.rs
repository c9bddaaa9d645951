//! What it takes to store: raw samples on one thread, the recordings of the tree against their `.sr` files, and a pyramid
//! that is made again. Processor time, best of some rounds.

use crate::clock::process_seconds;
use crate::traffic::Rng;
use decode::import::{Import, Limits, Memory, Options};
use decode::pyramid;
use decode::segment::{Encoder, EncoderSpec, Segment, SegmentError};
use std::hint::black_box;
use std::path::{Path, PathBuf};

/// How often each channel changes: once in so many samples.
const TRAFFIC: [(&str, u64); 3] = [("sparse", 2000), ("mixed", 64), ("dense", 3)];

/// Samples that are drawn; they are pushed again and again.
const DRAWN: usize = 1 << 22;

fn best(rounds: u32, mut run: impl FnMut()) -> f64 {
    let times = (0..rounds).map(|_| {
        let before = process_seconds();
        run();
        process_seconds() - before
    });
    times.fold(f64::MAX, f64::min)
}

/// Samples of `unit` bytes of which one in `every` differs from the one before it.
fn samples(unit: usize, every: u64) -> Vec<u8> {
    let mut rng = Rng::new(3);
    let mut word: u64 = 0;
    let mut raw = Vec::with_capacity(DRAWN * unit);
    for _ in 0..DRAWN {
        if rng.range(0, every) == 0 {
            word ^= 1 << rng.range(0, unit as u64 * 8);
        }
        raw.extend(&word.to_le_bytes()[..unit]);
    }
    raw
}

pub(crate) fn ingest(parts: usize, rounds: u32) {
    println!("\nstoring raw samples with the pyramid, one thread, best of {rounds}");
    for (name, every) in TRAFFIC {
        for unit in [1, 2] {
            let raw = samples(unit, every);
            let mut stored = 0;
            let seconds = best(rounds, || {
                let spec = EncoderSpec {
                    channels: unit * 8,
                    sample_rate_hz: 100e6,
                };
                let mut encoder = Encoder::new(spec).expect("a valid spec").with_pyramid();
                stored = 0;
                for _ in 0..parts {
                    encoder.push_raw(&raw, unit);
                    stored += encoder.take().len() + encoder.take_pyramid().len();
                }
                let (rest, top) = encoder.finish_both();
                stored += rest.len() + top.len();
            });
            let bytes = (raw.len() * parts) as f64;
            println!(
                "  {name:6} {} channels  {:6.2} GB/s  1/{:.0} of its size",
                unit * 8,
                bytes / seconds / 1e9,
                bytes / stored as f64
            );
        }
    }
}

/// The recordings of the tree.
fn recordings(below: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(below).expect("the captures are in the tree") {
        let path = entry.expect("a folder can be read").path();
        if path.is_dir() {
            recordings(&path, found);
        } else if path.extension().is_some_and(|end| end == "sr") {
            found.push(path);
        }
    }
}

pub(crate) fn sizes() {
    println!("\nstored size of recordings against their .sr files");
    let mut paths = Vec::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/captures");
    recordings(&folder, &mut paths);
    paths.sort();
    let (mut before, mut after) = (0, 0);
    for path in paths {
        let bytes = std::fs::read(&path).expect("it is there");
        let import = Import::open(&bytes, &Options::default(), &Limits::default());
        let import = import.expect("the recordings are sound");
        let (logic, analog) = Memory::of(&import).expect("the recordings are sound");
        let stored = logic.len() + analog.len();
        println!(
            "  {:60} {:8} bytes  {stored:8} = 1/{:.1}",
            path.file_name().unwrap_or_default().to_string_lossy(),
            bytes.len(),
            bytes.len() as f64 / stored as f64
        );
        before += bytes.len();
        after += stored;
    }
    println!("  all: 1/{:.1}", before as f64 / after as f64);
}

pub(crate) fn pyramid_again(segment: &Segment<'_>) {
    let seconds = best(1, || {
        let made = pyramid::of_logic(segment, |bytes| {
            black_box(bytes);
            Ok::<(), SegmentError>(())
        });
        made.expect("sound");
    });
    println!("\na missing pyramid is made again in {seconds:.2} s");
}
