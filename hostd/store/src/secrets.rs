//! Table of the server's own secrets: the key that hashes API keys, the pairs that sign
//! sessions, and the key that signs addresses. They never leave the process; the file is readable by its owner alone.

use serde::{Deserialize, Serialize};

use super::records::Records;
use super::snapshot::Source;
use super::{Store, StoreError};

pub(super) const TABLES: [&str; 1] = ["secrets"];

const SECRETS: Records<ServerSecret> = Records::new(TABLES[0]);

/// What a secret is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// HMAC-SHA-256 key for API-key secrets and sign-in codes.
    Hash,
    /// Ed25519 seed for session tokens; the id is the token header's `kid`.
    Sign,
    /// HMAC-SHA-256 key for addresses that take or give one file without a credential.
    Link,
}

/// 32 secret bytes with their use.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerSecret {
    pub id: String,
    pub purpose: Purpose,
    pub bytes: [u8; 32],
    pub created_ms: u64,
    /// When it was retired, after which it only verifies; none = in use.
    pub retired_ms: Option<u64>,
}

impl std::fmt::Debug for ServerSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerSecret")
            .field("id", &self.id)
            .field("purpose", &self.purpose)
            .finish_non_exhaustive()
    }
}

/// All secrets.
///
/// # Errors
/// The storage failed.
pub fn all(from: &impl Source) -> Result<Vec<ServerSecret>, StoreError> {
    SECRETS.all(from)
}

impl Store {
    /// Add those of `new` whose purpose has no secret yet; returns all secrets afterwards.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn secret_ensure(
        &self,
        new: Vec<ServerSecret>,
    ) -> Result<Vec<ServerSecret>, StoreError> {
        self.write(move |w| {
            let there = SECRETS.all(w)?;
            for secret in &new {
                if !there.iter().any(|s| s.purpose == secret.purpose) {
                    SECRETS.put(w, &secret.id, secret)?;
                }
            }
            SECRETS.all(w)
        })
        .await
    }

    /// Put `new` into use for its purpose. The previous one retires; those that retired before
    /// `forget_before_ms` are deleted. Returns all secrets afterwards.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn secret_rotate(
        &self,
        new: ServerSecret,
        forget_before_ms: u64,
    ) -> Result<Vec<ServerSecret>, StoreError> {
        self.write(move |w| {
            for mut old in SECRETS.all(w)? {
                if old.purpose != new.purpose {
                    continue;
                }
                match old.retired_ms {
                    Some(at) if at < forget_before_ms => {
                        SECRETS.remove(w, &old.id)?;
                    }
                    Some(_) => {}
                    None => {
                        old.retired_ms = Some(new.created_ms);
                        SECRETS.put(w, &old.id, &old)?;
                    }
                }
            }
            SECRETS.put(w, &new.id, &new)?;
            SECRETS.all(w)
        })
        .await
    }
}
