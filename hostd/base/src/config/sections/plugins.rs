//! Plugins: how many may be loaded, and whose.

use serde::{Deserialize, Serialize};

/// Sensible numbers of instances: each takes 4 GiB of address space.
const INSTANCES: std::ops::RangeInclusive<u32> = 8..=512;

/// Sensible limits of one instance's memory, in MiB.
const MEMORY_MIB: std::ops::RangeInclusive<u32> = 1..=256;

/// The section `plugins`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PluginsConfig {
    /// Of all plugins together.
    pub instances_max: u32,
    /// What a manifest may ask for at most.
    pub memory_mib_max: u32,
    /// Public keys in the format of minisign, with commas. Empty = whoever may install vouches.
    pub trusted_keys: String,
}

impl Default for PluginsConfig {
    fn default() -> Self {
        Self {
            instances_max: 64,
            memory_mib_max: 128,
            trusted_keys: String::new(),
        }
    }
}

impl PluginsConfig {
    /// The first invalid key, and its rule.
    pub(in crate::config) fn check(&self) -> Result<(), (&'static str, String)> {
        let between =
            |key, range: &std::ops::RangeInclusive<u32>, value| match range.contains(&value) {
                true => Ok(()),
                false => Err((key, format!("must be {} to {}", range.start(), range.end()))),
            };
        between("plugins.instances_max", &INSTANCES, self.instances_max)?;
        between("plugins.memory_mib_max", &MEMORY_MIB, self.memory_mib_max)
    }
}
