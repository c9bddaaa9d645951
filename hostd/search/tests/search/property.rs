//! Every kind of query finds what a naive search on expanded samples finds.

use fastrand::Rng;

#[path = "../../../decode/tests/support/traffic.rs"]
#[allow(dead_code, reason = "the tests of the decoders use all of it")]
mod traffic;

use crate::naive::{Expanded, Kind, Ranges, addresses, decoders, sequences};
use crate::support::{NAMES, RATE_HZ, found_in, stored};
use traffic::Load;

/// Each line changes with its own chance, and they rest together now and then.
fn noise(rng: &mut Rng) -> Vec<u8> {
    let length = rng.usize(1..4000);
    let rarity: Vec<u32> = (0..8).map(|_| 1 << rng.u32(0..11)).collect();
    let mut levels = rng.u8(..);
    let mut samples = Vec::new();
    while samples.len() < length {
        for (line, rarity) in rarity.iter().enumerate() {
            levels ^= u8::from(rng.u32(0..*rarity) == 0) << line;
        }
        samples.push(levels);
        if rng.u32(0..400) == 0 {
            samples.extend(vec![levels; rng.usize(1..100)]);
        }
    }
    samples
}

fn kind(rng: &mut Rng) -> (Kind, &'static str) {
    let kinds = [
        (Kind::Rising, "rising "),
        (Kind::Falling, "falling "),
        (Kind::Any, ""),
    ];
    rng.choice(kinds).unwrap()
}

/// A length in samples, and as a query has it.
fn length(rng: &mut Rng) -> (f64, String) {
    let most = rng.u32(2..600);
    let tenths = rng.u32(1..most);
    let samples = f64::from(tenths) / 10.0;
    // At 1 MHz a sample takes a microsecond.
    let text = match rng.u32(0..3) {
        0 => format!("{samples} us"),
        1 => format!("{}ns", tenths * 100),
        _ => format!("{samples} samples"),
    };
    (samples, text)
}

/// A query about signals, and what the naive search finds.
fn signal(rng: &mut Rng, all: &Expanded<'_>) -> (String, Ranges) {
    let channel = rng.usize(0..8);
    let other = rng.usize(0..8);
    let name = |channel: usize| format!("\"{}\"", NAMES[channel]);
    let on = name(channel);
    let (samples, text) = length(rng);
    let (edge, word) = kind(rng);
    match rng.u32(0..6) {
        0 => {
            let level = [None, Some(true), Some(false)][rng.usize(0..3)];
            let side = match level {
                None => "",
                Some(true) => "high",
                Some(false) => "low",
            };
            let is_longer = rng.bool();
            let than = if is_longer { "longer" } else { "shorter" };
            let found = all.pulses(channel, level, |width| match is_longer {
                true => width as f64 > samples,
                false => (width as f64) < samples,
            });
            (format!("pulse on {on} {than} than {text} {side}"), found)
        }
        1 => {
            let found = all.gaps(&[channel], edge, samples);
            (format!("no {word}edge on {on} for {text}"), found)
        }
        2 => {
            let channels: Vec<usize> = (0..8).collect();
            let found = all.gaps(&channels, edge, samples);
            (format!("no {word}edge for {text}"), found)
        }
        3 => {
            let edges = all.edges(channel, edge).into_iter();
            let found = edges.map(|at| (at as u64, at as u64 + 1)).collect();
            (format!("{word}edge on {on}"), found)
        }
        4 => {
            let (other_edge, other_word) = kind(rng);
            let side = rng.choice(["of", "after", "before"]).unwrap();
            let is_not = rng.bool();
            let not = if is_not { "not " } else { "" };
            let found = all.near((channel, edge), (other, other_edge), side, is_not, samples);
            let other = name(other);
            let query =
                format!("{word}edge on {on} {not}within {text} {side} {other_word}edge on {other}");
            (query, found)
        }
        _ => {
            let level = rng.bool();
            let side = if level { "high" } else { "low" };
            let found = all.levels(channel, level, samples);
            (format!("level of {on} {side} for {text}"), found)
        }
    }
}

#[test]
fn signals_are_found_as_in_expanded_samples() {
    let mut rng = Rng::with_seed(32);
    let mut hits = 0;
    for round in 0..150 {
        let samples = noise(&mut rng);
        let stored = stored(&samples);
        for _ in 0..40 {
            let from = match rng.bool() {
                true => 0,
                false => rng.usize(0..samples.len()),
            };
            let to = match rng.bool() {
                true => samples.len(),
                false => rng.usize(from..=samples.len()),
            };
            let samples = samples.as_slice();
            let (query, expected) = signal(&mut rng, &Expanded { samples, from, to });
            let found = found_in(&query, &stored, from as u64..to as u64);
            let found: Ranges = found.iter().map(|hit| (hit.from, hit.to)).collect();
            assert_eq!(found, expected, "round {round}: {query} in {from}..{to}");
            hits += found.len();
        }
    }
    assert!(hits > 50_000, "{hits}");
}

/// Several blocks of samples, in which channels rest for long.
#[test]
fn signals_are_found_across_blocks() {
    let mut rng = Rng::with_seed(5);
    let mut samples = Vec::new();
    let mut levels = 0;
    while samples.len() < 2_500_000 {
        levels ^= 1 << rng.u32(0..3);
        let rest = match rng.u32(0..60) {
            0 => rng.usize(1000..300_000),
            _ => rng.usize(1..3000),
        };
        samples.extend(vec![levels; rest]);
    }
    let stored = stored(&samples);
    let all = Expanded {
        samples: &samples,
        from: 17,
        to: samples.len() - 9,
    };
    let every: Vec<usize> = (0..8).collect();
    for (query, expected) in [
        ("no edge for 20 ms", all.gaps(&every, Kind::Any, 20_000.0)),
        ("no edge for 2 ms", all.gaps(&every, Kind::Any, 2000.0)),
        ("no edge on tx for 2 s", all.gaps(&[7], Kind::Any, 2e6)),
        (
            "no falling edge on B for 30 ms",
            all.gaps(&[1], Kind::Falling, 30_000.0),
        ),
        (
            "pulse on A longer than 100 ms",
            all.pulses(0, None, |width| width > 100_000),
        ),
        ("level of LA3 low for 90 ms", all.levels(2, false, 90_000.0)),
        (
            "edge on A within 5 us of edge on B",
            all.near((0, Kind::Any), (1, Kind::Any), "of", false, 5.0),
        ),
    ] {
        let range = 17..samples.len() as u64 - 9;
        let found = found_in(query, &stored, range);
        let found: Ranges = found.iter().map(|hit| (hit.from, hit.to)).collect();
        assert!(!expected.is_empty(), "{query}");
        assert_eq!(found, expected, "{query}");
    }
}

/// I²C with the clock on bit 4 and the data line on bit 5; what is decoded of it naively within a range.
fn i2c(seed: u64, from: usize, to: usize) -> (Vec<u8>, Vec<decode::Annotation>) {
    let plain = traffic::i2c(120_000, Load::Dense, seed);
    let before = from.saturating_sub(1);
    let mut notes = decoders::i2c(&plain[before..to]);
    for note in &mut notes {
        note.start += before as u64;
        note.end = (note.end + before as u64).min(to as u64);
    }
    (plain.iter().map(|sample| sample << 4).collect(), notes)
}

#[test]
fn addresses_are_found_as_a_naive_decoder_sees_them() {
    let mut rng = Rng::with_seed(9);
    let mut hits = 0;
    for seed in 0..12 {
        let from = if seed % 3 == 0 {
            0
        } else {
            rng.usize(0..60_000)
        };
        let to = rng.usize(70_000..=120_000);
        let (samples, notes) = i2c(seed, from, to);
        let stored = stored(&samples);
        let seen = addresses(&notes);
        for _ in 0..30 {
            let address = rng.bool().then(|| rng.choice(&seen).unwrap().2);
            let is_read = rng.bool().then(|| rng.bool());
            let said = rng.bool().then(|| rng.bool());
            let mut query = "i2c address".to_owned();
            if let Some(address) = address {
                query += &format!(" 0x{address:x}");
            }
            for (part, [yes, no]) in [(is_read, ["read", "write"]), (said, ["ack", "NACK"])] {
                query += match part {
                    None => "",
                    Some(true) => " ",
                    Some(false) => "  ",
                };
                query += part.map_or("", |part| if part { yes } else { no });
            }
            let expected: Ranges = seen
                .iter()
                .filter(|place| address.is_none_or(|address| address == place.2))
                .filter(|place| is_read.is_none_or(|is_read| is_read == place.3))
                .filter(|place| said.is_none() || said == place.4)
                .map(|place| (place.0, place.1))
                .collect();
            let found = found_in(&query, &stored, from as u64..to as u64);
            let found: Ranges = found.iter().map(|hit| (hit.from, hit.to)).collect();
            assert_eq!(found, expected, "{query} in {from}..{to}");
            hits += found.len();
        }
    }
    assert!(hits > 900, "{hits}");
}

/// A part of what is there, with bytes that may be any.
fn pattern(rng: &mut Rng, words: &[u64]) -> (Vec<Option<u8>>, String) {
    let first = rng.usize(0..words.len() - 4);
    let words = &words[first..first + rng.usize(1..4)];
    let pattern: Vec<Option<u8>> = words
        .iter()
        .map(|word| (rng.u32(0..4) > 0).then(|| u8::try_from(*word).unwrap()))
        .collect();
    let text = pattern.iter().map(|byte| match byte {
        Some(byte) => format!(" {byte:02x}"),
        None => " ??".to_owned(),
    });
    let text = text.collect();
    (pattern, text)
}

fn words(notes: &[decode::Annotation], classes: &[u8]) -> Vec<u64> {
    let words = notes.iter().filter(|note| classes.contains(&note.class));
    words
        .filter_map(|note| match note.value {
            decode::Value::Number(number) => Some(number),
            _ => None,
        })
        .collect()
}

/// Searches for sequences that are there.
fn check(
    rng: &mut Rng,
    query: (&str, &str),
    samples: &[u8],
    notes: &[decode::Annotation],
    classes: (&[u8], &[u8]),
) {
    let stored = stored(samples);
    let all = words(notes, classes.0);
    let end = samples.len() as u64;
    let mut hits = 0;
    for _ in 0..30 {
        let (pattern, text) = pattern(rng, &all);
        let expected: Ranges = sequences(notes, classes.0, classes.1, &pattern)
            .into_iter()
            .map(|(from, to)| (from, to.min(end)))
            .collect();
        let query = format!("{}{text} {}", query.0, query.1);
        let found = found_in(&query, &stored, 0..end);
        let found: Ranges = found.iter().map(|hit| (hit.from, hit.to)).collect();
        assert_eq!(found, expected, "{query}");
        hits += found.len();
    }
    assert!(hits > 30, "{hits}");
}

#[test]
fn bytes_are_found_as_a_naive_decoder_sees_them() {
    let mut rng = Rng::with_seed(77);
    let (samples, notes) = i2c(3, 0, 120_000);
    check(
        &mut rng,
        ("i2c bytes", ""),
        &samples,
        &notes,
        (&[8, 9], &[0, 2]),
    );

    let plain = traffic::uart(120_000, 8.0, 60, 5);
    let rules = decoders::UartRules {
        width: 8.0,
        data_bits: 8,
        even_parity: false,
        frame_bits: 10.0,
    };
    // The line on bit 6, and the other one idle.
    let samples: Vec<u8> = plain.iter().map(|sample| sample << 6 | 0x80).collect();
    let idle: Vec<u8> = plain.iter().map(|sample| sample | 2).collect();
    let notes = decoders::uart(&idle, rules);
    let with = format!("on rx with baudrate={}", RATE_HZ / 8.0);
    check(&mut rng, ("bytes", &with), &samples, &notes, (&[0], &[]));

    let samples = traffic::spi(120_000, 3, 8);
    let rules = decoders::SpiRules {
        has_cs: true,
        sample_rising: true,
        lsb_first: false,
        word_bits: 8,
    };
    let notes = decoders::spi(&samples, rules);
    let with = "on mosi with clk=A cs=B mosi=LA3 miso=\"4 four\"";
    check(&mut rng, ("bytes", with), &samples, &notes, (&[1], &[5, 6]));
}

#[test]
fn errors_are_found_as_a_naive_decoder_sees_them() {
    let samples = traffic::noise(100_000, 9, 6);
    let rules = decoders::UartRules {
        width: 8.0,
        data_bits: 8,
        even_parity: true,
        frame_bits: 11.0,
    };
    let notes = decoders::uart(&samples, rules);
    let stored = stored(&samples);
    let with = "with rx=A tx=B baudrate=125000 parity=even";
    for (query, classes) in [
        ("uart framing error", &[10, 11][..]),
        ("uart framing error on tx", &[11]),
        ("uart parity error on rx", &[6]),
        ("uart break", &[14, 15]),
    ] {
        let expected: Ranges = notes
            .iter()
            .filter(|note| classes.contains(&note.class))
            .map(|note| (note.start, note.end.min(100_000).max(note.start + 1)))
            .collect();
        let found = found_in(&format!("{query} {with}"), &stored, 0..100_000);
        let found: Ranges = found.iter().map(|hit| (hit.from, hit.to)).collect();
        assert!(!expected.is_empty() || query.contains("break"), "{query}");
        assert_eq!(found, expected, "{query}");
    }
}
