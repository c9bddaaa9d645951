//! Who vouches for a plugin: a signature over its manifest, as `minisign` makes it, by a key that the operator trusts.
//! The manifest has the digest of the component, so it vouches for that as well.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use minisign_verify::PublicKey;

use crate::manifest::Manifest;

/// Suffix of the signature's file, after the manifest's name.
pub const FILE: &str = "plugin.toml.minisig";

/// Largest signature, in bytes: comments may be long.
pub const BYTES_MAX: usize = 4 << 10;

/// Most keys that are trusted.
pub const KEYS_MAX: usize = 64;

/// Bytes before a key's id: the algorithm.
const ALGORITHM_BYTES: usize = 2;
const ID_BYTES: usize = 8;

/// Whether a plugin must be signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// By a trusted key.
    Required,
    /// It need not be; a signature of a trusted key must be right all the same.
    Optional,
}

/// What is known about a plugin's origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nothing.
    Unsigned,
    /// Signed with a key that is not trusted, so it is not known whether it is right.
    Unknown {
        /// The key's id.
        key: String,
    },
    /// Signed with a trusted key.
    Signed {
        /// The key's id.
        key: String,
    },
}

/// A signature that was read, not verified.
#[derive(Clone)]
pub struct Signature {
    inner: minisign_verify::Signature,
    key: String,
}

/// Keys that the operator trusts.
#[derive(Debug, Clone, Default)]
pub struct Keys(Vec<Key>);

#[derive(Debug, Clone)]
struct Key {
    id: String,
    inner: PublicKey,
}

/// Why a plugin's signature is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// No text as `minisign` makes it.
    #[error("{FILE} is no signature as minisign makes it")]
    Malformed,
    /// There must be one.
    #[error(
        "the plugin is not signed, and this server takes only signed ones: sign {FILE} with minisign -S, or or leave plugins.trusted_keys empty"
    )]
    Missing,
    /// By somebody else.
    #[error("the plugin is signed with the key {key}, which plugins.trusted_keys does not name")]
    Untrusted {
        /// The key's id.
        key: String,
    },
    /// Not over this manifest.
    #[error("the plugin's manifest is not what the key {key} has signed")]
    Wrong {
        /// The key's id.
        key: String,
    },
    /// The component is not signed.
    #[error("a signed manifest must name its component's digest: plugin.sha256 is missing")]
    NoDigest,
}

/// What is wrong with a key, as a fragment that follows a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// No key.
    #[error(
        "must be public keys as minisign -G prints them, such as RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
    )]
    Malformed,
    /// Too many.
    #[error("must be at most {KEYS_MAX} keys")]
    TooMany,
}

impl std::fmt::Debug for Signature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signature")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

impl Signature {
    /// Reads a signature.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(bytes: &[u8]) -> Result<Self, SignatureError> {
        let text = std::str::from_utf8(bytes)
            .ok()
            .filter(|text| text.len() <= BYTES_MAX);
        let text = text.ok_or(SignatureError::Malformed)?;
        let inner =
            minisign_verify::Signature::decode(text).map_err(|_| SignatureError::Malformed)?;
        let key = text.lines().nth(1).and_then(key_id);
        let key = key.ok_or(SignatureError::Malformed)?;
        Ok(Self { inner, key })
    }

    /// Id of the key that it says it is of, as `minisign` shows it.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }
}

/// The id in a key or signature in base 64.
fn key_id(text: &str) -> Option<String> {
    let bytes = STANDARD.decode(text).ok()?;
    let mut id = bytes
        .get(ALGORITHM_BYTES..ALGORITHM_BYTES + ID_BYTES)?
        .to_vec();
    id.reverse();
    Some(hex::encode_upper(id))
}

impl Keys {
    /// From keys in base 64, the second line of `minisign.pub`.
    ///
    /// # Errors
    /// One is none, or there are too many.
    pub fn parse<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<Self, KeyError> {
        let keys = texts.into_iter().map(|text| {
            let inner = PublicKey::from_base64(text).map_err(|_| KeyError::Malformed)?;
            let id = key_id(text).ok_or(KeyError::Malformed)?;
            Ok(Key { id, inner })
        });
        let keys: Vec<_> = keys.take(KEYS_MAX + 1).collect::<Result<_, _>>()?;
        if keys.len() > KEYS_MAX {
            return Err(KeyError::TooMany);
        }
        Ok(Self(keys))
    }

    /// Whether one of the keys has signed this.
    ///
    /// # Errors
    /// No key has this signature's id, or it is wrong.
    pub fn verify(&self, manifest: &[u8], signature: &Signature) -> Result<(), SignatureError> {
        let mut known = self
            .0
            .iter()
            .filter(|key| key.id == signature.key)
            .peekable();
        let key = signature.key.clone();
        if known.peek().is_none() {
            return Err(SignatureError::Untrusted { key });
        }
        // Only signatures over a hash, as every minisign of the last ten years makes them.
        let is_signed =
            known.any(|key| key.inner.verify(manifest, &signature.inner, false).is_ok());
        is_signed.then_some(()).ok_or(SignatureError::Wrong { key })
    }

    /// Where a plugin comes from, if the policy takes it.
    ///
    /// # Errors
    /// Why it does not.
    pub fn judge(
        &self,
        policy: Policy,
        manifest: &Manifest,
        bytes: &[u8],
        signature: Option<&Signature>,
    ) -> Result<Origin, SignatureError> {
        let Some(signature) = signature else {
            return match policy {
                Policy::Required => Err(SignatureError::Missing),
                Policy::Optional => Ok(Origin::Unsigned),
            };
        };
        if manifest.sha256.is_none() {
            return Err(SignatureError::NoDigest);
        }
        match (self.verify(bytes, signature), policy) {
            (Ok(()), _) => Ok(Origin::Signed {
                key: signature.key.clone(),
            }),
            (Err(SignatureError::Untrusted { key }), Policy::Optional) => {
                Ok(Origin::Unknown { key })
            }
            (Err(error), _) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests;
