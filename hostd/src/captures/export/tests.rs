//! Small captures as files, byte for byte, and a long one there and back.

use pods::Frame;
use tempfile::TempDir;

use super::super::files::{ANALOG, Files, LOGIC};
use super::super::recording::Recording;
use super::*;
use crate::store::captures::{CaptureRecord, ChannelRecord, Kind, Status};

fn channel(la: Option<u8>, samples: u64) -> ChannelRecord {
    ChannelRecord {
        la,
        name: la.map_or_else(|| "ADC".into(), |n| format!("LA{n}")),
        unit: if la.is_some() {
            String::new()
        } else {
            "V".into()
        },
        sample_rate_hz: if la.is_some() { 1e6 } else { 500_000.0 },
        samples,
        bits: if la.is_some() { 1 } else { 16 },
        full_scale: if la.is_some() { 1.0 } else { 65_536.0 },
        offset: 0.0,
    }
}

/// A capture of two logic channels, of the ADC, or of all.
fn capture(dir: &TempDir, logic: Option<(&[(u64, u16)], u64)>, counts: &[u16]) -> Reader {
    let mut channels = Vec::new();
    if !counts.is_empty() {
        channels.push(channel(None, counts.len() as u64));
    }
    if let Some((_, samples)) = logic {
        channels.extend([channel(Some(1), samples), channel(Some(2), samples)]);
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
    let files = Files::open(dir.path().to_owned()).unwrap();
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
