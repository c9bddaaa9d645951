//! A billion samples of 14 channels: stored, looked at from afar, looked up, and an overview against the way through all edges.
//!
//! `cargo xtask bench captures`, or a part of it by name: `-- ingest sizes looks rivals`. Compare the ratios rather than the absolute
//! numbers.

#![allow(clippy::print_stdout, reason = "printing is what a bench is for")]

#[path = "decode/clock.rs"]
#[allow(dead_code, reason = "the other bench uses all of it")]
mod clock;
#[path = "captures/rivals.rs"]
mod rivals;
#[path = "captures/storing.rs"]
mod storing;
#[path = "../tests/support/traffic.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod traffic;

use decode::pyramid::{FINEST_LEVEL, Pyramid, Zoom, logic_stretches};
use decode::segment::{Edge, Encoder, EncoderSpec, Segment};
use std::hint::black_box;
use std::time::Instant;
use traffic::Rng;

const CHANNELS: usize = 14;

/// Samples that are drawn at once; the capture repeats such parts.
const PART: usize = 1 << 22;

/// Stretches of a view.
const POINTS: u64 = 2000;

/// Channels by what they do.
const BUSIEST: usize = 0;
const LONE: usize = 8;
const STILL: usize = 13;

/// 14 channels: random runs of one or two samples, a clock of 24 samples in bursts, its data, five lines of rare bytes, one
/// that toggles at the very end alone, and five that rest.
fn part(seed: u64, is_last: bool) -> Vec<u16> {
    let mut rng = Rng::new(seed);
    let mut levels: u16 = 0;
    let mut left = 1;
    let mut samples = Vec::with_capacity(PART);
    for at in 0..PART {
        left -= 1;
        if left == 0 {
            levels ^= 1;
            left = rng.range(1, 3);
        }
        let in_burst = at / 20_000 % 4 == 0;
        if in_burst && at % 12 == 0 {
            levels ^= 2;
        }
        if in_burst && at % 24 == 6 && rng.range(0, 2) == 0 {
            levels ^= 4;
        }
        if at % 64 == 0 {
            let line = rng.range(0, 2000);
            if line < 5 {
                levels ^= 8 << line;
            }
        }
        if is_last && at + 1 == PART {
            levels ^= 1 << LONE;
        }
        samples.push(levels);
    }
    samples
}

fn encode(parts: usize) -> (Vec<u8>, Vec<u8>) {
    let spec = EncoderSpec {
        channels: CHANNELS,
        sample_rate_hz: 100e6,
    };
    let mut encoder = Encoder::new(spec).expect("it is valid").with_pyramid();
    let different: Vec<Vec<u16>> = (0..4).map(|seed| part(seed, false)).collect();
    let last = part(9, true);
    let (mut bytes, mut pyramid) = (Vec::new(), Vec::new());
    for number in 0..parts {
        let is_last = number + 1 == parts;
        let samples = if is_last {
            &last
        } else {
            &different[number % 4]
        };
        encoder.push_words(samples);
        bytes.extend(encoder.take());
        pyramid.extend(encoder.take_pyramid());
    }
    let (rest, top) = encoder.finish_both();
    bytes.extend(rest);
    pyramid.extend(top);
    (bytes, pyramid)
}

/// Least and greatest of some times, in milliseconds.
fn spread(rounds: u32, mut run: impl FnMut(u32)) -> (f64, f64) {
    let mut times: Vec<f64> = (0..rounds)
        .map(|round| {
            let begun = Instant::now();
            run(round);
            begun.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    // The machine is busy: of a hundred, the worst one is somebody else's.
    let high = times.len() - 1 - times.len() / 50;
    (times[times.len() / 2], times[high])
}

fn tiles(segment: &Segment<'_>, pyramid: &Pyramid<'_>, rounds: u32) {
    println!("\ntiles: {CHANNELS} channels, {POINTS} stretches, anywhere");
    let all: Vec<usize> = (0..CHANNELS).collect();
    let mut rng = Rng::new(5);
    for level in 0..=segment.samples().div_ceil(POINTS).ilog2() + 1 {
        let count = segment.samples().div_ceil(1 << level);
        let (middle, high) = spread(rounds, |_| {
            let first = rng.range(0, count.saturating_sub(POINTS).max(1));
            let found = logic_stretches(segment, Some(pyramid), &all, level, first..first + POINTS);
            black_box(found.expect("sound"));
        });
        println!("  2^{level:<2} samples  {middle:7.3} ms  p98 {high:7.3} ms");
    }
}

fn look_ups(segment: &Segment<'_>, rounds: u32) {
    println!("\nlook-ups, each with nothing held from the one before");
    let end = segment.samples();
    let run = |what: &str, channel: usize, look: &dyn Fn(&mut decode::segment::Line<'_>, u64)| {
        let mut rng = Rng::new(7);
        let (middle, high) = spread(rounds, |_| {
            let mut line = segment.line(channel).expect("there is the channel");
            look(&mut line, rng.range(0, end));
        });
        println!(
            "  {what:52} {:7.1} us  p98 {:7.1} us",
            middle * 1e3,
            high * 1e3
        );
    };
    for (name, channel) in [
        ("629 M edges", BUSIEST),
        ("bursts", 1),
        ("rare", 4),
        ("one edge", LONE),
        ("none", STILL),
    ] {
        run(
            &format!("next rising edge, {name}"),
            channel,
            &|line, at| {
                black_box(line.next_edge(at, Edge::Rising).expect("sound"));
            },
        );
        run(&format!("previous edge, {name}"), channel, &|line, at| {
            black_box(line.previous_edge(at, Edge::Either).expect("sound"));
        });
        run(
            &format!("level at a sample, {name}"),
            channel,
            &|line, at| {
                black_box(line.level_at(at).expect("sound"));
            },
        );
        run(
            &format!("levels from a sample to the end, {name}"),
            channel,
            &|line, at| {
                black_box(line.levels_in(at..end).expect("sound"));
            },
        );
        run(
            &format!("edges from the start to a sample, {name}"),
            channel,
            &|line, at| {
                black_box(line.edges_in(0..at).expect("sound"));
            },
        );
    }
}

/// What an overview was before there were pyramids: every edge of the channel.
fn through_all_edges(segment: &Segment<'_>, channel: usize) -> Vec<(u16, u16)> {
    let end = segment.samples();
    let mut seen = vec![(1, 0); usize::try_from(POINTS).expect("small")];
    let mut mark = |level: bool, from: u64, to: u64| {
        let place =
            |at: u64| usize::try_from(((at + 1) * POINTS).div_ceil(end) - 1).expect("small");
        for stretch in &mut seen[place(from)..=place(to - 1)] {
            let level = u16::from(level);
            *stretch = (stretch.0.min(level), stretch.1.max(level));
        }
    };
    let mut level = segment.level_at(channel, 0).expect("sound");
    let mut at = 0;
    for edge in segment.edges(&[channel], 1, end) {
        let (edge, _) = edge.expect("sound");
        mark(level, at, edge);
        (at, level) = (edge, !level);
    }
    mark(level, at, end);
    seen
}

fn overview(segment: &Segment<'_>, pyramid: &Pyramid<'_>, rounds: u32) {
    println!("\noverview of all samples, {POINTS} stretches");
    let end = segment.samples();
    for (name, channel) in [("629 M edges", BUSIEST), ("bursts", 1), ("rare", 4)] {
        let look = || {
            let zoom = Zoom::of_logic(segment, Some(pyramid), channel);
            let mut zoom = zoom.expect("there is the channel");
            let first = |stretch: u64| stretch * end / POINTS;
            (0..POINTS)
                .filter_map(|at| zoom.extent(first(at)..first(at + 1)).expect("sound"))
                .collect::<Vec<_>>()
        };
        let begun = Instant::now();
        let expected = through_all_edges(segment, channel);
        let before = begun.elapsed().as_secs_f64() * 1e3;
        assert_eq!(look(), expected, "the same picture");
        let (middle, high) = spread(rounds, |_| {
            black_box(look());
        });
        println!(
            "  {name:12} {middle:8.2} ms  p98 {high:8.2} ms; through all edges {before:9.0} ms = {:.0} x",
            before / middle
        );
    }
}

fn main() {
    // `cargo test --benches` runs this too, to see that it still works.
    let quick = std::env::args().any(|argument| argument == "--test");
    let (parts, rounds) = if quick {
        (2, 3)
    } else {
        (1_000_000_000 / PART + 1, 100)
    };
    let named: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let wanted = |part: &str| named.is_empty() || named.iter().any(|name| name == part);
    if wanted("ingest") {
        storing::ingest(parts.min(24), rounds.min(3));
    }
    if wanted("sizes") {
        storing::sizes();
    }
    if wanted("looks") {
        looks(parts, rounds);
    }
    if wanted("rivals") {
        rivals::run(parts.min(12) * PART / 2, rounds.min(3));
    }
}

/// A billion samples, looked at.
fn looks(parts: usize, rounds: u32) {
    let (bytes, file) = encode(parts);
    let segment = Segment::open(&bytes).expect("sound");
    let pyramid = Pyramid::open_logic(&file).expect("sound");
    println!(
        "\n{} samples of {CHANNELS} channels: {} bytes, pyramid from 2^{FINEST_LEVEL} samples on {} bytes ({:.2} %)",
        segment.samples(),
        bytes.len(),
        file.len(),
        file.len() as f64 / bytes.len() as f64 * 100.0
    );
    let (open, _) = spread(rounds, |_| {
        black_box(Segment::open(&bytes).expect("sound"));
    });
    let (open_pyramid, _) = spread(rounds, |_| {
        black_box(Pyramid::open_logic(&file).expect("sound"));
    });
    println!(
        "opening: {:.0} us, pyramid {:.0} us",
        open * 1e3,
        open_pyramid * 1e3
    );
    storing::pyramid_again(&segment);
    tiles(&segment, &pyramid, rounds);
    look_ups(&segment, rounds);
    overview(&segment, &pyramid, rounds.min(20));
}
