//! Table of webhooks: who is told of finished jobs, and of what plugins have to say.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::notices::Notice;
use super::records::{Records, Unreadable, pair};
use super::snapshot::{Range, Source};
use super::{Store, StoreError};

mod deliveries;
mod event;
mod raised;

pub(super) use deliveries::owe;
pub use deliveries::{
    Attempt, Delivery, DeliveryKey, Outcome, Phase, deliveries, delivery, message_id, waiting,
};
pub use event::{EVENT_BYTES_MAX, Event, UnknownEvent};
pub use raised::Raised;

/// Name of the table of webhooks, each of which has a sealed key.
pub const TABLE: &str = "webhooks";

pub(super) const TABLES: [&str; 2] = [TABLE, deliveries::TABLE];

/// `org/id` to webhook; ids sort by time.
const WEBHOOKS: Records<Webhook> = Records::new(TABLES[0]);

/// Bytes of a key that messages are signed with.
pub const KEY_BYTES: usize = 32;

/// The key that a webhook's messages are signed with, as it is stored.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SigningKey {
    /// Under a key that is not in the store.
    Sealed {
        /// Base 64.
        sealed: String,
        /// Fingerprint of the key that it is sealed under.
        key: String,
    },
    /// As versions before 6 of the schema had it: its bytes.
    Plain([u8; KEY_BYTES]),
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
    fn wants(&self, event: &Event, notice: &Notice) -> bool {
        let is =
            |wanted: &Option<String>, found: &Option<String>| wanted.is_none() || wanted == found;
        self.enabled
            && self.events.contains(event)
            && is(&self.name, &notice.name)
            && is(&self.r#ref, &notice.r#ref)
    }
}

/// A webhook of an organisation; none if it cannot be read.
///
/// # Errors
/// The storage failed.
pub fn by_id(from: &impl Source, org: &str, id: &str) -> Result<Option<Webhook>, StoreError> {
    WEBHOOKS.get_readable(from, &pair(org, id))
}

/// The webhooks of an organisation, oldest first, without those that cannot be read.
///
/// # Errors
/// The storage failed.
pub fn of_org(from: &impl Source, org: &str) -> Result<Vec<Webhook>, StoreError> {
    WEBHOOKS.readable_of(from, org)
}

/// The webhooks of all organisations, without those that cannot be read.
///
/// # Errors
/// The storage failed.
pub fn all(from: &impl Source) -> Result<Vec<Webhook>, StoreError> {
    let mut found = Vec::new();
    WEBHOOKS.each_readable(from, Range::ALL, |_, webhook| {
        found.push(webhook);
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// Whether a webhook is to be told of a notice.
pub(super) fn want(from: &impl Source, notice: &Notice) -> Result<bool, StoreError> {
    if !notice.standing.has_ended() {
        return Ok(false);
    }
    let webhooks = of_org(from, &notice.org)?;
    let mut webhooks = webhooks.iter();
    Ok(webhooks.any(|webhook| webhook.wants(&Event::JobFinished, notice)))
}

/// Webhooks and deliveries that cannot be read.
pub(super) fn unreadable(from: &impl Source) -> Result<Vec<Unreadable>, StoreError> {
    let mut found = WEBHOOKS.unreadable(from)?;
    found.append(&mut deliveries::unreadable(from)?);
    Ok(found)
}

impl Store {
    /// Add a webhook; whether there was room for it among `count_max`.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn webhook_add(
        &self,
        webhook: Webhook,
        count_max: usize,
    ) -> Result<bool, StoreError> {
        self.write(move |w| {
            if of_org(w, &webhook.org)?.len() >= count_max {
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
            let Some(mut webhook) = WEBHOOKS.get_readable(w, &key)? else {
                return Ok(None);
            };
            change(&mut webhook);
            WEBHOOKS.put(w, &key, &webhook)?;
            if !webhook.enabled {
                deliveries::fail_waiting(w, &webhook)?;
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
        let (org, id) = (org.to_owned(), id.to_owned());
        self.write(move |w| {
            deliveries::remove_all(w, &org, &id)?;
            WEBHOOKS.remove(w, &pair(&org, &id))
        })
        .await
    }
}
