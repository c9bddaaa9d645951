//! Decoding speed against what memory can deliver, against a naive decoder, and, from the `.sr`
//! file to the last annotation, against sigrok-cli where that is installed.
//!
//! `cargo bench -p decode --bench decode`, with `-- files` the files alone. Rounds are interleaved, so that a busy machine slows all
//! contestants alike; the best round of each counts. Compare the ratios rather than the absolute
//! numbers.

#![allow(clippy::print_stdout, reason = "printing is what a bench is for")]

#[path = "decode/captures.rs"]
mod captures;
#[path = "decode/clock.rs"]
mod clock;
#[path = "../tests/support/naive.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod naive;
#[path = "decode/samples.rs"]
mod samples;
#[path = "../tests/support/traffic.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod traffic;

fn main() {
    // `cargo test --benches` runs this too, to see that it still works.
    let quick = std::env::args().any(|argument| argument == "--test");
    if !std::env::args().any(|argument| argument == "files") {
        samples::run(
            if quick { 1_000_000 } else { 100_000_000 },
            if quick { 1 } else { 7 },
        );
    }
    captures::run(if quick { 1 } else { 5 });
}
