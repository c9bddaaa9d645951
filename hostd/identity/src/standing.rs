//! How long a credential stays valid: whatever it opened for longer than a request ends with it.

use std::time::Duration;

use super::{AuthError, EXPIRY_LEEWAY_S, Identity, Verified};

/// Longest sleep until an expiry; the wall clock of a suspended machine jumps.
const SLEEP_MAX: Duration = Duration::from_secs(30);

impl Identity {
    /// Resolves when the credential expires, is revoked, or no longer opens what it did when it was
    /// verified: its role, its devices, and `scope` if one is needed.
    pub async fn over(&self, verified: &Verified, scope: Option<&str>) -> AuthError {
        let mut changed = self.live.changed.subscribe();
        loop {
            match self.again(verified) {
                Err(error) => return error,
                Ok(now) if !now.still_does(verified, scope) => return AuthError::Revoked,
                Ok(_) => {}
            }
            tokio::select! {
                // The sender lives as long as this does.
                _ = changed.changed() => {}
                () = self.until_expiry(verified) => {}
            }
        }
    }

    /// Verify again what was verified before.
    fn again(&self, verified: &Verified) -> Result<Verified, AuthError> {
        match (&verified.claims, &verified.kid) {
            (Some(claims), _) => self.session(claims),
            (None, Some(kid)) if verified.job().is_some() => {
                let entry = self.job_entry(kid).ok_or(AuthError::Revoked)?;
                self.job(&entry)
            }
            (None, Some(kid)) => {
                let (entry, user) = self.key_and_owner(kid);
                let entry = entry.ok_or(AuthError::Revoked)?;
                self.key(&entry, user)
            }
            (None, None) => Err(AuthError::Invalid),
        }
    }

    async fn until_expiry(&self, verified: &Verified) {
        let session_ms = verified.expires_s().map(|s| (s + EXPIRY_LEEWAY_S) * 1000);
        let key_ms = verified.kid().and_then(|kid| {
            let index = self.index();
            index.keys.get(kid).and_then(|key| key.record.expires_at_ms)
        });
        let Some(at_ms) = [session_ms, key_ms].into_iter().flatten().min() else {
            return std::future::pending().await;
        };
        let left = Duration::from_millis(at_ms.saturating_sub(self.clock.now_ms()));
        tokio::time::sleep(left.min(SLEEP_MAX)).await;
    }
}

impl Verified {
    /// Whether this verification, of the same credential, still allows everything that `before`
    /// did.
    fn still_does(&self, before: &Self, scope: Option<&str>) -> bool {
        self.role >= before.role
            && (self.is_admin() || !before.is_admin())
            && self.devices == before.devices
            && scope.is_none_or(|scope| self.has_scope(scope) || !before.has_scope(scope))
    }
}
