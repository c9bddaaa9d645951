//! The keys that messages to webhooks are signed with, sealed as secrets are. One that is lost can be replaced by
//! whoever has the webhook, so that it is worth less than a secret.

use store::StoreError;
use store::webhooks::{self, KEY_BYTES, SigningKey};
use tracing::{info, warn};

use crate::error::{KeyError, KeyLost, SealError};
use crate::key::Key;
use crate::seal::{self, Subject};
use crate::vault::{Missing, Vault};

impl Vault {
    /// Seals the key of a new webhook.
    ///
    /// # Errors
    /// The key file cannot be used, or the storage failed.
    pub async fn seal_webhook_key(
        &self,
        org: &str,
        webhook: &str,
        bytes: &[u8; KEY_BYTES],
    ) -> Result<SigningKey, SealError> {
        let _one = self.writing.lock().await;
        let key = self.key(Missing::MadeAtFirstNeed).await?;
        Ok(sealed(&key, org, webhook, bytes))
    }

    /// Seals a key in place of the one that a webhook has, which need not be readable. If the key file is gone and no
    /// secret was sealed under it, another one is made.
    ///
    /// # Errors
    /// The key file cannot be used, or the storage failed.
    pub async fn reseal_webhook_key(
        &self,
        org: &str,
        webhook: &str,
        bytes: &[u8; KEY_BYTES],
    ) -> Result<SigningKey, SealError> {
        let _one = self.writing.lock().await;
        let key = self.key(Missing::MadeWithoutSecrets).await?;
        Ok(sealed(&key, org, webhook, bytes))
    }

    /// The key of a webhook, to sign with.
    ///
    /// # Errors
    /// It cannot be had.
    pub async fn webhook_key(
        &self,
        org: &str,
        webhook: &str,
        stored: SigningKey,
    ) -> Result<[u8; KEY_BYTES], KeyLost> {
        let file = self.file.clone();
        let (org, webhook) = (org.to_owned(), webhook.to_owned());
        // The file is read where blocking is allowed.
        self.store
            .read(move |_| {
                let (text, fingerprint) = match stored {
                    SigningKey::Plain(bytes) => return Ok(bytes),
                    SigningKey::Sealed { sealed, key } => (sealed, key),
                };
                let key = file.read().and_then(|key| key.ok_or(KeyError::Missing))?;
                if key.fingerprint() != fingerprint {
                    return Err(KeyLost::OtherKey(fingerprint, key.fingerprint()));
                }
                let value = seal::open(&key, Subject::Webhook(&org, &webhook), &text);
                let bytes = value.and_then(|value| value.try_into().ok());
                bytes.ok_or(KeyLost::Damaged)
            })
            .await
    }

    /// Seals keys that an earlier version stored as they were. Until then they sign as they are.
    ///
    /// # Errors
    /// The key file cannot be used, or the storage failed.
    pub async fn seal_plain_webhook_keys(&self) -> Result<(), SealError> {
        let found = self.store.read(webhooks::all).await?;
        let plain = found.into_iter().filter_map(|webhook| match webhook.key {
            SigningKey::Plain(bytes) => Some((webhook.org, webhook.id, bytes)),
            SigningKey::Sealed { .. } => None,
        });
        let plain: Vec<_> = plain.collect();
        if plain.is_empty() {
            return Ok(());
        }
        let _one = self.writing.lock().await;
        let key = self.key(Missing::MadeAtFirstNeed).await?;
        let count = plain.len();
        for (org, id, bytes) in plain {
            let sealed = sealed(&key, &org, &id, &bytes);
            let change = move |webhook: &mut webhooks::Webhook| {
                // Unless it was replaced meanwhile.
                if webhook.key == SigningKey::Plain(bytes) {
                    webhook.key = sealed.clone();
                }
            };
            self.store.webhook_change(&org, &id, change).await?;
        }
        info!(count, "sealed the keys of webhooks");
        Ok(())
    }

    /// Warns of keys that cannot be read, as after a restore without the key file.
    pub(crate) async fn warn_of_lost_webhook_keys(&self) -> Result<(), StoreError> {
        let mut lost = Vec::new();
        let mut why = String::new();
        for webhook in self.store.read(webhooks::all).await? {
            let (org, id) = (&webhook.org, &webhook.id);
            match self.webhook_key(org, id, webhook.key).await {
                Ok(_) => {}
                Err(KeyLost::Store(error)) => return Err(error),
                Err(error) => {
                    why = error.to_string();
                    lost.push(webhook.id);
                }
            }
        }
        if !lost.is_empty() {
            let count = lost.len();
            lost.truncate(crate::vault::NAMED_MAX);
            let ids = lost.join(" ");
            warn!(
                count,
                ids, why, "webhooks are told nothing, for their keys cannot be read"
            );
        }
        Ok(())
    }
}

fn sealed(key: &Key, org: &str, webhook: &str, bytes: &[u8; KEY_BYTES]) -> SigningKey {
    SigningKey::Sealed {
        sealed: seal::seal(key, Subject::Webhook(org, webhook), bytes),
        key: key.fingerprint(),
    }
}
