//! What is known of one version of a plugin that was loaded.

use std::sync::Arc;
use std::time::Instant;

use plugins::id::PluginId;

use super::logs::Logs;

/// Shared by all calls of the version.
#[derive(Debug)]
pub(super) struct Facts {
    /// `acme.rail-report`
    pub(super) id: PluginId,
    /// Semantic version, as the manifest has it.
    pub(super) version: String,
    /// Since when this version can be called.
    pub(super) loaded: Instant,
    /// Outlives the version.
    pub(super) logs: Arc<Logs>,
}
