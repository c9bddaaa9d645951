//! Plugins: how many may be loaded, and whose.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::config::Networks;

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
    /// Addresses and networks that plugins may send requests to although they are private or the server's own.
    pub http_allow: String,
    /// Those that they may not reach, whatever else is allowed.
    pub http_deny: String,
    /// Names or ids of organisations, with commas, whose administrators may order over HTTP what otherwise takes the
    /// server's own user. Empty = none.
    pub operator_orgs: String,
    /// Packages in this folder are installed. Empty = there is none.
    pub folder: PathBuf,
}

impl Default for PluginsConfig {
    fn default() -> Self {
        Self {
            instances_max: 64,
            memory_mib_max: 128,
            trusted_keys: String::new(),
            http_allow: String::new(),
            http_deny: String::new(),
            operator_orgs: String::new(),
            folder: PathBuf::new(),
        }
    }
}

impl PluginsConfig {
    /// Names or ids of the organisations whose administrators operate plugins over HTTP.
    pub fn operator_orgs(&self) -> impl Iterator<Item = &str> {
        let orgs = self.operator_orgs.split(',').map(str::trim);
        orgs.filter(|org| !org.is_empty())
    }

    /// The first invalid key, and its rule.
    pub(in crate::config) fn check(&self) -> Result<(), (&'static str, String)> {
        let between =
            |key, range: &std::ops::RangeInclusive<u32>, value| match range.contains(&value) {
                true => Ok(()),
                false => Err((key, format!("must be {} to {}", range.start(), range.end()))),
            };
        between("plugins.instances_max", &INSTANCES, self.instances_max)?;
        between("plugins.memory_mib_max", &MEMORY_MIB, self.memory_mib_max)?;
        let lists = [
            ("plugins.http_allow", &self.http_allow),
            ("plugins.http_deny", &self.http_deny),
        ];
        for (key, list) in lists {
            Networks::parse(list).map_err(|rule| (key, rule))?;
        }
        if !self.folder.as_os_str().is_empty() && !self.folder.is_absolute() {
            return Err((
                "plugins.folder",
                "must be an absolute path, or empty".into(),
            ));
        }
        Ok(())
    }
}
