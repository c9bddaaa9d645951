//! A billion samples of I²C, searched: against a naive decoder on expanded samples, and against decoding to text.
//!
//! `cargo xtask bench captures -- search`. Compare the ratios rather than the absolute numbers.

#![allow(clippy::print_stdout, reason = "printing is what a bench is for")]

#[path = "../../decode/tests/support/naive.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod naive;
#[path = "../../decode/tests/support/traffic.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod traffic;

use decode::segment::{Encoder, EncoderSpec, Segment};
use decode::{Format, Spec};
use search::{Known, Query};
use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;
use traffic::Load;

/// Samples that are drawn at once; the capture repeats such parts.
const PART: usize = 1 << 22;

/// Samples a second: of a bus at 400 kHz.
const RATE_HZ: f64 = 24e6;

const QUERIES: [&str; 5] = [
    "address 0x76 nack",
    "i2c 0x33 read",
    "i2c bytes 55 aa ??",
    "pulse on scl shorter than 0.5 us",
    "no edge for 1 ms",
];

fn encode(load: Load, parts: usize) -> (Vec<u8>, Vec<u8>) {
    let mut encoder = Encoder::new(EncoderSpec {
        channels: 2,
        sample_rate_hz: RATE_HZ,
    })
    .expect("the spec is valid");
    let different: Vec<Vec<u8>> = (0..4).map(|seed| traffic::i2c(PART, load, seed)).collect();
    let mut bytes = Vec::new();
    for number in 0..parts {
        encoder.push_raw(&different[number % 4], 1);
        bytes.extend(encoder.take());
    }
    bytes.extend(encoder.finish());
    (bytes, different.into_iter().next().expect("there are four"))
}

/// Least seconds that something takes.
fn best(rounds: u32, mut run: impl FnMut()) -> f64 {
    let times = (0..rounds).map(|_| {
        let begun = Instant::now();
        run();
        begun.elapsed().as_secs_f64()
    });
    times.fold(f64::MAX, f64::min)
}

/// Every line of the decoder, as who greps for a place needs them.
fn to_text(segment: &Segment<'_>, names: &[String]) -> usize {
    let map = [("scl", "scl"), ("sda", "sda")];
    let spec = Spec::parse("i2c", &map, &[], Some("addr-data"), names).expect("it is valid");
    let mut text = Vec::new();
    let mut bytes = 0;
    let decoded = decode::decode_segment(segment, &spec, &mut |notes| {
        text.clear();
        let written = Format::Sigrok.write(&spec, notes, &mut text);
        written.expect("memory takes everything");
        bytes += text.len();
        ControlFlow::Continue(())
    });
    decoded.expect("sound");
    bytes
}

fn search(load: Load, parts: usize, rounds: u32) {
    let names = ["scl".to_owned(), "sda".to_owned()];
    let (stored, part) = encode(load, parts);
    let segment = Segment::open(&stored).expect("sound");
    let samples = segment.samples() as f64;
    let naive = best(1, || {
        black_box(naive::i2c(&part));
    }) * samples
        / part.len() as f64;
    let text = best(1, || {
        black_box(to_text(&segment, &names));
    });
    println!(
        "  {load:?}: {} bytes stored; a naive decoder {naive:.1} s, decoding to text {text:.3} s",
        stored.len()
    );
    for query in QUERIES {
        let search = Query::parse(query).expect("it is a query");
        let search = search.bind(&names, &Known::default()).expect("it fits");
        let mut hits = 0;
        let seconds = best(rounds, || {
            hits = 0;
            let ended = search.run(&segment, 0..u64::MAX, &|| true, &mut |hit| {
                black_box(hit);
                hits += 1;
                ControlFlow::Continue(())
            });
            ended.expect("sound");
        });
        println!(
            "    {query:34} {hits:>8} places {seconds:7.3} s {:6.1} Gsamples/s; naive = {:.0} x, to text = {:.1} x",
            samples / seconds * 1e-9,
            naive / seconds,
            text / seconds
        );
    }
}

fn main() {
    // `cargo test --benches` runs this too, to see that it still works.
    let quick = std::env::args().any(|argument| argument == "--test");
    let (parts, rounds) = if quick {
        (1, 1)
    } else {
        (1_000_000_000 / PART + 1, 3)
    };
    let named = || {
        std::env::args()
            .skip(1)
            .filter(|name| !name.starts_with('-'))
    };
    if named().next().is_some() && !named().any(|name| name == "search") {
        return;
    }
    println!("\nsearch over {} samples of I2C", parts * PART);
    for load in [Load::Dense, Load::Mixed, Load::Sparse] {
        search(load, parts, rounds);
    }
}
