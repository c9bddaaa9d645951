//! Table of organisations.

use serde::{Deserialize, Serialize};

use super::records::Records;
use super::snapshot::Source;
use super::{Store, StoreError};

pub(super) const TABLES: [&str; 2] = ["orgs", "orgs_by_name"];

const ORGS: Records<Org> = Records::new(TABLES[0]);
const BY_NAME: Records<String> = Records::new(TABLES[1]);

/// Everything but servers belongs to an organisation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Org {
    /// ULID.
    pub id: String,
    /// Unique.
    pub name: String,
    pub created_ms: u64,
    /// Patterns of the branches and tags whose jobs write the caches that all its jobs read. Before there were any,
    /// none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trusted_refs: Vec<String>,
}

/// One organisation by id.
///
/// # Errors
/// The storage failed.
pub fn by_id(from: &impl Source, id: &str) -> Result<Option<Org>, StoreError> {
    ORGS.get(from, id)
}

/// One organisation by name.
///
/// # Errors
/// The storage failed.
pub fn by_name(from: &impl Source, name: &str) -> Result<Option<Org>, StoreError> {
    match BY_NAME.get(from, name)? {
        Some(id) => ORGS.get(from, &id),
        None => Ok(None),
    }
}

/// All organisations, oldest first.
///
/// # Errors
/// The storage failed.
pub fn all(from: &impl Source) -> Result<Vec<Org>, StoreError> {
    ORGS.all(from)
}

impl Store {
    /// Add `org` unless its name is taken; returns the one that has the name afterwards.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn org_ensure(&self, org: Org) -> Result<Org, StoreError> {
        self.write(move |w| {
            if let Some(there) = by_name(w, &org.name)? {
                return Ok(there);
            }
            ORGS.put(w, &org.id, &org)?;
            BY_NAME.put(w, &org.name, &org.id)?;
            Ok(org.clone())
        })
        .await
    }

    /// Replace the trusted refs of an organisation. False if there is no such organisation.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn org_trust_refs(&self, id: &str, refs: Vec<String>) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.write(move |w| {
            let Some(mut org) = ORGS.get(w, &id)? else {
                return Ok(false);
            };
            org.trusted_refs.clone_from(&refs);
            ORGS.put(w, &id, &org)?;
            Ok(true)
        })
        .await
    }
}
