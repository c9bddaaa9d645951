//! Pyramids: what they say of a stretch is what its samples are; made again, they are the same; damage is noticed.

#[path = "support/traffic.rs"]
#[allow(dead_code, reason = "the equality tests use all of it")]
mod traffic;

use decode::analog::{AnalogEncoder, AnalogSegment};
use decode::pyramid::{
    FINEST_LEVEL, HIGH, LOW, Pyramid, Zoom, analog_stretches, logic_stretches, of_analog, of_logic,
};
use decode::segment::{BLOCK_SAMPLES, Encoder, EncoderSpec, Segment, SegmentError};
use traffic::{Rng, noise};

/// A capture and its pyramid, taken in pieces.
fn encoded(samples: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut encoder = Encoder::new(EncoderSpec {
        channels: 4,
        sample_rate_hz: 1e6,
    })
    .expect("the spec is valid")
    .with_pyramid();
    let (mut bytes, mut pyramid) = (Vec::new(), Vec::new());
    for part in samples.chunks(300_001) {
        encoder.push_raw(part, 1);
        bytes.extend(encoder.take());
        pyramid.extend(encoder.take_pyramid());
    }
    let (last, top) = encoder.finish_both();
    bytes.extend(last);
    pyramid.extend(top);
    (bytes, pyramid)
}

/// More than two chunks of the finest cells, with an end that fits nothing.
fn samples() -> Vec<u8> {
    let block = BLOCK_SAMPLES as usize;
    let mut samples = noise(block * 3 + 12_345, 3000, 1);
    samples.extend(vec![6; block * 2]);
    samples.extend(noise(block * 3, 4, 3));
    samples.extend(noise(block + 777, 100_000, 4));
    samples
}

fn state(samples: &[u8], channel: usize) -> u8 {
    samples.iter().fold(0, |seen, sample| {
        seen | if sample >> channel & 1 != 0 {
            HIGH
        } else {
            LOW
        }
    })
}

fn states(samples: &[u8], channel: usize, level: u32, from: u64, to: u64) -> Vec<u8> {
    let parts = samples.chunks(1 << level).map(|part| state(part, channel));
    let skipped = usize::try_from(from).expect("small");
    let count = usize::try_from(to - from).expect("small");
    parts.skip(skipped).take(count).collect()
}

#[test]
fn stretches_are_what_their_samples_are() {
    let samples = samples();
    let (bytes, file) = encoded(&samples);
    let segment = Segment::open(&bytes).expect("sound");
    let pyramid = Pyramid::open_logic(&file).expect("sound");
    assert_eq!(
        (pyramid.channels(), pyramid.samples()),
        (4, segment.samples())
    );
    assert!(pyramid.level_for(FINEST_LEVEL - 1).is_none());
    let mut rng = Rng::new(1);
    for level in 0..26 {
        let count = segment.samples().div_ceil(1 << level);
        for _ in 0..4 {
            let from = rng.range(0, count + 1);
            let to = from + rng.range(0, 3000.min(count) + 2);
            let channels = [3, 0, 2];
            let expected: Vec<Vec<u8>> = channels
                .iter()
                .map(|&channel| states(&samples, channel, level, from, to))
                .collect();
            for pyramid in [Some(&pyramid), None] {
                let found = logic_stretches(&segment, pyramid, &channels, level, from..to);
                assert!(
                    found.expect("sound") == expected,
                    "level {level}, {from}..{to}"
                );
            }
        }
    }
    let refused = logic_stretches(&segment, Some(&pyramid), &[4], 9, 0..1);
    assert!(matches!(refused, Err(SegmentError::NoChannel { .. })));
}

#[test]
fn any_range_has_the_extent_of_its_samples() {
    let samples = samples();
    let (bytes, file) = encoded(&samples);
    let segment = Segment::open(&bytes).expect("sound");
    let pyramid = Pyramid::open_logic(&file).expect("sound");
    let mut rng = Rng::new(2);
    let count = segment.samples();
    for channel in 0..4 {
        let mut zoom = Zoom::of_logic(&segment, Some(&pyramid), channel).expect("a channel");
        for round in 0..200 {
            let from = rng.range(0, count);
            let most = [3, 1000, 100_000, count][round % 4];
            let to = from + rng.range(0, most);
            let range = usize::try_from(from).expect("small")
                ..usize::try_from(to.min(count)).expect("small");
            let seen = state(&samples[range], channel);
            let expected =
                (seen != 0).then(|| (u16::from(seen & LOW == 0), u16::from(seen & HIGH != 0)));
            assert_eq!(
                zoom.extent(from..to),
                Ok(expected),
                "channel {channel}, {from}..{to}"
            );
        }
    }
}

#[test]
fn a_pyramid_made_again_is_the_same() {
    for samples in [samples(), noise(5, 2, 1), Vec::new()] {
        let (bytes, file) = encoded(&samples);
        let segment = Segment::open(&bytes).expect("sound");
        let mut again = Vec::new();
        of_logic(&segment, |part| {
            again.extend_from_slice(part);
            Ok::<(), SegmentError>(())
        })
        .expect("sound");
        assert!(again == file, "{} samples", samples.len());
        assert_eq!(
            Pyramid::open_logic(&again).expect("sound").samples(),
            segment.samples()
        );
    }
}

#[test]
fn analog_extents_are_those_of_the_samples() {
    let mut rng = Rng::new(3);
    let mut level: u16 = 30_000;
    let mut samples: Vec<u16> = Vec::new();
    for _ in 0..5_000_123 {
        let step = u16::try_from(rng.range(0, 41)).expect("small");
        level = level.wrapping_add(step).wrapping_sub(20);
        samples.push(level);
    }
    let mut encoder = AnalogEncoder::new(48_000.0).expect("a rate").with_pyramid();
    let mut file = Vec::new();
    for part in samples.chunks(77_777) {
        encoder.push(part);
        file.extend(encoder.take_pyramid());
    }
    let (bytes, rest) = encoder.finish_both();
    file.extend(rest);
    let segment = AnalogSegment::open(&bytes).expect("sound");
    let pyramid = Pyramid::open_analog(&file).expect("sound");
    let mut again = Vec::new();
    of_analog(&segment, |part| {
        again.extend_from_slice(part);
        Ok::<(), SegmentError>(())
    })
    .expect("sound");
    assert!(again == file, "made again, it is the same");
    let extent = |part: &[u16]| part.iter().min().copied().zip(part.iter().max().copied());
    for stretch in 0..24 {
        let all: Vec<_> = samples.chunks(1 << stretch).filter_map(extent).collect();
        let from = rng.range(0, all.len() as u64);
        let to = from + rng.range(0, 2000);
        let range = usize::try_from(from).expect("small")
            ..usize::try_from(to).expect("small").min(all.len());
        for pyramid in [Some(&pyramid), None] {
            let (min, max) = analog_stretches(&segment, pyramid, stretch, from..to).expect("sound");
            let found: Vec<_> = min.into_iter().zip(max).collect();
            assert!(found == all[range.clone()], "level {stretch}, {from}..{to}");
        }
    }
    let mut zoom = Zoom::of_analog(&segment, Some(&pyramid));
    for _ in 0..500 {
        let (a, b) = (
            rng.range(0, samples.len() as u64),
            rng.range(0, samples.len() as u64),
        );
        let range =
            usize::try_from(a.min(b)).expect("small")..usize::try_from(a.max(b)).expect("small");
        assert_eq!(zoom.extent(a.min(b)..a.max(b)), Ok(extent(&samples[range])));
    }
}

#[test]
fn damage_is_noticed() {
    let (bytes, file) = encoded(&noise(3_000_000, 500, 9));
    let segment = Segment::open(&bytes).expect("sound");
    let read = |file: &[u8]| {
        let pyramid = Pyramid::open_logic(file)?;
        let mut found = Vec::new();
        for level in [FINEST_LEVEL, FINEST_LEVEL + 3, 30] {
            let all = 0..segment.samples() >> level | 1;
            found.push(logic_stretches(
                &segment,
                Some(&pyramid),
                &[0, 1, 2, 3],
                level,
                all,
            )?);
        }
        Ok::<_, SegmentError>(found)
    };
    let truth = read(&file).expect("sound");
    let mut rng = Rng::new(4);
    for _ in 0..3000 {
        let mut broken = file.clone();
        let at = usize::try_from(rng.next()).expect("64 bit") % broken.len();
        match rng.range(0, 3) {
            0 => broken[at] ^= 1 << rng.range(0, 8),
            1 => broken.truncate(at),
            _ => broken.insert(at, rng.byte()),
        }
        let found = read(&broken);
        assert!(
            broken == file || found.is_err() || found == Ok(truth.clone()),
            "at {at}"
        );
    }
    assert!(Pyramid::open_analog(&file).is_err() && Pyramid::open_logic(&bytes).is_err());
}
