//! The store as a whole: opening, closing, group commit. Tables and failing disks have files of
//! their own.

use tempfile::TempDir;

use super::handler_kv::{self, KvError, Namespace};
use super::*;

mod damage;
pub(crate) mod disk;
mod emi;
mod jobs;
mod notices;
mod plugin_events;
mod plugins;
mod tables;

const TABLE: &str = handler_kv::TABLES[0];

fn space() -> Namespace {
    Namespace::new("tests", "01ARYZ6S410000000000000000")
}

async fn value(store: &Store, key: &str) -> Option<Vec<u8>> {
    let key = key.to_owned();
    store
        .read(move |s| handler_kv::get(s, &space(), &key))
        .await
        .unwrap()
        .map(|entry| entry.value)
}

#[tokio::test]
async fn what_was_written_is_there_after_reopening() {
    let dir = TempDir::new().unwrap();
    let store = Store::open(dir.path(), 4).unwrap();
    store.kv_put(&space(), "a", b"1".to_vec()).await.unwrap();
    store.close().await.unwrap();
    let store = Store::open(dir.path(), 4).unwrap();
    assert_eq!(value(&store, "a").await.unwrap(), b"1");
}

#[tokio::test]
async fn dropping_the_last_clone_closes_the_file() {
    let dir = TempDir::new().unwrap();
    let store = Store::open(dir.path(), 4).unwrap();
    let clone = store.clone();
    drop(store);
    let error = Store::open(dir.path(), 4).unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }));
    assert!(
        error.to_string().contains("another hostd is using it"),
        "{error}"
    );
    drop(clone);
    Store::open(dir.path(), 4).unwrap();
}

#[tokio::test]
async fn a_lock_that_outlives_its_server_for_a_moment_is_waited_for() {
    let dir = TempDir::new().unwrap();
    drop(Store::open(dir.path(), 4).unwrap());
    // The lock alone: closing a store may take longer than a lock is waited for.
    let file = std::fs::File::open(dir.path().join(folder::STORE)).unwrap();
    file.try_lock().unwrap();
    let dying = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        drop(file);
    });
    Store::open(dir.path(), 4).unwrap();
    dying.join().unwrap();
}

#[tokio::test]
async fn a_closed_store_says_so() {
    let store = Store::in_memory().unwrap();
    let clone = store.clone();
    store.close().await.unwrap();
    store.close().await.unwrap();
    let written = clone.kv_put(&space(), "a", Vec::new()).await;
    assert!(matches!(written, Err(KvError::Store(StoreError::Closed))));
    assert!(matches!(clone.snapshot().err(), Some(StoreError::Closed)));
    let read = clone.read(orgs::all).await;
    assert!(matches!(read, Err(StoreError::Closed)));
}

#[test]
fn a_file_that_is_no_store_is_refused() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join(folder::STORE);
    for content in [vec![b'x'; 10_000], vec![0xff; 3], Vec::new()] {
        std::fs::write(&path, &content).unwrap();
        let error = Store::open(dir.path(), 4).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
        assert_eq!(std::fs::read(&path).unwrap(), content, "left as it was");
    }
    let error = Store::open(&dir.path().join("missing"), 4).unwrap_err();
    assert!(matches!(error, StoreError::OpenFile { .. }), "{error:?}");
}

#[cfg(unix)]
#[test]
fn the_file_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let dir = TempDir::new().unwrap();
    drop(Store::open(dir.path(), 4).unwrap());
    let meta = std::fs::metadata(dir.path().join(folder::STORE)).unwrap();
    assert_eq!(meta.permissions().mode() & 0o777, 0o600);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_writers_share_commits_and_all_are_answered() {
    let store = Store::in_memory().unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..500u32 {
        let store = store.clone();
        tasks.spawn(async move {
            let key = format!("key {n}");
            store.kv_put(&space(), &key, n.to_le_bytes().into()).await
        });
    }
    let mut versions: Vec<u64> = Vec::new();
    while let Some(done) = tasks.join_next().await {
        versions.push(done.unwrap().unwrap());
    }
    versions.sort_unstable();
    assert_eq!(versions, (1..=500).collect::<Vec<u64>>());
    for n in 0..500u32 {
        assert_eq!(
            value(&store, &format!("key {n}")).await.unwrap(),
            n.to_le_bytes()
        );
    }
}

#[tokio::test]
async fn a_refused_write_leaves_nothing_and_harms_no_neighbour() {
    let store = Store::in_memory().unwrap();
    let put = |key: &'static str, then: Result<(), StoreError>| {
        let store = store.clone();
        async move {
            let write = move |w: &Writing<'_>| {
                w.put(TABLE, key, b"x")?;
                then.clone()
            };
            store.write(write).await
        }
    };
    // The queue is filled before the writer can look, so several share one transaction.
    let (a, b, c) = tokio::join!(
        put("a", Ok(())),
        put("b", Err(StoreError::Overloaded)),
        put("c", Ok(()))
    );
    a.unwrap();
    assert!(matches!(b, Err(StoreError::Overloaded)));
    c.unwrap();
    let snapshot = store.snapshot().unwrap();
    let there = |key| {
        snapshot::Source::value(&snapshot, TABLE, key)
            .unwrap()
            .is_some()
    };
    assert_eq!([there("a"), there("b"), there("c")], [true, false, true]);
}

#[tokio::test]
async fn a_panicking_write_costs_itself_only() {
    let store = Store::in_memory().unwrap();
    let broken = store
        .write(|w: &Writing<'_>| -> Result<(), StoreError> {
            w.put(TABLE, "half", b"x")?;
            panic!("on purpose");
        })
        .await;
    assert!(matches!(broken, Err(StoreError::Panicked)));
    store.kv_put(&space(), "a", b"1".to_vec()).await.unwrap();
    let snapshot = store.snapshot().unwrap();
    assert_eq!(
        snapshot::Source::value(&snapshot, TABLE, "half").unwrap(),
        None
    );
    let read = store.read(|_| -> Result<(), StoreError> { panic!("on purpose") });
    assert!(matches!(read.await, Err(StoreError::Panicked)));
}

#[tokio::test]
async fn a_snapshot_does_not_move() {
    let store = Store::in_memory().unwrap();
    store.kv_put(&space(), "a", b"1".to_vec()).await.unwrap();
    let before = store.snapshot().unwrap();
    store.kv_put(&space(), "a", b"2".to_vec()).await.unwrap();
    let old = handler_kv::get(&before, &space(), "a").unwrap().unwrap();
    assert_eq!(old.value, b"1");
    assert_eq!(value(&store, "a").await.unwrap(), b"2");
}

#[tokio::test]
async fn a_damaged_record_is_named() {
    let store = Store::in_memory().unwrap();
    store
        .write(|w: &Writing<'_>| w.put(orgs::TABLES[0], "x", b"{\"id\":"))
        .await
        .unwrap();
    let error = store.read(orgs::all).await.unwrap_err();
    assert_eq!(error.to_string(), "read record x of table orgs");
    store.kv_put(&space(), "a", Vec::new()).await.unwrap();
}

#[tokio::test]
async fn a_mostly_free_file_shrinks_at_start() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join(folder::STORE);
    let store = Store::open(dir.path(), 4).unwrap();
    let big = vec![7u8; handler_kv::VALUE_BYTES_MAX];
    for n in 0..40 {
        store
            .kv_put(&space(), &format!("big {n}"), big.clone())
            .await
            .unwrap();
    }
    // One more, in a page of its own at the end of the file, keeps redb from just cutting it off.
    let (pin, last) = (orgs::TABLES[0], big.clone());
    let write = move |w: &Writing<'_>| w.put(pin, "last", &last);
    store.write(write).await.unwrap();
    for n in 0..40 {
        store
            .kv_delete(&space(), &format!("big {n}"))
            .await
            .unwrap();
    }
    store.close().await.unwrap();
    let before = std::fs::metadata(&path).unwrap().len();
    assert!(before > 32 << 20, "{before}");
    let store = Store::open(dir.path(), 4).unwrap();
    let found = snapshot::Source::value(&store.snapshot().unwrap(), pin, "last");
    assert!(found.unwrap().unwrap() == big);
    store.close().await.unwrap();
    let after = std::fs::metadata(&path).unwrap().len();
    assert!(after < before / 4, "{before} -> {after}");
}
