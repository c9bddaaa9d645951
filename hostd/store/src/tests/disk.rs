//! The store on a disk that fails, and on one that loses power.

use super::*;
use crate::testing::Disk;

/// Write numbered entries until one fails or `count` are written; how many were acknowledged.
async fn fill(store: &Store, count: u32) -> u32 {
    for n in 0..count {
        let data = vec![n.to_le_bytes()[0]; 700];
        if store
            .kv_put(&space(), &format!("{n:04}"), data)
            .await
            .is_err()
        {
            return n;
        }
    }
    count
}

async fn check(store: &Store, acknowledged: u32, context: &str) {
    for n in 0..acknowledged {
        let found = value(store, &format!("{n:04}")).await;
        assert_eq!(
            found,
            Some(vec![n.to_le_bytes()[0]; 700]),
            "{context}: {n} of {acknowledged}"
        );
    }
    // At most the write in flight may be there beyond what was acknowledged.
    let beyond = format!("{:04}", acknowledged + 1);
    assert_eq!(value(store, &beyond).await, None, "{context}");
}

#[tokio::test]
async fn acknowledged_writes_survive_a_power_loss_at_any_point() {
    let whole = Disk::default();
    let store = whole.open().unwrap();
    assert_eq!(fill(&store, 12).await, 12);
    store.close().await.unwrap();
    let changes = whole.changes();
    for point in 0..changes {
        let disk = Disk::default();
        disk.fail_after(Some(point));
        let acknowledged = match disk.open() {
            Ok(store) => fill(&store, 12).await,
            Err(_) => 0,
        };
        for seed in 1..=3 {
            let after = disk.after_power_loss(seed * 0x9e37_79b9 + u64::from(point));
            let store = match after.open() {
                Ok(store) => store,
                // Before the first commit there is nothing to lose.
                Err(e) if acknowledged == 0 => {
                    assert!(
                        matches!(e, StoreError::Storage { .. } | StoreError::Corrupt { .. }),
                        "{e:?}"
                    );
                    continue;
                }
                Err(e) => panic!("lost {acknowledged} writes at point {point}: {e:?}"),
            };
            check(&store, acknowledged, &format!("point {point}, seed {seed}")).await;
            store.kv_put(&space(), "after", vec![1]).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_full_disk_is_named_and_the_store_recovers_when_there_is_room() {
    let disk = Disk::default();
    let store = disk.open().unwrap();
    assert_eq!(fill(&store, 5).await, 5);
    disk.fail_after(Some(0));
    let error = store.kv_put(&space(), "more", vec![1]).await.unwrap_err();
    assert!(
        matches!(&error, KvError::Store(StoreError::Full { .. })),
        "{error:?}"
    );
    assert_eq!(error.to_string(), "write the store: the disk is full");
    assert!(store.kv_put(&space(), "more", vec![1]).await.is_err());
    disk.fail_after(None);
    put_when_possible(&store, "more", vec![2]).await;
    check(&store, 5, "after recovery").await;
    assert_eq!(value(&store, "more").await, Some(vec![2]));
    store.close().await.unwrap();
    check(&disk.open().unwrap(), 5, "after reopening").await;
}

#[tokio::test]
async fn all_writers_of_a_failed_commit_are_told() {
    let disk = Disk::default();
    let store = disk.open().unwrap();
    disk.fail_after(Some(0));
    let write = |n: u32| {
        let store = store.clone();
        async move { store.kv_put(&space(), &n.to_string(), vec![1]).await }
    };
    let results = tokio::join!(write(1), write(2), write(3));
    assert!(results.0.is_err() && results.1.is_err() && results.2.is_err());
    disk.fail_after(None);
    put_when_possible(&store, "4", vec![1]).await;
    for gone in ["1", "2", "3"] {
        assert_eq!(value(&store, gone).await, None);
    }
}

/// Write; while the store holds back after it found the disk full, again.
async fn put_when_possible(store: &Store, key: &str, data: Vec<u8>) {
    loop {
        match store.kv_put(&space(), key, data.clone()).await {
            Ok(_) => return,
            Err(KvError::Store(StoreError::Full { .. })) => tokio::task::yield_now().await,
            Err(error) => panic!("{error:?}"),
        }
    }
}

#[tokio::test]
async fn what_was_laid_by_lets_a_write_through_and_nobody_is_told() {
    let disk = Disk::default();
    let laid_by = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let (relieved, left) = (disk.clone(), laid_by.clone());
    let relief = move || {
        let gives = left.swap(false, std::sync::atomic::Ordering::Relaxed);
        if gives {
            relieved.fail_after(Some(1000));
        }
        gives
    };
    let store = disk.open_with(Box::new(relief)).unwrap();
    assert_eq!(fill(&store, 5).await, 5);
    disk.fail_after(Some(0));
    store.kv_put(&space(), "lease", vec![1]).await.unwrap();
    assert!(!laid_by.load(std::sync::atomic::Ordering::Relaxed));
    check(&store, 5, "on the reserve").await;
    disk.fail_after(Some(0));
    let error = store.kv_put(&space(), "more", vec![1]).await.unwrap_err();
    assert!(matches!(error, KvError::Store(StoreError::Full { .. })));
    disk.fail_after(None);
    put_when_possible(&store, "more", vec![2]).await;
    assert_eq!(value(&store, "lease").await, Some(vec![1]));
}

#[tokio::test]
async fn a_disk_that_stays_full_is_not_opened_for_every_write() {
    let disk = Disk::default();
    let store = disk.open().unwrap();
    assert_eq!(fill(&store, 5).await, 5);
    disk.fail_after(Some(0));
    let before = disk.openings();
    // Many times what the store takes to open again, so most of them find it holding back.
    let writes = 2_000u32;
    for n in 0..writes {
        let space = space();
        let refused = store.kv_put(&space, "more", n.to_le_bytes().into());
        let error = refused.await.unwrap_err();
        assert!(matches!(error, KvError::Store(StoreError::Full { .. })));
    }
    let openings = disk.openings() - before;
    assert!(openings < writes / 2, "{openings} openings");
    disk.fail_after(None);
    put_when_possible(&store, "more", vec![2]).await;
    check(&store, 5, "when there is room again").await;
}
