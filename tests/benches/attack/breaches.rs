//! Breaches by jobs and plugins of strangers.

mod caches;
mod disk;
mod fairness;
mod keys;
mod plugins;
mod readers;
mod requests;
mod secrets;

use crate::breach::Breach;

/// All of them, in the order in which they are tried on one server.
pub(crate) const BREACHES: &[&dyn Breach] = &[
    &caches::Caches,
    &disk::Unlinked,
    &disk::Inodes,
    &disk::Sparse,
    &disk::Framing,
    &fairness::Slots,
    &fairness::Queue,
    &fairness::Sockets,
    &keys::LeastPrivilege,
    &secrets::Forms,
    &readers::Readers,
    &plugins::Revoked,
    &plugins::LookAlikes,
    &requests::Smuggling,
];

/// Lines of the configuration that they have in common: enough build slots that both organisations can have several, and
/// whoever asks often is answered.
pub(crate) const SETTINGS: &str = "[jobs]\nbuild_slots = 4\n[http]\nrate_per_s = 0\n";
