//! What is exported is imported as it was.

use decode::analog::AnalogSegment;
use decode::import::{Import, Limits, Memory, Options};
use decode::segment::Segment;

use super::*;

/// Rates of logic and analog channels: of one clock and of none, exact and rounded in decimals.
const RATES: [(f64, f64); 7] = [
    (1e6, 400_000.0),
    (12e6, 400_000.0),
    (2_181_818.0, 400_000.0),
    (3e6, 3e6),
    (400_000.0, 1e6),
    (4.8e6, 1e6),
    (24e6, 2.4e6),
];

/// Signals for each of them.
const SEEDS: u64 = 20;

/// xorshift64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) % limit
    }
}

/// What a capture holds.
#[derive(Debug)]
struct Signal {
    edges: Vec<(u64, u16)>,
    samples: u64,
    counts: Vec<u16>,
}

impl Signal {
    fn new(random: &mut Random) -> Self {
        let (mut edges, mut at, mut levels) = (Vec::new(), 0, random.below(4));
        for _ in 0..100 {
            edges.push((at, u16::try_from(levels).unwrap()));
            levels ^= 1 + random.below(3);
            at += 1 + random.below(300);
        }
        let counts =
            (0..200 + random.below(50)).map(|_| u16::try_from(random.below(5000)).unwrap());
        Self {
            edges,
            samples: at,
            counts: counts.collect(),
        }
    }
}

/// What an import made of a file.
pub(super) struct Back {
    rate_hz: f64,
    samples: u64,
    pub(super) edges: Vec<(u64, u64)>,
    analog_rate_hz: f64,
    pub(super) values: Vec<f64>,
}

pub(super) fn back(file: &[u8]) -> Back {
    let import = Import::open(file, &Options::default(), &Limits::default()).unwrap();
    assert_eq!(import.notes(), &[] as &[String]);
    let (logic, analog) = Memory::of(&import).unwrap();
    let mut back = Back {
        rate_hz: 0.0,
        samples: 0,
        edges: Vec::new(),
        analog_rate_hz: 0.0,
        values: Vec::new(),
    };
    if let Some(said) = import.logic() {
        assert_eq!(said.names, ["LA1", "LA2"]);
        let segment = Segment::open(&logic).unwrap();
        let level = |channel| u64::from(segment.level_at(channel, 0).unwrap()) << channel;
        back.edges = vec![(0, level(0) | level(1))];
        let rest = segment.edges(&[0, 1], 1, u64::MAX).map(Result::unwrap);
        back.edges.extend(rest);
        (back.rate_hz, back.samples) = (said.sample_rate_hz, said.samples);
    }
    if let Some(said) = import.analog() {
        let mut counts = Vec::new();
        let segment = AnalogSegment::open(&analog).unwrap();
        segment.read(0, u64::MAX, &mut counts).unwrap();
        let value = |count: u16| said.offset + f64::from(count) * said.full_scale / 65_536.0;
        back.values = counts.into_iter().map(value).collect();
        back.analog_rate_hz = said.sample_rate_hz;
    }
    back
}

fn wide(edges: &[(u64, u16)]) -> Vec<(u64, u64)> {
    let edges = edges.iter().map(|(at, levels)| (*at, u64::from(*levels)));
    edges.collect()
}

fn is_near(a: f64, b: f64, most: f64) -> bool {
    (a - b).abs() <= most
}

/// Each value is that of the count, whose steps are 1.
fn assert_values(values: &[f64], counts: &[u16]) {
    assert_eq!(values.len(), counts.len());
    for (value, count) in values.iter().zip(counts) {
        assert!(
            is_near(*value, (*count).into(), 1e-3),
            "{value} for {count}"
        );
    }
}

#[test]
fn dumps_and_traces_come_back_sample_by_sample() {
    let mut random = Random(0x5EED_0001);
    for rates_hz in RATES {
        for _ in 0..SEEDS {
            let signal = Signal::new(&mut random);
            let dir = TempDir::new().unwrap();
            let logic = Some((signal.edges.as_slice(), signal.samples));
            let reader = capture_at(&dir, rates_hz, logic, &signal.counts);
            for format in [Format::Vcd, Format::Fst] {
                let back = back(&file(&reader, format, None));
                assert!(is_near(back.rate_hz, rates_hz.0, 1.0), "{rates_hz:?}");
                assert_eq!(back.edges, wide(&signal.edges), "{rates_hz:?}");
                assert_eq!(
                    (back.samples, back.analog_rate_hz),
                    (signal.samples, rates_hz.1)
                );
                assert_values(&back.values, &signal.counts);
            }
        }
    }
}

#[test]
fn tables_come_back_at_the_same_times() {
    let mut random = Random(0x5EED_0002);
    for rates_hz in RATES {
        for _ in 0..SEEDS {
            let signal = Signal::new(&mut random);
            let dir = TempDir::new().unwrap();
            let logic = Some((signal.edges.as_slice(), signal.samples));
            let reader = capture_at(&dir, rates_hz, logic, &signal.counts);
            let back = back(&file(&reader, Format::Csv, None));
            // Two rates of one clock: what is cut off of the rate that a pod says is not lost.
            let exact_hz = match rates_hz.0 {
                2_181_818.0 => 24e6 / 11.0,
                rate_hz => rate_hz,
            };
            assert_eq!(back.edges.len(), signal.edges.len(), "{rates_hz:?}");
            for ((at, levels), (there, same)) in back.edges.iter().zip(&signal.edges) {
                let (at, there) = (*at as f64 / back.rate_hz, *there as f64 / exact_hz);
                assert!(is_near(at, there, 1e-12), "{rates_hz:?}: {at} for {there}");
                assert_eq!(*levels, u64::from(*same));
            }
            for (sample, count) in signal.counts.iter().enumerate() {
                let middle = (sample as f64 + 0.5) / rates_hz.1;
                #[expect(clippy::cast_possible_truncation, reason = "a short capture")]
                let at = (middle * back.analog_rate_hz).floor() as usize;
                let value = back.values[at];
                assert!(
                    is_near(value, (*count).into(), 1e-3),
                    "{rates_hz:?} {sample}"
                );
            }
        }
    }
}

#[test]
fn sessions_and_wav_files_come_back_sample_by_sample() {
    let mut random = Random(0x5EED_0003);
    for rate_hz in [1e6, 400_000.0, 3e6] {
        let signal = Signal::new(&mut random);
        let dir = TempDir::new().unwrap();
        // As many analog samples as logic ones, or the shorter of the two is repeated to no end.
        let logic = Some((signal.edges.as_slice(), signal.samples));
        let reader = capture_at(&dir, (rate_hz, rate_hz), logic, &signal.counts);
        let session = back(&file(&reader, Format::Sr, None));
        assert_eq!(session.edges, wide(&signal.edges));
        assert_eq!(
            (session.samples, session.rate_hz),
            (signal.samples, rate_hz)
        );
        assert_values(&session.values, &signal.counts);
        let wav = file(&reader, Format::Wav, None);
        let wave = back(&wav);
        let counts: Vec<f64> = wave
            .values
            .iter()
            .map(|value| (value + 1.0) * 32_768.0)
            .collect();
        assert_values(&counts, &signal.counts);
        assert_eq!((wave.analog_rate_hz, wave.samples), (rate_hz, 0));
    }
}

#[test]
fn a_dump_of_sigrok_is_read_as_its_session() {
    let mut random = Random(0x5EED_0004);
    for rate_hz in [1e6, 12e6, 24e6, 3e6] {
        let signal = Signal::new(&mut random);
        let dir = TempDir::new().unwrap();
        let logic = Some((signal.edges.as_slice(), signal.samples));
        let reader = capture_at(&dir, (rate_hz, 0.0), logic, &[]);
        let session = file(&reader, Format::Sr, None);
        for format in ["vcd", "csv"] {
            let Some(text) = sigrok(&session, &["-O", format]) else {
                return;
            };
            let back = back(text.as_bytes());
            assert_eq!(back.edges, wide(&signal.edges), "{format} at {rate_hz}");
            assert_eq!(back.rate_hz, rate_hz, "{format}");
            assert_eq!(back.samples, signal.samples, "{format} at {rate_hz}");
        }
    }
}

/// A clock chip on I2C, recorded by a pod at 3 MHz.
const CLOCK: &[u8] = include_bytes!("../../../../testdata/clock_3mhz.sr");

/// Samples of it with whole transfers, few enough that a reader can make a sample of each nanosecond.
const TRANSFERS: std::ops::Range<u64> = 20_000..60_000;

#[test]
fn a_bus_is_decoded_alike_from_dumps_of_all_rates() {
    let options = Options {
        channels: vec!["LA1".to_owned(), "LA2".to_owned()],
        ..Options::default()
    };
    let import = Import::open(CLOCK, &options, &Limits::default()).unwrap();
    let samples = import.logic().unwrap().samples;
    let (logic, _) = Memory::of(&import).unwrap();
    let segment = Segment::open(&logic).unwrap();
    let level = |channel| u64::from(segment.level_at(channel, 0).unwrap()) << channel;
    let mut edges = vec![(0, level(0) | level(1))];
    edges.extend(segment.edges(&[0, 1], 1, u64::MAX).map(Result::unwrap));
    let narrow = |(at, levels): &(u64, u64)| (*at, u16::try_from(*levels).unwrap());
    let narrow: Vec<(u64, u16)> = edges.iter().map(narrow).collect();
    let decoder = ["-P", "i2c:scl=LA1:sda=LA2", "-A", "i2c=addr-data"];
    for rate_hz in [24e6, 12e6, 6e6, 4.8e6, 3e6, 2.4e6, 1e6] {
        let dir = TempDir::new().unwrap();
        let logic = Some((narrow.as_slice(), samples));
        let reader = capture_at(&dir, (rate_hz, 0.0), logic, &[]);
        let whole = back(&file(&reader, Format::Vcd, None));
        assert_eq!(
            (whole.rate_hz, whole.samples, &whole.edges),
            (rate_hz, samples, &edges)
        );
        let part = |format| {
            let asked = Asked {
                from: Some(TRANSFERS.start),
                to: Some(TRANSFERS.end),
                ..Asked::default()
            };
            let mut out = Vec::new();
            let export = Export::plan(&reader, format, &asked).unwrap();
            export.write(&reader, &mut out).unwrap();
            out
        };
        let Some(wanted) = sigrok(&part(Format::Sr), &decoder) else {
            return;
        };
        assert!(wanted.lines().count() > 20, "{wanted}");
        let arguments = [&["-I", "vcd"], &decoder[..]].concat();
        let found = sigrok(&part(Format::Vcd), &arguments).unwrap();
        assert_eq!(found, wanted, "{rate_hz}");
    }
}
