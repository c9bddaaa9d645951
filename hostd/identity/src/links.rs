//! Links: what one caller may do once more, for a while, written into an address that needs no other credential.
//!
//! A link carries what it opens and a session of who made it, signed by the server's key. That session is never handed out and
//! is no credential: it says with whose right the link ends.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::error::{AuthError, TokenError};
use super::mint::{TTL_S_MAX, TTL_S_MIN};
use super::token::Claims;
use super::{Identity, Secret, Verified};
use crate::verified::Credential;

/// Longest link that is looked at: it has what it opens, and up to 32 devices.
const LINK_BYTES_MAX: usize = 8 << 10;

/// A link that was made.
#[derive(Debug, Clone)]
pub struct MadeLink {
    /// Whoever has it needs nothing else.
    pub token: Secret,
    /// Whole seconds.
    pub expires_at_ms: u64,
}

/// All claims of a link. Sessions have none of the last two, and links nothing else that sessions have.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkClaims<T> {
    iss: String,
    /// User id.
    sub: String,
    /// Expires, seconds since 1970.
    exp: u64,
    /// With whose right it ends.
    by: Claims,
    /// What it opens.
    link: T,
}

impl Identity {
    /// Makes a link to `what` that is good for `ttl_s`, and no longer than the key or the session token that is shown. It ends
    /// with the key, the sign-in, the rule or the job that the caller's credential comes from, and with the user.
    ///
    /// # Errors
    /// `ttl_s` is out of bounds, or the caller has no credential that a link could end with.
    pub fn make_link<T: Serialize>(
        &self,
        caller: &Verified,
        what: T,
        ttl_s: u32,
    ) -> Result<MadeLink, TokenError> {
        if !(TTL_S_MIN..=TTL_S_MAX).contains(&ttl_s) {
            return Err(TokenError::Invalid {
                field: "ttl_seconds",
                message: format!("must be {TTL_S_MIN} to {TTL_S_MAX}"),
            });
        }
        if caller.kid().is_none() && caller.root.is_none() {
            return Err(TokenError::Invalid {
                field: "authorization",
                message: "must be a key or a session of a user, which the link ends with"
                    .to_owned(),
            });
        }
        let now_s = self.clock.now_s();
        let key_s = self.key_expiry(caller).map(|key_ms| key_ms / 1000);
        // A sign-in may be renewed: what is made of it ends with it, not with its session.
        let is_token = caller.credential() == Credential::CloudSession;
        let token_s = caller.expires_s().filter(|_| is_token);
        let ends = key_s.into_iter().chain(token_s);
        let exp = ends.fold(now_s + u64::from(ttl_s), u64::min);
        let by = Claims {
            devices: caller.devices().map(<[String]>::to_vec),
            parent: caller.root.as_deref().map(str::to_owned),
            rule: caller
                .claims
                .as_ref()
                .and_then(|claims| claims.rule.clone()),
            ..self.claims(caller, (now_s, exp))
        };
        let claims = LinkClaims {
            iss: Claims::issuer(),
            sub: caller.user().to_owned(),
            exp,
            by,
            link: what,
        };
        Ok(MadeLink {
            token: self.signer.sign_any(&claims)?,
            expires_at_ms: exp * 1000,
        })
    }

    /// What a link opens, and for whom: who made it, as they may do things now.
    ///
    /// # Errors
    /// This server made no such link, it has expired, or the right of who made it has ended.
    pub fn open_link<T: DeserializeOwned>(&self, text: &str) -> Result<(Verified, T), AuthError> {
        if text.len() > LINK_BYTES_MAX {
            return Err(AuthError::Invalid);
        }
        let LinkClaims { by, link, .. } = self.signer.check::<LinkClaims<T>>(text)?;
        Ok((self.session(&Arc::new(by))?, link))
    }
}
