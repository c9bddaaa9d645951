//! Imports of recordings, and of everything that is not a recording.

use decode::segment::CHANNELS_MAX;
use decode::sr::Writer;
use tempfile::TempDir;

use super::super::reader::Reader;
use super::*;
use crate::captures::layout::Span;
use crate::captures::reader::Data;
use base::space::Space;

const ID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// Cases of one fuzz run.
const FUZZ_CASES: u32 = 2_000;

struct Folder {
    dir: TempDir,
    files: Files,
}

impl Folder {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let files = Files::open(dir.path().join("captures"), Space::boundless()).unwrap();
        Self { dir, files }
    }

    fn unpack(&self, bytes: &[u8]) -> Result<Vec<ChannelRecord>, ImportError> {
        let path = self.dir.path().join("upload");
        std::fs::write(&path, bytes).unwrap();
        let unpacked = unpack(&self.files, ID, &path, &Options::default());
        unpacked.map(|unpacked| unpacked.channels)
    }

    /// Capture files, complete or not.
    fn left(&self) -> usize {
        let folder = self.dir.path().join("captures");
        std::fs::read_dir(folder).unwrap().count()
    }
}

fn record(channels: Vec<ChannelRecord>) -> CaptureRecord {
    CaptureRecord {
        status: Status::Done,
        channels,
        ..CaptureRecord::new(ID.into(), "o".into(), String::new(), Kind::Logic, 0)
    }
}

#[test]
fn a_recording_becomes_a_capture() {
    let folder = Folder::new();
    let file = Writer::new(200_000, &["SCL", "SCL", "", "a\tb"])
        .push(&[0b0001, 0b0001, 0b1000])
        .push(&[0b1000, 0b1001])
        .finish();
    let channels = folder.unpack(&file).unwrap();
    let names: Vec<&str> = channels.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["SCL", "SCL'", "2", "ab"]);
    assert!(
        channels
            .iter()
            .all(|c| c.samples == 5 && c.sample_rate_hz == 200_000.0)
    );
    let reader = Reader::open(&folder.files, record(channels)).unwrap();
    let frame = |channel| {
        let span = Span {
            seq: 0,
            channel,
            start_sample: 0,
            count: 5,
        };
        reader.frame(span).unwrap()
    };
    let runs = |level, runs: &[u32]| Data::Runs {
        level,
        runs: runs.to_vec(),
    };
    assert_eq!(frame(0), runs(1, &[2, 2, 1]));
    assert_eq!(frame(1), runs(0, &[5]));
    assert_eq!(frame(3), runs(0, &[2, 3]));
}

#[test]
fn what_is_no_recording_leaves_nothing() {
    let folder = Folder::new();
    let empty = Writer::new(1_000_000, &["A"]).finish();
    let bytes = vec![0; 1 << 20];
    let whole = Writer::new(1_000_000, &["A"]).push(&bytes).finish();
    let cut = &whole[..whole.len() - 10];
    // The size of the samples in the directory: the fourth field after the checksum.
    let mut bomb = whole.clone();
    for at in 0..bomb.len() - 4 {
        if bomb[at..at + 4] == (1_u32 << 20).to_le_bytes() {
            bomb[at..at + 4].copy_from_slice(&0xF000_0000_u32.to_le_bytes());
        }
    }
    for (file, says) in [
        (&b""[..], "recognise the file"),
        (
            b"this is text",
            "known are sigrok sessions (.sr), value change dumps (.vcd)",
        ),
        (cut, "no .sr file"),
        (&empty, "find logic samples"),
        (&bomb, "unpack"),
    ] {
        let error = folder.unpack(file).unwrap_err();
        assert!(
            error.is_of_file() && error.to_string().contains(says),
            "{error}"
        );
        assert_eq!(folder.left(), 0, "{error}");
    }
}

#[test]
fn mutated_recordings_never_panic() {
    let folder = Folder::new();
    let file = Writer::new(1_000_000, &["A", "B"])
        .push(&[0, 1, 2, 3, 2, 1, 0])
        .push(&[3; 300])
        .finish();
    let mut random: u64 = 0x0005_EED0_0F5A;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random >> 16).unwrap()
    };
    for _ in 0..FUZZ_CASES {
        let mut mutated = file.clone();
        for _ in 0..=next() % 4 {
            let at = next() % mutated.len();
            mutated[at] = next().to_le_bytes()[0];
        }
        if next() % 4 == 0 {
            mutated.truncate(next() % mutated.len());
        }
        match folder.unpack(&mutated) {
            Ok(channels) => assert!(channels.len() <= CHANNELS_MAX + 1),
            Err(error) => assert!(error.is_of_file(), "{error}"),
        }
        folder.files.remove(ID);
        assert_eq!(folder.left(), 0);
    }
}
