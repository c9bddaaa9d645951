//! Identity provider tokens (OpenID Connect), as CI runs get them: verified against the provider's
//! published keys. `identity` decides what a verified token may do.
//!
//! Verification is strict: RS256 and nothing else, by a key of the provider's set, with its issuer
//! and our audience, and times checked by the one clock.

use jsonwebtoken::{Algorithm, Validation};
use serde::Deserialize;

use base::clock::Clock;
use base::config::OidcConfig;

mod keys;

use keys::Keys;

/// Longest token that is examined, in bytes.
const TOKEN_BYTES_MAX: usize = 16 << 10;

/// How far the provider's clock may be off, in seconds.
const LEEWAY_S: u64 = 60;

/// What a verified token says about the run that it was issued to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CiRun {
    /// `owner/name`
    pub repository: String,
    /// `refs/heads/main`
    #[serde(default)]
    pub r#ref: String,
    #[serde(default)]
    pub environment: Option<String>,
    #[serde(default)]
    pub actor: String,
    exp: u64,
    #[serde(default)]
    nbf: Option<u64>,
}

/// Why a token was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum OidcError {
    #[error("the id-token is malformed, not signed by the provider, or meant for somebody else")]
    Invalid,
    #[error("the id-token has expired or is not valid yet")]
    Expired,
    #[error("the provider's keys cannot be had at the moment")]
    NoKeys,
}

/// Verifies the tokens of one provider.
#[derive(Debug)]
pub struct Oidc {
    issuer: String,
    audience: String,
    keys: Keys,
    clock: Clock,
}

impl Oidc {
    #[must_use]
    pub fn new(config: &OidcConfig, clock: Clock) -> Self {
        Self {
            issuer: config.issuer.clone(),
            audience: config.audience.clone(),
            keys: Keys::new(&config.jwks),
            clock,
        }
    }

    /// What the token says, if the provider signed it for us.
    ///
    /// # Errors
    /// It did not, the token has expired, or the provider's keys are not available.
    pub async fn verify(&self, token: &str) -> Result<CiRun, OidcError> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(OidcError::Invalid);
        }
        let header = jsonwebtoken::decode_header(token).map_err(|_| OidcError::Invalid)?;
        if header.alg != Algorithm::RS256 {
            return Err(OidcError::Invalid);
        }
        let kid = header.kid.ok_or(OidcError::Invalid)?;
        let key = self.keys.find(&kid).await?;
        let data = jsonwebtoken::decode::<CiRun>(token, &key, &self.validation());
        let run = data.map_err(|_| OidcError::Invalid)?.claims;
        let now_s = self.clock.now_s();
        let early = run.nbf.is_some_and(|nbf| now_s + LEEWAY_S < nbf);
        if early || run.exp.saturating_add(LEEWAY_S) <= now_s {
            return Err(OidcError::Expired);
        }
        Ok(run)
    }

    fn validation(&self) -> Validation {
        let mut validation = Validation::new(Algorithm::RS256);
        validation.set_issuer(&[&self.issuer]);
        validation.set_audience(&[&self.audience]);
        validation.set_required_spec_claims(&["iss", "aud", "exp"]);
        // The one clock judges expiry.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        validation
    }
}

#[cfg(test)]
mod tests;
