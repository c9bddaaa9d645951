//! Table of grants: what plugins may do, by plugin and organisation.

use serde::{Deserialize, Serialize};

use super::{PLUGINS, PluginError};
use crate::records::{Records, pair};
use crate::snapshot::Source;
use crate::{Store, StoreError, Writing};

pub(super) const TABLE: &str = "plugin_grants";

/// `plugin/org` to grant.
const GRANTS: Records<Grant> = Records::new(TABLE);

/// The form of grants that this program writes. One of another form grants nothing.
pub const GRANT_FORMAT: u32 = 1;

/// What an operator approved, in words; the crate `plugins` knows what they mean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    pub format: u32,
    pub org: String,
    pub plugin: String,
    /// Digest of the wants that were shown.
    pub wants: String,
    /// Ids of devices; none = all of the organisation.
    pub devices: Option<Vec<String>>,
    pub interfaces: Vec<String>,
    pub scopes: Vec<String>,
    pub http: Vec<String>,
    pub events: Vec<String>,
    pub timers: Vec<GrantTimer>,
    pub secrets: Vec<String>,
    pub public: bool,
    pub store_mib: u32,
    pub by: String,
    pub at_ms: u64,
}

/// A timer that was approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantTimer {
    pub id: String,
    pub cron: String,
}

/// The grant of a plugin in an organisation; none if it cannot be read, since that grants nothing.
///
/// # Errors
/// The storage failed.
pub fn grant(from: &impl Source, plugin: &str, org: &str) -> Result<Option<Grant>, StoreError> {
    GRANTS.get_readable(from, &pair(plugin, org))
}

/// The grants of a plugin, without those that cannot be read.
///
/// # Errors
/// The storage failed.
pub fn grants_of(from: &impl Source, plugin: &str) -> Result<Vec<Grant>, StoreError> {
    GRANTS.readable_of(from, plugin)
}

/// All grants, without those that cannot be read.
///
/// # Errors
/// The storage failed.
pub fn grants(from: &impl Source) -> Result<Vec<Grant>, StoreError> {
    let mut found = Vec::new();
    GRANTS.each_readable(from, crate::snapshot::Range::ALL, |_, grant| {
        found.push(grant);
        std::ops::ControlFlow::Continue(())
    })?;
    Ok(found)
}

pub(super) fn forget(w: &Writing<'_>, plugin: &str) -> Result<(), StoreError> {
    let mut keys = Vec::new();
    let of_plugin = crate::records::Pairs::of(plugin);
    GRANTS.each_found(w, of_plugin.forwards(), |key, _| {
        keys.push(key.to_owned());
        std::ops::ControlFlow::Continue(())
    })?;
    for key in keys {
        GRANTS.remove(w, &key)?;
    }
    Ok(())
}

impl Store {
    /// Store a grant in place of the one that there may be.
    ///
    /// # Errors
    /// There is no such plugin, it is being removed, or the storage failed.
    pub async fn plugin_grant_put(&self, grant: Grant) -> Result<(), PluginError> {
        self.write(move |w| {
            let plugin = PLUGINS.get(w, &grant.plugin)?.ok_or(PluginError::Missing)?;
            if plugin.removal.is_some() {
                return Err(PluginError::Removing);
            }
            Ok(GRANTS.put(w, &pair(&grant.plugin, &grant.org), &grant)?)
        })
        .await
    }

    /// Remove a grant; whether there was one.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn plugin_grant_remove(&self, plugin: &str, org: &str) -> Result<bool, StoreError> {
        let key = pair(plugin, org);
        self.write(move |w| GRANTS.remove(w, &key)).await
    }
}
