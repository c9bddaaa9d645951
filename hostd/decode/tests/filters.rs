//! Glitches that are left out, and analog samples that are read as logic.

#![allow(clippy::unwrap_used, reason = "it is a test")]

#[path = "support/stored.rs"]
#[allow(dead_code, reason = "each test uses some of it")]
mod stored;
#[path = "support/traffic.rs"]
#[allow(dead_code, reason = "the equality tests use all of it")]
mod traffic;

use decode::analog::{AnalogEncoder, AnalogSegment, ThresholdError};
use decode::segment::{BLOCK_SAMPLES, Segment};
use decode::{Annotation, Decoding, Spec};
use std::ops::ControlFlow;
use stored::{all_of, store};
use traffic::Rng;

fn spec(protocol: &str, map: &[(&str, &str)], options: &[(&str, &str)]) -> Spec {
    let names: Vec<String> = (0..8).map(|index| index.to_string()).collect();
    Spec::parse(protocol, map, options, None, &names).unwrap()
}

fn decoded(stored: &[u8], spec: &Spec, pulse_min: u64) -> Vec<Annotation> {
    decoded_from(0, stored, spec, pulse_min)
}

fn decoded_from(first: u64, stored: &[u8], spec: &Spec, pulse_min: u64) -> Vec<Annotation> {
    let segment = Segment::open(stored).unwrap();
    let decoding = Decoding::of_segment(&segment, spec).unwrap();
    all_of(decoding.within(first..u64::MAX).without_glitches(pulse_min))
}

/// Each line from stretch to stretch: one that is too short, and is not cut off by an end, has the level before it.
fn without_glitches(samples: &[u8], least: usize) -> Vec<u8> {
    let mut filtered = vec![0; samples.len()];
    for line in 0..8 {
        let level = |at: usize| samples[at] >> line & 1;
        let mut shown = level(0);
        let mut at = 0;
        while at < samples.len() {
            let end = (at..samples.len())
                .find(|&next| level(next) != level(at))
                .unwrap_or(samples.len());
            if end == samples.len() || end - at >= least {
                shown = level(at);
            }
            for sample in &mut filtered[at..end] {
                *sample |= shown << line;
            }
            at = end;
        }
    }
    filtered
}

#[test]
fn a_capture_without_glitches_decodes_as_if_it_had_none() {
    let mut rng = Rng::new(8);
    let block = usize::try_from(BLOCK_SAMPLES).unwrap();
    let mut samples = traffic::uart(block + 300_000, 8.0, 40, 3);
    for sample in samples.iter_mut() {
        if rng.range(0, 40) == 0 {
            *sample ^= 1;
        }
    }
    // Glitches on both sides of the seam of two blocks, and over it.
    for at in [block - 9, block - 2, block - 1, block, block + 7] {
        samples[at] ^= 1;
    }
    let stored = store(&samples);
    let spec = spec("uart", &[("rx", "0")], &[("baudrate", "125000")]);
    let mut seen = Vec::new();
    for least in [0, 1, 2, 3, 5, 100] {
        let expected = store(&without_glitches(&samples, usize::try_from(least).unwrap()));
        let found = decoded(&stored, &spec, least);
        assert_eq!(found, decoded(&expected, &spec, 0), "shorter than {least}");
        seen.push(found.len());
    }
    assert_eq!(seen[0], seen[1]);
    assert!(seen[2] > 10_000 && seen[5] < seen[2], "{seen:?}");
}

#[test]
fn all_lines_of_noise_are_filtered() {
    let samples = traffic::noise(200_000, 12, 4);
    let stored = store(&samples);
    let map = [("clk", "0"), ("cs", "1"), ("mosi", "2"), ("miso", "3")];
    let spec = spec("spi", &map, &[]);
    for least in [2, 4, 9] {
        let expected = store(&without_glitches(&samples, usize::try_from(least).unwrap()));
        let found = decoded(&stored, &spec, least);
        assert!(found.len() > 100);
        assert_eq!(found, decoded(&expected, &spec, 0), "shorter than {least}");
    }
}

#[test]
fn a_range_that_begins_within_a_glitch_has_the_level_before_it() {
    let block = usize::try_from(BLOCK_SAMPLES).unwrap();
    let mut samples = traffic::noise(block + 20_000, 12, 4);
    // A glitch over the seam of two blocks, and several before the other.
    for at in block - 20..block + 1 {
        samples[at] = samples[block - 20] & !3 | u8::from(at >= block - 1) | [0, 2][at % 2];
    }
    let stored = store(&samples);
    // A clock that samples when it falls sees the end of the glitch, if it is not left out.
    let spec = spec("spi", &[("clk", "0"), ("mosi", "1")], &[("cpol", "1")]);
    for first in [BLOCK_SAMPLES, BLOCK_SAMPLES + 1, BLOCK_SAMPLES + 5000] {
        for least in [2, 4, 9] {
            let expected = store(&without_glitches(&samples, usize::try_from(least).unwrap()));
            let found = decoded_from(first.into(), &stored, &spec, least);
            assert!(found.len() > 100);
            let expected = decoded_from(first.into(), &expected, &spec, 0);
            assert!(found == expected, "from {first}, shorter than {least}");
        }
    }
}

#[test]
fn analog_samples_are_read_with_hysteresis() {
    let mut rng = Rng::new(2);
    let mut counts = Vec::new();
    let mut value: u16 = 500;
    for _ in 0..200_000 {
        let step = u16::try_from(rng.range(0, 81)).unwrap();
        value = (value + step).saturating_sub(40).clamp(0, 1000);
        counts.push(value);
    }
    let mut encoder = AnalogEncoder::new(1e6).unwrap();
    encoder.push(&counts);
    let stored = encoder.finish();
    let analog = AnalogSegment::open(&stored).unwrap();
    let level = |count: u16| match count {
        600.. => Some(true),
        ..=400 => Some(false),
        _ => None,
    };
    let ended = analog.as_logic(level, &|| false);
    assert!(matches!(ended, Err(ThresholdError::Ended)), "{ended:?}");
    let logic = analog.as_logic(level, &|| true).unwrap();
    let segment = Segment::open(&logic).unwrap();
    assert_eq!((segment.channels(), segment.samples()), (1, 200_000));
    let mut high = false;
    let mut edges = 0;
    let toggles: Vec<u64> = segment.toggles(0, 0, 200_000).map(Result::unwrap).collect();
    let mut expected = Vec::new();
    for (at, count) in (0..).zip(&counts) {
        let now = level(*count).unwrap_or(high);
        if now != high && at > 0 {
            expected.push(at);
            edges += 1;
        }
        high = now;
    }
    assert!(edges > 20, "{edges}");
    assert_eq!(toggles, expected);
}

#[test]
fn a_limit_ends_a_decoding_behind_so_many_annotations() {
    let samples = traffic::i2c(100_000, traffic::Load::Dense, 9);
    let stored = store(&samples);
    let segment = Segment::open(&stored).unwrap();
    let names = ["SCL", "SDA"].map(str::to_owned);
    let map = [("scl", "SCL"), ("sda", "SDA")];
    let spec = Spec::parse("i2c", &map, &[], None, &names).unwrap();
    let decoded = |most: u64| {
        let mut all = Vec::new();
        let decoding = Decoding::of_segment(&segment, &spec).unwrap();
        let summary = decoding.at_most(most).run(&mut |found| {
            all.extend_from_slice(found);
            ControlFlow::Continue(())
        });
        (all, summary.unwrap().stopped)
    };
    let (all, stopped) = decoded(u64::MAX);
    assert!(all.len() > 100 && !stopped, "{}", all.len());
    for most in [1, 2, 99] {
        let (found, stopped) = decoded(most);
        let end = usize::try_from(most).unwrap();
        assert!(found == all[..end] && stopped, "{most}");
    }
}
