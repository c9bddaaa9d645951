//! What the tables of jobs promise.

use super::super::jobs::{
    self, Archive, Attempt, Changes, File, Forgotten, Found, Job, Quarantine, Request, RequestKey,
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
        other_bytes: 0,
        memory_bytes: 0,
        queue: Some(serde_json::json!({})),
        end: None,
        runs: Vec::new(),
        attempts: Vec::new(),
        created_ms: 1,
        started_ms: None,
        finished_ms: None,
    }
}

async fn ids(store: &Store) -> Vec<String> {
    let overview = store.jobs_overview().await.unwrap();
    overview.heads.into_iter().map(|(_, id, _)| id).collect()
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
                ids.push(job.id().to_owned());
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
        ..Changes::default()
    };
    store.jobs_change(changes).await.unwrap();
    let overview = store.jobs_overview().await.unwrap();
    let open: Vec<&str> = overview.open.iter().map(|(_, id)| &**id).collect();
    assert_eq!(open, ["1", "2"]);
    assert_eq!(ids(&store).await, ["0", "1", "2"]);
    assert_eq!(store.read(jobs::epoch).await.unwrap(), Some(41));
    let quarantines = store.read(jobs::quarantines).await.unwrap();
    assert_eq!(quarantines, [("dev".to_owned(), Some(quarantine))]);
    let found = store.read(move |s| jobs::request(s, &key)).await.unwrap();
    assert_eq!(found, Some(request));
    assert!(store.quarantine_end("dev").await.unwrap());
    assert!(!store.quarantine_end("dev").await.unwrap());
    assert!(!store.read(jobs::was_running).await.unwrap());
    for is_running in [true, false] {
        store.jobs_running(is_running).await.unwrap();
        assert_eq!(store.read(jobs::was_running).await.unwrap(), is_running);
    }
    assert_eq!(store.read(jobs::epoch).await.unwrap(), Some(41));
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
        measured: 0,
    });
    put(&store, &[old, young]).await;
    let blobs = async || {
        let mut found: Vec<String> = store.read(jobs::blobs).await.unwrap().into_iter().collect();
        found.sort();
        found
    };
    assert_eq!(blobs().await, ["aa", "bb"]);
    assert_eq!(store.jobs_forget(10).await.unwrap(), []);
    let gone = Forgotten {
        id: "1".into(),
        org: "o".into(),
        bytes: 1,
    };
    assert_eq!(store.jobs_forget(11).await.unwrap(), [gone]);
    assert_eq!(blobs().await, ["bb"]);
    assert_eq!(ids(&store).await, ["2"]);
}

#[tokio::test]
async fn heads_that_are_missing_or_broken_are_made_anew() {
    let store = Store::in_memory().unwrap();
    let mut finished = job("o", "2");
    (finished.queue, finished.finished_ms) = (None, Some(10));
    finished.other_bytes = 7;
    put(&store, &[job("o", "1"), finished, job("p", "3")]).await;
    let whole = store.jobs_overview().await.unwrap().heads;
    assert_eq!((whole[0].2.is_open, whole[1].2.is_open), (true, false));
    assert_eq!((whole[1].2.bytes, whole[1].2.finished_ms), (7, Some(10)));
    for value in [None, Some(&b"{"[..])] {
        let put = testing::put_record(&store, "job_heads", "o/2", value);
        put.await.unwrap();
        let overview = store.jobs_overview().await.unwrap();
        assert_eq!(overview.heads, whole, "{value:?}");
        let open: Vec<&str> = overview.open.iter().map(|(_, id)| &**id).collect();
        assert_eq!(open, ["1", "3"]);
    }
    // As many heads as jobs, of another one.
    testing::put_record(&store, "job_heads", "p/3", None)
        .await
        .unwrap();
    let head = br#"{"is_open":true,"bytes":0,"finished_ms":null}"#;
    testing::put_record(&store, "job_heads", "p/4", Some(head))
        .await
        .unwrap();
    assert_eq!(store.jobs_overview().await.unwrap().heads, whole);
}

#[tokio::test]
async fn a_job_that_cannot_be_read_is_found_and_kept() {
    let store = Store::in_memory().unwrap();
    let mut old = job("o", "1");
    (old.queue, old.finished_ms) = (None, Some(1));
    put(&store, &[old, job("o", "2")]).await;
    let digest = "ab".repeat(32);
    let stored = format!(r#"{{"archive":{{"sha256":"{digest}"}},"attempts":3}}"#);
    testing::put_record(&store, "jobs", "o/2", Some(stored.as_bytes()))
        .await
        .unwrap();
    let overview = store.jobs_overview().await.unwrap();
    assert_eq!(overview.open, [("o".to_owned(), "2".to_owned())]);
    let found = store.read(|s| jobs::by_id(s, "o", "2")).await.unwrap();
    let Some(Found::Unreadable(found)) = &found else {
        panic!("{found:?}");
    };
    assert_eq!((&*found.org, &*found.id), ("o", "2"));
    assert_eq!(found.stored["attempts"], 3);
    assert!(store.read(jobs::blobs).await.unwrap().contains(&digest));
    assert_eq!(store.jobs_forget(u64::MAX).await.unwrap().len(), 1);
    assert_eq!(ids(&store).await, ["2"]);
    // Nor does one that is no JSON at all hold up the others.
    testing::put_record(&store, "jobs", "o/2", Some(b"\xFF"))
        .await
        .unwrap();
    put(&store, &[job("o", "3")]).await;
    let open = store.jobs_overview().await.unwrap().open;
    assert_eq!(open.len(), 2);
    let found = store.read(|s| jobs::by_id(s, "o", "2")).await.unwrap();
    assert!(matches!(found, Some(Found::Unreadable(_))));
}

#[tokio::test]
async fn what_the_queue_remembers_may_be_unreadable() {
    let store = Store::in_memory().unwrap();
    assert_eq!(store.read(jobs::epoch).await.unwrap(), Some(0));
    for (table, key) in [("job_epochs", "epoch"), ("job_quarantines", "dev")] {
        testing::put_record(&store, table, key, Some(b"[]"))
            .await
            .unwrap();
    }
    assert_eq!(store.read(jobs::epoch).await.unwrap(), None);
    let quarantines = store.read(jobs::quarantines).await.unwrap();
    assert_eq!(quarantines, [("dev".to_owned(), None)]);
    assert!(store.quarantine_end("dev").await.unwrap());
}

#[test]
fn the_bytes_of_a_job_are_all_that_it_keeps() {
    let mut job = job("o", "1");
    job.other_bytes = 1;
    job.archive = Some(Archive {
        sha256: "aa".into(),
        size_bytes: 10,
        entries: 1,
        unpacked_bytes: 100,
        definition: "ci.yml".into(),
    });
    assert_eq!(job.bytes(), 111);
    job.queue = None;
    assert_eq!(job.bytes(), 11);
    job.other_bytes = u64::MAX;
    assert_eq!(job.bytes(), u64::MAX);
}

#[tokio::test]
async fn the_oldest_that_are_over_give_way_if_that_is_enough() {
    let store = Store::in_memory().unwrap();
    let of = |org: &str, id: &str, is_over: bool, bytes: u64| {
        let mut job = job(org, id);
        if is_over {
            (job.queue, job.finished_ms) = (None, Some(10));
        }
        job.other_bytes = bytes;
        job
    };
    put(
        &store,
        &[
            of("o", "1", false, 100),
            of("o", "2", true, 5),
            of("o", "3", true, 5),
            of("o", "4", true, 5),
            of("p", "0", true, 100),
        ],
    )
    .await;
    assert_eq!(store.jobs_give_way("o", 16).await.unwrap(), []);
    let gone = store.jobs_give_way("o", 6).await.unwrap();
    let gone: Vec<&str> = gone.iter().map(|job| &*job.id).collect();
    assert_eq!(gone, ["2", "3"]);
    assert_eq!(ids(&store).await, ["1", "4", "0"]);
}
