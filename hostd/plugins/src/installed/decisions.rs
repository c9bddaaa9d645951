//! What operators decide about plugins: whether they serve, what they are granted, and what is set for them.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use serde_json::{Map, Value};
use store::plugins::{self as table, Plugin, State};

use super::{ITSELF, Installed, InstalledError};
use crate::grant::Grant;
use crate::granted::{Granted, Kept};
use crate::id::PluginId;
use crate::manifest::Manifest;

impl Installed {
    /// Notes that a version failed and does not serve, if it is still the active one.
    ///
    /// # Errors
    /// Another version is active, or the disk.
    pub async fn fail(
        &self,
        id: &PluginId,
        digest: &str,
        reason: &str,
    ) -> Result<Plugin, InstalledError> {
        let reason = reason.to_owned();
        self.set_state(id, Some(digest), State::Failed { reason }, ITSELF)
            .await
    }

    /// Switches a plugin off; its data, grants and versions stay.
    ///
    /// # Errors
    /// There is none, or the disk.
    pub async fn disable(&self, id: &PluginId, by: &str) -> Result<Plugin, InstalledError> {
        self.set_state(id, None, State::Disabled, by).await
    }

    /// Switches a plugin on, also one that failed.
    ///
    /// # Errors
    /// There is none, or the disk.
    pub async fn enable(&self, id: &PluginId, by: &str) -> Result<Plugin, InstalledError> {
        self.set_state(id, None, State::Enabled, by).await
    }

    /// Notes that the staged version waits for nothing any more, before it is loaded: if that is cut off, or fails by no
    /// fault of its own, the next start tries again. With `is_due` false, that it is not tried again.
    ///
    /// # Errors
    /// It is not staged, or the disk.
    pub async fn set_due(
        &self,
        id: &PluginId,
        digest: &str,
        is_due: bool,
    ) -> Result<Plugin, InstalledError> {
        let starts = is_due.then_some(0);
        Ok(self
            .0
            .store
            .plugin_set_due(id.as_str(), digest, starts)
            .await?)
    }

    async fn set_state(
        &self,
        id: &PluginId,
        digest: Option<&str>,
        state: State,
        by: &str,
    ) -> Result<Plugin, InstalledError> {
        let at_ms = self.0.clock.now_ms();
        Ok(self
            .0
            .store
            .plugin_set_state(id.as_str(), digest, state, by, at_ms)
            .await?)
    }

    /// Stores a grant, in place of the one that there may be.
    ///
    /// # Errors
    /// There is no such plugin, or the disk.
    pub async fn approve(&self, grant: Grant) -> Result<(), InstalledError> {
        self.apart(|inner| async move {
            inner.store.plugin_grant_put(grant.to_record()).await?;
            let key = (grant.plugin.clone(), grant.org.clone());
            match inner.grants().entry(key) {
                Entry::Occupied(kept) => kept.get().replace(grant),
                Entry::Vacant(place) => {
                    place.insert(Kept::new(grant));
                }
            }
            Ok(())
        })
        .await
    }

    /// Takes a grant back, from the next check on, of calls that are under way, too; whether there was one.
    ///
    /// # Errors
    /// The disk. The grant is then not used any more until the next start.
    pub async fn revoke(&self, id: &PluginId, org: &str) -> Result<bool, InstalledError> {
        let (id, org) = (id.clone(), org.to_owned());
        self.apart(|inner| async move {
            if let Some(kept) = inner.grants().remove(&(id.clone(), org.clone())) {
                kept.take_back();
            }
            Ok(inner.store.plugin_grant_remove(id.as_str(), &org).await?)
        })
        .await
    }

    /// What a plugin was granted in an organisation. Reads memory only.
    #[must_use]
    pub fn grant(&self, id: &PluginId, org: &str) -> Option<Arc<Grant>> {
        let grants = self.0.known_grants();
        grants.get(&(id.clone(), org.to_owned()))?.now()
    }

    /// The same for a call, which sees what becomes of it. Reads memory only.
    #[must_use]
    pub fn granted(&self, id: &PluginId, org: &str) -> Granted {
        let grants = self.0.known_grants();
        let kept = grants.get(&(id.clone(), org.to_owned()));
        kept.map_or_else(Granted::none, Kept::granted)
    }

    /// What a plugin was granted, in all organisations. Reads memory only.
    #[must_use]
    pub fn grants_of(&self, id: &PluginId) -> Vec<Arc<Grant>> {
        let grants = self.0.known_grants();
        let of_plugin = grants.iter().filter(|((plugin, _), _)| plugin == id);
        let mut found: Vec<_> = of_plugin.filter_map(|(_, kept)| kept.now()).collect();
        found.sort_by(|a, b| a.org.cmp(&b.org));
        found
    }

    /// Sets all that a plugin lets be set in an organisation.
    ///
    /// # Errors
    /// Something may not be set so by the active version (or, if there is none, the staged one), or the disk.
    pub async fn set_config(
        &self,
        id: &PluginId,
        org: &str,
        values: Map<String, Value>,
        by: &str,
    ) -> Result<(), InstalledError> {
        let (id, org, by) = (id.clone(), org.to_owned(), by.to_owned());
        self.apart(|inner| async move {
            let plugin = inner.plugin(&id).await?;
            let digest = plugin
                .active
                .or(plugin.staged)
                .ok_or(InstalledError::NoVersion)?;
            let manifest = inner.version(&id, &digest).await?.manifest;
            manifest
                .config
                .check(&values)
                .map_err(InstalledError::Config)?;
            let settings = table::Settings {
                plugin: id.as_str().to_owned(),
                org,
                values,
                by,
                at_ms: inner.clock.now_ms(),
            };
            Ok(inner.store.plugin_settings_put(settings).await?)
        })
        .await
    }

    /// What a plugin gets of what was set for it in an organisation: what this version knows, and defaults. What it does
    /// not know, and what must still be set, is told in words.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn config(
        &self,
        id: &PluginId,
        org: &str,
        manifest: &Manifest,
    ) -> Result<(Map<String, Value>, Vec<String>), InstalledError> {
        let (id, org) = (id.clone(), org.to_owned());
        let stored = self
            .0
            .store
            .read(move |s| table::settings(s, id.as_str(), &org))
            .await?;
        let stored = stored.map(|stored| stored.values).unwrap_or_default();
        let (values, faults) = manifest.config.effective(&stored);
        Ok((values, faults.iter().map(ToString::to_string).collect()))
    }
}
