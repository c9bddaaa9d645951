//! Logic channels: known signals, and random ones against a walk over all samples.
#![allow(clippy::unwrap_used, reason = "helpers of tests end them")]

use decode::segment::{Encoder, EncoderSpec, Segment};
use measure::{Digital, Stats, digital, digital_while};

const RATE_HZ: f64 = 1e6;

fn encoded(samples: &[u8]) -> Vec<u8> {
    let mut encoder = Encoder::new(EncoderSpec {
        channels: 2,
        sample_rate_hz: RATE_HZ,
    })
    .unwrap();
    encoder.push_raw(samples, 1);
    encoder.finish()
}

#[expect(clippy::cast_precision_loss, reason = "tests are short")]
fn float(number: usize) -> f64 {
    number as f64
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= b.abs() * 1e-12, "{a} is not {b}");
}

#[test]
fn a_clock_has_its_frequency_and_duty() {
    // 30 of 100 samples high, from sample 7 on.
    let samples: Vec<u8> = (0..3_000_000)
        .map(|at| u8::from((at + 93) % 100 < 30))
        .collect();
    let bytes = encoded(&samples);
    let segment = Segment::open(&bytes).unwrap();
    let found = digital(&segment, 0, 0..u64::MAX).unwrap();
    assert_eq!(
        (found.samples, found.rising, found.falling),
        (3_000_000, 30_000, 30_000)
    );
    assert_eq!(found.high_samples, 900_000);
    near(found.frequency_hz.unwrap(), 10_000.0);
    near(found.duty.unwrap(), 0.3);
    let same = |stats: Option<Stats>, count: u64, seconds: f64| {
        let stats = stats.unwrap();
        assert_eq!(stats.count, count);
        for value in [stats.min, stats.max, stats.mean, stats.p50, stats.p99] {
            near(value, seconds);
        }
    };
    same(found.period, 29_999, 1e-4);
    same(found.high, 30_000, 30e-6);
    same(found.low, 29_999, 70e-6);
    let still = digital(&segment, 1, 0..u64::MAX).unwrap();
    let expected = Digital {
        samples: 3_000_000,
        ..Digital::default()
    };
    assert_eq!(still, expected);
    assert_eq!(digital(&segment, 0, 10..10).unwrap(), Digital::default());
    assert!(digital(&segment, 2, 0..1).is_err());
    assert_eq!(
        digital_while(&segment, 0, 0..3_000_000, &mut || true).unwrap(),
        Some(found)
    );
}

#[test]
fn a_measurement_ends_when_it_should() {
    let samples: Vec<u8> = (0..300_000).map(|at| u8::from(at % 2 == 0)).collect();
    let bytes = encoded(&samples);
    let segment = Segment::open(&bytes).unwrap();
    let mut questions = 0;
    let ended = digital_while(&segment, 0, 0..300_000, &mut || {
        questions += 1;
        questions < 3
    });
    assert_eq!((ended, questions), (Ok(None), 3));
}

/// Widths of the pulses with this level, edges in the range.
fn widths(edges: &[(usize, bool)], level: bool) -> Vec<usize> {
    let pairs = edges.windows(2).filter(|pair| pair[0].1 == level);
    pairs.map(|pair| pair[1].0 - pair[0].0).collect()
}

fn compare(found: Option<Stats>, mut widths: Vec<usize>) {
    if widths.is_empty() {
        return assert_eq!(found, None);
    }
    widths.sort_unstable();
    let found = found.unwrap();
    let rank = |percent: usize| widths[(widths.len() * percent).div_ceil(100) - 1];
    assert_eq!(found.count, widths.len() as u64);
    near(found.min, float(widths[0]) / RATE_HZ);
    near(found.max, float(widths[widths.len() - 1]) / RATE_HZ);
    near(
        found.mean,
        float(widths.iter().sum::<usize>()) / float(widths.len()) / RATE_HZ,
    );
    for (percent, value) in [(50, found.p50), (99, found.p99)] {
        let expected = float(rank(percent)) / RATE_HZ;
        assert!(
            (value - expected).abs() <= expected * measure::STATS_ERROR_MAX,
            "{percent} %"
        );
    }
}

#[test]
fn random_signals_measure_as_their_samples_do() {
    let mut state = 88_172_645_463_325_252_u64;
    let mut next = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below).unwrap()
    };
    for widest in [2, 40, 9000, 400_000] {
        let mut samples = Vec::new();
        let mut level = 0;
        while samples.len() < 2_500_000 {
            samples.resize(samples.len() + 1 + next(widest), level);
            level ^= 1;
        }
        let bytes = encoded(&samples);
        let segment = Segment::open(&bytes).unwrap();
        for _ in 0..6 {
            let from = next(2_000_000);
            let to = from + 1 + next(600_000);
            let found = digital(&segment, 0, from as u64..to as u64).unwrap();
            let to = to.min(samples.len());
            let edges: Vec<(usize, bool)> = (from.max(1)..to)
                .filter(|&at| samples[at] != samples[at - 1])
                .map(|at| (at, samples[at] == 1))
                .collect();
            let rises: Vec<usize> = edges
                .iter()
                .filter(|edge| edge.1)
                .map(|edge| edge.0)
                .collect();
            assert_eq!(found.samples, (to - from) as u64);
            assert_eq!(found.rising, rises.len() as u64);
            assert_eq!(found.falling, (edges.len() - rises.len()) as u64);
            let high = samples[from..to]
                .iter()
                .filter(|&&level| level == 1)
                .count();
            assert_eq!(found.high_samples, high as u64);
            compare(found.high, widths(&edges, true));
            compare(found.low, widths(&edges, false));
            compare(
                found.period,
                rises.windows(2).map(|pair| pair[1] - pair[0]).collect(),
            );
            let periods = rises
                .first()
                .zip(rises.last())
                .filter(|(first, last)| first < last);
            let Some((&first, &last)) = periods else {
                assert_eq!((found.frequency_hz, found.duty), (None, None));
                continue;
            };
            near(
                found.frequency_hz.unwrap(),
                float(rises.len() - 1) * RATE_HZ / float(last - first),
            );
            let high = samples[first..last]
                .iter()
                .filter(|&&level| level == 1)
                .count();
            near(found.duty.unwrap(), float(high) / float(last - first));
        }
    }
}
