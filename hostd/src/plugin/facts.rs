//! What is known of one version of a plugin that was loaded.

use std::sync::Arc;
use std::time::Instant;

use admission::Admission;
use plugins::id::PluginId;

use super::logs::Logs;
use super::meter::Meter;
use super::outbound::Share;

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
    /// Its requests to others.
    pub(super) outbound: Share,
    /// What it asks of others and tells them.
    pub(super) meter: Meter,
    /// Places for calls that read captures.
    pub(super) reads: Arc<Admission>,
}
