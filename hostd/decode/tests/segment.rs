//! Stored captures: what goes in comes out, also in pieces; damage is noticed, and garbage causes
//! no panic.

#[path = "support/old.rs"]
mod old;
#[path = "support/traffic.rs"]
#[allow(dead_code, reason = "the equality tests use all of it")]
mod traffic;

use decode::analog::{AnalogEncoder, AnalogSegment};
use decode::segment::{
    BLOCK_SAMPLES, Encoder, EncoderError, EncoderSpec, SAMPLES_MAX, Segment, SegmentError,
};
use traffic::{Rng, noise};

fn encoder(channels: usize) -> Encoder {
    Encoder::new(EncoderSpec {
        channels,
        sample_rate_hz: 1e6,
    })
    .expect("the spec is valid")
}

/// Samples and levels of all changes, from sample 1 on.
fn changes(samples: &[u8], mask: u8) -> Vec<(u64, u64)> {
    let pairs = (1u64..).zip(samples.windows(2));
    let moved = pairs.filter(|(_, pair)| (pair[0] ^ pair[1]) & mask != 0);
    moved
        .map(|(at, pair)| (at, u64::from(pair[1] & mask)))
        .collect()
}

fn stored_edges(segment: &Segment<'_>, channels: &[usize], from: u64, to: u64) -> Vec<(u64, u64)> {
    segment
        .edges(channels, from, to)
        .map(|edge| edge.expect("the segment is sound"))
        .collect()
}

/// Three blocks: busy on some channels, quiet on others, very busy on channel 3 in the second.
fn samples() -> Vec<u8> {
    let block = BLOCK_SAMPLES as usize;
    let mut samples = noise(block - 100, 40_000, 3);
    samples.extend(noise(block, 900, 4));
    for (index, sample) in samples[block..block * 2 - 200].iter_mut().enumerate() {
        *sample = *sample & !8 | (u8::from(index % 3 == 0) << 3);
    }
    samples.extend(noise(50_003, 1_000_000, 5));
    samples
}

#[test]
fn edges_come_back_however_they_were_pushed() {
    let samples = samples();
    let edges = changes(&samples, 15);
    let mut frame = vec![(0, u64::from(samples[0]))];
    frame.extend(&edges);
    let count = samples.len() as u64;

    let mut raw = encoder(4);
    raw.push_raw(&samples, 1);
    let mut words = encoder(4);
    words.push_words(
        &samples
            .iter()
            .map(|&sample| u16::from(sample))
            .collect::<Vec<_>>(),
    );
    let mut framed = encoder(4);
    let mut bytes = Vec::new();
    for part in frame.chunks(1000) {
        let upto = part.last().expect("chunks are not empty").0 + 1;
        framed.push_edges(part, upto).expect("they are in order");
        bytes.extend(framed.take());
    }
    framed.push_edges(&[], count).expect("time only moves on");
    bytes.extend(framed.finish());
    assert!(
        raw.finish() == bytes && words.finish() == bytes,
        "the same file each way"
    );

    let segment = Segment::open(&bytes).expect("sound");
    assert_eq!((segment.channels(), segment.samples()), (4, count));
    assert!(stored_edges(&segment, &[0, 1, 2, 3], 0, count) == edges);
    let mut rng = Rng::new(9);
    for _ in 0..40 {
        let (a, b) = (rng.range(0, count), rng.range(0, count + 10));
        let inside = |edge: &&(u64, u64)| a <= edge.0 && edge.0 < b;
        let expected: Vec<(u64, u64)> = edges.iter().filter(inside).copied().collect();
        assert!(
            stored_edges(&segment, &[0, 1, 2, 3], a, b) == expected,
            "{a}..{b}"
        );
        let channel = usize::try_from(rng.range(0, 4)).expect("small");
        let own: Vec<u64> = changes(&samples, 1 << channel)
            .iter()
            .map(|edge| edge.0)
            .collect();
        let own: Vec<u64> = own.into_iter().filter(|at| a <= *at && *at < b).collect();
        let toggles: Result<Vec<u64>, SegmentError> = segment.toggles(channel, a, b).collect();
        assert!(
            toggles.expect("sound") == own,
            "channel {channel}, {a}..{b}"
        );
        let level = samples[usize::try_from(a).expect("small")] >> channel & 1 != 0;
        assert_eq!(
            segment.level_at(channel, a),
            Ok(level),
            "channel {channel} at {a}"
        );
    }
    let no_channel = SegmentError::NoChannel {
        channel: 4,
        channels: 4,
    };
    assert_eq!(segment.level_at(4, 0), Err(no_channel));
}

#[test]
fn edges_out_of_order_are_refused() {
    let mut encoder = encoder(2);
    encoder.push_edges(&[(0, 1), (5, 2)], 10).expect("in order");
    let refused = encoder.push_edges(&[(9, 1)], 20);
    assert_eq!(
        refused,
        Err(EncoderError::OutOfOrder {
            sample: 9,
            from: 10,
            to: 20
        })
    );
    let refused = encoder.push_edges(&[(20, 1)], 20);
    assert_eq!(
        refused,
        Err(EncoderError::OutOfOrder {
            sample: 20,
            from: 10,
            to: 20
        })
    );
    let refused = encoder.push_edges(&[], 9);
    assert_eq!(
        refused,
        Err(EncoderError::OutOfOrder {
            sample: 9,
            from: 10,
            to: 9
        })
    );
    let samples = SAMPLES_MAX + 1;
    assert_eq!(
        encoder.push_edges(&[], samples),
        Err(EncoderError::TooLong { samples })
    );
    for (channels, sample_rate_hz) in [(0, 1.0), (65, 1.0), (1, 0.0), (1, f64::NAN)] {
        assert!(
            Encoder::new(EncoderSpec {
                channels,
                sample_rate_hz
            })
            .is_err()
        );
    }
}

#[test]
fn what_a_dead_writer_left_can_be_recovered() {
    // More than a pack, and what one begins with.
    let samples = noise(BLOCK_SAMPLES as usize * 13 - 5000, 60, 6);
    let mut encoder = encoder(4);
    let mut whole = Vec::new();
    for part in samples.chunks(1_000_003) {
        encoder.push_raw(part, 1);
        whole.extend(encoder.take());
    }
    assert!(whole.len() > 100, "packs leave before the end");
    whole.extend(encoder.finish());
    let old = old::encoded(&samples, 4, 2);
    for whole in [whole, old] {
        let full = Segment::open(&whole).expect("sound");
        let edges = |segment: &Segment<'_>, to| stored_edges(segment, &[0, 1, 2, 3], 0, to);
        let all = edges(&full, full.samples());
        let mut lengths = Vec::new();
        for cut in (40..whole.len()).step_by(59_973) {
            let part = &whole[..cut];
            assert!(Segment::open(part).is_err(), "{cut} bytes are no segment");
            let found = Segment::recover(part).expect("the header is there");
            let samples = found.samples();
            assert!(samples.is_multiple_of(BLOCK_SAMPLES.into()) || samples == full.samples());
            if lengths.last() != Some(&samples) {
                let end = all.partition_point(|edge| edge.0 < samples);
                assert!(edges(&found, samples) == all[..end]);
                lengths.push(samples);
            }
        }
        assert!(lengths.len() > 1 && lengths.is_sorted(), "{lengths:?}");
    }
}

/// Reads everything; fails if any of it is damaged.
fn read_all(bytes: &[u8]) -> Result<Vec<(u64, u64)>, SegmentError> {
    let segment = Segment::open(bytes)?;
    let all: Vec<usize> = (0..segment.channels()).collect();
    segment.edges(&all, 0, u64::MAX).collect()
}

#[test]
fn damage_is_noticed_and_garbage_survived() {
    let samples = noise(60_000, 300, 1);
    let mut encoder = encoder(4);
    encoder.push_raw(&samples, 1);
    let whole = encoder.finish();
    let truth = read_all(&whole).expect("sound");
    let mut rng = Rng::new(2);
    for _ in 0..5000 {
        let mut bytes = whole.clone();
        for _ in 0..rng.range(1, 4) {
            let at = usize::try_from(rng.next()).expect("64 bit") % bytes.len();
            match rng.range(0, 3) {
                0 => bytes[at] ^= 1 << rng.range(0, 8),
                1 => bytes.truncate(at.max(1)),
                _ => bytes.insert(at, rng.byte()),
            }
        }
        if bytes != whole {
            assert!(read_all(&bytes).is_err(), "damage went unnoticed");
        }
        let recovered = Segment::recover(&bytes).map(|segment| segment.samples());
        assert!(recovered.is_err() || recovered == Ok(0) || recovered == Ok(60_000));
    }
    assert_eq!(truth, changes(&samples, 15));
}

/// Damage with checksums made valid again, so that only the parser can notice it.
#[test]
fn well_checksummed_garbage_is_survived() {
    let few = noise(60_000, 300, 1);
    // With parts of distances, parts of levels, and parts that rest.
    let mut parts = noise(BLOCK_SAMPLES as usize + 9000, 20, 2);
    for (index, sample) in parts.iter_mut().enumerate() {
        *sample = *sample & 13 | u8::from(index / 300_000 == 1 && index % 3 == 0) << 1;
    }
    for (samples, rounds) in [(few, 5000), (parts, 400)] {
        let mut encoder = encoder(4);
        encoder.push_raw(&samples, 1);
        let whole = encoder.finish();
        let body_at = 32 + 8;
        let head = whole[body_at + 12..body_at + 16].try_into();
        let head_len = u32::from_le_bytes(head.expect("four bytes")) as usize;
        let covered = body_at..body_at + 16 + head_len;
        let mut rng = Rng::new(3);
        let mut refused = 0;
        for _ in 0..rounds {
            let mut bytes = whole.clone();
            for _ in 0..rng.range(1, 4) {
                let at = usize::try_from(rng.next()).expect("64 bit") % head_len;
                bytes[body_at + 16 + at] = rng.byte();
            }
            let crc = libdeflater::crc32(&bytes[covered.clone()]);
            bytes[36..40].copy_from_slice(&crc.to_le_bytes());
            let end = samples.len() as u64;
            match read_all(&bytes) {
                Ok(edges) => assert!(edges.is_sorted() && edges.iter().all(|edge| edge.0 < end)),
                Err(_) => refused += 1,
            }
            assert!(Segment::recover(&bytes).is_ok());
        }
        assert!(refused > rounds / 5, "only {refused} were refused");
    }
}

/// Distances that are none, with checksums made valid again.
#[test]
fn well_checksummed_distances_that_are_none_are_survived() {
    let samples = noise(60_000, 3000, 1);
    let mut encoder = encoder(1);
    encoder.push_raw(&samples, 1);
    let whole = encoder.finish();
    let body_at = 32 + 8;
    let number = |at: usize| {
        let bytes = whole[at..at + 4].try_into();
        u32::from_le_bytes(bytes.expect("four bytes")) as usize
    };
    let frame = body_at + 16 + number(body_at + 12)..body_at + number(32);
    let crc = libdeflater::crc32(&whole[frame.clone()]).to_le_bytes();
    let mut places = whole.windows(4).take(frame.start);
    let crc_at = places
        .position(|four| four == crc)
        .expect("it is in the head");
    let mut rng = Rng::new(8);
    let mut refused = 0;
    for _ in 0..3000 {
        let mut bytes = whole.clone();
        for _ in 0..rng.range(1, 4) {
            let at = rng.range(frame.start as u64, frame.end as u64);
            bytes[usize::try_from(at).expect("small")] = rng.byte();
        }
        let crc = libdeflater::crc32(&bytes[frame.clone()]);
        bytes[crc_at..crc_at + 4].copy_from_slice(&crc.to_le_bytes());
        let crc = libdeflater::crc32(&bytes[body_at..frame.start]);
        bytes[36..40].copy_from_slice(&crc.to_le_bytes());
        match read_all(&bytes) {
            Ok(edges) => assert!(edges.is_sorted() && edges.iter().all(|edge| edge.0 < 60_000)),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 300, "only {refused} were refused");
}

#[test]
fn analog_samples_come_back() {
    let mut rng = Rng::new(4);
    let mut level: u16 = 30_000;
    let mut samples: Vec<u16> = Vec::new();
    for index in 0..200_123 {
        let step = u16::try_from(rng.range(0, 41)).expect("small");
        level = level.wrapping_add(step).wrapping_sub(20);
        samples.push(if index % 50_000 == 7 { u16::MAX } else { level });
    }
    let mut encoder = AnalogEncoder::new(48_000.0).expect("a rate");
    let mut bytes = Vec::new();
    for part in samples.chunks(7777) {
        encoder.push(part);
        bytes.extend(encoder.take());
    }
    assert_eq!(encoder.samples(), 200_123);
    bytes.extend(encoder.finish());
    assert!(bytes.len() < samples.len() * 5 / 4, "{} bytes", bytes.len());
    let segment = AnalogSegment::open(&bytes).expect("sound");
    assert_eq!(
        (segment.samples(), segment.sample_rate_hz()),
        (200_123, 48_000.0)
    );
    for (from, to) in [
        (0, 200_123),
        (65_530, 65_540),
        (1, 2),
        (199_999, 300_000),
        (5, 5),
        (9, 3),
    ] {
        let mut read = Vec::new();
        segment.read(from, to, &mut read).expect("sound");
        let range = from.min(200_123)..to.clamp(from.min(200_123), 200_123);
        let range = usize::try_from(range.start).expect("small")
            ..usize::try_from(range.end).expect("small");
        assert!(read == samples[range], "{from}..{to}");
    }
    for extent in segment.extents().expect("sound") {
        let start = usize::try_from(extent.start).expect("small");
        let block = &samples[start..start + extent.samples as usize];
        assert_eq!(Some(&extent.min), block.iter().min());
        assert_eq!(Some(&extent.max), block.iter().max());
    }
    for _ in 0..2000 {
        let mut damaged = bytes.clone();
        let at = usize::try_from(rng.next()).expect("64 bit") % damaged.len();
        damaged[at] ^= 1 << rng.range(0, 8);
        let read = AnalogSegment::open(&damaged)
            .and_then(|segment| segment.read(0, u64::MAX, &mut Vec::new()));
        assert!(read.is_err(), "a bit flipped at {at} went unnoticed");
    }
}

/// Samples of any size, in pieces of any length, are stored as their edges are.
#[test]
fn raw_samples_are_stored_as_their_edges_are() {
    for unit in 1..=8 {
        for (channels, quiet) in [(1, 3), (unit * 8, 40), ((unit * 8 + 3).min(64), 500)] {
            let mut rng = Rng::new(unit as u64);
            let mask = u64::MAX >> (64 - channels);
            let mut raw: Vec<u8> = Vec::new();
            let mut edges = Vec::new();
            let (mut word, mut last) = (rng.range(0, 250), None);
            let count = 70_000;
            for sample in 0..count {
                if rng.range(0, quiet) == 0 {
                    word ^= 1 << rng.range(0, unit as u64 * 8);
                }
                raw.extend(&word.to_le_bytes()[..unit]);
                let seen = word & mask & u64::MAX >> (64 - unit * 8);
                if last != Some(seen) {
                    edges.push((sample, seen));
                    last = Some(seen);
                }
            }
            let spec = EncoderSpec {
                channels,
                sample_rate_hz: 1e6,
            };
            let mut by_edges = Encoder::new(spec).unwrap();
            by_edges.push_edges(&edges, count).unwrap();
            let mut by_samples = Encoder::new(spec).unwrap();
            let mut rest = &raw[..];
            while !rest.is_empty() {
                let samples = usize::try_from(rng.range(1, 1000)).unwrap();
                let (piece, behind) = rest.split_at((samples * unit).min(rest.len()));
                by_samples.push_raw(piece, unit);
                rest = behind;
            }
            assert!(
                by_samples.finish() == by_edges.finish(),
                "{unit} {channels}"
            );
        }
    }
}
