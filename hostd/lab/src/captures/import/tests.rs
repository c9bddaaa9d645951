//! Imports of recordings, and of everything that is not a recording.

use std::time::Duration;

use decode::segment::CHANNELS_MAX;
use decode::sr::Writer;
use pods::PodOptions;
use tempfile::TempDir;
use tokio::time::timeout;

use super::super::reader::Reader;
use super::*;
use crate::captures::layout::Span;
use crate::captures::reader::Data;
use crate::devices::Devices;
use base::clock::Clock;
use base::config::CapturesConfig;
use base::space::Space;
use blobs::Blobs;
use store::Store;

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

/// Captures of a server, and where uploads lie.
async fn server(dir: &TempDir) -> (Arc<Captures>, Blobs) {
    let (store, clock) = (Store::in_memory().unwrap(), Clock::system());
    let devices = Devices::new(
        store.clone(),
        clock.clone(),
        |address| panic!("no pod is at {address}"),
        PodOptions::default(),
    );
    let (config, space) = (CapturesConfig::default(), Space::boundless());
    let blobs = Blobs::open(dir.path().join("blobs"), space.clone()).unwrap();
    let devices = Arc::new(devices);
    let opened = Captures::open(dir.path(), &config, store, clock, space, devices);
    (opened.await.unwrap(), blobs)
}

fn by(org: &str, user: &str) -> Requester {
    Requester {
        org: org.into(),
        user: user.into(),
    }
}

#[tokio::test]
async fn imports_of_one_organisation_leave_places_to_others_and_to_reads() {
    let dir = TempDir::new().unwrap();
    let (captures, blobs) = server(&dir).await;
    let file = Writer::new(1_000_000, &["A"]).push(&[0, 1, 0]).finish();
    let import = |requester: Requester| {
        let import = Import {
            org: requester.org.to_string(),
            device: String::new(),
            name: None,
            options: Options::default(),
            requester: Some(requester),
        };
        captures.import(import, blobs.write(&file).unwrap())
    };
    // What two users of an organisation import takes long: all places that it can have.
    let mut busy = Vec::new();
    for user in ["one", "one", "two"] {
        let requester = by("crowd", user);
        busy.push(captures.import_permit(Some(&requester)).await.unwrap());
    }
    let soon = Duration::from_millis(200);
    let more = timeout(soon, import(by("crowd", "two"))).await;
    assert!(more.is_err(), "it waits for its own");
    // Nor do imports wait for reads, or reads for imports; and none for clients that are sent captures.
    let mut sent = Vec::new();
    for (org, user) in [
        ("crowd", "one"),
        ("crowd", "two"),
        ("slow", "one"),
        ("slow", "two"),
    ] {
        let requester = by(org, user);
        sent.push(captures.stream_permit(Some(&requester)).await.unwrap());
    }
    let mut reads = Vec::new();
    for _ in 0..CapturesConfig::default().read_max {
        reads.push(captures.reader_permit().await);
    }
    let other = import(by("other", "three")).await.unwrap();
    assert_eq!(other.record.channels[0].samples, 3);
    drop(busy);
    import(by("crowd", "two")).await.unwrap();
}
