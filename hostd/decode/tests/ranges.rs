//! Ranges of a stored capture: what is decoded of them is what the whole capture has there.

#![allow(clippy::unwrap_used, reason = "it is a test")]

#[path = "support/naive.rs"]
#[allow(dead_code, reason = "the equality tests use all of it")]
mod naive;
#[path = "support/stored.rs"]
#[allow(dead_code, reason = "each test uses some of it")]
mod stored;
#[path = "support/traffic.rs"]
#[allow(dead_code, reason = "the equality tests use all of it")]
mod traffic;

use decode::gaps::{Gaps, Part};
use decode::segment::{BLOCK_SAMPLES, Segment};
use decode::{Annotation, Decoding, Spec};
use std::ops::{ControlFlow, Range};
use stored::{all_of, store};
use traffic::{Load, Rng};

/// The class of single bits on an I²C bus.
const BIT: u8 = 5;

/// More than a block, so that ranges begin and end in several.
const SAMPLES: usize = BLOCK_SAMPLES as usize + 400_000;

fn spec(protocol: &str, map: &[(&str, &str)], options: &[(&str, &str)]) -> Spec {
    let names: Vec<String> = (0..8).map(|index| index.to_string()).collect();
    Spec::parse(protocol, map, options, None, &names).unwrap()
}

fn decoded(stored: &[u8], spec: &Spec, range: Range<u64>) -> Vec<Annotation> {
    let segment = Segment::open(stored).unwrap();
    all_of(Decoding::of_segment(&segment, spec).unwrap().within(range))
}

fn range(rng: &mut Rng) -> Range<u64> {
    let end = SAMPLES as u64;
    let block = u64::from(BLOCK_SAMPLES);
    let from = match rng.range(0, 4) {
        0 => rng.range(1, 3000),
        1 => rng.range(block - 2000, block + 2000),
        _ => rng.range(1, end - 1),
    };
    let to = match rng.range(0, 3) {
        0 => (from + rng.range(1, 20_000)).min(end),
        _ => rng.range(from + 1, end + 1),
    };
    from..to
}

fn slice(samples: &[u8], range: &Range<u64>) -> Vec<u8> {
    let at = |sample: u64| usize::try_from(sample).unwrap();
    samples[at(range.start)..at(range.end)].to_vec()
}

/// The sample before a range says whether there is an edge at its first one.
#[test]
fn i2c_in_a_range_begins_with_its_first_start() {
    let mut rng = Rng::new(3);
    for load in [Load::Dense, Load::Mixed] {
        let samples = traffic::i2c(SAMPLES, load, 11);
        let stored = store(&samples);
        let map = [("scl", "0"), ("sda", "1")];
        let spec = spec("i2c", &map, &[]);
        let names: Vec<String> = (0..8).map(|index| index.to_string()).collect();
        let rows = Spec::parse("i2c", &map, &[], Some("addr-data"), &names).unwrap();
        let mut seen = 0;
        for _ in 0..60 {
            let range = range(&mut rng);
            let before = range.start - 1;
            let mut expected = naive::i2c(&slice(&samples, &(before..range.end)));
            for annotation in &mut expected {
                annotation.start += before;
                annotation.end += before;
            }
            assert_eq!(
                decoded(&stored, &spec, range.clone()),
                expected,
                "{range:?}"
            );
            seen += expected.len();
            // Without single bits, parts are decoded side by side.
            expected.retain(|annotation| annotation.class != BIT);
            assert_eq!(decoded(&stored, &rows, range), expected);
        }
        assert!(seen > 10_000, "{seen}");
    }
}

/// At few samples a bit, a START may fall into the sample in which the clock rises, on an idle bus alone. In a range that
/// begins within a byte, such a sample is no START.
#[test]
fn i2c_in_a_range_does_not_begin_with_a_bit() {
    // Half a bit a sample: a START with the clock rising, the address 0x68 to write, and its answer.
    let mut samples = vec![0b11, 0b11, 0b10, 0b01];
    for bit in [1, 1, 0, 1, 0, 0, 0, 0, 0] {
        samples.extend([bit << 1 ^ 0b10, bit << 1 | 1]);
    }
    samples.extend([0b00, 0b01, 0b11, 0b11]);
    let stored = store(&samples);
    let spec = spec("i2c", &[("scl", "0"), ("sda", "1")], &[]);
    let end = samples.len() as u64;
    let whole = decoded(&stored, &spec, 0..end);
    assert!(whole.len() > 10, "{whole:?}");
    for from in 5..end - 3 {
        assert_eq!(decoded(&stored, &spec, from..end), [], "from {from}");
    }
}

/// Checks that a range that begins inside has the last annotations of the whole, all from soon behind its beginning, and
/// that one that ends inside has those of a capture which ends there.
fn check(samples: &[u8], spec: &Spec, soon: u64) {
    let stored = store(samples);
    let end = samples.len() as u64;
    let whole = decoded(&stored, spec, 0..end);
    let mut rng = Rng::new(5);
    for _ in 0..25 {
        let Range { start, end: to } = range(&mut rng);
        let rest = decoded(&stored, spec, start..end);
        let skipped = whole.len() - rest.len();
        assert_eq!(rest, whole[skipped..], "from {start}");
        assert!(rest.iter().all(|found| found.end >= start), "from {start}");
        if let Some(last) = whole[..skipped].last() {
            assert!(last.start <= start + soon, "from {start}: {last:?}");
        }
        let first = store(&slice(samples, &(0..to)));
        assert_eq!(decoded(&stored, spec, 0..to), decoded(&first, spec, 0..to));
    }
    assert!(decoded(&stored, spec, end..end + 5).is_empty());
    assert!(decoded(&stored, spec, 7..7).is_empty());
}

#[test]
fn spi_in_a_range_begins_with_the_next_selection() {
    let samples = traffic::spi(SAMPLES, 3, 17);
    let map = [("clk", "0"), ("cs", "1"), ("mosi", "2"), ("miso", "3")];
    // A transfer has 96 bits of six samples, and the chip rests for at most 300.
    check(&samples, &spec("spi", &map, &[]), 1000);
}

#[test]
fn a_uart_in_a_range_begins_behind_the_next_idle_time() {
    let samples = traffic::uart(SAMPLES, 8.0, 200, 19);
    // Six in ten bytes are followed by an idle time of a frame.
    let spec = spec("uart", &[("rx", "0")], &[("baudrate", "125000")]);
    check(&samples, &spec, 3000);
}

#[test]
fn a_uart_without_idle_times_begins_at_once() {
    let samples = traffic::uart(SAMPLES, 8.0, 0, 23);
    let stored = store(&samples);
    let spec = spec("uart", &[("rx", "0")], &[("baudrate", "125000")]);
    let found = decoded(&stored, &spec, 500_000..600_000);
    assert!(found.len() > 10_000, "{}", found.len());
}

/// The samples as they are stored when these were lost: the levels before them hold.
fn losing(samples: &[u8], lost: &Range<u64>) -> Vec<u8> {
    let mut left = samples.to_vec();
    let at = |sample: u64| usize::try_from(sample).unwrap();
    let held = samples[at(lost.start) - 1];
    left[at(lost.start)..at(lost.end)].fill(held);
    left
}

/// What is decoded of each part between gaps.
fn decoded_apart(stored: &[u8], spec: &Spec, lost: &Range<u64>) -> Vec<Vec<Annotation>> {
    let segment = Segment::open(stored).unwrap();
    let gaps = Gaps::new([(lost.start, lost.end)]);
    let mut all = Vec::new();
    for part in gaps.parts(&(0..segment.samples())) {
        let Part::Known { range, since } = part else {
            continue;
        };
        let mut found = Vec::new();
        let decoding = Decoding::of_segment(&segment, spec).unwrap();
        let decoding = decoding.within(range).known_since(since);
        let decoding = decoding.run(&mut |part| {
            found.extend_from_slice(part);
            ControlFlow::Continue(())
        });
        decoding.unwrap();
        all.push(found);
    }
    all
}

fn gap(rng: &mut Rng) -> Range<u64> {
    let from = rng.range(1, SAMPLES as u64 - 200_000);
    from..from + rng.range(1, 100_000)
}

#[test]
fn behind_a_gap_i2c_begins_with_the_next_start() {
    let mut rng = Rng::new(29);
    let samples = traffic::i2c(SAMPLES, Load::Dense, 31);
    let spec = spec("i2c", &[("scl", "0"), ("sda", "1")], &[]);
    let real = store(&samples);
    for _ in 0..25 {
        let lost = gap(&mut rng);
        let found = decoded_apart(&store(&losing(&samples, &lost)), &spec, &lost);
        assert_eq!(found[0], decoded(&real, &spec, 0..lost.start), "{lost:?}");
        // Whether the first sample has an edge is not known.
        let rest = decoded(&real, &spec, lost.end + 1..SAMPLES as u64);
        assert_eq!(found[1], rest, "{lost:?}");
    }
}

/// The levels that a gap holds are no idle time.
#[test]
fn behind_a_gap_a_uart_waits_for_an_idle_time() {
    let mut rng = Rng::new(37);
    let samples = traffic::uart(SAMPLES, 8.0, 200, 41);
    let spec = spec("uart", &[("rx", "0")], &[("baudrate", "125000")]);
    let whole = decoded(&store(&samples), &spec, 0..SAMPLES as u64);
    for _ in 0..25 {
        let lost = gap(&mut rng);
        let found = decoded_apart(&store(&losing(&samples, &lost)), &spec, &lost);
        let skipped = whole.len() - found[1].len();
        assert_eq!(found[1], whole[skipped..], "{lost:?}");
        assert!(found[1].len() > 1000, "{lost:?}");
        assert!(whole[skipped - 1].start <= lost.end + 3000, "{lost:?}");
    }
}
