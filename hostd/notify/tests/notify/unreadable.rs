//! Records that another version wrote, or that are damaged: they hold up nobody.

use std::time::{Duration, Instant};

use base::config::{CommitStatusConfig, Provider};
use notify::{NewBadge, WebhookError};
use store::notices::Notice;
use store::testing::put_record;
use store::webhooks::Phase;
use store::{Store, StoreError};
use tests::Receiver;
use tests::receiver::Answer;

use crate::stage::{ORG, Stage, limits, local};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// Bytes that are no record of any table: JSON, and none at all.
const BAD: [&[u8]; 2] = [b"{\"id\":7}", b"\xFF"];

async fn spoil(store: &Store, table: &'static str, key: &str) {
    for (number, bytes) in BAD.into_iter().enumerate() {
        let key = format!("{key}{number}");
        put_record(store, table, &key, Some(bytes)).await.unwrap();
    }
}

fn about(stage: &Stage) -> Notice {
    Notice {
        commit: Some(COMMIT.to_owned()),
        ..stage.ended(ORG)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_holds_up_nobody_and_stays() {
    let receiver = Receiver::start(Answer::Status(200));
    let token = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(token.path(), "secret").unwrap();
    let repositories = [CommitStatusConfig {
        provider: Provider::Github,
        repository: "acme/blinky".to_owned(),
        organisation: "acme".to_owned(),
        token_file: token.path().to_owned(),
        pipeline: None,
        api_url: Some(receiver.url("/git")),
    }];
    let stage = Stage::with(limits(), &local(), &repositories).await;
    let made = stage.webhook(ORG, receiver.url("/hook")).await;
    let badge = NewBadge {
        name: "blinky".to_owned(),
        r#ref: None,
        label: "bench".to_owned(),
    };
    let badge = stage.notices.badge_create((ORG, "u"), badge).await.unwrap();
    let kept = stage.kept();
    let store = kept.store.clone();
    drop(stage);
    let id = &made.webhook.id;
    for (table, key) in [
        // Before and among those that are read.
        ("job_notices", "0"),
        ("webhooks", "o1/0"),
        ("webhook_deliveries", &*format!("o1/{id}/msg_0")),
        ("commit_statuses", "t/c/x"),
        ("badges", "o1/0"),
        ("badge_orgs", "0"),
    ] {
        spoil(&store, table, key).await;
    }
    let stage = Stage::on(kept, limits(), &local(), &repositories);
    let notice = about(&stage);
    stage.tell(vec![notice.clone()]).await;
    let delivered = stage.until_phase(id, Phase::Delivered).await;
    assert_eq!(delivered.job, Some(notice.job));
    receiver.until(|seen| {
        let told = |path: &str| seen.iter().any(|one| one.path.starts_with(path));
        told("/hook") && told("/git")
    });
    let begun = Instant::now();
    while stage
        .notices
        .badge(&badge.id)
        .await
        .unwrap()
        .standing
        .is_none()
    {
        assert!(begun.elapsed() < Duration::from_secs(20));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(stage.notices.unreadable(), 12);
    let found = stage.notices.webhook(ORG, "00").await;
    assert!(matches!(found, Err(WebhookError::NotFound)));
    // Nothing of it is gone, until its webhook is.
    let left = async || stage.store.read(store::notices::unreadable).await.unwrap();
    assert_eq!(left().await.len(), 12);
    stage.notices.webhook_remove((ORG, "u"), id).await.unwrap();
    assert_eq!(left().await.len(), 10);
    let closed: Result<(), StoreError> = stage.store.close().await;
    closed.unwrap();
}
