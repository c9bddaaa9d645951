//! Session tokens: JSON Web Tokens (RFC 7519) signed with Ed25519 (RFC 8037) by keys that never
//! leave this server.
//!
//! Verification is strict. The algorithm is ours, not the header's; the key is found by the
//! header's `kid` among our own; claims are exactly ours, with nothing missing or added. The caller
//! judges expiry and revocation against the one clock.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use jsonwebtoken::jwk::{AlgorithmParameters, Jwk};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::error::{AuthError, IdentityError};
use super::secret::Secret;
use store::secrets::{Purpose, ServerSecret};

/// `iss` claim. Servers are told apart by their keys, not by this.
const ISSUER: &str = "hostd";

/// Tokens whose signatures were verified and need not be checked again. When full it is cleared, so
/// a flood of tokens costs checks but no memory.
const KNOWN_MAX: usize = 4096;

/// PKCS #8 of an Ed25519 private key up to its 32-byte seed (RFC 8410, section 7).
const PKCS8_HEAD: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// `typ` claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TokenType {
    CloudSession,
    UserSession,
}

/// All claims of a session token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Claims {
    pub(super) iss: String,
    pub(super) typ: TokenType,
    /// User id.
    pub(super) sub: String,
    pub(super) org: String,
    /// Device ids; absent = all of the organisation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) devices: Option<Vec<String>>,
    /// Key id it was minted from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) kid: Option<String>,
    /// The sign-in that it is derived from, and ends with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<String>,
    /// The trust rule that admitted it, and that it ends with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rule: Option<String>,
    /// The user's epoch, if it is derived from a sign-in rather than a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) epoch: Option<u32>,
    /// Issued, seconds since 1970.
    pub(super) iat: u64,
    /// Expires, seconds since 1970.
    pub(super) exp: u64,
    /// ULID of the token.
    pub(super) jti: String,
}

impl Claims {
    /// `iss` of every token.
    pub(super) fn issuer() -> String {
        ISSUER.to_owned()
    }
}

/// The server's signing keys: one signs, retired ones still verify.
pub(super) struct Signer {
    keys: RwLock<Keys>,
    known: RwLock<HashMap<[u8; 32], Arc<Claims>>>,
}

struct Keys {
    current: String,
    /// When it began to sign.
    since_ms: u64,
    sign: EncodingKey,
    verify: HashMap<String, DecodingKey>,
}

impl Signer {
    pub(super) fn new(secrets: &[ServerSecret]) -> Result<Self, IdentityError> {
        Ok(Self {
            keys: RwLock::new(Keys::new(secrets)?),
            known: RwLock::default(),
        })
    }

    /// When the current key began to sign.
    pub(super) fn since_ms(&self) -> u64 {
        self.keys
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .since_ms
    }

    /// Switch to another set of secrets.
    pub(super) fn replace(&self, secrets: &[ServerSecret]) -> Result<(), IdentityError> {
        let keys = Keys::new(secrets)?;
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = keys;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.clear();
        Ok(())
    }

    pub(super) fn sign(&self, claims: &Claims) -> Result<Secret, jsonwebtoken::errors::Error> {
        self.sign_any(claims)
    }

    /// Anything, properly signed.
    #[cfg(test)]
    pub(super) fn sign_value(&self, claims: &serde_json::Value) -> Secret {
        self.sign_any(claims).unwrap()
    }

    /// The same for other claims.
    pub(super) fn sign_any(
        &self,
        claims: &impl Serialize,
    ) -> Result<Secret, jsonwebtoken::errors::Error> {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        let mut header = Header::new(Algorithm::EdDSA);
        header.kid = Some(keys.current.clone());
        jsonwebtoken::encode(&header, claims, &keys.sign).map(Secret::new)
    }

    /// The claims of a token that this server signed. It may still be expired or revoked.
    pub(super) fn verify(&self, token: &str) -> Result<Arc<Claims>, AuthError> {
        let digest: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(claims) = known.get(&digest) {
            return Ok(claims.clone());
        }
        drop(known);
        let claims = Arc::new(self.check::<Claims>(token)?);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        known.insert(digest, claims.clone());
        Ok(claims)
    }

    /// The same for other claims; nothing is remembered of them.
    pub(super) fn check<C: DeserializeOwned>(&self, token: &str) -> Result<C, AuthError> {
        let header = jsonwebtoken::decode_header(token).map_err(|_| AuthError::Invalid)?;
        let kid = header.kid.ok_or(AuthError::Invalid)?;
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        let key = keys.verify.get(&kid).ok_or(AuthError::Invalid)?;
        let data =
            jsonwebtoken::decode::<C>(token, key, &validation()).map_err(|_| AuthError::Invalid)?;
        Ok(data.claims)
    }
}

fn validation() -> Validation {
    let mut validation = Validation::new(Algorithm::EdDSA);
    validation.set_issuer(&[ISSUER]);
    validation.set_required_spec_claims(&["iss", "sub", "exp"]);
    // The caller judges expiry, by the one clock.
    validation.validate_exp = false;
    validation
}

impl Keys {
    fn new(secrets: &[ServerSecret]) -> Result<Self, IdentityError> {
        let mut verify = HashMap::new();
        let mut current = None;
        for secret in secrets.iter().filter(|s| s.purpose == Purpose::Sign) {
            let der = [PKCS8_HEAD.as_slice(), &secret.bytes].concat();
            let sign = EncodingKey::from_ed_der(&der);
            let bad = |source| IdentityError::SigningKey {
                kid: secret.id.clone(),
                source,
            };
            verify.insert(secret.id.clone(), public(&sign).map_err(bad)?);
            if secret.retired_ms.is_none() {
                current = Some((secret.id.clone(), secret.created_ms, sign));
            }
        }
        let (current, since_ms, sign) = current.ok_or(IdentityError::NoSecret("signing"))?;
        Ok(Self {
            current,
            since_ms,
            sign,
            verify,
        })
    }
}

fn public(key: &EncodingKey) -> Result<DecodingKey, jsonwebtoken::errors::Error> {
    let jwk = Jwk::from_encoding_key(key, Algorithm::EdDSA)?;
    match &jwk.algorithm {
        AlgorithmParameters::OctetKeyPair(pair) => DecodingKey::from_ed_components(&pair.x),
        _ => DecodingKey::from_jwk(&jwk),
    }
}
