//! Exchanges a key or a sign-in for a short-lived cloud session token.

use super::error::TokenError;
use super::token::{Claims, TokenType};
use super::{Identity, Secret, Verified};
use crate::verified::Credential;
use base::id;

/// Default lifetime of a session token, in seconds.
pub const TTL_S_DEFAULT: u32 = 3600;

/// Shortest lifetime of a session token, in seconds.
pub const TTL_S_MIN: u32 = 60;

/// Longest lifetime of a session token, in seconds.
pub const TTL_S_MAX: u32 = 86_400;

/// Most devices that one token can be restricted to; keeps it short enough for a URL.
const DEVICES_MAX: usize = 32;

/// A new session token.
#[derive(Debug, Clone)]
pub struct Minted {
    pub token: Secret,
    /// Whole seconds.
    pub expires_at_ms: u64,
    pub expires_in_s: u32,
}

impl Identity {
    /// Make a cloud session token for the caller, for the devices with these ids or for all. A
    /// token made from a key ends with the key, perhaps earlier than requested. A token made from a
    /// sign-in ends at sign-out. The caller must check that the devices exist; unknown ids give
    /// access to nothing.
    ///
    /// # Errors
    /// The caller is a cloud session itself, or a value is out of bounds.
    pub fn mint_token(
        &self,
        caller: &Verified,
        devices: Option<Vec<String>>,
        ttl_s: u32,
    ) -> Result<Minted, TokenError> {
        if caller.credential() == Credential::CloudSession {
            return Err(TokenError::Invalid {
                field: "authorization",
                message: "must be an API key or a user session: a session token cannot be exchanged for another".to_owned(),
            });
        }
        if !(TTL_S_MIN..=TTL_S_MAX).contains(&ttl_s) {
            return Err(TokenError::Invalid {
                field: "ttl_seconds",
                message: format!("must be {TTL_S_MIN} to {TTL_S_MAX}"),
            });
        }
        if devices
            .as_ref()
            .is_some_and(|d| !(1..=DEVICES_MAX).contains(&d.len()))
        {
            return Err(TokenError::Invalid {
                field: "devices",
                message: format!("must name 1 to {DEVICES_MAX} devices; leave it out for all"),
            });
        }
        let now_s = self.clock.now_s();
        let mut expires_s = now_s + u64::from(ttl_s);
        if let Some(key_ms) = self.key_expiry(caller) {
            expires_s = expires_s.min(key_ms / 1000);
        }
        let claims = Claims {
            iss: Claims::issuer(),
            typ: TokenType::CloudSession,
            sub: caller.user().to_owned(),
            org: caller.org().to_owned(),
            devices,
            kid: caller.kid().map(str::to_owned),
            parent: match caller.credential() {
                Credential::UserSession => caller.root.as_deref().map(str::to_owned),
                _ => None,
            },
            rule: None,
            epoch: caller.epoch,
            iat: now_s,
            exp: expires_s,
            jti: id::ulid(&self.clock),
        };
        let left_s = expires_s.saturating_sub(now_s).min(u64::from(ttl_s));
        Ok(Minted {
            token: self.signer.sign(&claims)?,
            expires_at_ms: expires_s * 1000,
            expires_in_s: u32::try_from(left_s).expect("bounded by ttl_s just above"),
        })
    }

    pub(super) fn key_expiry(&self, caller: &Verified) -> Option<u64> {
        let index = self.index();
        index.keys.get(caller.kid()?)?.record.expires_at_ms
    }
}
