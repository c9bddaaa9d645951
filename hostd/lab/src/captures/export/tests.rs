//! Small captures as files, byte for byte, and a long one there and back.

use pods::Frame;
use tempfile::TempDir;

use super::super::files::{ANALOG, Files, LOGIC};
use super::super::recording::Recording;
use super::*;
use base::space::Space;
use store::captures::{CaptureRecord, ChannelRecord, Kind, Status};

/// Rates of the logic channels and of the ADC.
const RATES_HZ: (f64, f64) = (1e6, 500_000.0);

fn channel(la: Option<u8>, samples: u64, rates_hz: (f64, f64)) -> ChannelRecord {
    ChannelRecord {
        la,
        name: la.map_or_else(|| "ADC".into(), |n| format!("LA{n}")),
        unit: if la.is_some() {
            String::new()
        } else {
            "V".into()
        },
        sample_rate_hz: if la.is_some() { rates_hz.0 } else { rates_hz.1 },
        samples,
        bits: if la.is_some() { 1 } else { 16 },
        full_scale: if la.is_some() { 1.0 } else { 65_536.0 },
        offset: 0.0,
    }
}

/// A capture of two logic channels, of the ADC, or of all.
fn capture(dir: &TempDir, logic: Option<(&[(u64, u16)], u64)>, counts: &[u16]) -> Reader {
    capture_at(dir, RATES_HZ, logic, counts)
}

fn capture_at(
    dir: &TempDir,
    rates_hz: (f64, f64),
    logic: Option<(&[(u64, u16)], u64)>,
    counts: &[u16],
) -> Reader {
    let mut channels = Vec::new();
    if !counts.is_empty() {
        channels.push(channel(None, counts.len() as u64, rates_hz));
    }
    if let Some((_, samples)) = logic {
        channels.extend([1, 2].map(|la| channel(Some(la), samples, rates_hz)));
    }
    let mut recording = Recording::new(&channels, false);
    if !counts.is_empty() {
        let counts = counts.to_vec();
        let frame = Frame::Adc {
            start_sample: 0,
            counts,
        };
        recording.push(frame).unwrap();
    }
    if let Some((edges, upto)) = logic {
        let edges = edges.to_vec();
        recording.push(Frame::La { edges, upto }).unwrap();
    }
    let files = Files::open(dir.path().to_owned(), Space::boundless()).unwrap();
    let finished = recording.finish();
    for (kind, bytes) in [(LOGIC, finished.logic), (ANALOG, finished.analog)] {
        if let Some(bytes) = bytes {
            files.write("c", kind, &bytes).unwrap();
        }
    }
    let record = CaptureRecord {
        id: "c".into(),
        org: "o".into(),
        device: "d".into(),
        kind: Kind::Dual,
        name: None,
        status: Status::Done,
        error: None,
        created_ms: 0,
        finished_ms: None,
        triggered: None,
        channels: finished.channels,
        i2c: None,
        size_bytes: None,
        job: None,
        origin: None,
    };
    Reader::open(&files, record).unwrap()
}

fn file(reader: &Reader, format: Format, content: Option<Content>) -> Vec<u8> {
    let mut out = Vec::new();
    let export = Export::plan(reader, format, content).unwrap();
    export.write(reader, &mut out).unwrap();
    out
}

fn text(reader: &Reader, format: Format) -> String {
    String::from_utf8(file(reader, format, None)).unwrap()
}

const EDGES: &[(u64, u16)] = &[(0, 0b01), (2, 0b10), (5, 0b11)];

#[test]
fn changes_of_all_channels_in_one_order() {
    let dir = TempDir::new().unwrap();
    let reader = capture(&dir, Some((EDGES, 6)), &[7, 7, 9]);
    let csv = "time_s,LA1,LA2,ADC (V)\r\n0.000000,1,0,7\r\n0.000002,0,1,7\r\n0.000004,0,1,9\r\n\
               0.000005,1,1,9\r\n0.000006,1,1,9\r\n";
    assert_eq!(text(&reader, Format::Csv), csv);
    let vcd = text(&reader, Format::Vcd);
    let (head, body) = vcd.split_once("$enddefinitions $end\n").unwrap();
    assert!(head.contains("$timescale 1 us $end"), "{head}");
    assert!(head.contains("$var wire 1 ! LA1 $end\n$var wire 1 \" LA2 $end\n"));
    assert!(head.contains("$var real 64 # ADC $end"), "{head}");
    let wanted = "#0\n1!\n0\"\nr7 #\n#2\n0!\n1\"\n#4\nr9 #\n#5\n1!\n#6\n";
    assert_eq!(body, wanted);
}

/// What a reader such as sigrok makes of a dump: a sample of each tick, at the rate of the timescale.
struct Seen {
    rate_hz: f64,
    samples: u64,
    /// When the first wire changes after the start.
    changes: Vec<u64>,
}

fn seen(vcd: &str) -> Seen {
    let (head, body) = vcd.split_once("$enddefinitions $end\n").unwrap();
    let mut scales = head
        .lines()
        .filter_map(|line| line.strip_prefix("$timescale "));
    let (scale, other) = (scales.next().unwrap(), scales.next());
    assert_eq!(other, None);
    let words: Vec<&str> = scale.split(' ').collect();
    let [number @ ("1" | "10" | "100"), unit, "$end"] = words[..] else {
        panic!("{scale}");
    };
    let units = ["s", "ms", "us", "ns", "ps", "fs"];
    let thousands = units.iter().position(|known| *known == unit).unwrap();
    let per_unit = 1000_f64.powi(i32::try_from(thousands).unwrap());
    let mut seen = Seen {
        rate_hz: per_unit / number.parse::<f64>().unwrap(),
        samples: 0,
        changes: Vec::new(),
    };
    for line in body.lines() {
        match line.strip_prefix('#') {
            Some(at) => seen.samples = at.parse().unwrap(),
            None if line.ends_with('!') && seen.samples > 0 => seen.changes.push(seen.samples),
            None => {}
        }
    }
    seen
}

/// Number of samples that sigrok-cli reads; none when it is not installed.
fn sigrok_samples(vcd: &str) -> Option<u64> {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("capture.vcd");
    std::fs::write(&path, vcd).unwrap();
    let mut command = std::process::Command::new("sigrok-cli");
    let output = command
        .args(["-I", "vcd", "--show", "-i"])
        .arg(&path)
        .output()
        .ok()?;
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut lines = shown.lines();
    let count = lines.find_map(|line| line.strip_prefix("Logic sample count: "));
    Some(count.unwrap_or_else(|| panic!("{shown}")).parse().unwrap())
}

#[test]
fn readers_of_a_dump_get_as_many_samples_as_there_are() {
    let samples = 1000;
    for (rate_hz, ticks) in [
        (24e6, 1),
        (12e6, 1),
        (3e6, 1),
        (2.4e6, 1),
        (2_181_818.0, 1),
        (1e6, 1),
        (400_000.0, 25),
    ] {
        let dir = TempDir::new().unwrap();
        let edges = [(0, 0b00), (1, 0b01), (7, 0b10), (999, 0b11)];
        let reader = capture_at(&dir, (rate_hz, 0.0), Some((&edges, samples)), &[]);
        let vcd = text(&reader, Format::Vcd);
        let seen = seen(&vcd);
        assert_eq!(seen.samples, samples * ticks, "{rate_hz}");
        assert_eq!(seen.changes, [1, 7, 999].map(|at| at * ticks), "{rate_hz}");
        // What it makes of the rate is right, or the comments say so.
        let read_hz = seen.rate_hz / ticks as f64;
        let exact = (read_hz - rate_hz).abs() < 1e-6;
        assert_ne!(exact, vcd.contains("$comment a tick is"), "{vcd}");
        assert!(vcd.contains(&format!(" {rate_hz} Hz, {ticks} tick")));
        assert!(rate_hz / 4.0 < read_hz && read_hz < rate_hz * 4.0);
        if let Some(read) = sigrok_samples(&vcd) {
            assert_eq!(read, samples * ticks, "{rate_hz}");
        }
    }
}

#[test]
fn both_kinds_of_samples_share_exact_ticks() {
    // Logic and analog rate, ticks of a logic sample and of an analog one.
    for (rates_hz, logic, analog) in [
        ((1e6, 400_000.0), 10, 25),
        ((12e6, 400_000.0), 1, 30),
        ((6e6, 400_000.0), 1, 15),
        ((2_181_818.0, 400_000.0), 11, 60),
    ] {
        let dir = TempDir::new().unwrap();
        let edges = [(0, 0b00), (600, 0b01), (1199, 0b10)];
        let reader = capture_at(&dir, rates_hz, Some((&edges, 1200)), &[7, 9]);
        let vcd = text(&reader, Format::Vcd);
        let seen = seen(&vcd);
        assert_eq!(seen.samples, 1200 * logic, "{rates_hz:?}");
        assert_eq!(seen.changes, [600 * logic, 1199 * logic], "{rates_hz:?}");
        let second = format!("#{analog}\nr9 #\n");
        assert!(vcd.contains(&second), "{rates_hz:?}: {vcd}");
        if let Some(read) = sigrok_samples(&vcd) {
            assert_eq!(read, 1200 * logic, "{rates_hz:?}");
        }
    }
}

#[test]
fn bare_samples() {
    let dir = TempDir::new().unwrap();
    let reader = capture(&dir, Some((EDGES, 6)), &[7, 0x8000, 0xFFFF]);
    assert_eq!(file(&reader, Format::Bin, None), [1, 1, 2, 2, 2, 3]);
    let analog = file(&reader, Format::Bin, Some(Content::Analog));
    assert_eq!(analog, [7, 0, 0, 0x80, 0xFF, 0xFF]);
    let wav = file(&reader, Format::Wav, None);
    assert_eq!(wav.len(), 44 + 6);
    assert_eq!(&wav[..4], b"RIFF");
    assert_eq!(wav[24..28], 500_000_u32.to_le_bytes());
    assert_eq!(wav[40..], [6, 0, 0, 0, 7, 0x80, 0, 0, 0xFF, 0x7F]);
}

#[test]
fn what_is_not_there_is_refused() {
    let dir = TempDir::new().unwrap();
    let logic = capture(&dir, Some((EDGES, 6)), &[]);
    for (format, content) in [
        (Format::Wav, None),
        (Format::Wav, Some(Content::Logic)),
        (Format::Csv, Some(Content::Analog)),
        (Format::Sr, Some(Content::Analog)),
    ] {
        let refused = Export::plan(&logic, format, content);
        assert!(matches!(refused, Err(ExportError::Lacks("analog"))));
    }
    let dir = TempDir::new().unwrap();
    let analog = capture(&dir, None, &[1, 2]);
    let refused = Export::plan(&analog, Format::Vcd, Some(Content::Logic));
    assert!(matches!(refused, Err(ExportError::Lacks("logic"))));
    assert!(text(&analog, Format::Vcd).ends_with("#0\nr1 !\n#2\nr2 !\n#4\n"));
}

#[test]
fn a_long_capture_is_the_same_after_a_session_file() {
    let dir = TempDir::new().unwrap();
    let samples = CHUNK_SAMPLES as u64 * 2 + 5;
    let mut edges = vec![(0, 0b10)];
    // One on each side of where chunks meet.
    let at = CHUNK_SAMPLES as u64;
    edges.extend([(at - 1, 0b11), (at, 0b01), (samples - 1, 0b00)]);
    let reader = capture(&dir, Some((&edges, samples)), &[]);
    let sr = file(&reader, Format::Sr, None);
    let archive = decode::sr::Archive::parse(&sr, &decode::sr::Limits::default()).unwrap();
    assert_eq!(archive.channels(), ["LA1", "LA2"]);
    assert_eq!(archive.sample_rate_hz(), Some(1e6));
    let loaded = decode::sr::load_edges(&archive, &[0, 1], 100).unwrap();
    assert_eq!((loaded.samples, loaded.edges), (samples, edges));
    assert_eq!(file(&reader, Format::Bin, None).len() as u64, samples);
}
