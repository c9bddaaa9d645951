//! Table of API keys. The secret part of a key is never here, only its keyed hash.

use serde::{Deserialize, Serialize};

use super::records::Records;
use super::snapshot::Source;
use super::{Store, StoreError, Writing};

pub(super) const TABLES: [&str; 1] = ["keys"];

const KEYS: Records<Key> = Records::new(TABLES[0]);

/// How long a revoked key is remembered, so that its user learns why it no longer works.
const REVOKED_KEPT_MS: u64 = 30 * 24 * 3600 * 1000;

/// An API key as stored.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// 12 base-62 characters, public.
    pub kid: String,
    pub org: String,
    /// User id of the owner.
    pub owner: String,
    pub name: String,
    pub scopes: Vec<String>,
    /// HMAC-SHA-256 of the secret under the server's key, base 64.
    pub hash: String,
    pub created_at_ms: u64,
    pub last_used_at_ms: Option<u64>,
    pub expires_at_ms: Option<u64>,
    pub revoked_at_ms: Option<u64>,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key")
            .field("kid", &self.kid)
            .field("org", &self.org)
            .field("owner", &self.owner)
            .field("name", &self.name)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

impl Key {
    /// Whether it was revoked so long ago that it can be forgotten.
    #[must_use]
    pub fn is_forgettable(&self, now_ms: u64) -> bool {
        self.revoked_at_ms
            .is_some_and(|at_ms| at_ms.saturating_add(REVOKED_KEPT_MS) < now_ms)
    }
}

/// Why a key could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum KeyRecordError {
    #[error("find the key")]
    NotFound,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// One key.
///
/// # Errors
/// The storage failed.
pub fn by_kid(from: &impl Source, kid: &str) -> Result<Option<Key>, StoreError> {
    KEYS.get(from, kid)
}

/// All keys of all organisations, revoked ones too.
///
/// # Errors
/// The storage failed.
pub fn all(from: &impl Source) -> Result<Vec<Key>, StoreError> {
    KEYS.all(from)
}

impl Store {
    /// Add a key whose id is new.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn key_add(&self, key: Key) -> Result<(), StoreError> {
        self.write(move |w| KEYS.put(w, &key.kid, &key)).await
    }

    /// Change name or scopes; none leaves it. A revoked key is not found.
    ///
    /// # Errors
    /// There is no such key, or the storage failed.
    pub async fn key_update(
        &self,
        kid: &str,
        name: Option<String>,
        scopes: Option<Vec<String>>,
    ) -> Result<Key, KeyRecordError> {
        let kid = kid.to_owned();
        self.write(move |w| {
            let mut key = live(w, &kid)?;
            key.name = name.clone().unwrap_or(key.name);
            key.scopes = scopes.clone().unwrap_or(key.scopes);
            KEYS.put(w, &kid, &key)?;
            Ok(key)
        })
        .await
    }

    /// Revoke a key for good. An already revoked key is not found.
    ///
    /// # Errors
    /// There is no such key, or the storage failed.
    pub async fn key_revoke(&self, kid: &str, at_ms: u64) -> Result<Key, KeyRecordError> {
        let kid = kid.to_owned();
        self.write(move |w| {
            let mut key = live(w, &kid)?;
            key.revoked_at_ms = Some(at_ms);
            KEYS.put(w, &kid, &key)?;
            Ok(key)
        })
        .await
    }

    /// Record when a key was last used. Does not wait: a crash may lose it.
    pub fn key_used(&self, kid: &str, at_ms: u64) {
        let kid = kid.to_owned();
        self.write_later(move |w| {
            if let Some(mut key) = KEYS.get(w, &kid)?
                && key.last_used_at_ms.is_none_or(|last| last < at_ms)
            {
                key.last_used_at_ms = Some(at_ms);
                KEYS.put(w, &kid, &key)?;
            }
            Ok(())
        });
    }

    /// Delete keys that were revoked long before `now_ms`. Does not wait.
    pub fn keys_forget_revoked(&self, now_ms: u64) {
        self.write_later(move |w| {
            for key in KEYS.all(w)? {
                if key.is_forgettable(now_ms) {
                    KEYS.remove(w, &key.kid)?;
                }
            }
            Ok(())
        });
    }
}

fn live(w: &Writing<'_>, kid: &str) -> Result<Key, KeyRecordError> {
    KEYS.get(w, kid)?
        .filter(|key| key.revoked_at_ms.is_none())
        .ok_or(KeyRecordError::NotFound)
}

/// Revoke the keys of a user; returns the revoked keys.
pub(super) fn revoke_of(w: &Writing<'_>, owner: &str, at_ms: u64) -> Result<Vec<Key>, StoreError> {
    let mut revoked = Vec::new();
    for mut key in KEYS.all(w)? {
        if key.owner == owner && key.revoked_at_ms.is_none() {
            key.revoked_at_ms = Some(at_ms);
            KEYS.put(w, &key.kid, &key)?;
            revoked.push(key);
        }
    }
    Ok(revoked)
}
