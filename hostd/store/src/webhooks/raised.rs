//! Messages that tell what a plugin has to say.

use super::super::{Store, StoreError};
use super::deliveries::{self, Delivery, Phase, message_id};
use super::{Event, of_org};

/// A message for all webhooks of an organisation that listen to its event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raised {
    /// A ULID.
    pub id: String,
    pub org: String,
    pub event: Event,
    pub body: String,
    pub at_ms: u64,
}

impl Store {
    /// Owe a message to each webhook that listens to its event.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn webhooks_raise(&self, raised: Raised) -> Result<Vec<Delivery>, StoreError> {
        self.write(move |w| {
            let mut webhooks = of_org(w, &raised.org)?;
            webhooks.retain(|webhook| webhook.enabled && webhook.events.contains(&raised.event));
            let mut owed = Vec::new();
            for webhook in webhooks {
                let delivery = Delivery {
                    id: message_id(&raised.id),
                    org: raised.org.clone(),
                    webhook: webhook.id,
                    event: raised.event.clone(),
                    job: None,
                    body: raised.body.clone(),
                    created_ms: raised.at_ms,
                    phase: Phase::Waiting,
                    attempts: 0,
                    next_ms: Some(raised.at_ms),
                    last: None,
                };
                deliveries::put(w, &delivery)?;
                owed.push(delivery);
            }
            Ok(owed)
        })
        .await
    }
}
