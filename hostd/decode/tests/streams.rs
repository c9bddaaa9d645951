//! Samples that are decoded while they arrive: the same comes out as afterwards, however they are cut, and whatever is lost.

#![allow(clippy::unwrap_used, reason = "it is a test")]

#[path = "support/traffic.rs"]
#[allow(dead_code, reason = "the equality tests use all of it")]
mod traffic;

use decode::gaps::{Gaps, Part};
use decode::segment::{Encoder, EncoderSpec, Segment};
use decode::{Annotation, Decoding, Spec, StreamDecoder};
use std::ops::ControlFlow;
use traffic::{Load, Rng};

const RATE_HZ: f64 = 1e6;

const SAMPLES: usize = 100_000;

fn spec(protocol: &str, map: &[(&str, &str)], options: &[(&str, &str)]) -> Spec {
    let names: Vec<String> = (0..8).map(|index| index.to_string()).collect();
    Spec::parse(protocol, map, options, None, &names).unwrap()
}

/// The changes of a range, and the word of its first sample if it is the first of the capture.
fn edges(samples: &[u8], from: usize, to: usize) -> Vec<(u64, u64)> {
    let changed = |at: &usize| *at == 0 || samples[*at] != samples[*at - 1];
    let edges = (from..to).filter(changed);
    edges.map(|at| (at as u64, samples[at].into())).collect()
}

/// Ranges that are lost, apart.
fn gaps(rng: &mut Rng, count: u64) -> Vec<(u64, u64)> {
    let mut gaps = Vec::new();
    let mut at = 0;
    for _ in 0..count {
        let from = at + rng.range(1, 20_000);
        let to = from + rng.range(1, 5000);
        if to < SAMPLES as u64 {
            gaps.push((from, to));
        }
        at = to;
    }
    gaps
}

fn losing(samples: &[u8], gaps: &[(u64, u64)]) -> Vec<u8> {
    let mut left = samples.to_vec();
    let at = |sample: u64| usize::try_from(sample).unwrap();
    for (from, to) in gaps {
        let held = left[at(*from) - 1];
        left[at(*from)..at(*to)].fill(held);
    }
    left
}

fn afterwards(samples: &[u8], spec: &Spec, gaps: &[(u64, u64)]) -> Vec<Annotation> {
    let of = EncoderSpec {
        channels: 8,
        sample_rate_hz: RATE_HZ,
    };
    let mut encoder = Encoder::new(of).unwrap();
    encoder.push_raw(samples, 1);
    let stored = encoder.finish();
    let segment = Segment::open(&stored).unwrap();
    let mut all = Vec::new();
    for part in Gaps::new(gaps.iter().copied()).parts(&(0..segment.samples())) {
        let Part::Known { range, since } = part else {
            continue;
        };
        let decoding = Decoding::of_segment(&segment, spec).unwrap();
        let decoding = decoding.within(range).known_since(since);
        let run = decoding.run(&mut |part| {
            all.extend_from_slice(part);
            ControlFlow::Continue(())
        });
        run.unwrap();
    }
    all
}

/// What is said while samples arrive in pieces, at most so long.
fn meanwhile(
    rng: &mut Rng,
    samples: &[u8],
    (spec, longest): (&Spec, u64),
    gaps: &[(u64, u64)],
) -> Vec<Annotation> {
    let mut decoder = StreamDecoder::new(spec.clone(), RATE_HZ).unwrap();
    let mut out = Vec::new();
    let mut gaps = gaps.iter().copied().peekable();
    let mut at = 0;
    while at < samples.len() {
        if let Some((_, to)) = gaps.next_if(|(from, _)| *from == at as u64) {
            decoder.lose(to, &mut out).unwrap();
            at = usize::try_from(to).unwrap();
            continue;
        }
        let most = gaps.peek().map_or(samples.len() as u64, |(from, _)| *from);
        let to = (at as u64 + rng.range(1, longest)).min(most);
        let to = usize::try_from(to).unwrap();
        decoder.feed(&edges(samples, at, to), to as u64, &mut out);
        at = to;
    }
    decoder.finish(&mut out);
    out
}

fn check(samples: &[u8], spec: &Spec, seen_min: usize) {
    let mut rng = Rng::new(71);
    for round in 0..15 {
        let gaps = gaps(&mut rng, round % 5);
        let stored = losing(samples, &gaps);
        let expected = afterwards(&stored, spec, &gaps);
        assert!(seen_min < expected.len(), "{}", expected.len());
        for longest in [50, 3000, 200_000] {
            let found = meanwhile(&mut rng, &stored, (spec, longest), &gaps);
            let differs = found.iter().zip(&expected).position(|(a, b)| a != b);
            assert_eq!(differs, None, "{gaps:?} {longest}");
            assert_eq!(found.len(), expected.len(), "{gaps:?} {longest}");
        }
    }
}

#[test]
fn i2c_is_decoded_while_it_arrives() {
    for load in [Load::Dense, Load::Mixed] {
        let samples = traffic::i2c(SAMPLES, load, 43);
        check(
            &samples,
            &spec("i2c", &[("scl", "0"), ("sda", "1")], &[]),
            500,
        );
    }
}

#[test]
fn spi_is_decoded_while_it_arrives() {
    let samples = traffic::spi(SAMPLES, 3, 47);
    let map = [("clk", "0"), ("cs", "1"), ("mosi", "2"), ("miso", "3")];
    check(&samples, &spec("spi", &map, &[]), 300);
}

#[test]
fn a_uart_is_decoded_while_it_arrives() {
    for pause in [0, 200] {
        let mut samples = traffic::uart(SAMPLES, 8.0, pause, 53);
        let other = traffic::uart(SAMPLES, 8.0, 300, 59);
        for (sample, other) in samples.iter_mut().zip(other) {
            *sample = *sample & 1 | (other & 1) << 1;
        }
        let map = [("rx", "0"), ("tx", "1")];
        check(
            &samples,
            &spec("uart", &map, &[("baudrate", "125000")]),
            1000,
        );
    }
}

#[test]
fn a_stream_may_begin_and_end_anywhere() {
    let spec = spec("uart", &[("rx", "0")], &[("baudrate", "125000")]);
    let mut out = Vec::new();
    StreamDecoder::new(spec.clone(), RATE_HZ)
        .unwrap()
        .finish(&mut out);
    let mut decoder = StreamDecoder::new(spec, RATE_HZ).unwrap();
    decoder.lose(10, &mut out).unwrap();
    decoder.lose(20, &mut out).unwrap();
    decoder.feed(&[(30, 1)], 40, &mut out);
    decoder.feed(&[], 40, &mut out);
    decoder.lose(50, &mut out).unwrap();
    decoder.finish(&mut out);
    assert!(out.is_empty(), "{out:?}");
}
