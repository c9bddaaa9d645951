//! Look-ups on stored captures give what a walk over all samples gives: in files with facts in their index, in older ones
//! without, and in what a dead writer left.

#[path = "support/old.rs"]
mod old;
#[path = "support/traffic.rs"]
#[allow(dead_code, reason = "the equality tests use all of it")]
mod traffic;

use decode::segment::{BLOCK_SAMPLES, Edge, Encoder, EncoderSpec, Pulse, Seen, Segment};
use traffic::{Rng, noise};

/// Channels of the captures in here.
const CHANNELS: usize = 4;

fn encoded(samples: &[u8]) -> Vec<u8> {
    let mut encoder = Encoder::new(EncoderSpec {
        channels: CHANNELS,
        sample_rate_hz: 1e6,
    })
    .expect("the spec is valid");
    encoder.push_raw(samples, 1);
    encoder.finish()
}

/// Five blocks. Channel 0: busy, then quiet, then cut into parts; 1: quiet, then dense; 2: one edge in the whole of it; 3: as
/// dense as can be.
fn samples() -> Vec<u8> {
    let block = BLOCK_SAMPLES as usize;
    let mut samples = noise(block - 77, 30, 1);
    samples.extend(noise(block, 15, 2));
    samples.extend(vec![5; block]);
    samples.extend(noise(block * 2 - 1000, 3, 3));
    let half = samples.len() / 2;
    for (index, sample) in samples.iter_mut().enumerate() {
        *sample &= if index < half { 0b1001 } else { 0b1011 };
        *sample = *sample & 7 | u8::from(index % 2 == 0) << 3;
        *sample = *sample & !4 | u8::from(index > block + 5) << 2;
    }
    samples
}

fn level(samples: &[u8], channel: usize, at: usize) -> bool {
    samples[at.min(samples.len() - 1)] >> channel & 1 != 0
}

/// All edges of a channel, with the level from there on.
fn edges(samples: &[u8], channel: usize) -> Vec<(u64, bool)> {
    let all = 1..samples.len();
    let is_edge = |at: &usize| level(samples, channel, *at) != level(samples, channel, at - 1);
    all.filter(is_edge)
        .map(|at| (at as u64, level(samples, channel, at)))
        .collect()
}

fn is_wanted(level: bool, edge: Edge) -> bool {
    match edge {
        Edge::Rising => level,
        Edge::Falling => !level,
        Edge::Either => true,
    }
}

#[expect(clippy::too_many_lines, reason = "one comparison after another")]
fn compare(segment: &Segment<'_>, samples: &[u8], rounds: usize, seed: u64) {
    let count = samples.len() as u64;
    let mut rng = Rng::new(seed);
    for channel in 0..CHANNELS {
        let truth = edges(samples, channel);
        let mut line = segment.line(channel).expect("there is the channel");
        for _ in 0..rounds {
            let at = match rng.range(0, 3) {
                0 => rng.range(0, count + 5),
                // Around the boundaries of blocks and words.
                1 => {
                    (rng.range(0, 6) * u64::from(BLOCK_SAMPLES) + rng.range(0, 4)).saturating_sub(2)
                }
                _ => rng.range(0, count / 64 + 1) * 64 + rng.range(0, 2),
            };
            let place = usize::try_from(at).expect("small");
            assert_eq!(
                line.level_at(at),
                Ok(level(samples, channel, place)),
                "{channel} {at}"
            );
            let first = truth.partition_point(|edge| edge.0 < at);
            for edge in [Edge::Rising, Edge::Falling, Edge::Either] {
                let wanted = |found: &&(u64, bool)| is_wanted(found.1, edge);
                let next = truth[first..].iter().find(wanted).map(|found| found.0);
                assert_eq!(
                    line.next_edge(at, edge),
                    Ok(next),
                    "{channel} {at} {edge:?}"
                );
                let last = truth[..first]
                    .iter()
                    .rev()
                    .find(wanted)
                    .map(|found| found.0);
                assert_eq!(
                    line.previous_edge(at, edge),
                    Ok(last),
                    "{channel} {at} {edge:?}"
                );
            }
            let end = at
                + match rng.range(0, 4) {
                    0 => rng.range(0, 3),
                    1 => rng.range(0, 500),
                    _ => rng.range(0, count + 9),
                };
            let inside = &truth[first..truth.partition_point(|edge| edge.0 < end)];
            assert_eq!(
                line.edges_in(at..end),
                Ok(inside.len() as u64),
                "{channel} {at}..{end}"
            );
            let seen = match at < count.min(end) {
                false => Seen::default(),
                true => {
                    let starts = level(samples, channel, place);
                    let changes = inside.iter().any(|edge| edge.0 > at);
                    Seen {
                        low: !starts || changes,
                        high: starts || changes,
                    }
                }
            };
            assert_eq!(line.levels_in(at..end), Ok(seen), "{channel} {at}..{end}");
        }
        let (from, to) = (rng.range(0, count / 2 + 1), rng.range(count / 2, count + 9));
        let inside: Vec<_> = truth
            .iter()
            .filter(|edge| from <= edge.0 && edge.0 < to)
            .collect();
        let pulses: Vec<Pulse> = inside
            .windows(2)
            .map(|pair| Pulse {
                start: pair[0].0,
                samples: pair[1].0 - pair[0].0,
                level: pair[0].1,
            })
            .collect();
        let found: Result<Vec<Pulse>, _> = line.pulses(from..to).collect();
        assert!(found.expect("sound") == pulses, "{channel} {from}..{to}");
        assert!(pulses.iter().all(|pulse| pulse.end() <= to));
        let toggles: Result<Vec<u64>, _> = segment.toggles(channel, from, to).collect();
        assert!(
            toggles
                .expect("sound")
                .iter()
                .eq(inside.iter().map(|edge| &edge.0))
        );
    }
}

#[test]
fn they_find_what_a_walk_over_all_samples_finds() {
    let samples = samples();
    let bytes = encoded(&samples);
    let segment = Segment::open(&bytes).expect("sound");
    compare(&segment, &samples, 300, 1);
    let channels = u32::try_from(CHANNELS).expect("few");
    for version in [1, 2] {
        let old = old::encoded(&samples, channels, version);
        let old = Segment::open(&old).expect("older files are read");
        compare(&old, &samples, 60, 2);
    }
    let recovered = Segment::recover(&bytes).expect("the header is there");
    compare(&recovered, &samples, 60, 3);
}

/// Three packs, with several frames of each channel that blocks share.
#[test]
fn they_find_the_same_across_frames_and_packs() {
    let mut samples = noise(BLOCK_SAMPLES as usize * 24 + 321, 90, 7);
    for (index, sample) in samples.iter_mut().enumerate() {
        // A channel that rests for long, and one that never does.
        *sample &= if index >> 21 & 1 == 0 { 0b1110 } else { 0b1111 };
        *sample = *sample & 7 | u8::from(index % 700 < 350) << 3;
    }
    let bytes = encoded(&samples);
    let segment = Segment::open(&bytes).expect("sound");
    compare(&segment, &samples, 200, 8);
}

#[test]
fn a_capture_of_a_few_samples_has_them_too() {
    for samples in [
        &[0u8][..],
        &[15],
        &[0, 15],
        &[15, 0, 15, 0, 0],
        &[7; 64],
        &[1; 65],
    ] {
        let bytes = encoded(samples);
        compare(&Segment::open(&bytes).expect("sound"), samples, 200, 4);
    }
    let empty = encoded(&[]);
    let segment = Segment::open(&empty).expect("sound");
    let mut line = segment.line(0).expect("there is the channel");
    assert_eq!(line.level_at(3), Ok(false));
    assert_eq!(line.next_edge(0, Edge::Either), Ok(None));
    assert_eq!(line.previous_edge(9, Edge::Either), Ok(None));
    assert_eq!(line.levels_in(0..9), Ok(Seen::default()));
    assert_eq!((line.edges_in(0..9), line.pulses(0..9).count()), (Ok(0), 0));
    assert!(segment.line(CHANNELS).is_err());
}

/// Damage that only the parser can notice: the checksum of the index is made right again.
#[test]
fn facts_that_contradict_the_blocks_are_survived() {
    let samples = noise(BLOCK_SAMPLES as usize + 9000, 50, 5);
    let whole = encoded(&samples);
    let trailer = whole.len() - 24;
    let index = usize::try_from(u64::from_le_bytes(
        whole[trailer..trailer + 8].try_into().expect("eight bytes"),
    ));
    let index = index.expect("small");
    // One pack, and the length of the notes.
    let notes = index + 20 + 1;
    let mut rng = Rng::new(6);
    let mut refused = 0;
    for _ in 0..3000 {
        let mut bytes = whole.clone();
        for _ in 0..rng.range(1, 4) {
            let at = usize::try_from(rng.range(notes as u64, trailer as u64)).expect("small");
            bytes[at] = rng.byte();
        }
        let crc = libdeflater::crc32(&bytes[index..trailer]);
        bytes[trailer + 12..trailer + 16].copy_from_slice(&crc.to_le_bytes());
        let Ok(segment) = Segment::open(&bytes) else {
            refused += 1;
            continue;
        };
        for channel in 0..CHANNELS {
            let mut line = segment.line(channel).expect("there is the channel");
            let at = rng.range(0, segment.samples());
            let next = line
                .next_edge(at, Edge::Rising)
                .expect("the blocks are sound");
            assert!(next.is_none_or(|next| next >= at));
            let last = line
                .previous_edge(at, Edge::Falling)
                .expect("the blocks are sound");
            assert!(last.is_none_or(|last| last < at));
            line.edges_in(0..at).expect("the blocks are sound");
        }
    }
    assert!(refused > 300, "only {refused} were refused");
}
