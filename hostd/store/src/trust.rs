//! Table of trust rules: whose CI may connect without a key, and to which devices.

use serde::{Deserialize, Serialize};

use super::records::Records;
use super::snapshot::Source;
use super::{Store, StoreError, Writing};

pub(super) const TABLES: [&str; 1] = ["trust_rules"];

/// Id to rule; ids sort by time.
const RULES: Records<TrustRule> = Records::new(TABLES[0]);

/// Workflows of a repository that are admitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustRule {
    /// ULID.
    pub id: String,
    pub org: String,
    /// User who made it; its sessions act for that user and end with it.
    pub user: String,
    /// `owner/name`, or `owner/*`.
    pub repository: String,
    /// Pattern of the full ref, where `*` stands for anything; none = every ref.
    pub r#ref: Option<String>,
    /// Deployment environment; none = any, or no environment at all.
    pub environment: Option<String>,
    /// Device ids; none = every device of the organisation.
    pub devices: Option<Vec<String>>,
    /// Lifetime of the session tokens.
    pub ttl_s: u32,
    pub enabled: bool,
    pub created_ms: u64,
}

/// All rules of all organisations, oldest first.
///
/// # Errors
/// The storage failed.
pub fn all(from: &impl Source) -> Result<Vec<TrustRule>, StoreError> {
    RULES.all(from)
}

impl Store {
    /// Add a rule, or replace the one with its id.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn trust_put(&self, rule: TrustRule) -> Result<(), StoreError> {
        self.write(move |w| RULES.put(w, &rule.id, &rule)).await
    }

    /// Forget a rule.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn trust_remove(&self, id: &str) -> Result<(), StoreError> {
        let id = id.to_owned();
        self.write(move |w| RULES.remove(w, &id).map(drop)).await
    }
}

/// Delete the rules that a user made.
pub(super) fn remove_of(w: &Writing<'_>, user: &str) -> Result<(), StoreError> {
    for rule in RULES.all(w)? {
        if rule.user == user {
            RULES.remove(w, &rule.id)?;
        }
    }
    Ok(())
}
