//! Which captures are deleted for which, and what is counted.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use pods::PodOptions;
use tempfile::TempDir;

use super::*;
use crate::captures::Edit;
use crate::captures::files::LOGIC;
use crate::devices::Devices;
use base::clock::Clock;
use base::space::Space;
use store::Store;
use store::captures::{Kind, Status};

const ORG: &str = "01ARYZ6S410000000000000000";
const OTHER: &str = "01ARYZ6S410000000000000001";
const MIB: u64 = 1 << 20;
const DAY_MS: u64 = 24 * 3_600_000;

struct Folder {
    dir: TempDir,
    store: Store,
    config: CapturesConfig,
}

impl Folder {
    /// Captures of a quota of 10 MiB and 5.
    fn new(at_quota: AtQuota) -> Self {
        Self {
            dir: TempDir::new().unwrap(),
            store: Store::in_memory().unwrap(),
            config: CapturesConfig {
                quota_mib: 10,
                count_max: 5,
                at_quota,
                ..CapturesConfig::default()
            },
        }
    }

    async fn put(&self, record: CaptureRecord) -> String {
        let id = record.id.clone();
        self.store.capture_put(record).await.unwrap();
        id
    }

    async fn open(&self, clock: Clock) -> Arc<Captures> {
        let (store, space) = (self.store.clone(), Space::boundless());
        let devices = Devices::new(
            store.clone(),
            clock.clone(),
            |address| panic!("no pod is at {address}"),
            PodOptions::default(),
        );
        let (dir, devices) = (self.dir.path(), Arc::new(devices));
        let opened = Captures::open(dir, &self.config, store, clock, space, devices);
        opened.await.unwrap()
    }

    async fn left(&self) -> Vec<String> {
        let mut left = Vec::new();
        let read = self.store.read(|s| {
            let mut ids = Vec::new();
            captures::each(s, |record| ids.push(record.id))?;
            Ok::<_, StoreError>(ids)
        });
        left.extend(read.await.unwrap());
        left.sort();
        left
    }
}

/// The capture number `n` of `org`.
fn done(org: &str, n: u32, name: Option<&str>, mib: u64) -> CaptureRecord {
    CaptureRecord {
        name: name.map(str::to_owned),
        status: Status::Done,
        size_bytes: Some(mib * MIB),
        ..CaptureRecord::new(
            format!("01ARZ3NDEKTSV4RRFFQ69G{n:04}"),
            org.into(),
            String::new(),
            Kind::Logic,
            u64::from(n) * DAY_MS,
        )
    }
}

fn mib(mib: u64) -> Usage {
    Usage {
        count: 0,
        bytes: mib * MIB,
    }
}

const ONE: Usage = Usage { count: 1, bytes: 0 };

#[tokio::test]
async fn the_oldest_without_a_name_give_way_and_no_more_than_needed() {
    let folder = Folder::new(AtQuota::Oldest);
    let named = folder.put(done(ORG, 1, Some("keep"), 3)).await;
    folder.put(done(ORG, 2, None, 3)).await;
    let young = folder.put(done(ORG, 3, None, 3)).await;
    let foreign = folder.put(done(OTHER, 4, None, 9)).await;
    let captures = folder.open(Clock::system()).await;
    captures.claim(ORG, mib(1)).await.unwrap();
    assert_eq!(folder.left().await.len(), 4, "there was room");
    captures.claim(ORG, mib(2)).await.unwrap();
    assert_eq!(folder.left().await, [named, young, foreign]);
    assert_eq!(
        captures.usage(),
        Usage {
            count: 3,
            bytes: (9 + 9) * MIB
        }
    );
}

/// Their steps have given them names, and no person.
#[tokio::test]
async fn those_of_jobs_give_way_though_they_have_names() {
    let folder = Folder::new(AtQuota::Oldest);
    let named = folder.put(done(ORG, 1, Some("keep"), 3)).await;
    let of_job = CaptureRecord {
        job: Some("01J".to_owned()),
        ..done(ORG, 2, Some("01J b: boot"), 3)
    };
    folder.put(of_job).await;
    let young = folder.put(done(ORG, 3, None, 3)).await;
    let captures = folder.open(Clock::system()).await;
    captures.claim(ORG, mib(3)).await.unwrap();
    assert_eq!(folder.left().await, [named, young]);
}

#[tokio::test]
async fn pinned_ones_stay_count_and_cannot_be_deleted() {
    let mut folder = Folder::new(AtQuota::Oldest);
    let pinned = folder.put(done(ORG, 1, None, 3)).await;
    let old = folder.put(done(ORG, 2, None, 3)).await;
    let captures = folder.open(Clock::system()).await;
    let pin = |pinned| Edit {
        pinned: Some(pinned),
        ..Edit::default()
    };
    for _ in 0..2 {
        let kept = captures.edit(ORG, &pinned, pin(true)).await.unwrap();
        assert!(kept.marks.pinned);
    }
    assert_eq!((captures.pinned(), captures.usage().bytes), (1, 6 * MIB));
    let foreign = captures.edit(OTHER, &old, pin(true)).await;
    assert!(matches!(foreign, Err(CaptureError::NotFound)));

    // Another start counts the same, and finds the other one old.
    folder.config.keep_days = 10;
    let (clock, _hand) = Clock::manual(20 * DAY_MS);
    let captures = folder.open(clock).await;
    captures.tidy().await.unwrap();
    assert_eq!(folder.left().await, std::slice::from_ref(&pinned));
    assert_eq!(captures.pinned(), 1);
    captures.claim(ORG, mib(7)).await.unwrap();
    let full = captures.claim(ORG, mib(1)).await.unwrap_err();
    assert!(matches!(full, CaptureError::Full { .. }), "{full:?}");
    let refused = captures.delete(ORG, &pinned).await.unwrap_err();
    assert!(refused.to_string().contains("is pinned"), "{refused}");
    captures.edit(ORG, &pinned, pin(false)).await.unwrap();
    assert_eq!(captures.pinned(), 0);
    captures.delete(ORG, &pinned).await.unwrap();
    assert_eq!(folder.left().await, [""; 0]);
}

#[tokio::test]
async fn nothing_is_deleted_for_what_does_not_fit_anyway() {
    let folder = Folder::new(AtQuota::Oldest);
    folder.put(done(ORG, 1, Some("keep"), 8)).await;
    folder.put(done(ORG, 2, None, 1)).await;
    let captures = folder.open(Clock::system()).await;
    let error = captures.claim(ORG, mib(3)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "MiB of captures of the organisation (captures.quota_mib): 10 at most"
    );
    assert_eq!(folder.left().await.len(), 2);
    captures.claim(ORG, mib(2)).await.unwrap();
    assert_eq!(folder.left().await.len(), 1);
}

#[tokio::test]
async fn a_capture_in_progress_does_not_give_way() {
    let folder = Folder::new(AtQuota::Oldest);
    let captures = folder.open(Clock::system()).await;
    for n in 0..5 {
        let mut running = done(ORG, n, None, 0);
        running.status = Status::Running;
        running.size_bytes = None;
        captures.claim(ORG, ONE).await.unwrap();
        folder.put(running).await;
    }
    let error = captures.claim(ORG, ONE).await.unwrap_err();
    assert!(error.to_string().contains("captures.count_max"), "{error}");
    captures.claim(OTHER, ONE).await.unwrap();
}

#[tokio::test]
async fn new_ones_are_refused_where_the_configuration_says_so() {
    let folder = Folder::new(AtQuota::Refuse);
    for n in 0..5 {
        folder.put(done(ORG, n, None, 1)).await;
    }
    let captures = folder.open(Clock::system()).await;
    let error = captures.claim(ORG, ONE).await.unwrap_err();
    assert!(
        matches!(error, CaptureError::Full { max: 5, .. }),
        "{error:?}"
    );
    assert_eq!(folder.left().await.len(), 5);
    captures
        .delete(ORG, &done(ORG, 0, None, 0).id)
        .await
        .unwrap();
    captures.claim(ORG, ONE).await.unwrap();
}

#[tokio::test]
async fn records_of_earlier_versions_count_by_their_files() {
    let folder = Folder::new(AtQuota::Refuse);
    let mut old = done(ORG, 1, None, 0);
    old.size_bytes = None;
    let files = folder.dir.path().join(base::folder::CAPTURES);
    std::fs::create_dir(&files).unwrap();
    std::fs::write(files.join(format!("{}.{LOGIC}", old.id)), vec![0; 3000]).unwrap();
    let id = folder.put(old).await;
    let captures = folder.open(Clock::system()).await;
    let expected = Usage {
        count: 1,
        bytes: 3000,
    };
    assert_eq!(captures.usage(), expected);
    captures.delete(ORG, &id).await.unwrap();
    assert_eq!(captures.usage(), Usage::default());
    assert_eq!(std::fs::read_dir(files).unwrap().count(), 0);
}

#[tokio::test]
async fn old_captures_without_a_name_are_forgotten() {
    let mut folder = Folder::new(AtQuota::Oldest);
    folder.config.keep_days = 10;
    let named = folder.put(done(ORG, 1, Some("keep"), 1)).await;
    folder.put(done(ORG, 2, None, 1)).await;
    let young = folder.put(done(ORG, 15, None, 1)).await;
    let (clock, _hand) = Clock::manual(20 * DAY_MS);
    let captures = folder.open(clock).await;
    captures.tidy().await.unwrap();
    assert_eq!(folder.left().await, [named, young]);
    assert_eq!(captures.usage().count, 2);
}

#[tokio::test]
async fn a_deletion_goes_on_when_its_caller_leaves() {
    let folder = Folder::new(AtQuota::Refuse);
    let files = folder.dir.path().join(base::folder::CAPTURES);
    let captures = folder.open(Clock::system()).await;
    // A caller who leaves at each step there is.
    for polls in 0..12_u32 {
        let record = done(ORG, polls + 1, None, 1);
        std::fs::write(files.join(format!("{}.{LOGIC}", record.id)), [0; 9]).unwrap();
        let id = folder.put(record).await;
        let mut deleting = Box::pin(captures.delete(ORG, &id));
        for _ in 0..polls {
            let poll = std::future::poll_fn(|cx| Poll::Ready(deleting.as_mut().poll(cx)));
            if poll.await.is_ready() {
                break;
            }
            // What it waits for is a moment of the writer.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        drop(deleting);
        until(|| async {
            let is_stored = folder.left().await.contains(&id);
            is_stored == files.join(format!("{id}.{LOGIC}")).exists()
        })
        .await;
        if folder.left().await.contains(&id) {
            captures.delete(ORG, &id).await.unwrap();
        }
    }
}

/// Waits for a state. One that never comes ends the test by its time limit.
async fn until<F: Future<Output = bool>>(is_so: impl Fn() -> F) {
    while !is_so().await {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
