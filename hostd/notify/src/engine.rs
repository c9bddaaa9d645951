//! The one task that turns notices into what is owed, and has each owed thing told when it is due.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use store::StoreError;
use store::notices::{self, Notice, Spread};
use store::{commit_statuses, webhooks};
use tracing::{error, info, warn};

use crate::message;
use crate::queue::Owed;
use crate::service::Inner;

/// Notices that are spread in one transaction.
const SPREAD_MAX: usize = 64;

/// Longest sleep between two looks at the clock: it may be set.
const LOOK_EVERY_MS: u64 = 30_000;

/// Between two tries while the store fails.
const STORE_RETRY: Duration = Duration::from_secs(1);

/// Until something is told again whose outcome could not be stored.
const UNSETTLED_PAUSE_MS: u64 = 60_000;

/// How long a repository's answer is remembered, so that an older job does not speak over a newer one.
const STATUS_KEPT_MS: u64 = 30 * 24 * 3_600_000;

/// How often what is older is forgotten.
const FORGET_EVERY_MS: u64 = 3_600_000;

/// Why messages gave way.
const DROPPED: &str =
    "Too many messages of the organisation waited, and newer ones took its place.";

/// Characters of a key, and of what is wrong with its record, that the log has.
const TOLD_CHARS_MAX: usize = 200;

/// Reads what was owed when the server ended, and tells what cannot be read. Something that was owed meanwhile is in the
/// queue already; to put it there again changes nothing.
async fn restore(inner: &Inner) -> Result<(), StoreError> {
    let messages = inner.store.read(webhooks::waiting).await?;
    let statuses = inner.store.read(commit_statuses::waiting).await?;
    let unreadable = inner.store.read(notices::unreadable).await?;
    for record in &unreadable {
        let clip = |text: &str| text.chars().take(TOLD_CHARS_MAX).collect::<String>();
        warn!(
            table = record.table,
            key = clip(&record.key),
            error = clip(&record.error),
            "a record of notices cannot be read; it is left as it is, and others are told"
        );
    }
    let count = u64::try_from(unreadable.len()).unwrap_or(u64::MAX);
    inner.unreadable.store(count, Ordering::Relaxed);
    let mut queue = inner.queue();
    for (key, at_ms) in messages {
        queue.put(Owed::Message(key), at_ms);
    }
    // What no repository of this configuration wants to hear is forgotten in time.
    for status in statuses {
        if inner.targets.contains_key(&status.target) {
            let at_ms = status.next_ms.unwrap_or_default();
            queue.put(status_of(&status), at_ms);
        }
    }
    Ok(())
}

fn status_of(status: &commit_statuses::CommitStatus) -> Owed {
    Owed::Status {
        org: status.org.clone(),
        target: status.target.clone(),
        key: status.key(),
    }
}

/// Runs until the store is closed.
pub(crate) async fn run(inner: Arc<Inner>) {
    loop {
        match restore(&inner).await {
            Ok(()) => break,
            Err(StoreError::Closed) => return,
            Err(error) => {
                error!(%error, "failed to read what others are to be told; trying again");
                tokio::time::sleep(STORE_RETRY).await;
            }
        }
    }
    let mut forget_ms = 0;
    loop {
        match spread(&inner).await {
            Ok(()) => {}
            Err(StoreError::Closed) => return,
            Err(error) => {
                error!(%error, "failed to store who is to be told of jobs; trying again");
                tokio::time::sleep(STORE_RETRY).await;
            }
        }
        let now_ms = inner.clock.now_ms();
        if now_ms >= forget_ms {
            forget_ms = now_ms + FORGET_EVERY_MS;
            let before_ms = now_ms.saturating_sub(STATUS_KEPT_MS);
            if let Err(error) = inner.store.statuses_forget(before_ms).await {
                warn!(%error, "failed to forget old commit statuses");
            }
        }
        let due = inner.queue().take_due(now_ms);
        for owed in due {
            tokio::spawn(tell(inner.clone(), owed));
        }
        let next_ms = inner.queue().next_ms(now_ms);
        let pause_ms = next_ms.map_or(LOOK_EVERY_MS, |next_ms| next_ms - now_ms);
        let pause = Duration::from_millis(pause_ms.min(LOOK_EVERY_MS));
        tokio::select! {
            () = inner.wake.notified() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Tells what is due, stores what came of it, and owes it again if it must.
async fn tell(inner: Arc<Inner>, owed: Owed) {
    let told = match &owed {
        Owed::Message(key) => inner.deliver(key).await,
        Owed::Status { target, key, .. } => inner.mark(target, key).await,
    };
    let next_ms = match told {
        Ok(next_ms) => next_ms,
        Err(StoreError::Closed) => None,
        Err(error) => {
            error!(%error, "failed to store what came of a notice; it is sent again");
            Some(inner.clock.now_ms() + UNSETTLED_PAUSE_MS)
        }
    };
    inner.queue().done(owed, next_ms);
    inner.wake.notify_one();
}

/// Stores who is to be told of what has happened.
async fn spread(inner: &Inner) -> Result<(), StoreError> {
    loop {
        let (found, orgs) = inner
            .store
            .read(|s| {
                let found = notices::oldest(s, SPREAD_MAX)?;
                let orgs = match found.is_empty() {
                    true => Vec::new(),
                    false => store::orgs::all(s)?,
                };
                Ok::<_, StoreError>((found, orgs))
            })
            .await?;
        if found.is_empty() {
            return Ok(());
        }
        let name_of = |id: &str| {
            let org = orgs.iter().find(|org| org.id == id);
            org.map_or("", |org| org.name.as_str())
        };
        let spreads = found.into_iter().map(|notice| {
            let organisation = name_of(&notice.org);
            plan(inner, notice, organisation)
        });
        let owed = inner.store.notices_spread(spreads.collect()).await?;
        for status in owed.statuses {
            inner.queue().put(status_of(&status), status.at_ms);
        }
        if owed.events > 0 {
            inner.heard.notify_one();
        }
        let mut orgs: Vec<String> = Vec::new();
        for delivery in owed.deliveries {
            let at_ms = delivery.created_ms;
            inner.queue().put(Owed::Message(delivery.key()), at_ms);
            orgs.push(delivery.org);
        }
        orgs.sort();
        orgs.dedup();
        for org in orgs {
            drop_surplus(inner, &org).await?;
        }
    }
}

fn plan(inner: &Inner, notice: Notice, organisation: &str) -> Spread {
    let targets = inner.targets.values();
    let (body, told) = message::finished(&notice, &inner.links).unzip();
    Spread {
        body,
        told,
        statuses: targets
            .filter_map(|target| target.status(&notice, organisation))
            .collect(),
        notice,
    }
}

pub(crate) async fn drop_surplus(inner: &Inner, org: &str) -> Result<(), StoreError> {
    let max = inner.limits.waiting_per_org_max;
    let surplus = inner.queue().take_surplus(org, max);
    if surplus.is_empty() {
        return Ok(());
    }
    info!(
        org,
        count = surplus.len(),
        "messages to webhooks gave way to newer ones"
    );
    let now_ms = inner.clock.now_ms();
    inner.store.deliveries_drop(surplus, DROPPED, now_ms).await
}
