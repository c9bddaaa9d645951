//! Table of what operators have set for plugins, by plugin and organisation.

use serde::{Deserialize, Serialize};

use super::{PLUGINS, PluginError};
use crate::records::{Pairs, Records, pair};
use crate::snapshot::Source;
use crate::{Store, StoreError, Writing};

pub(super) const TABLE: &str = "plugin_settings";

/// `plugin/org` to settings.
const SETTINGS: Records<Settings> = Records::new(TABLE);

/// What was set for a plugin in an organisation. Secrets are elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    pub plugin: String,
    pub org: String,
    pub values: serde_json::Map<String, serde_json::Value>,
    pub by: String,
    pub at_ms: u64,
}

/// What was set for a plugin in an organisation; none if nothing was.
///
/// # Errors
/// The storage failed, or the record cannot be read.
pub fn settings(
    from: &impl Source,
    plugin: &str,
    org: &str,
) -> Result<Option<Settings>, StoreError> {
    SETTINGS.get(from, &pair(plugin, org))
}

/// What was set for a plugin, in all organisations, without records that cannot be read.
///
/// # Errors
/// The storage failed.
pub fn settings_of(from: &impl Source, plugin: &str) -> Result<Vec<Settings>, StoreError> {
    SETTINGS.readable_of(from, plugin)
}

pub(super) fn forget(w: &Writing<'_>, plugin: &str) -> Result<(), StoreError> {
    let mut keys = Vec::new();
    let of_plugin = Pairs::of(plugin);
    SETTINGS.each_found(w, of_plugin.forwards(), |key, _| {
        keys.push(key.to_owned());
        std::ops::ControlFlow::Continue(())
    })?;
    for key in keys {
        SETTINGS.remove(w, &key)?;
    }
    Ok(())
}

impl Store {
    /// Store what was set, in place of what was set before.
    ///
    /// # Errors
    /// There is no such plugin, it is being removed, or the storage failed.
    pub async fn plugin_settings_put(&self, settings: Settings) -> Result<(), PluginError> {
        self.write(move |w| {
            let plugin = PLUGINS
                .get(w, &settings.plugin)?
                .ok_or(PluginError::Missing)?;
            if plugin.removal.is_some() {
                return Err(PluginError::Removing);
            }
            Ok(SETTINGS.put(w, &pair(&settings.plugin, &settings.org), &settings)?)
        })
        .await
    }
}
