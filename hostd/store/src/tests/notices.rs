//! What the tables of notices promise.

use super::super::commit_statuses::{self, Audience, CommitStatus};
use super::super::jobs::Changes;
use super::super::notices::{self, Notice, Spread, Standing};
use super::super::webhooks::{self, Delivery, Event, Phase, SigningKey, Webhook};
use super::*;

/// Webhooks, or badges, of one organisation.
const COUNT_MAX: usize = 20;

fn notice(id: &str) -> Notice {
    Notice {
        id: id.into(),
        org: "o".into(),
        job: "j".into(),
        name: None,
        r#ref: None,
        commit: Some("c".into()),
        standing: Standing::Passed,
        message: "It passed.".into(),
        told: None,
        at_ms: 5,
        devices: Vec::new(),
    }
}

fn webhook(id: &str, enabled: bool) -> Webhook {
    Webhook {
        id: id.into(),
        org: "o".into(),
        user: "u".into(),
        url: "https://a.example/secret".into(),
        events: vec![Event::JobFinished],
        name: None,
        r#ref: None,
        key: SigningKey::Plain([7; 32]),
        enabled,
        disabled_because: None,
        failures: 0,
        failing_since_ms: None,
        created_ms: 1,
    }
}

fn status(job: &str, standing: Standing) -> CommitStatus {
    CommitStatus {
        target: "t".into(),
        org: "o".into(),
        commit: "c".into(),
        context: "hostd/a/b".into(),
        job: job.into(),
        standing,
        message: String::new(),
        at_ms: 5,
        attempts: 0,
        next_ms: Some(5),
        last: None,
    }
}

/// Of the organisation that is in the store, if it has a name.
fn repositories(pipeline: Option<&str>) -> Arc<[Audience]> {
    let one = Audience {
        organisation: "acme".into(),
        pipeline: pipeline.map(str::to_owned),
    };
    Arc::from([one])
}

async fn name(store: &Store, id: &str, name: &str) {
    let org = orgs::Org {
        id: id.into(),
        name: name.into(),
        created_ms: 1,
        trusted_refs: Vec::new(),
    };
    store.org_ensure(org).await.unwrap();
}

async fn put(store: &Store, notice: Notice) {
    name(store, "o", "acme").await;
    let changes = Changes {
        notices: vec![notice],
        repositories: repositories(None),
        ..Changes::default()
    };
    store.jobs_change(changes).await.unwrap();
}

fn spread(notice: Notice, statuses: Vec<CommitStatus>) -> Spread {
    Spread {
        notice,
        body: Some("{}".into()),
        told: Some("{}".into()),
        statuses,
    }
}

#[tokio::test]
async fn a_notice_is_spread_once_to_those_who_listen() {
    let store = Store::in_memory().unwrap();
    assert!(
        store
            .webhook_add(webhook("1", true), COUNT_MAX)
            .await
            .unwrap()
    );
    assert!(
        store
            .webhook_add(webhook("2", false), COUNT_MAX)
            .await
            .unwrap()
    );
    put(&store, notice("b")).await;
    put(&store, notice("a")).await;
    let found = store.read(|s| notices::oldest(s, 1)).await.unwrap();
    assert_eq!(found, [notice("a")]);
    let once = spread(notice("a"), Vec::new());
    let owed = store.notices_spread(vec![once.clone()]).await.unwrap();
    let ids: Vec<_> = owed
        .deliveries
        .iter()
        .map(|d| (&*d.webhook, &*d.id))
        .collect();
    assert_eq!(ids, [("1", "msg_a")]);
    let again = store.notices_spread(vec![once]).await.unwrap();
    assert_eq!(again, notices::Owed::default());
    let waiting = store.read(webhooks::waiting).await.unwrap();
    assert_eq!(waiting, [(owed.deliveries[0].key(), 5)]);
    assert!(store.webhook_remove("o", "1").await.unwrap());
    assert_eq!(store.read(webhooks::waiting).await.unwrap(), []);
    let shown = format!("{:?}", webhook("1", true));
    assert!(!shown.contains("secret") && !shown.contains('7'), "{shown}");
}

#[tokio::test]
async fn an_organisation_has_so_many_webhooks_and_remembers_so_many_deliveries() {
    let store = Store::in_memory().unwrap();
    for n in 0..COUNT_MAX {
        assert!(
            store
                .webhook_add(webhook(&n.to_string(), true), COUNT_MAX)
                .await
                .unwrap()
        );
    }
    assert!(
        !store
            .webhook_add(webhook("more", true), COUNT_MAX)
            .await
            .unwrap()
    );
    let delivery = |n: usize| Delivery {
        id: format!("msg_{n:03}"),
        org: "o".into(),
        webhook: "0".into(),
        event: Event::Test,
        job: None,
        body: String::new(),
        created_ms: 1,
        phase: if n == 0 {
            Phase::Waiting
        } else {
            Phase::Delivered
        },
        attempts: 1,
        next_ms: None,
        last: None,
    };
    for n in 0..130 {
        store.delivery_put(delivery(n)).await.unwrap();
    }
    let found = store.read(|s| webhooks::deliveries(s, "o", "0", 200));
    let found = found.await.unwrap();
    assert_eq!(found.len(), 101);
    // One that waits is kept, however old it is.
    assert_eq!((&*found[0].id, &*found[99].id), ("msg_129", "msg_030"));
    assert_eq!(found[100].id, "msg_000");
}

#[tokio::test]
async fn a_status_gives_way_only_to_a_newer_one() {
    let store = Store::in_memory().unwrap();
    let mut taken = Vec::new();
    for (n, (job, standing)) in [
        ("2", Standing::Queued),
        ("2", Standing::Running),
        ("2", Standing::Queued),
        ("1", Standing::Passed),
        ("2", Standing::Failed),
        ("2", Standing::Passed),
        ("3", Standing::Queued),
    ]
    .into_iter()
    .enumerate()
    {
        put(&store, notice(&n.to_string())).await;
        let spread = spread(notice(&n.to_string()), vec![status(job, standing)]);
        let owed = store.notices_spread(vec![spread]).await.unwrap();
        taken.push(owed.statuses.len());
    }
    assert_eq!(taken, [1, 1, 0, 0, 1, 0, 1]);
    // What came of telling one that has given way says nothing of the newer one.
    let attempt = webhooks::Attempt {
        at_ms: 9,
        status: Some(201),
        error: None,
    };
    let old = status("2", Standing::Failed);
    let next = store.status_settle(old, attempt.clone(), None).await;
    assert_eq!(next.unwrap(), Some(5));
    let new = status("3", Standing::Queued);
    let key = new.key();
    assert_eq!(store.status_settle(new, attempt, None).await.unwrap(), None);
    let there = store.read(move |s| commit_statuses::by_key(s, &key)).await;
    assert_eq!(there.unwrap().unwrap().attempts, 1);
    assert_eq!(store.read(commit_statuses::waiting).await.unwrap(), []);
    store.statuses_forget(6).await.unwrap();
    assert!(
        store
            .read(commit_statuses::waiting)
            .await
            .unwrap()
            .is_empty()
    );
}

/// What nobody listens to costs no transaction of its own: it is not stored.
#[tokio::test]
async fn only_what_somebody_listens_to_is_stored() {
    let store = Store::in_memory().unwrap();
    let of = |standing: Standing, commit: Option<&str>| Notice {
        name: Some("n".into()),
        standing,
        commit: commit.map(str::to_owned),
        ..notice("a")
    };
    name(&store, "o", "acme").await;
    name(&store, "p", "other").await;
    let is_stored = async |notice: Notice, marks_commits: bool| {
        let mine = repositories(Some("n"));
        let changes = Changes {
            notices: vec![notice.clone()],
            repositories: if marks_commits { mine } else { Arc::from([]) },
            ..Changes::default()
        };
        store.jobs_change(changes).await.unwrap();
        let found = store.read(|s| notices::oldest(s, 1)).await.unwrap();
        let nothing = Spread {
            notice,
            body: None,
            told: None,
            statuses: Vec::new(),
        };
        store.notices_spread(vec![nothing]).await.unwrap();
        !found.is_empty()
    };
    let (running, passed) = (Standing::Running, Standing::Passed);
    assert!(!is_stored(of(passed, Some("c")), false).await);
    assert!(!is_stored(of(passed, None), true).await);
    assert!(is_stored(of(running, Some("c")), true).await);
    // A webhook that is enabled, and wants to hear of it, hears when it is over.
    store
        .webhook_add(webhook("1", false), COUNT_MAX)
        .await
        .unwrap();
    let mut other = webhook("2", true);
    other.name = Some("other".into());
    store.webhook_add(other, COUNT_MAX).await.unwrap();
    assert!(!is_stored(of(passed, None), false).await);
    store
        .webhook_add(webhook("3", true), COUNT_MAX)
        .await
        .unwrap();
    assert!(is_stored(of(passed, None), false).await);
    assert!(!is_stored(of(running, None), false).await);
    let theirs = Notice {
        org: "p".into(),
        ..of(passed, None)
    };
    assert!(!is_stored(theirs, false).await);
    // A badge shows that a job runs.
    let badge = badges::Badge {
        id: "b".into(),
        org: "o".into(),
        user: "u".into(),
        name: "n".into(),
        r#ref: None,
        label: "n".into(),
        standing: None,
        job: None,
        created_ms: 1,
    };
    store.badge_add(badge, COUNT_MAX).await.unwrap();
    assert!(is_stored(of(running, None), false).await);
    assert!(!is_stored(of(Standing::Queued, None), false).await);
}

#[tokio::test]
async fn a_repository_listens_to_its_own_organisation_and_pipeline() {
    let store = Store::in_memory().unwrap();
    name(&store, "o", "acme").await;
    name(&store, "p", "other").await;
    let commits = store.commits();
    for (org, pipeline) in [("o", "other"), ("p", "n"), ("q", "n")] {
        let unheard = Notice {
            org: org.into(),
            name: Some(pipeline.into()),
            ..notice("a")
        };
        let changes = Changes {
            notices: vec![unheard],
            repositories: repositories(Some("n")),
            ..Changes::default()
        };
        store.jobs_change(changes).await.unwrap();
    }
    assert_eq!(store.commits(), commits);
    let heard = Notice {
        name: Some("n".into()),
        ..notice("b")
    };
    put(&store, heard).await;
    assert_eq!(store.commits(), commits + 1);
    let found = store.read(|s| notices::oldest(s, 2)).await.unwrap();
    assert_eq!(found.len(), 1);
}
