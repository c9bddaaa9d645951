//! A capture whose last record the disk refuses.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pods::{PodOptions, SimConfig, SimPod};
use tempfile::TempDir;

use crate::bench::Bench;
use crate::captures::Captures;
use crate::captures::layout::Place;
use crate::captures::order;
use crate::leases::Visit;
use base::clock::Clock;
use base::config::CapturesConfig;
use base::space::Space;
use store::Store;
use store::captures::Status;
use store::testing::Disk;

const ORG: &str = "01ARYZ6S410000000000000000";

/// Ends a test that hangs.
const WAIT: Duration = Duration::from_secs(30);

async fn open(dir: &TempDir, store: &Store) -> (Arc<Bench>, Arc<Captures>) {
    let clock = Clock::system();
    let bench = Arc::new(Bench::new(
        store.clone(),
        clock.clone(),
        PodOptions::default(),
    ));
    let config = CapturesConfig::default();
    let captures = Captures::open(
        dir.path(),
        &config,
        store.clone(),
        clock,
        bench.clone(),
        Space::boundless(),
    );
    (bench, captures.await.unwrap())
}

#[tokio::test]
async fn samples_outlive_a_record_that_cannot_be_written() {
    let (dir, disk) = (TempDir::new().unwrap(), Disk::default());
    let store = disk.open().unwrap();
    let (bench, captures) = open(&dir, &store).await;
    let pod = SimPod::new(SimConfig::default());
    let attached = bench.attach_transport(ORG, "pod", "sim:pod", pod);
    attached.await.unwrap();
    bench.settle(WAIT).await;
    let order = order::Order {
        device: bench.list(ORG)[0].record.id.clone(),
        name: None,
        trigger: None,
        wanted: order::Wanted::Logic(order::Logic {
            samples: 200_000,
            sample_rate_mhz: 1.0,
            channels: vec![1, 2],
            voltage_mv: Some(3300),
        }),
    };
    let started = captures.start(ORG, &order, None, Visit::unending());
    let id = started.await.unwrap().0.id;
    disk.fail_after(Some(0));
    // The file has its name before the record is written.
    let file = dir.path().join("captures").join(format!("{id}.la"));
    let begun = Instant::now();
    while !file.exists() || !captures.unstored().contains_key(&id) {
        assert!(begun.elapsed() < WAIT);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    drop((captures, bench));
    // Nothing is acknowledged by a disk that fails.
    let _ = store.close().await;
    disk.fail_after(None);

    let store = disk.open().unwrap();
    let (_bench, captures) = open(&dir, &store).await;
    let record = captures.get(ORG, &id).await.unwrap();
    assert_eq!((record.status, record.error), (Status::Done, None));
    let samples: Vec<u64> = record.channels.iter().map(|c| c.samples).collect();
    assert_eq!(samples, [200_000, 200_000]);
    let reader = captures.read(ORG, &id).await.unwrap();
    let place = Place {
        seq: 0,
        channel: 1,
        start_sample: 0,
        count: 1000,
    };
    reader.frame(place).unwrap();
}
