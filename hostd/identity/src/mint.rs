//! Exchanges a key or a sign-in for a short-lived cloud session token.

use super::error::TokenError;
use super::job_tokens::JobToken;
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
    /// access to nothing. A job's tokens open the job's device alone, whichever are named, and a job
    /// that asks again is given the same one while at least half of its time is left.
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
        if caller.job().is_some() {
            return self.mint_for_job(caller, ttl_s);
        }
        let now_s = self.clock.now_s();
        let mut expires_s = now_s + u64::from(ttl_s);
        if let Some(key_ms) = self.key_expiry(caller) {
            expires_s = expires_s.min(key_ms / 1000);
        }
        let claims = Claims {
            devices,
            parent: match caller.credential() {
                Credential::UserSession => caller.root.as_deref().map(str::to_owned),
                _ => None,
            },
            ..self.claims(caller, (now_s, expires_s))
        };
        Ok(minted(
            self.signer.sign(&claims)?,
            (now_s, expires_s),
            ttl_s,
        ))
    }

    fn mint_for_job(&self, caller: &Verified, ttl_s: u32) -> Result<Minted, TokenError> {
        let entry = caller.kid().and_then(|kid| self.job_entry(kid));
        let entry = entry.ok_or_else(|| TokenError::Invalid {
            field: "authorization",
            message: "must be the key of a job that still runs".to_owned(),
        })?;
        let now_s = self.clock.now_s();
        let is_ended = |id: &str| self.index().ended.contains_key(id);
        let token = entry.tokens.hand_out((now_s, ttl_s), is_ended, || {
            let claims = self.claims(caller, (now_s, now_s + u64::from(ttl_s)));
            Ok(JobToken {
                token: self.signer.sign(&claims)?,
                id: claims.jti,
                ttl_s,
                expires_s: claims.exp,
            })
        })?;
        Ok(minted(token.token, (now_s, token.expires_s), ttl_s))
    }

    /// Of a session of the caller's on all devices.
    pub(super) fn claims(&self, caller: &Verified, (now_s, expires_s): (u64, u64)) -> Claims {
        Claims {
            iss: Claims::issuer(),
            typ: TokenType::CloudSession,
            sub: caller.user().to_owned(),
            org: caller.org().to_owned(),
            devices: None,
            kid: caller.kid().map(str::to_owned),
            parent: None,
            rule: None,
            epoch: caller.epoch,
            iat: now_s,
            exp: expires_s,
            jti: id::ulid(&self.clock),
        }
    }

    pub(super) fn key_expiry(&self, caller: &Verified) -> Option<u64> {
        let index = self.index();
        index.keys.get(caller.kid()?)?.record.expires_at_ms
    }
}

fn minted(token: Secret, (now_s, expires_s): (u64, u64), ttl_s: u32) -> Minted {
    let left_s = expires_s.saturating_sub(now_s).min(u64::from(ttl_s));
    Minted {
        token,
        expires_at_ms: expires_s * 1000,
        expires_in_s: u32::try_from(left_s).expect("bounded by ttl_s just above"),
    }
}
