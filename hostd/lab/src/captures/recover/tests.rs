//! A capture whose last record the disk refuses.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pod_sim::{SimConfig, SimPod};
use pods::PodOptions;
use tempfile::TempDir;

use crate::captures::Captures;
use crate::captures::layout::Span;
use crate::captures::order;
use crate::devices::Devices;
use crate::leases::{Entered, Visit};
use base::clock::Clock;
use base::config::CapturesConfig;
use base::space::Space;
use store::Store;
use store::captures::{Setup, Status};
use store::testing::Disk;

const ORG: &str = "01ARYZ6S410000000000000000";

/// Ends a test that hangs.
const WAIT: Duration = Duration::from_secs(30);

async fn open(dir: &TempDir, store: &Store) -> (Arc<Devices>, Arc<Captures>) {
    let clock = Clock::system();
    let devices = Arc::new(Devices::new(
        store.clone(),
        clock.clone(),
        |address| pods::transport(&[], address),
        PodOptions::default(),
    ));
    let config = CapturesConfig::default();
    let captures = Captures::open(
        dir.path(),
        &config,
        store.clone(),
        clock,
        Space::boundless(),
        devices.clone(),
    );
    (devices, captures.await.unwrap())
}

#[tokio::test]
async fn samples_outlive_a_record_that_cannot_be_written() {
    let (dir, disk) = (TempDir::new().unwrap(), Disk::default());
    let store = disk.open().unwrap();
    let (devices, captures) = open(&dir, &store).await;
    let pod = SimPod::new(SimConfig::default());
    let attached = devices.attach_transport(ORG, "pod", "sim:pod", pod);
    attached.await.unwrap();
    devices.settle(WAIT).await;
    let order = order::Order {
        pre_samples: 0,
        name: None,
        trigger: None,
        wanted: order::Wanted::Logic(order::Logic {
            samples: 200_000,
            sample_rate_mhz: 1.0,
            channels: vec![1, 2],
            voltage_mv: Some(3300),
        }),
    };
    let device = devices.list(ORG).remove(0);
    let entered = Entered {
        pod: devices.pod_of(&device.record.id).unwrap(),
        device,
        visit: Visit::unending(),
    };
    let started = captures.start(entered, &order, None, None, Setup::default());
    let id = started.await.unwrap().0.id;
    disk.fail_after(Some(0));
    // The file has its name before the record is written.
    let file = dir.path().join("captures").join(format!("{id}.la"));
    let begun = Instant::now();
    while !file.exists() || !captures.unstored().contains_key(&id) {
        assert!(begun.elapsed() < WAIT);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    drop((captures, devices));
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
    let span = Span {
        seq: 0,
        channel: 1,
        start_sample: 0,
        count: 1000,
    };
    reader.frame(span).unwrap();
}
