//! Replaces the key that signs tokens from time to time, so that a leaked one is of little use.

use super::{EXPIRY_LEEWAY_S, Identity, IdentityError, SESSION_TTL_S, TTL_S_MAX, bootstrap};
use store::secrets;

/// How long one key signs, in milliseconds: 30 days.
const SIGNING_MS_MAX: u64 = 30 * 24 * 3_600_000;

impl Identity {
    /// Replace the key that signs tokens if it has signed for 30 days; returns whether it was
    /// replaced. Call it at start and at least daily.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn rotate_when_due(&self) -> Result<bool, IdentityError> {
        let age_ms = self.clock.now_ms().saturating_sub(self.signer.since_ms());
        if age_ms < SIGNING_MS_MAX {
            return Ok(false);
        }
        self.rotate_signing_key().await.map(|()| true)
    }

    /// Sign new tokens with a new key. Tokens of the old one stay valid until they expire.
    ///
    /// # Errors
    /// The storage failed.
    pub(crate) async fn rotate_signing_key(&self) -> Result<(), IdentityError> {
        let now_ms = self.clock.now_ms();
        let new = bootstrap::new_secret(secrets::Purpose::Sign, now_ms);
        let longest_s = TTL_S_MAX.max(SESSION_TTL_S).max(self.remembered_s);
        let longest_ms = 1000 * (u64::from(longest_s) + EXPIRY_LEEWAY_S);
        let forget_before_ms = now_ms.saturating_sub(longest_ms);
        let (store, signer) = (self.store.clone(), self.signer.clone());
        let write = async move {
            let all = store.secret_rotate(new, forget_before_ms).await?;
            signer.replace(&all)
        };
        self.change(write, |_, ()| {}).await
    }
}
