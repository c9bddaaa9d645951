//! What every request can reach, built once at start.

use std::sync::{Arc, OnceLock, Weak};

use analysis::Analysis;
use base::clock::Clock;
use base::space::Space;
use dispatch::Jobs;
use identity::Identity;
use identity::oidc::Oidc;
use lab::builds::Builds;
use lab::captures::Captures;
use lab::devices::Devices;
use lab::flashing::Flashing;
use lab::leases::Leases;
use lab::telemetry::Telemetry;
use lab::uart::Uarts;
use lab::updates::Updates;
use lab::waveforms::Waveforms;
use notify::Notices;
use pods::dial::Dialled;
use store::Store;
use vault::Vault;

use crate::events::Events;
use crate::plugin::Plugins;

/// Shared by all requests; each part guards itself.
#[derive(Debug)]
pub struct Services {
    pub clock: Clock,
    pub store: Store,
    pub space: Arc<Space>,
    pub auth: Identity,
    pub oidc: Oidc,
    pub devices: Arc<Devices>,
    pub dialled: Arc<Dialled>,
    pub captures: Arc<Captures>,
    pub builds: Arc<Builds>,
    pub leases: Arc<Leases>,
    pub telemetry: Arc<Telemetry>,
    pub updates: Arc<Updates>,
    pub waveforms: Arc<Waveforms>,
    pub uarts: Arc<Uarts>,
    pub flashing: Arc<Flashing>,
    pub jobs: Arc<Jobs>,
    pub analysis: Arc<Analysis>,
    pub vault: Arc<Vault>,
    pub notices: Arc<Notices>,
    pub events: Events,
    /// Under which people reach the server; empty = nobody knows.
    pub public_url: String,
    /// Those that answer requests hold the services, so they come later.
    pub plugins: OnceLock<Weak<Plugins>>,
}
