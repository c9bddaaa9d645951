//! Fast signal traces, read by the crate that Surfer reads them with.

use std::collections::HashMap;

use fst_reader::{FstFilter, FstHierarchyEntry, FstReader, FstSignalValue};

use super::*;

/// Changes of a signal: sample, and its value.
type Changes = Vec<(u64, f64)>;

/// What a trace says.
struct Read {
    second: f64,
    end: u64,
    /// By name.
    signals: HashMap<String, Changes>,
}

impl Read {
    fn new(file: Vec<u8>) -> Self {
        let mut reader = FstReader::open(std::io::Cursor::new(file)).unwrap();
        let header = reader.get_header();
        let (mut names, mut scopes) = (Vec::new(), Vec::new());
        let note = |entry| match entry {
            FstHierarchyEntry::Scope { name, .. } => scopes.push(name),
            FstHierarchyEntry::Var { name, handle, .. } => names.push((name, handle)),
            _ => {}
        };
        reader.read_hierarchy(note).unwrap();
        assert_eq!(scopes, ["capture"]);
        let mut signals: HashMap<String, Changes> = HashMap::new();
        let note = |at: u64, handle, value: FstSignalValue<'_>| {
            let (name, _) = names.iter().find(|(_, of)| *of == handle).unwrap();
            let value = match value {
                FstSignalValue::Real(value) => value,
                FstSignalValue::String(bits) => std::str::from_utf8(bits).unwrap().parse().unwrap(),
            };
            let changes = signals.entry(name.clone()).or_default();
            // Each section begins with all values.
            if changes.last().is_none_or(|(_, last)| *last != value) {
                changes.push((at, value));
            }
            Ok::<_, std::convert::Infallible>(())
        };
        reader.read_signals(&FstFilter::all(), note).unwrap();
        Self {
            second: 10_f64.powi(header.timescale_exponent.into()),
            end: header.end_time,
            signals,
        }
    }

    /// What a signal does, with times in samples of a rate.
    fn changes(&self, name: &str, rate_hz: f64) -> Changes {
        let changes = self.signals[name].iter();
        #[expect(clippy::cast_possible_truncation, reason = "a short capture")]
        let sample = |at: u64| (at as f64 * self.second * rate_hz).round() as u64;
        changes.map(|(at, value)| (sample(*at), *value)).collect()
    }
}

/// The same of the samples.
fn wanted(edges: &[(u64, u16)], channel: u32) -> Changes {
    let mut wanted: Changes = Vec::new();
    for (at, levels) in edges {
        let level = f64::from(levels >> channel & 1);
        if wanted.last().is_none_or(|(_, last)| *last != level) {
            wanted.push((*at, level));
        }
    }
    wanted
}

#[test]
fn a_trace_has_each_change_at_its_time() {
    for rates_hz in [
        (1e6, 400_000.0),
        (24e6, 400_000.0),
        (3e6, 3e6),
        (4.8e6, 1e6),
    ] {
        let dir = TempDir::new().unwrap();
        // More than a section holds, with pauses.
        let edge = |n: u64| (n * 3 + n / 1000 * 500, u16::try_from(n % 4).unwrap());
        let edges: Vec<(u64, u16)> = (0..150_000).map(edge).collect();
        let samples = 1_000_000;
        let counts: Vec<u16> = (0..3000).map(|n| n / 2 * 7).collect();
        let reader = capture_at(&dir, rates_hz, Some((&edges, samples)), &counts);
        let trace = file(&reader, Format::Fst, None);
        let read = Read::new(trace);
        assert_eq!(read.changes("LA1", rates_hz.0), wanted(&edges, 0));
        assert_eq!(read.changes("LA2", rates_hz.0), wanted(&edges, 1));
        let end = read.end;
        let adc: Changes = (0..)
            .zip(&counts)
            .step_by(2)
            .map(|(at, count)| (at, f64::from(*count)))
            .collect();
        assert_eq!(read.changes("ADC", rates_hz.1), adc);
        let vcd = text(&reader, Format::Vcd);
        assert!(vcd.ends_with(&format!("\n#{end}\n")), "{end}");
    }
}

#[test]
fn the_header_says_from_the_beginning_what_the_writer_would() {
    let dir = TempDir::new().unwrap();
    let edges: Vec<(u64, u16)> = (0..200_000_u64)
        .map(|n| (n, u16::from(n % 2 == 1)))
        .collect();
    let reader = capture(&dir, Some((&edges, 200_000)), &[]);
    let trace = file(&reader, Format::Fst, None);
    let number = |at: usize| u64::from_be_bytes(trace[at..at + 8].try_into().unwrap());
    // End of time, in samples; scopes, variables, signals.
    assert_eq!(number(17), 200_000);
    assert_eq!([41, 49, 57].map(number), [1, 2, 2]);
    // Blocks of changes, each with its kind and length.
    let (mut at, mut sections) = (0, 0);
    while at < trace.len() {
        sections += u64::from(trace[at] == 8);
        at += 1 + usize::try_from(number(at + 1)).unwrap();
    }
    assert_eq!((at, sections), (trace.len(), 4));
    // Readers count them.
    assert_eq!(number(65), 0);
}

#[test]
fn a_part_of_a_capture_makes_a_trace() {
    let dir = TempDir::new().unwrap();
    let reader = capture(&dir, Some((EDGES, 6)), &[7, 8, 9]);
    let asked = Asked {
        channels: vec!["LA2".to_owned()],
        from: Some(1),
        to: Some(5),
        ..Asked::default()
    };
    let mut out = Vec::new();
    let export = Export::plan(&reader, Format::Fst, &asked).unwrap();
    export.write(&reader, &mut out).unwrap();
    let read = Read::new(out);
    assert_eq!(read.changes("LA2", 1e6), [(0, 0.0), (1, 1.0)]);
    assert_eq!(read.signals.len(), 1);
}

#[test]
fn a_trace_is_sent_while_the_capture_is_read() {
    let dir = TempDir::new().unwrap();
    let edges: Vec<(u64, u16)> = (0..300_000_u64)
        .map(|n| (n * 40 + n * n * 7919 % 31, u16::from(n % 2 == 1)))
        .collect();
    let reader = capture(&dir, Some((&edges, 12_100_000)), &[]);
    let whole = file(&reader, Format::Fst, None);
    // Damaged behind its middle, which who looks through all of it first finds before a byte is sent.
    let path = dir.path().join(format!("c.{LOGIC}"));
    let mut bytes = std::fs::read(&path).unwrap();
    let damaged = bytes.len() * 3 / 5;
    bytes[damaged] ^= 0xff;
    std::fs::write(&path, &bytes).unwrap();
    let export = Export::plan(&reader, Format::Fst, &Asked::default()).unwrap();
    let mut sent = Vec::new();
    let refused = export.write(&reader, &mut sent).unwrap_err();
    assert!(matches!(refused, ExportError::Read(_)), "{refused}");
    assert!(
        sent.len() > whole.len() / 4,
        "{} of {}",
        sent.len(),
        whole.len()
    );
    assert_eq!(sent, whole[..sent.len()]);
}

#[test]
fn traces_are_read_by_gtkwave() {
    let dir = TempDir::new().unwrap();
    let edges: Vec<(u64, u16)> = (0..150_000_u64)
        .map(|n| (n * 3 + n / 1000, u16::try_from(n % 4).unwrap()))
        .collect();
    let counts = [7, 7, 9, 1];
    let reader = capture(&dir, Some((&edges, 460_000)), &counts);
    let path = dir.path().join("trace.fst");
    std::fs::write(&path, file(&reader, Format::Fst, None)).unwrap();
    let Some(dump) = others::answer("fst2vcd", &[path.as_os_str()]) else {
        return;
    };
    let back = super::round_trips::back(&dump);
    let same = edges.iter().map(|(at, levels)| (*at, u64::from(*levels)));
    assert!(back.edges.into_iter().eq(same));
    assert_eq!(back.values[..4], [7.0, 7.0, 9.0, 1.0]);
}
