//! Tables of webhooks: who is told of finished jobs, and the messages to each, delivered or not.

use std::ops::{Bound, ControlFlow};

use serde::{Deserialize, Serialize};

use super::notices::Notice;
use super::records::{Records, pair, pairs_of};
use super::snapshot::{Range, Source};
use super::{Store, StoreError, Writing};

pub(super) const TABLES: [&str; 2] = ["webhooks", "webhook_deliveries"];

/// `org/id` to webhook; ids sort by time.
const WEBHOOKS: Records<Webhook> = Records::new(TABLES[0]);

/// `org/webhook/id` to delivery; ids sort by time.
const DELIVERIES: Records<Delivery> = Records::new(TABLES[1]);

/// Webhooks of one organisation.
pub const PER_ORG_MAX: usize = 20;

/// Deliveries of one webhook that are remembered once they have come to their end.
const REMEMBERED_MAX: usize = 100;

/// Before the id of a notice, the id of its message.
const MESSAGE_PREFIX: &str = "msg_";

/// What a message is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A job has ended.
    #[serde(rename = "job.finished")]
    JobFinished,
    /// Somebody wants to see whether messages arrive.
    #[serde(rename = "webhook.test")]
    Test,
}

impl Event {
    /// Its name: `job.finished`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::JobFinished => "job.finished",
            Self::Test => "webhook.test",
        }
    }
}

/// The key that a webhook's messages are signed with. It is stored as it is, since it must sign; the file is readable
/// by its owner alone. Whoever wants it sealed at rest does so where this type is read and written.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SigningKey([u8; 32]);

impl SigningKey {
    /// From random bytes.
    #[must_use]
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes, to sign with or to show to its maker once.
    #[must_use]
    pub fn expose(&self) -> &[u8; 32] {
        &self.0
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[redacted]")
    }
}

/// Somebody who is told.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    /// ULID.
    pub id: String,
    pub org: String,
    /// User who made it.
    pub user: String,
    /// Where messages go. It may have a secret in it.
    pub url: String,
    pub events: Vec<Event>,
    /// Only jobs of this name; none = all.
    pub name: Option<String>,
    /// Only jobs of this branch or tag; none = all.
    pub r#ref: Option<String>,
    pub key: SigningKey,
    pub enabled: bool,
    /// Why the server disabled it.
    pub disabled_because: Option<String>,
    /// Attempts that have failed since the last success.
    pub failures: u32,
    /// When the first of them failed.
    pub failing_since_ms: Option<u64>,
    pub created_ms: u64,
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhook")
            .field("id", &self.id)
            .field("org", &self.org)
            .finish_non_exhaustive()
    }
}

impl Webhook {
    fn wants(&self, event: Event, notice: &Notice) -> bool {
        let is =
            |wanted: &Option<String>, found: &Option<String>| wanted.is_none() || wanted == found;
        self.enabled
            && self.events.contains(&event)
            && is(&self.name, &notice.name)
            && is(&self.r#ref, &notice.r#ref)
    }
}

/// How far a delivery is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// It will be tried.
    Waiting,
    /// The receiver has accepted it.
    Delivered,
    /// It was given up.
    Failed,
    /// It gave way to newer ones, since too many waited.
    Dropped,
}

/// One attempt to tell somebody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    pub at_ms: u64,
    /// Status of the answer; none when there was none.
    pub status: Option<u16>,
    /// A sentence; none when it went well.
    pub error: Option<String>,
}

/// A message to one webhook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Stays the same however often it is sent: `msg_<ULID>`.
    pub id: String,
    pub org: String,
    pub webhook: String,
    pub event: Event,
    /// Job id.
    pub job: Option<String>,
    pub body: String,
    pub created_ms: u64,
    pub phase: Phase,
    pub attempts: u32,
    /// When it is tried next, while it waits.
    pub next_ms: Option<u64>,
    /// The last attempt.
    pub last: Option<Attempt>,
}

/// Where a delivery stands in the table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeliveryKey {
    pub org: String,
    pub webhook: String,
    pub id: String,
}

/// What came of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub attempt: Attempt,
    pub phase: Phase,
    /// When it is tried next, if it waits on.
    pub next_ms: Option<u64>,
    /// Why the webhook is disabled, if it is.
    pub disable: Option<String>,
}

impl Delivery {
    /// Where it stands.
    #[must_use]
    pub fn key(&self) -> DeliveryKey {
        DeliveryKey {
            org: self.org.clone(),
            webhook: self.webhook.clone(),
            id: self.id.clone(),
        }
    }
}

impl DeliveryKey {
    fn text(&self) -> String {
        pair(&pair(&self.org, &self.webhook), &self.id)
    }
}

/// The id of the message that comes from the notice, or from the ULID, `id`.
#[must_use]
pub fn message_id(id: &str) -> String {
    format!("{MESSAGE_PREFIX}{id}")
}

/// A webhook of an organisation.
///
/// # Errors
/// The storage failed.
pub fn by_id(from: &impl Source, org: &str, id: &str) -> Result<Option<Webhook>, StoreError> {
    WEBHOOKS.get(from, &pair(org, id))
}

/// The webhooks of an organisation, oldest first.
///
/// # Errors
/// The storage failed.
pub fn of_org(from: &impl Source, org: &str) -> Result<Vec<Webhook>, StoreError> {
    let mut found = Vec::new();
    within(&WEBHOOKS, from, org, |_, webhook| found.push(webhook))?;
    Ok(found)
}

/// One delivery.
///
/// # Errors
/// The storage failed.
pub fn delivery(from: &impl Source, key: &DeliveryKey) -> Result<Option<Delivery>, StoreError> {
    DELIVERIES.get(from, &key.text())
}

/// Deliveries of a webhook, newest first, at most `limit`.
///
/// # Errors
/// The storage failed.
pub fn deliveries(
    from: &impl Source,
    org: &str,
    webhook: &str,
    limit: usize,
) -> Result<Vec<Delivery>, StoreError> {
    let (low, high) = pairs_of(&pair(org, webhook));
    let range = Range {
        from: Bound::Included(&low),
        to: Bound::Excluded(&high),
        backwards: true,
    };
    let mut found = Vec::new();
    DELIVERIES.each(from, range, |_, delivery| {
        found.push(delivery);
        match found.len() < limit {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    })?;
    Ok(found)
}

/// All deliveries that wait, of all organisations: key, and when each is tried.
///
/// # Errors
/// The storage failed.
pub fn waiting(from: &impl Source) -> Result<Vec<(DeliveryKey, u64)>, StoreError> {
    let mut found = Vec::new();
    DELIVERIES.each(from, Range::ALL, |_, delivery| {
        if delivery.phase == Phase::Waiting {
            found.push((delivery.key(), delivery.next_ms.unwrap_or_default()));
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// Store the messages of a notice.
pub(super) fn owe(
    w: &Writing<'_>,
    notice: &Notice,
    body: &str,
) -> Result<Vec<Delivery>, StoreError> {
    let mut webhooks = of_org(w, &notice.org)?;
    webhooks.retain(|webhook| webhook.wants(Event::JobFinished, notice));
    let mut owed = Vec::new();
    for webhook in webhooks {
        let delivery = Delivery {
            id: message_id(&notice.id),
            org: notice.org.clone(),
            webhook: webhook.id,
            event: Event::JobFinished,
            job: Some(notice.job.clone()),
            body: body.to_owned(),
            created_ms: notice.at_ms,
            phase: Phase::Waiting,
            attempts: 0,
            next_ms: Some(notice.at_ms),
            last: None,
        };
        DELIVERIES.put(w, &delivery.key().text(), &delivery)?;
        owed.push(delivery);
    }
    Ok(owed)
}

/// Visit what stands below `prefix/`.
fn within<R: Serialize + serde::de::DeserializeOwned>(
    table: &Records<R>,
    from: &impl Source,
    prefix: &str,
    mut visit: impl FnMut(&str, R),
) -> Result<(), StoreError> {
    let (low, high) = pairs_of(prefix);
    let range = Range {
        from: Bound::Included(&low),
        to: Bound::Excluded(&high),
        backwards: false,
    };
    table.each(from, range, |key, record| {
        visit(key, record);
        ControlFlow::Continue(())
    })
}

/// Fail what waits for a webhook that is disabled.
fn fail_waiting(w: &Writing<'_>, webhook: &Webhook) -> Result<(), StoreError> {
    let mut waiting = Vec::new();
    let prefix = pair(&webhook.org, &webhook.id);
    within(&DELIVERIES, w, &prefix, |key, delivery| {
        if delivery.phase == Phase::Waiting {
            waiting.push((key.to_owned(), delivery));
        }
    })?;
    for (key, mut delivery) in waiting {
        (delivery.phase, delivery.next_ms) = (Phase::Failed, None);
        DELIVERIES.put(w, &key, &delivery)?;
    }
    Ok(())
}

/// Forget the oldest deliveries of a webhook that have come to their end.
fn forget_old(w: &Writing<'_>, org: &str, webhook: &str) -> Result<(), StoreError> {
    let mut ended = Vec::new();
    within(&DELIVERIES, w, &pair(org, webhook), |key, delivery| {
        if delivery.phase != Phase::Waiting {
            ended.push(key.to_owned());
        }
    })?;
    let surplus = ended.len().saturating_sub(REMEMBERED_MAX);
    for key in &ended[..surplus] {
        DELIVERIES.remove(w, key)?;
    }
    Ok(())
}

impl Store {
    /// Add a webhook; whether there was room for it.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn webhook_add(&self, webhook: Webhook) -> Result<bool, StoreError> {
        self.write(move |w| {
            if of_org(w, &webhook.org)?.len() >= PER_ORG_MAX {
                return Ok(false);
            }
            WEBHOOKS.put(w, &pair(&webhook.org, &webhook.id), &webhook)?;
            Ok(true)
        })
        .await
    }

    /// Change a webhook; as it is then, or none if there is none. What waits for one that is disabled by that fails.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn webhook_change(
        &self,
        org: &str,
        id: &str,
        change: impl Fn(&mut Webhook) + Send + 'static,
    ) -> Result<Option<Webhook>, StoreError> {
        let key = pair(org, id);
        self.write(move |w| {
            let Some(mut webhook) = WEBHOOKS.get(w, &key)? else {
                return Ok(None);
            };
            change(&mut webhook);
            WEBHOOKS.put(w, &key, &webhook)?;
            if !webhook.enabled {
                fail_waiting(w, &webhook)?;
            }
            Ok(Some(webhook))
        })
        .await
    }

    /// Remove a webhook with all its deliveries; whether there was one.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn webhook_remove(&self, org: &str, id: &str) -> Result<bool, StoreError> {
        let key = pair(org, id);
        self.write(move |w| {
            let mut all = Vec::new();
            within(&DELIVERIES, w, &key, |key, _| all.push(key.to_owned()))?;
            for delivery in &all {
                DELIVERIES.remove(w, delivery)?;
            }
            WEBHOOKS.remove(w, &key)
        })
        .await
    }

    /// Add a delivery, or replace the one with its key.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn delivery_put(&self, delivery: Delivery) -> Result<(), StoreError> {
        self.write(move |w| {
            DELIVERIES.put(w, &delivery.key().text(), &delivery)?;
            forget_old(w, &delivery.org, &delivery.webhook)
        })
        .await
    }

    /// Store what came of an attempt, and what that says of the webhook. Nothing, if either is gone or the delivery does
    /// not wait any more.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn delivery_settle(
        &self,
        key: DeliveryKey,
        outcome: Outcome,
    ) -> Result<(), StoreError> {
        self.write(move |w| {
            let webhook = by_id(w, &key.org, &key.webhook)?;
            let delivery = DELIVERIES.get(w, &key.text())?;
            let Some((mut webhook, mut delivery)) = webhook.zip(delivery) else {
                return Ok(());
            };
            if delivery.phase != Phase::Waiting {
                return Ok(());
            }
            delivery.attempts = delivery.attempts.saturating_add(1);
            delivery.phase = outcome.phase;
            delivery.next_ms = outcome.next_ms;
            delivery.last = Some(outcome.attempt.clone());
            DELIVERIES.put(w, &key.text(), &delivery)?;
            if outcome.phase == Phase::Delivered {
                (webhook.failures, webhook.failing_since_ms) = (0, None);
            } else {
                webhook.failures = webhook.failures.saturating_add(1);
                let since_ms = webhook.failing_since_ms.unwrap_or(outcome.attempt.at_ms);
                webhook.failing_since_ms = Some(since_ms);
            }
            if let Some(reason) = &outcome.disable {
                webhook.enabled = false;
                webhook.disabled_because = Some(reason.clone());
                fail_waiting(w, &webhook)?;
            }
            WEBHOOKS.put(w, &pair(&key.org, &key.webhook), &webhook)?;
            forget_old(w, &key.org, &key.webhook)
        })
        .await
    }

    /// Give up deliveries that wait, in favour of newer ones; `why` is a sentence.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn deliveries_drop(
        &self,
        keys: Vec<DeliveryKey>,
        why: &str,
        at_ms: u64,
    ) -> Result<(), StoreError> {
        let why = why.to_owned();
        self.write(move |w| {
            for key in &keys {
                let Some(mut delivery) = DELIVERIES.get(w, &key.text())? else {
                    continue;
                };
                if delivery.phase != Phase::Waiting {
                    continue;
                }
                (delivery.phase, delivery.next_ms) = (Phase::Dropped, None);
                delivery.last = Some(Attempt {
                    at_ms,
                    status: None,
                    error: Some(why.clone()),
                });
                DELIVERIES.put(w, &key.text(), &delivery)?;
                forget_old(w, &key.org, &key.webhook)?;
            }
            Ok(())
        })
        .await
    }
}
