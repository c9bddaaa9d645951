//! Webhooks, as an organisation's administrators manage them.

use base::id;
use store::StoreError;
use store::jobs::TEXT_CHARS_MAX;
use store::webhooks::{
    self, Delivery, DeliveryKey, Event, KEY_BYTES, Phase, UnknownEvent, Webhook,
};
use tracing::info;
use vault::{KeyError, SealError};

use crate::queue::Owed;
use crate::service::{Inner, Notices};
use crate::{message, signature, url};

/// Messages that a webhook may have waiting for a person to send it more.
const WAITING_MAX: usize = 20;

/// Events of one webhook.
const EVENTS_MAX: usize = 16;

/// Deliveries that are shown.
const SHOWN_MAX: usize = 100;

/// What a new webhook says.
#[derive(Debug, Clone)]
pub struct NewWebhook {
    /// Where messages go.
    pub url: String,
    /// What about.
    pub events: Vec<Event>,
    /// Only jobs of this name.
    pub name: Option<String>,
    /// Only jobs of this branch or tag.
    pub r#ref: Option<String>,
}

/// Changes to a webhook; none leaves a value as it is.
#[derive(Debug, Clone, Default)]
pub struct Edit {
    /// Where messages go.
    pub url: Option<String>,
    /// What about.
    pub events: Option<Vec<Event>>,
    /// Empty: jobs of any name.
    pub name: Option<String>,
    /// Empty: any branch and tag.
    pub r#ref: Option<String>,
    /// Whether it is told anything.
    pub enabled: Option<bool>,
}

/// A webhook with its secret, which is shown this once.
#[derive(Clone)]
pub struct Created {
    /// The webhook.
    pub webhook: Webhook,
    /// `whsec_…`
    pub secret: String,
}

impl std::fmt::Debug for Created {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Created")
            .field("webhook", &self.webhook)
            .finish_non_exhaustive()
    }
}

/// Why nothing was done.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// The organisation has none of this id.
    #[error("there is no such webhook or delivery")]
    NotFound,
    /// A value is malformed.
    #[error("{field}: {message}")]
    Invalid {
        /// Its name.
        field: &'static str,
        /// A fragment that follows the name.
        message: String,
    },
    /// There are as many as may be; a sentence.
    #[error("{0}")]
    Full(String),
    /// It is disabled.
    #[error("the webhook is disabled")]
    Disabled,
    /// The delivery waits already.
    #[error("the delivery waits for its turn")]
    Waits,
    /// The key that keys of webhooks are sealed under cannot be used.
    #[error(transparent)]
    Key(KeyError),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<SealError> for WebhookError {
    fn from(error: SealError) -> Self {
        match error {
            SealError::Key(error) => Self::Key(error),
            SealError::Store(error) => Self::Store(error),
        }
    }
}

impl Notices {
    /// The webhooks of an organisation, oldest first.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn webhooks(&self, org: &str) -> Result<Vec<Webhook>, WebhookError> {
        let org = org.to_owned();
        let found = self.inner.store.read(move |s| webhooks::of_org(s, &org));
        Ok(found.await?)
    }

    /// One webhook.
    ///
    /// # Errors
    /// There is none, or the storage failed.
    pub async fn webhook(&self, org: &str, id: &str) -> Result<Webhook, WebhookError> {
        let (org, id) = (org.to_owned(), id.to_owned());
        let found = self
            .inner
            .store
            .read(move |s| webhooks::by_id(s, &org, &id));
        found.await?.ok_or(WebhookError::NotFound)
    }

    /// Makes a webhook, for a user of an organisation.
    ///
    /// # Errors
    /// A value is malformed, there are too many, its key cannot be sealed, or the storage failed.
    pub async fn webhook_create(
        &self,
        (org, user): (&str, &str),
        new: NewWebhook,
    ) -> Result<Created, WebhookError> {
        let inner = &self.inner;
        inner.check(Some(&new.url), Some(&new.events))?;
        check_text("name", new.name.as_deref())?;
        check_text("ref", new.r#ref.as_deref())?;
        let bytes = random_key();
        let id = id::ulid(&inner.clock);
        let webhook = Webhook {
            key: inner.vault.seal_webhook_key(org, &id, &bytes).await?,
            id,
            org: org.to_owned(),
            user: user.to_owned(),
            url: new.url,
            events: new.events,
            name: new.name,
            r#ref: new.r#ref,
            enabled: true,
            disabled_because: None,
            failures: 0,
            failing_since_ms: None,
            created_ms: inner.clock.now_ms(),
        };
        let most = inner.limits.webhooks_per_org_max;
        if !inner.store.webhook_add(webhook.clone(), most).await? {
            let told = format!(
                "the organisation has {most} webhooks, the most that `webhooks.count_max` allows; remove one first"
            );
            return Err(WebhookError::Full(told));
        }
        info!(webhook = webhook.id, org, by = user, "webhook made");
        let secret = signature::secret(&bytes);
        Ok(Created { webhook, secret })
    }

    /// Gives a webhook another key, from the next attempt on. The one before need not be readable.
    ///
    /// # Errors
    /// There is none of this id, the key cannot be sealed, or the storage failed.
    pub async fn webhook_rotate(
        &self,
        (org, user): (&str, &str),
        id: &str,
    ) -> Result<Created, WebhookError> {
        self.webhook(org, id).await?;
        let bytes = random_key();
        let vault = &self.inner.vault;
        let key = vault.reseal_webhook_key(org, id, &bytes).await?;
        let change = move |webhook: &mut Webhook| webhook.key = key.clone();
        let changed = self.inner.store.webhook_change(org, id, change).await?;
        let webhook = changed.ok_or(WebhookError::NotFound)?;
        info!(webhook = id, org, by = user, "key of a webhook rotated");
        let secret = signature::secret(&bytes);
        Ok(Created { webhook, secret })
    }

    /// Changes a webhook. One that is enabled begins anew, with no failure held against it.
    ///
    /// # Errors
    /// A value is malformed, there is none of this id, or the storage failed.
    pub async fn webhook_edit(
        &self,
        (org, user): (&str, &str),
        id: &str,
        edit: Edit,
    ) -> Result<Webhook, WebhookError> {
        self.webhook(org, id).await?;
        self.inner
            .check(edit.url.as_deref(), edit.events.as_deref())?;
        let empty = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        check_text("name", empty(&edit.name).as_deref())?;
        check_text("ref", empty(&edit.r#ref).as_deref())?;
        let change = move |webhook: &mut Webhook| {
            if let Some(url) = &edit.url {
                webhook.url.clone_from(url);
            }
            if let Some(events) = &edit.events {
                webhook.events.clone_from(events);
            }
            if edit.name.is_some() {
                webhook.name = empty(&edit.name);
            }
            if edit.r#ref.is_some() {
                webhook.r#ref = empty(&edit.r#ref);
            }
            if let Some(enabled) = edit.enabled {
                webhook.enabled = enabled;
                webhook.disabled_because = None;
                (webhook.failures, webhook.failing_since_ms) = (0, None);
            }
        };
        let changed = self.inner.store.webhook_change(org, id, change).await?;
        info!(webhook = id, org, by = user, "webhook changed");
        changed.ok_or(WebhookError::NotFound)
    }

    /// Removes a webhook; what it was owed is owed no more.
    ///
    /// # Errors
    /// There is none of this id, or the storage failed.
    pub async fn webhook_remove(
        &self,
        (org, user): (&str, &str),
        id: &str,
    ) -> Result<(), WebhookError> {
        if !self.inner.store.webhook_remove(org, id).await? {
            return Err(WebhookError::NotFound);
        }
        info!(webhook = id, org, by = user, "webhook removed");
        Ok(())
    }

    /// The last deliveries of a webhook, newest first.
    ///
    /// # Errors
    /// There is no such webhook, or the storage failed.
    pub async fn deliveries(&self, org: &str, id: &str) -> Result<Vec<Delivery>, WebhookError> {
        self.webhook(org, id).await?;
        let (org, id) = (org.to_owned(), id.to_owned());
        let read = move |s: &store::Snapshot| webhooks::deliveries(s, &org, &id, SHOWN_MAX);
        Ok(self.inner.store.read(read).await?)
    }

    /// Owes a webhook a message that only says that messages arrive.
    ///
    /// # Errors
    /// There is none of this id, it is disabled, too many wait for it, or the storage failed.
    pub async fn webhook_test(&self, org: &str, id: &str) -> Result<Delivery, WebhookError> {
        let webhook = self.with_room(org, id).await?;
        let inner = &self.inner;
        let now_ms = inner.clock.now_ms();
        let delivery = Delivery {
            id: webhooks::message_id(&id::ulid(&inner.clock)),
            org: org.to_owned(),
            webhook: id.to_owned(),
            event: Event::Test,
            job: None,
            body: message::test(&webhook, now_ms),
            created_ms: now_ms,
            phase: Phase::Waiting,
            attempts: 0,
            next_ms: Some(now_ms),
            last: None,
        };
        inner.send(delivery).await
    }

    /// Owes a message again that was delivered, given up or dropped, under its id.
    ///
    /// # Errors
    /// There is none of this id, it waits already, the webhook is disabled, too many wait for it, or the storage failed.
    pub async fn redeliver(
        &self,
        org: &str,
        id: &str,
        delivery: &str,
    ) -> Result<Delivery, WebhookError> {
        self.with_room(org, id).await?;
        let key = DeliveryKey {
            org: org.to_owned(),
            webhook: id.to_owned(),
            id: delivery.to_owned(),
        };
        let inner = &self.inner;
        let found = inner.store.read(move |s| webhooks::delivery(s, &key));
        let mut delivery = found.await?.ok_or(WebhookError::NotFound)?;
        if delivery.phase == Phase::Waiting {
            return Err(WebhookError::Waits);
        }
        let now_ms = inner.clock.now_ms();
        // Its age counts from now on.
        (delivery.created_ms, delivery.attempts) = (now_ms, 0);
        (delivery.phase, delivery.next_ms) = (Phase::Waiting, Some(now_ms));
        inner.send(delivery).await
    }

    /// A webhook to which a person may send something more.
    async fn with_room(&self, org: &str, id: &str) -> Result<Webhook, WebhookError> {
        let webhook = self.webhook(org, id).await?;
        if !webhook.enabled {
            return Err(WebhookError::Disabled);
        }
        let shown = self.deliveries(org, id).await?;
        let waiting = shown.iter().filter(|d| d.phase == Phase::Waiting).count();
        if waiting >= WAITING_MAX {
            let told =
                format!("{WAITING_MAX} messages wait for the webhook already; see its deliveries");
            return Err(WebhookError::Full(told));
        }
        Ok(webhook)
    }
}

impl Inner {
    fn check(&self, url: Option<&str>, events: Option<&[Event]>) -> Result<(), WebhookError> {
        if let Some(url) = url {
            url::check(url, &self.reach).map_err(|message| WebhookError::Invalid {
                field: "url",
                message,
            })?;
        }
        let is_fit = |events: &[Event]| {
            (1..=EVENTS_MAX).contains(&events.len()) && !events.contains(&Event::Test)
        };
        if !events.is_none_or(is_fit) {
            return Err(WebhookError::Invalid {
                field: "events",
                message: format!("must be 1 to {EVENTS_MAX}, each of which {UnknownEvent}"),
            });
        }
        Ok(())
    }

    async fn send(&self, delivery: Delivery) -> Result<Delivery, WebhookError> {
        self.store.delivery_put(delivery.clone()).await?;
        let at_ms = self.clock.now_ms();
        self.owe(Owed::Message(delivery.key()), at_ms);
        Ok(delivery)
    }
}

fn random_key() -> [u8; KEY_BYTES] {
    let mut bytes = [0; KEY_BYTES];
    id::fill_random(&mut bytes);
    bytes
}

fn check_text(field: &'static str, text: Option<&str>) -> Result<(), WebhookError> {
    let is_fit = text.is_none_or(|text| {
        (1..=TEXT_CHARS_MAX).contains(&text.chars().count()) && !text.chars().any(char::is_control)
    });
    if is_fit {
        return Ok(());
    }
    Err(WebhookError::Invalid {
        field,
        message: format!(
            "must have 1 to {TEXT_CHARS_MAX} characters, none of them a control character"
        ),
    })
}
