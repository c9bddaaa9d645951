//! Table of the secrets that organisations keep for their jobs. Values are here sealed alone, under a key that is not in
//! the store.

use serde::{Deserialize, Serialize};

use super::records::{Records, pair};
use super::snapshot::Source;
use super::{Store, StoreError};

/// The table.
pub const TABLE: &str = "org_secrets";

pub(super) const TABLES: [&str; 1] = [TABLE];

/// `org/name` to secret.
const SECRETS: Records<OrgSecret> = Records::new(TABLES[0]);

/// A secret as stored.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrgSecret {
    pub org: String,
    /// As jobs name it.
    pub name: String,
    /// The encrypted value, base 64.
    pub sealed: String,
    /// Fingerprint of the key that it is sealed under.
    pub key: String,
    /// Patterns of the branches and tags whose jobs may have it; empty = all.
    pub refs: Vec<String>,
    /// User id.
    pub created_by: String,
    pub created_ms: u64,
    /// User id of whoever wrote the value last.
    pub updated_by: String,
    pub updated_ms: u64,
}

impl std::fmt::Debug for OrgSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OrgSecret")
            .field("org", &self.org)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Why a secret could not be written.
#[derive(Debug, thiserror::Error)]
pub enum OrgSecretError {
    #[error("keep more than {0} secrets of an organisation")]
    Full(usize),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// One secret of an organisation.
///
/// # Errors
/// The storage failed.
pub fn by_name(from: &impl Source, org: &str, name: &str) -> Result<Option<OrgSecret>, StoreError> {
    SECRETS.get(from, &pair(org, name))
}

/// The secrets of an organisation, by name.
///
/// # Errors
/// The storage failed.
pub fn of_org(from: &impl Source, org: &str) -> Result<Vec<OrgSecret>, StoreError> {
    SECRETS.all_of(from, org)
}

/// The secrets of all organisations.
///
/// # Errors
/// The storage failed.
pub fn all(from: &impl Source) -> Result<Vec<OrgSecret>, StoreError> {
    SECRETS.all(from)
}

impl Store {
    /// Write a secret. One that is there keeps when and by whom it was made, and its `refs` unless others are given.
    /// Returns what is stored, and whether it is new.
    ///
    /// # Errors
    /// It is new and the organisation has `count_max` secrets, or the storage failed.
    pub async fn org_secret_put(
        &self,
        new: OrgSecret,
        refs: Option<Vec<String>>,
        count_max: usize,
    ) -> Result<(OrgSecret, bool), OrgSecretError> {
        self.write(move |w| {
            let key = pair(&new.org, &new.name);
            let before = SECRETS.get(w, &key)?;
            let is_new = before.is_none();
            let mut secret = new.clone();
            if let Some(before) = before {
                secret.refs = before.refs;
                secret.created_by = before.created_by;
                secret.created_ms = before.created_ms;
            } else if of_org(w, &new.org)?.len() >= count_max {
                return Err(OrgSecretError::Full(count_max));
            }
            secret.refs = refs.clone().unwrap_or(secret.refs);
            SECRETS.put(w, &key, &secret)?;
            Ok((secret, is_new))
        })
        .await
    }

    /// Delete a secret. Whether there was one.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn org_secret_remove(&self, org: &str, name: &str) -> Result<bool, StoreError> {
        let key = pair(org, name);
        self.write(move |w| SECRETS.remove(w, &key)).await
    }
}
