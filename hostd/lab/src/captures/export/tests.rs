//! Small captures as files, byte for byte, and a long one there and back.

use pods::Frame;
use tempfile::TempDir;

use super::super::files::{ANALOG, Files, LOGIC};
use super::super::recording::Recording;
use super::*;
use base::space::Space;
use store::captures::{CaptureRecord, ChannelRecord, Kind, Status};

mod others;
mod round_trips;
mod traces;

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
        status: Status::Done,
        channels: finished.channels,
        ..CaptureRecord::new("c".into(), "o".into(), "d".into(), Kind::Dual, 0)
    };
    Reader::open(&files, record).unwrap()
}

/// One kind of channels.
fn kind(content: Option<Content>) -> Asked {
    Asked {
        content,
        ..Asked::default()
    }
}

fn file(reader: &Reader, format: Format, content: Option<Content>) -> Vec<u8> {
    let mut out = Vec::new();
    let export = Export::plan(reader, format, &kind(content)).unwrap();
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
fn times_in_a_dump_are_those_of_the_samples() {
    let samples = 1000;
    for rate_hz in [
        24e6,
        12e6,
        6e6,
        4.8e6,
        3e6,
        2.4e6,
        2_181_818.0,
        1e6,
        900_000.0,
        400_000.0,
        342.0,
        32e6,
        150e6,
        3e9,
    ] {
        let dir = TempDir::new().unwrap();
        let edges = [(0, 0b00), (1, 0b01), (2, 0b00), (7, 0b11), (999, 0b00)];
        let reader = capture_at(&dir, (rate_hz, 0.0), Some((&edges, samples)), &[]);
        let vcd = text(&reader, Format::Vcd);
        let seen = seen(&vcd);
        let ticks = |sample: u64| sample as f64 * seen.rate_hz / rate_hz;
        let mut is_exact = true;
        let ends = seen.changes.iter().chain([&seen.samples]);
        for (at, sample) in ends.zip([1, 2, 7, 999, samples]) {
            let off = (*at as f64 - ticks(sample)).abs();
            assert!(
                off <= 0.5,
                "{rate_hz} Hz: sample {sample} is at {at}\n{vcd}"
            );
            is_exact &= off < 1e-6;
        }
        assert_eq!(seen.changes.len(), 4, "{rate_hz}");
        assert_ne!(
            is_exact,
            vcd.contains("$comment samples are at no whole"),
            "{vcd}"
        );
        assert!(vcd.contains(&format!(" {rate_hz} Hz, ")), "{vcd}");
        // A reader that makes a sample of each tick can hold them.
        assert!((1.0..=1000.0).contains(&(seen.rate_hz / rate_hz)), "{vcd}");
        if let Some(read) = sigrok_samples(&vcd) {
            assert_eq!(read, seen.samples, "{rate_hz}");
        }
    }
}

#[test]
fn both_kinds_of_samples_are_at_their_times() {
    // Logic and analog rate, and when the second analog sample is, in the dump's ticks.
    for (rates_hz, second) in [
        ((1e6, 400_000.0), 25),
        ((12e6, 400_000.0), 2_500),
        ((6e6, 400_000.0), 2_500),
        ((2_181_818.0, 400_000.0), 2_500),
    ] {
        let dir = TempDir::new().unwrap();
        let edges = [(0, 0b00), (600, 0b01), (1199, 0b10)];
        let reader = capture_at(&dir, rates_hz, Some((&edges, 1200)), &[7, 9]);
        let vcd = text(&reader, Format::Vcd);
        let seen = seen(&vcd);
        // The exact rate of a pod that reports 2,181,818 Hz.
        let exact_hz = match rates_hz.0 {
            2_181_818.0 => 24e6 / 11.0,
            rate_hz => rate_hz,
        };
        let wanted = [600.0, 1199.0].map(|at| (at * seen.rate_hz / exact_hz).round());
        let changes: Vec<f64> = seen.changes.iter().map(|at| *at as f64).collect();
        assert_eq!(changes, wanted, "{rates_hz:?}");
        let second = format!("#{second}\nr9 #\n");
        assert!(vcd.contains(&second), "{rates_hz:?}: {vcd}");
        if let Some(read) = sigrok_samples(&vcd) {
            assert_eq!(read, seen.samples, "{rates_hz:?}");
        }
    }
}

#[test]
fn times_in_a_table_do_not_drift() {
    let dir = TempDir::new().unwrap();
    // An hour at a rate that no decimal fits.
    let hour = 3_000_000 * 3600;
    let edges = [(0, 0b00), (hour - 2, 0b01), (hour - 1, 0b11)];
    let reader = capture_at(&dir, (3e6, 0.0), Some((&edges, hour)), &[]);
    let rows = text(&reader, Format::Csv);
    let times: Vec<&str> = rows
        .lines()
        .map(|row| row.split(',').next().unwrap())
        .collect();
    let wanted = [
        "time_s",
        "0.000000000000",
        "3599.999999333333",
        "3599.999999666667",
        "3600.000000000000",
    ];
    assert_eq!(times, wanted);
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
fn any_channels_and_any_range_make_a_file() {
    let dir = TempDir::new().unwrap();
    let reader = capture(&dir, Some((EDGES, 6)), &[7, 8, 9]);
    let part = |format, channels: &[&str], from, to| {
        let asked = Asked {
            content: None,
            channels: channels.iter().map(|&name| name.to_owned()).collect(),
            from: Some(from),
            to,
        };
        let mut out = Vec::new();
        let export = Export::plan(&reader, format, &asked)?;
        export.write(&reader, &mut out).unwrap();
        Ok::<_, ExportError>(out)
    };
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    assert_eq!(part(Format::Bin, &[], 1, Some(5)).unwrap(), [1, 2, 2, 2]);
    assert_eq!(
        part(Format::Bin, &["LA2"], 1, None).unwrap(),
        [0, 1, 1, 1, 1]
    );
    assert_eq!(
        part(Format::Bin, &["LA2", "LA1"], 1, Some(3)).unwrap(),
        [0b10, 0b01]
    );
    assert_eq!(part(Format::Bin, &["ADC"], 1, None).unwrap(), [8, 0, 9, 0]);
    assert_eq!(part(Format::Wav, &[], 2, Some(3)).unwrap()[44..], [9, 0x80]);
    // Samples 2 to 4 of the logic channels: the second sample of the ADC is at the same time as the third of theirs.
    let csv = text(part(Format::Csv, &["ADC", "LA2"], 2, Some(5)).unwrap());
    assert_eq!(
        csv,
        "time_s,LA2,ADC (V)\r\n0.000000,1,8\r\n0.000002,1,9\r\n0.000004,1,9\r\n"
    );
    let vcd = text(part(Format::Vcd, &["LA1"], 2, None).unwrap());
    assert!(vcd.ends_with("#0\n0!\n#3\n1!\n#4\n"), "{vcd}");
    let session = part(Format::Sr, &["LA1"], 2, Some(6)).unwrap();
    let archive = decode::sr::Archive::parse(&session, &decode::sr::Limits::default()).unwrap();
    assert_eq!((archive.total_samples(), archive.channels().len()), (4, 1));
    for (channels, from, to, says) in [
        (&["LA3"][..], 0, None, "find the channel"),
        (&[], 6, None, "must lie in the 6 samples"),
        (&[], 3, Some(3), "must lie in the 6 samples"),
        (&["ADC"], 0, Some(4), "must lie in the 3 samples"),
    ] {
        let error = part(Format::Csv, channels, from, to).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn the_trigger_of_a_part_is_where_the_part_has_it() {
    let dir = TempDir::new().unwrap();
    let mut reader = capture(&dir, Some((EDGES, 6)), &[7, 8, 9]);
    let mut record = reader.record().clone();
    record.triggered = Some(true);
    record.trigger_sample = Some(4);
    let files = Files::open(dir.path().to_owned(), Space::boundless()).unwrap();
    reader = Reader::open(&files, record).unwrap();
    let comment = |channels: &[&str], from, to| {
        let asked = Asked {
            content: None,
            channels: channels.iter().map(|&name| name.to_owned()).collect(),
            from,
            to,
        };
        let mut out = Vec::new();
        let export = Export::plan(&reader, Format::Vcd, &asked).unwrap();
        export.write(&reader, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let mut lines = text.lines();
        let line = lines.find(|line| line.starts_with("$comment trigger"));
        line.map(str::to_owned)
    };
    let says = |sample: u64, seconds: &str| {
        Some(format!(
            "$comment trigger: at sample {sample}, {seconds} s $end"
        ))
    };
    assert_eq!(comment(&[], None, None), says(4, "0.000004"));
    assert_eq!(comment(&["LA1"], Some(3), None), says(1, "0.000001"));
    // Of the ADC it is the third sample.
    assert_eq!(comment(&["ADC"], None, None), says(2, "0.000004"));
    assert_eq!(comment(&["ADC"], Some(1), None), says(1, "0.000002"));
    for (from, to) in [(Some(5), None), (None, Some(3))] {
        assert_eq!(comment(&[], from, to), None);
    }
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
        let refused = Export::plan(&logic, format, &kind(content));
        assert!(matches!(refused, Err(ExportError::Lacks("analog"))));
    }
    let dir = TempDir::new().unwrap();
    let analog = capture(&dir, None, &[1, 2]);
    let refused = Export::plan(&analog, Format::Vcd, &kind(Some(Content::Logic)));
    assert!(matches!(refused, Err(ExportError::Lacks("logic"))));
    assert!(text(&analog, Format::Vcd).ends_with("#0\nr1 !\n#2\nr2 !\n#4\n"));
}

/// What sigrok-cli prints of a session; nothing when it is not installed.
fn sigrok(session: &[u8], arguments: &[&str]) -> Option<String> {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("capture.sr");
    std::fs::write(&path, session).unwrap();
    let mut command = std::process::Command::new("sigrok-cli");
    let Ok(output) = command.arg("-i").arg(&path).args(arguments).output() else {
        eprintln!("left out, since it is not installed: sigrok-cli");
        return None;
    };
    // Its exit code is 1 for each session with analog channels, those that it wrote itself among them.
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.stdout.is_empty(), "{said}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_session_has_both_kinds_of_channels() {
    // Logic and analog rate, and how often the file has each sample: the slower ones fill the places of the faster.
    for (rates_hz, logic, analog) in [
        ((1e6, 500_000.0), [1, 1, 1, 1, 1, 1], vec![2, 2, 2]),
        ((500_000.0, 1e6), [2; 6], vec![1; 12]),
        ((1e6, 400_000.0), [1; 6], vec![3, 2]),
        ((400_000.0, 400_000.0), [1; 6], vec![1; 6]),
    ] {
        let dir = TempDir::new().unwrap();
        let counts: Vec<u16> = (0..).step_by(3).take(analog.len()).collect();
        let reader = capture_at(&dir, rates_hz, Some((EDGES, 6)), &counts);
        let session = file(&reader, Format::Sr, None);
        let archive = decode::sr::Archive::parse(&session, &decode::sr::Limits::default());
        let archive = archive.unwrap();
        let rate_hz = rates_hz.0.max(rates_hz.1);
        assert_eq!(archive.sample_rate_hz(), Some(rate_hz));
        let mut raw = Vec::new();
        let visited = archive.visit(&mut |samples| {
            raw.extend_from_slice(samples);
            std::ops::ControlFlow::Continue(())
        });
        let _ = visited.unwrap();
        let levels = [1, 1, 2, 2, 2, 3].into_iter().zip(logic);
        let levels: Vec<u8> = levels
            .flat_map(|(level, times)| vec![level; times])
            .collect();
        assert_eq!(raw, levels, "{rates_hz:?}");

        let Some(shown) = sigrok(&session, &["--show"]) else {
            return;
        };
        assert!(shown.contains(&format!("Samplerate: {rate_hz}")), "{shown}");
        let Some(read) = sigrok(&session, &["-O", "analog"]) else {
            return;
        };
        let read: Vec<f64> = read
            .lines()
            .filter_map(|line| line.strip_prefix("ADC: ")?.split(' ').next()?.parse().ok())
            .collect();
        let wanted = counts.iter().zip(&analog);
        let wanted: Vec<f64> = wanted
            .flat_map(|(count, times)| vec![f64::from(*count); *times])
            .collect();
        assert_eq!(read, wanted, "{rates_hz:?}");
    }
}

#[test]
fn chunks_of_analog_samples_are_all_found() {
    let dir = TempDir::new().unwrap();
    let count = CHUNK_SAMPLES / 2 + 3;
    let counts: Vec<u16> = (0..count).map(|at| u16::from(at >= count - 2)).collect();
    let samples = CHUNK_SAMPLES as u64 + 6;
    let reader = capture(&dir, Some((EDGES, samples)), &counts);
    let session = file(&reader, Format::Sr, None);
    for entry in ["logic-1-1", "logic-1-2", "analog-1-3-1", "analog-1-3-2"] {
        let is_there = session
            .windows(entry.len())
            .any(|name| name == entry.as_bytes());
        assert!(is_there, "{entry}");
    }
    let Some(read) = sigrok(&session, &["-O", "analog"]) else {
        return;
    };
    let lines: Vec<&str> = read
        .lines()
        .filter(|line| line.starts_with("ADC: "))
        .collect();
    assert_eq!(lines.len(), 2 * count);
    let ones = lines
        .iter()
        .filter(|line| line.starts_with("ADC: 1"))
        .count();
    assert_eq!(ones, 4);
}

#[test]
fn a_rate_that_a_format_cannot_say_is_refused() {
    let dir = TempDir::new().unwrap();
    let reader = capture_at(&dir, (0.3, 0.3), Some((EDGES, 6)), &[7, 9]);
    for format in [Format::Sr, Format::Wav] {
        let refused = Export::plan(&reader, format, &Asked::default());
        assert!(
            matches!(refused, Err(ExportError::Rate { .. })),
            "{refused:?}"
        );
    }
    assert!(text(&reader, Format::Csv).ends_with("\r\n20.000000000000,1,1,9\r\n"));
    // A day of analog samples beside a few fast logic ones.
    let dir = TempDir::new().unwrap();
    let uneven = capture_at(&dir, (12e6, 0.01), Some((EDGES, 6)), &[1; 864]);
    let refused = Export::plan(&uneven, Format::Sr, &Asked::default());
    assert!(
        matches!(refused, Err(ExportError::Uneven { .. })),
        "{refused:?}"
    );
    assert!(Export::plan(&uneven, Format::Sr, &kind(Some(Content::Logic))).is_ok());
    // Less than clocks differ.
    let dir = TempDir::new().unwrap();
    let near = capture_at(&dir, (399_986.4, 0.0), Some((EDGES, 6)), &[]);
    assert!(Export::plan(&near, Format::Sr, &Asked::default()).is_ok());
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
