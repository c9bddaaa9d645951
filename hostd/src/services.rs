//! What every request can reach, built once at start.

use std::sync::Arc;

use crate::bench::Bench;
use crate::builds::Builds;
use crate::captures::Captures;
use crate::clock::Clock;
use crate::flashing::Flashing;
use crate::identity::Identity;
use crate::leases::Leases;
use crate::oidc::Oidc;
use crate::space::Space;
use crate::store::Store;
use crate::uart::Uarts;
use crate::updates::Updates;
use crate::waveforms::Waveforms;

/// Shared by all requests; each part guards itself.
#[derive(Debug)]
pub struct Services {
    pub clock: Clock,
    pub store: Store,
    pub space: Arc<Space>,
    pub auth: Identity,
    pub oidc: Oidc,
    pub bench: Arc<Bench>,
    pub captures: Arc<Captures>,
    pub builds: Arc<Builds>,
    pub leases: Arc<Leases>,
    pub updates: Arc<Updates>,
    pub waveforms: Waveforms,
    pub uarts: Arc<Uarts>,
    pub flashing: Arc<Flashing>,
}
