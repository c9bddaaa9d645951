//! Table of deliveries: the messages to each webhook, delivered or not.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::super::notices::Notice;
use super::super::records::{Pairs, Records, Unreadable, pair};
use super::super::snapshot::{Range, Source};
use super::super::{Store, StoreError, Writing};
use super::{Event, WEBHOOKS, Webhook, by_id, of_org};

pub(super) const TABLE: &str = "webhook_deliveries";

/// `org/webhook/id` to delivery; ids sort by time.
const DELIVERIES: Records<Delivery> = Records::new(TABLE);

/// Deliveries of one webhook that are remembered once they have come to their end.
const REMEMBERED_MAX: usize = 100;

/// Before the id of a notice, the id of its message.
const MESSAGE_PREFIX: &str = "msg_";

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

/// One delivery; none if it cannot be read.
///
/// # Errors
/// The storage failed.
pub fn delivery(from: &impl Source, key: &DeliveryKey) -> Result<Option<Delivery>, StoreError> {
    DELIVERIES.get_readable(from, &key.text())
}

pub(super) fn unreadable(from: &impl Source) -> Result<Vec<Unreadable>, StoreError> {
    DELIVERIES.unreadable(from)
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
    let keys = Pairs::of(&pair(org, webhook));
    let range = keys.backwards();
    let mut found = Vec::new();
    DELIVERIES.each_readable(from, range, |_, delivery| {
        found.push(delivery);
        match found.len() < limit {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    })?;
    Ok(found)
}

/// All deliveries that wait, of all organisations: key, and when each is tried. Without those that cannot be read.
///
/// # Errors
/// The storage failed.
pub fn waiting(from: &impl Source) -> Result<Vec<(DeliveryKey, u64)>, StoreError> {
    let mut found = Vec::new();
    DELIVERIES.each_readable(from, Range::ALL, |_, delivery| {
        if delivery.phase == Phase::Waiting {
            found.push((delivery.key(), delivery.next_ms.unwrap_or_default()));
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// Store the messages of a notice.
pub(crate) fn owe(
    w: &Writing<'_>,
    notice: &Notice,
    body: &str,
) -> Result<Vec<Delivery>, StoreError> {
    let mut webhooks = of_org(w, &notice.org)?;
    webhooks.retain(|webhook| webhook.wants(&Event::JobFinished, notice));
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
        put(w, &delivery)?;
        owed.push(delivery);
    }
    Ok(owed)
}

pub(super) fn put(w: &Writing<'_>, delivery: &Delivery) -> Result<(), StoreError> {
    DELIVERIES.put(w, &delivery.key().text(), delivery)
}

/// Remove all deliveries of a webhook, readable or not.
pub(super) fn remove_all(w: &Writing<'_>, org: &str, webhook: &str) -> Result<(), StoreError> {
    let all = Pairs::of(&pair(org, webhook));
    let mut keys = Vec::new();
    DELIVERIES.each_found(w, all.forwards(), |key, _| {
        keys.push(key.to_owned());
        ControlFlow::Continue(())
    })?;
    for key in &keys {
        DELIVERIES.remove(w, key)?;
    }
    Ok(())
}

/// Fail what waits for a webhook that is disabled.
pub(super) fn fail_waiting(w: &Writing<'_>, webhook: &Webhook) -> Result<(), StoreError> {
    let mut waiting = DELIVERIES.readable_of(w, &pair(&webhook.org, &webhook.id))?;
    waiting.retain(|delivery| delivery.phase == Phase::Waiting);
    for mut delivery in waiting {
        (delivery.phase, delivery.next_ms) = (Phase::Failed, None);
        DELIVERIES.put(w, &delivery.key().text(), &delivery)?;
    }
    forget_old(w, &webhook.org, &webhook.id)
}

/// Forget the oldest deliveries of a webhook that have come to their end.
fn forget_old(w: &Writing<'_>, org: &str, webhook: &str) -> Result<(), StoreError> {
    let mut ended = DELIVERIES.readable_of(w, &pair(org, webhook))?;
    ended.retain(|delivery| delivery.phase != Phase::Waiting);
    let surplus = ended.len().saturating_sub(REMEMBERED_MAX);
    for delivery in &ended[..surplus] {
        DELIVERIES.remove(w, &delivery.key().text())?;
    }
    Ok(())
}

impl Store {
    /// Add a delivery, or replace the one with its key.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn delivery_put(&self, delivery: Delivery) -> Result<(), StoreError> {
        self.write(move |w| {
            DELIVERIES.put(w, &delivery.key().text(), &delivery)?;
            match delivery.phase {
                Phase::Waiting => Ok(()),
                _ => forget_old(w, &delivery.org, &delivery.webhook),
            }
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
            let delivery = DELIVERIES.get_readable(w, &key.text())?;
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
            match outcome.phase {
                Phase::Waiting => Ok(()),
                _ => forget_old(w, &key.org, &key.webhook),
            }
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
            let mut webhooks = BTreeSet::new();
            for key in &keys {
                let Some(mut delivery) = DELIVERIES.get_readable(w, &key.text())? else {
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
                webhooks.insert((&key.org, &key.webhook));
            }
            for (org, webhook) in webhooks {
                forget_old(w, org, webhook)?;
            }
            Ok(())
        })
        .await
    }
}
