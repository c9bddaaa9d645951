//! Captures and what is found in them.

use std::ops::{ControlFlow, Range};

use decode::segment::{Encoder, EncoderSpec, Segment};
use search::{Hit, Known, Query};

/// Samples a second.
pub(crate) const RATE_HZ: f64 = 1e6;

/// Names of the channels, in the order of bits.
pub(crate) const NAMES: [&str; 8] = ["A", "B", "LA3", "4 four", "scl", "SDA", "rx", "tx"];

pub(crate) fn names() -> Vec<String> {
    NAMES.map(str::to_owned).to_vec()
}

pub(crate) fn stored(samples: &[u8]) -> Vec<u8> {
    let mut encoder = Encoder::new(EncoderSpec {
        channels: 8,
        sample_rate_hz: RATE_HZ,
    })
    .unwrap();
    encoder.push_raw(samples, 1);
    encoder.finish()
}

pub(crate) fn found_in(query: &str, stored: &[u8], range: Range<u64>) -> Vec<Hit> {
    let segment = Segment::open(stored).unwrap();
    let query = Query::parse(query).unwrap_or_else(|error| panic!("{query}: {error}"));
    let search = query.bind(&names(), &Known::default()).unwrap();
    let mut hits = Vec::new();
    let ended = search.run(&segment, range, &|| true, &mut |hit| {
        hits.push(hit);
        ControlFlow::Continue(())
    });
    assert_eq!(ended.unwrap(), search::Ended::Whole);
    hits
}

/// Ranges and texts.
pub(crate) fn found(query: &str, samples: &[u8]) -> Vec<(u64, u64, String)> {
    let hits = found_in(query, &stored(samples), 0..samples.len() as u64);
    let told = hits.into_iter().map(|hit| (hit.from, hit.to, hit.text));
    told.collect()
}

/// Levels of one channel as text, `#` being high.
pub(crate) fn drawn(lines: &[(usize, &str)]) -> Vec<u8> {
    let longest = lines.iter().map(|(_, line)| line.len()).max().unwrap();
    let mut samples = vec![0; longest];
    for (bit, line) in lines {
        for (sample, c) in samples.iter_mut().zip(line.bytes()) {
            *sample |= u8::from(c == b'#') << bit;
        }
    }
    samples
}
