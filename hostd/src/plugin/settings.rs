//! What plugins are told of their configuration, kept in memory as text: calls come by the thousand, changes by the day.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// JSON by plugin and organisation. Forgotten when either the version or the configuration changes.
#[derive(Debug, Default)]
pub(super) struct Settings(RwLock<HashMap<(String, String), Arc<str>>>);

impl Settings {
    pub(super) fn get(&self, plugin: &str, org: &str) -> Option<Arc<str>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.get(&(plugin.to_owned(), org.to_owned())).cloned()
    }

    pub(super) fn keep(&self, plugin: &str, org: &str, text: Arc<str>) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.insert((plugin.to_owned(), org.to_owned()), text);
    }

    pub(super) fn forget(&self, plugin: &str) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(id, _), _| id != plugin);
    }
}
