//! What a start goes on with, whatever the last server was in the middle of, and what is left over.

use std::sync::Arc;

use store::plugins::{self as table, Plugin, Removal, State};
use tracing::{info, warn};

use super::{ITSELF, Inner, InstalledError};
use crate::grant::Grant;
use crate::granted::Kept;
use crate::id::PluginId;

/// Starts of the server that a version on trial may see, or one that was approved and has not loaded: with one more, it is
/// taken to be why the server ends.
pub const TRIAL_STARTS_MAX: u32 = 3;

impl Inner {
    pub(super) async fn resume(self: Arc<Self>) -> Result<(), InstalledError> {
        for plugin in self.store.read(table::all).await? {
            if plugin.removal.is_some() {
                self.finish_removal(&plugin).await?;
            } else if plugin.trial.is_some() && plugin.state == State::Enabled {
                // What does not serve is not why the server ends.
                self.count_start(&plugin).await?;
            }
        }
        let records = self.store.read(table::grants).await?;
        let grants = records.iter().filter_map(Grant::of_record);
        *self.grants() = grants
            .map(|grant| ((grant.plugin.clone(), grant.org.clone()), Kept::new(grant)))
            .collect();
        for plugin in self.store.read(table::all).await? {
            self.forget_unfinished(&plugin).await?;
        }
        self.sweep().await;
        Ok(())
    }

    /// A version that is staged and waits for nothing was being installed when the server ended. It may be why, so it is
    /// not begun with here; whoever installs it again does. One that is off waits until it is switched on, and one that was
    /// approved is tried again, a few times.
    async fn forget_unfinished(&self, plugin: &Plugin) -> Result<(), InstalledError> {
        let id = plugin.id.parse::<PluginId>();
        let (Some(staged), Ok(id)) = (&plugin.staged, id) else {
            return Ok(());
        };
        let waits = self.waits(&id, staged).await;
        // Of what cannot be read, nobody can say that it waits for nothing.
        if plugin.state == State::Disabled || !waits.is_ok_and(|waits| waits.is_empty()) {
            return Ok(());
        }
        if let Some(starts) = plugin
            .due_starts
            .filter(|starts| *starts < TRIAL_STARTS_MAX)
        {
            let starts = Some(starts + 1);
            self.store
                .plugin_set_due(&plugin.id, staged, starts)
                .await?;
            return Ok(());
        }
        let left = self.store.plugin_unstage(&plugin.id, staged).await?;
        warn!(
            plugin = plugin.id,
            "a version has not been loaded when the server ended; install it again"
        );
        if left.active.is_none() {
            let (removal, at_ms) = (Removal { data: false }, self.clock.now_ms());
            let removed = self
                .store
                .plugin_begin_removal(&plugin.id, removal, ITSELF, at_ms)
                .await?;
            self.finish_removal(&removed).await?;
        }
        Ok(())
    }

    /// A version that is still on trial after several starts may be why the server does not stay up.
    async fn count_start(&self, plugin: &Plugin) -> Result<(), InstalledError> {
        let counted = self.store.plugin_count_start(&plugin.id).await?;
        let (Some(trial), Some(active)) = (counted.trial, counted.active) else {
            return Ok(());
        };
        if trial.starts <= TRIAL_STARTS_MAX {
            return Ok(());
        }
        let (id, at_ms) = (&plugin.id, self.clock.now_ms());
        if counted.previous.is_some() {
            self.store
                .plugin_roll_back(id, &active, ITSELF, at_ms)
                .await?;
            warn!(
                plugin = id,
                "the server ended again and again with the new version; the one before serves"
            );
            return Ok(());
        }
        let reason = format!(
            "the server ended {} times before this version had proven itself",
            trial.starts
        );
        self.store
            .plugin_set_state(id, Some(&active), State::Failed { reason }, ITSELF, at_ms)
            .await?;
        self.store.plugin_settle(id, &active).await?;
        Ok(())
    }

    pub(super) async fn finish_removal(&self, plugin: &Plugin) -> Result<(), InstalledError> {
        if plugin.removal.is_some_and(|removal| removal.data) {
            while self.store.kv_clear_plugin(&plugin.id).await? {}
        }
        self.store.plugin_end_removal(&plugin.id).await?;
        info!(plugin = plugin.id, "removed");
        Ok(())
    }

    /// Removes files that no record names. What cannot be removed now goes next time.
    pub(super) async fn sweep(self: &Arc<Self>) {
        let inner = self.clone();
        let swept = tokio::task::spawn_blocking(move || {
            let wanted = table::components(&inner.store.snapshot()?)?;
            inner.files.sweep(&wanted)
        });
        match swept.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => warn!(%error, "components that are not needed any more stay for now"),
            Err(error) => warn!(%error, "components that are not needed any more stay for now"),
        }
    }
}
