//! What the tables of jobs promise.

use super::super::jobs::{
    self, Archive, Attempt, Changes, File, Job, Quarantine, Request, RequestKey,
};
use super::*;

fn job(org: &str, id: &str) -> Job {
    Job {
        id: id.into(),
        org: org.into(),
        user: "u".into(),
        name: None,
        r#ref: None,
        commit: None,
        retry_of: None,
        archive: None,
        axes: serde_json::json!("queued"),
        queue: Some(serde_json::json!({})),
        end: None,
        runs: Vec::new(),
        attempts: Vec::new(),
        created_ms: 1,
        started_ms: None,
        finished_ms: None,
    }
}

async fn put(store: &Store, jobs: &[Job]) {
    let changes = Changes {
        jobs: jobs.to_vec(),
        ..Changes::default()
    };
    store.jobs_change(changes).await.unwrap();
}

#[tokio::test]
async fn jobs_are_listed_newest_first_from_one_on() {
    let store = Store::in_memory().unwrap();
    put(
        &store,
        &[job("o", "1"), job("o", "3"), job("o", "2"), job("p", "9")],
    )
    .await;
    let list = |before: Option<&'static str>| {
        store.read(move |s| {
            let mut ids = Vec::new();
            jobs::newest_first(s, "o", before, |job| {
                ids.push(job.id);
                std::ops::ControlFlow::Continue(())
            })?;
            Ok::<_, StoreError>(ids)
        })
    };
    assert_eq!(list(None).await.unwrap(), ["3", "2", "1"]);
    assert_eq!(list(Some("3")).await.unwrap(), ["2", "1"]);
    assert_eq!(list(Some("1")).await.unwrap(), [""; 0]);
}

#[tokio::test]
async fn what_was_decided_is_stored_together_and_restored() {
    let store = Store::in_memory().unwrap();
    let key = RequestKey {
        org: "o".into(),
        user: "u".into(),
        key: "ab".into(),
    };
    let request = Request {
        job: "1".into(),
        digest: "d".into(),
        at_ms: 5,
    };
    let quarantine = Quarantine {
        device: "dev".into(),
        reason: "three failures".into(),
        jobs: vec!["1".into()],
        since_ms: 7,
    };
    let mut finished = job("o", "0");
    (finished.queue, finished.finished_ms) = (None, Some(3));
    let changes = Changes {
        jobs: vec![job("o", "2"), job("o", "1"), finished],
        epoch: Some(41),
        quarantines: vec![quarantine.clone()],
        request: Some((key.clone(), request.clone())),
    };
    store.jobs_change(changes).await.unwrap();
    let (unfinished, quarantines, epoch) = store.read(jobs::unfinished).await.unwrap();
    let ids: Vec<String> = unfinished.into_iter().map(|job| job.id).collect();
    assert_eq!((ids, epoch), (vec!["1".to_owned(), "2".to_owned()], 41));
    assert_eq!(quarantines, [quarantine]);
    let found = store.read(move |s| jobs::request(s, &key)).await.unwrap();
    assert_eq!(found, Some(request));
    assert!(store.quarantine_end("dev").await.unwrap());
    assert!(!store.quarantine_end("dev").await.unwrap());
}

#[tokio::test]
async fn only_finished_jobs_are_forgotten_and_their_blobs_with_them() {
    let store = Store::in_memory().unwrap();
    let mut old = job("o", "1");
    (old.queue, old.finished_ms) = (None, Some(10));
    old.archive = Some(Archive {
        sha256: "aa".into(),
        size_bytes: 1,
        entries: 1,
        unpacked_bytes: 1,
        definition: "ci.yml".into(),
    });
    let mut young = job("o", "2");
    young.attempts.push(Attempt {
        number: 1,
        run: 0,
        epoch: 1,
        device: None,
        lease_id: None,
        assigned_ms: 1,
        started_ms: None,
        ended_ms: None,
        end: None,
        log_bytes: 0,
        files: vec![File {
            name: "fw.elf".into(),
            size_bytes: 1,
            sha256: "bb".into(),
        }],
    });
    put(&store, &[old, young]).await;
    let blobs = async || {
        let mut found: Vec<String> = store.read(jobs::blobs).await.unwrap().into_iter().collect();
        found.sort();
        found
    };
    assert_eq!(blobs().await, ["aa", "bb"]);
    assert_eq!(store.jobs_forget(10).await.unwrap(), [""; 0]);
    assert_eq!(store.jobs_forget(11).await.unwrap(), ["1"]);
    assert_eq!(blobs().await, ["bb"]);
    let left = store.read(jobs::ids).await.unwrap();
    assert_eq!(left.into_iter().collect::<Vec<_>>(), ["2"]);
}
