//! The keys that messages are signed with: sealed at rest, and missed when the key file is gone.

use std::fs;

use base::folder::SECRETS_KEY;
use store::webhooks::{self, Phase, SigningKey};
use tests::Receiver;
use tests::receiver::Answer;

use crate::stage::{ORG, Stage, limits, local};

/// What is stored of the only webhook's key.
async fn stored(stage: &Stage) -> SigningKey {
    let mut all = stage.store.read(webhooks::all).await.unwrap();
    all.remove(0).key
}

#[tokio::test(flavor = "multi_thread")]
async fn deliveries_wait_for_the_key_file_and_the_reason_is_told() {
    let stage = Stage::start().await;
    let receiver = Receiver::start(Answer::Status(200));
    let made = stage.webhook(ORG, receiver.url("/")).await;
    assert!(matches!(stored(&stage).await, SigningKey::Sealed { .. }));
    let (file, apart) = (
        stage.folder.path().join(SECRETS_KEY),
        stage.folder.path().join("apart"),
    );
    fs::rename(&file, &apart).unwrap();
    stage.tell(vec![stage.ended(ORG)]).await;
    let waits = stage.until(&made.webhook.id, |d| d.attempts > 0).await;
    assert_eq!(waits.phase, Phase::Waiting);
    let told = waits.last.unwrap().error.unwrap();
    assert!(
        told.contains("find secrets.key in the data folder") && told.contains("rotate"),
        "{told}"
    );
    assert!(receiver.seen().is_empty());
    // Nobody makes another key in its place by the way.
    let new = stage.vault.seal_webhook_key(ORG, "w", &[1; 32]).await;
    assert!(new.is_err() && !file.exists());
    stage.vault.warn_of_unreadable().await.unwrap();
    fs::rename(&apart, &file).unwrap();
    stage.until_phase(&made.webhook.id, Phase::Delivered).await;
    assert_eq!(receiver.seen().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotated_key_signs_though_the_one_before_is_lost() {
    let stage = Stage::start().await;
    let receiver = Receiver::start(Answer::Status(200));
    let made = stage.webhook(ORG, receiver.url("/")).await;
    let id = &made.webhook.id;
    fs::remove_file(stage.folder.path().join(SECRETS_KEY)).unwrap();
    stage.tell(vec![stage.ended(ORG)]).await;
    stage.until(id, |d| d.attempts > 0).await;
    let rotated = stage.notices.webhook_rotate((ORG, "u"), id).await.unwrap();
    assert_ne!(rotated.secret, made.secret);
    stage.until_phase(id, Phase::Delivered).await;
    let foreign = stage.notices.webhook_rotate(("o2", "u"), id).await;
    assert!(matches!(foreign, Err(notify::WebhookError::NotFound)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_an_earlier_version_stored_signs_and_is_sealed() {
    let stage = Stage::start().await;
    let receiver = Receiver::start(Answer::Status(200));
    let made = stage.webhook(ORG, receiver.url("/")).await;
    let id = &made.webhook.id;
    let bytes = [7; 32];
    let change = move |webhook: &mut webhooks::Webhook| webhook.key = SigningKey::Plain(bytes);
    stage.store.webhook_change(ORG, id, change).await.unwrap();
    let signature = async |count: usize| {
        stage.tell(vec![stage.ended(ORG)]).await;
        let seen = receiver.wait_for(count);
        let id = seen[count - 1].header("webhook-signature").unwrap();
        id.to_owned()
    };
    let plain = signature(1).await;
    stage.vault.seal_plain_webhook_keys().await.unwrap();
    let sealed = stored(&stage).await;
    assert!(matches!(sealed, SigningKey::Sealed { .. }));
    let opened = stage.vault.webhook_key(ORG, id, sealed.clone()).await;
    assert_eq!(opened.unwrap(), bytes);
    let still = signature(2).await;
    assert!(plain.starts_with("v1,") && still.starts_with("v1,"));
    // In the place of another webhook it opens nothing.
    let moved = stage.vault.webhook_key(ORG, "other", sealed).await;
    assert!(matches!(moved, Err(vault::KeyLost::Damaged)));
    // Once sealed it stays as it is.
    let before = stored(&stage).await;
    stage.vault.seal_plain_webhook_keys().await.unwrap();
    assert!(stored(&stage).await == before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_key_disables_like_a_silent_receiver() {
    let hopeless = notify::Limits {
        failures_max: 2,
        failing_ms_max: 0,
        ..limits()
    };
    let stage = Stage::with(hopeless, &local(), &[]).await;
    let receiver = Receiver::start(Answer::Status(200));
    let made = stage.webhook(ORG, receiver.url("/")).await;
    fs::remove_file(stage.folder.path().join(SECRETS_KEY)).unwrap();
    stage.tell(vec![stage.ended(ORG)]).await;
    stage.until_phase(&made.webhook.id, Phase::Failed).await;
    let webhook = stage.notices.webhook(ORG, &made.webhook.id).await.unwrap();
    let why = webhook.disabled_because.unwrap();
    assert!(why.contains("secrets.key"), "{why}");
}
