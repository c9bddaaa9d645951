//! One attempt to tell a webhook something, and what follows from how it went.

use base::clock;
use store::StoreError;
use store::webhooks::{self, Attempt, Delivery, DeliveryKey, KEY_BYTES, Outcome, Phase, Webhook};
use tracing::warn;
use vault::KeyLost;

use crate::answer::{Answer, Silence};
use crate::post::Post;
use crate::service::Inner;
use crate::{backoff, signature};

impl Inner {
    /// Tells a webhook what it is owed. When to try again, if it must be.
    ///
    /// # Errors
    /// The storage failed.
    pub(crate) async fn deliver(&self, key: &DeliveryKey) -> Result<Option<u64>, StoreError> {
        let of = key.clone();
        let found = self.store.read(move |s| {
            let webhook = webhooks::by_id(s, &of.org, &of.webhook)?;
            Ok::<_, StoreError>(webhook.zip(webhooks::delivery(s, &of)?))
        });
        let Some((webhook, delivery)) = found.await? else {
            return Ok(None);
        };
        if !webhook.enabled || delivery.phase != Phase::Waiting {
            return Ok(None);
        }
        let stored = webhook.key.clone();
        let signing = self.vault.webhook_key(&key.org, &key.webhook, stored);
        let sent = match signing.await {
            Ok(key) => {
                let message = self.message(&webhook, &key, &delivery);
                message.send(&self.limits, &self.tls).await
            }
            Err(KeyLost::Store(error)) => return Err(error),
            Err(lost) => Err(Silence::Unsigned(lost.to_string())),
        };
        let outcome = self.judge(&webhook, &delivery, sent);
        if let Some(reason) = &outcome.disable {
            warn!(
                webhook = webhook.id,
                org = webhook.org,
                reason,
                "a webhook is disabled"
            );
        }
        let next_ms = outcome.next_ms;
        self.store.delivery_settle(key.clone(), outcome).await?;
        Ok(next_ms)
    }

    fn message(&self, webhook: &Webhook, key: &[u8; KEY_BYTES], delivery: &Delivery) -> Post {
        let at_s = self.clock.now_s();
        let signed = signature::sign(key, &delivery.id, at_s, &delivery.body);
        Post {
            url: webhook.url.clone(),
            headers: vec![
                ("content-type", "application/json".to_owned()),
                ("webhook-id", delivery.id.clone()),
                ("webhook-timestamp", at_s.to_string()),
                ("webhook-signature", signed),
            ],
            body: delivery.body.clone(),
            reach: Some(self.reach.clone()),
        }
    }

    /// What follows from an answer, or from there being none.
    fn judge(
        &self,
        webhook: &Webhook,
        delivery: &Delivery,
        sent: Result<Answer, Silence>,
    ) -> Outcome {
        let now_ms = self.clock.now_ms();
        let (status, wish_s, error) = match &sent {
            Ok(answer) if answer.is_success() => (Some(answer.status), None, None),
            Ok(answer) => (
                Some(answer.status),
                answer.wish.map(|wish| wish.seconds(now_ms)),
                Some(answer.sentence()),
            ),
            Err(silence) => (None, None, Some(silence.to_string())),
        };
        let attempt = Attempt {
            at_ms: now_ms,
            status,
            error: error.clone(),
        };
        let Some(error) = error else {
            return Outcome {
                attempt,
                phase: Phase::Delivered,
                next_ms: None,
                disable: None,
            };
        };
        let tried = (delivery.created_ms, delivery.attempts.saturating_add(1));
        let disable = self.why_disable(webhook, status, &error, now_ms);
        let next_ms = match disable {
            Some(_) => None,
            None => backoff::next_ms(&self.limits, tried, wish_s, now_ms),
        };
        Outcome {
            attempt,
            phase: match next_ms {
                Some(_) => Phase::Waiting,
                None => Phase::Failed,
            },
            next_ms,
            disable,
        }
    }

    fn why_disable(
        &self,
        webhook: &Webhook,
        status: Option<u16>,
        error: &str,
        now_ms: u64,
    ) -> Option<String> {
        const GONE: u16 = 410;
        if status == Some(GONE) {
            return Some("The receiver answered 410: it is gone for good.".to_owned());
        }
        let failures = webhook.failures.saturating_add(1);
        let since_ms = webhook.failing_since_ms.unwrap_or(now_ms);
        let is_hopeless = failures >= self.limits.failures_max
            && now_ms.saturating_sub(since_ms) >= self.limits.failing_ms_max;
        is_hopeless.then(|| {
            let since = clock::text(since_ms);
            format!("No message has arrived since {since}, in {failures} attempts. {error}")
        })
    }
}
