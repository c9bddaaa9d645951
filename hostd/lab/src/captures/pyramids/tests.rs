//! Pyramids that are missing, damaged or counted.

use std::fs;
use std::path::PathBuf;

use decode::segment::{Encoder, EncoderSpec};
use pods::PodOptions;
use tempfile::TempDir;

use super::*;
use crate::captures::files::LOGIC;
use crate::captures::overview::{Overview, overview};
use crate::captures::tiles::{Lane, tiles};
use crate::devices::Devices;
use base::clock::Clock;
use base::config::CapturesConfig;
use base::space::Space;
use store::Store;
use store::captures::{CaptureRecord, ChannelRecord, Kind, Status};

const ORG: &str = "01ARYZ6S410000000000000000";
const ID: &str = "01ARYZ6S4100000000000000C1";

/// Samples of the capture: more than a block.
const SAMPLES: u64 = 1_500_000;

/// A bench with one capture, as a version stored it that made no pyramids.
struct Bench {
    dir: TempDir,
    captures: Arc<Captures>,
    /// Bytes of the samples.
    bytes: u64,
}

impl Bench {
    async fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let (store, clock) = (Store::in_memory().unwrap(), Clock::system());
        let devices = Devices::new(
            store.clone(),
            clock.clone(),
            |address| panic!("no pod is at {address}"),
            PodOptions::default(),
        );
        let (config, space) = (CapturesConfig::default(), Space::boundless());
        let bytes = samples();
        let files = Files::open(dir.path().join("captures"), space.clone()).unwrap();
        files.write(ID, LOGIC, &bytes).unwrap();
        let bytes = bytes.len() as u64;
        store.capture_put(record(bytes)).await.unwrap();
        let devices = Arc::new(devices);
        let opened = Captures::open(dir.path(), &config, store, clock, space, devices);
        Self {
            captures: opened.await.unwrap(),
            dir,
            bytes,
        }
    }

    fn pyramid(&self) -> PathBuf {
        self.dir
            .path()
            .join("captures")
            .join(format!("{ID}.{LOGIC_PYRAMID}"))
    }

    /// The second channel from afar, with the way there checked.
    async fn look(&self) -> Overview {
        let look = |reader: &Reader| {
            assert!(reader.logic_pyramid()?.is_some(), "it is there by now");
            overview(reader, 1, &(0..SAMPLES), 50)
        };
        self.captures.look(ORG, ID, look).await.unwrap()
    }
}

/// Two channels: one rests, the other toggles every 100 samples in the second half.
fn samples() -> Vec<u8> {
    let spec = EncoderSpec {
        channels: 2,
        sample_rate_hz: 1e6,
    };
    let mut encoder = Encoder::new(spec).unwrap();
    let half = SAMPLES / 2;
    let toggles = (half..SAMPLES).step_by(100).zip([2, 0].into_iter().cycle());
    let edges: Vec<(u64, u64)> = toggles.collect();
    encoder.push_edges(&edges, SAMPLES).unwrap();
    encoder.finish()
}

fn record(bytes: u64) -> CaptureRecord {
    let channel = |la: u8| ChannelRecord {
        la: Some(la),
        name: format!("LA{la}"),
        unit: String::new(),
        sample_rate_hz: 1e6,
        samples: SAMPLES,
        bits: 1,
        full_scale: 1.0,
        offset: 0.0,
    };
    CaptureRecord {
        status: Status::Done,
        finished_ms: Some(1),
        channels: vec![channel(1), channel(2)],
        size_bytes: Some(bytes),
        ..CaptureRecord::new(ID.into(), ORG.into(), String::new(), Kind::Logic, 0)
    }
}

#[tokio::test]
async fn one_that_is_missing_is_made_and_counted() {
    let bench = Bench::new().await;
    assert!(!bench.pyramid().exists());
    assert_eq!(bench.captures.usage().bytes, bench.bytes);
    let seen = bench.look().await;
    assert_eq!(
        (seen.min, seen.max[..25].to_vec()),
        (vec![0.0; 50], vec![0.0; 25])
    );
    assert_eq!(seen.max[25..], [1.0; 25]);
    let made = fs::metadata(bench.pyramid()).unwrap().len();
    assert!(
        made > 0 && made < bench.bytes,
        "{made} of {} bytes",
        bench.bytes
    );
    let record = bench.captures.get(ORG, ID).await.unwrap();
    assert_eq!(record.size_bytes, Some(bench.bytes + made));
    assert_eq!(bench.captures.usage().bytes, bench.bytes + made);
    bench.look().await;
    assert_eq!(
        bench.captures.usage().bytes,
        bench.bytes + made,
        "made once"
    );
    bench.captures.delete(ORG, ID).await.unwrap();
    assert!(!bench.pyramid().exists());
    assert_eq!(bench.captures.usage().bytes, 0);
}

#[tokio::test]
async fn a_damaged_one_is_made_again() {
    let bench = Bench::new().await;
    let truth = bench.look().await;
    let whole = fs::read(bench.pyramid()).unwrap();
    // In the header, in a chunk, and at the end.
    for (at, cut) in [(9, false), (25, false), (whole.len() - 30, true)] {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        if cut {
            damaged.truncate(at);
        }
        fs::write(bench.pyramid(), &damaged).unwrap();
        let seen = bench.captures.look(ORG, ID, |reader: &Reader| {
            overview(reader, 1, &(0..SAMPLES), 50)
        });
        assert_eq!(seen.await.unwrap(), truth, "damaged at {at}");
        assert!(
            fs::read(bench.pyramid()).unwrap() == whole,
            "damaged at {at}"
        );
    }
    let record = bench.captures.get(ORG, ID).await.unwrap();
    assert_eq!(record.size_bytes, Some(bench.bytes + whole.len() as u64));
}

#[tokio::test]
async fn looks_at_the_same_time_make_one() {
    let bench = Bench::new().await;
    let (a, b, c) = tokio::join!(bench.look(), bench.look(), bench.look());
    assert!(a == b && b == c);
    let made = fs::metadata(bench.pyramid()).unwrap().len();
    assert_eq!(bench.captures.usage().bytes, bench.bytes + made);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_nobody_waits_for_is_made_and_counted_all_the_same() {
    let bench = Bench::new().await;
    let part = bench.pyramid().with_extension("pyramid.part");
    let begun = async {
        while !part.exists() && !bench.pyramid().exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        _ = bench.look() => {}
        () = begun => {}
    }
    let counted = async {
        loop {
            let made = fs::metadata(bench.pyramid()).map_or(0, |meta| meta.len());
            let record = bench.captures.get(ORG, ID).await.unwrap();
            if made > 0 && record.size_bytes == Some(bench.bytes + made) {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    let wait = std::time::Duration::from_secs(30);
    tokio::time::timeout(wait, counted).await.unwrap();
    assert!(!part.exists());
}

#[tokio::test]
async fn tiles_are_what_the_channels_do() {
    let bench = Bench::new().await;
    let look = |reader: &Reader| tiles(reader, &[1, 0], 9, &(1460..1470));
    let lanes = bench.captures.look(ORG, ID, look).await.unwrap();
    // The first edge is in stretch 1464.
    let busy = vec![1, 1, 1, 1, 3, 3, 3, 3, 3, 3];
    assert_eq!(lanes, [Lane::Digital(busy), Lane::Digital(vec![1; 10])]);
    let behind = |reader: &Reader| tiles(reader, &[0], 0, &(SAMPLES..SAMPLES + 5));
    let lanes = bench.captures.look(ORG, ID, behind).await.unwrap();
    assert_eq!(lanes, [Lane::Digital(Vec::new())]);
}
