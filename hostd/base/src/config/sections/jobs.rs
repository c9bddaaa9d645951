//! The section `jobs`.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::AtQuota;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JobsConfig {
    pub build_slots: u32,
    pub running_max: u32,
    pub running_per_org_max: u32,
    pub running_per_user_max: u32,
    pub queued_max: u32,
    pub queued_per_org_max: u32,
    pub queued_per_user_max: u32,
    /// Of what callers can make large: what an organisation gets of it depends on what is free.
    pub memory_mib: u32,
    pub archive_mib_max: u32,
    pub unpacked_mib_max: u32,
    pub archive_entries_max: u32,
    pub cache_mib: u32,
    pub tools: String,
    pub podman: String,
    pub images: String,
    pub images_gib_max: u32,
    pub keep_days: u32,
    pub org_gib_max: u32,
    pub at_quota: AtQuota,
    pub drain_ms: u64,
    pub network: JobNetwork,
    /// Ids of organisations, with commas, or [`EVERY_ORG`].
    pub network_orgs: String,
}

/// Stands for all organisations.
pub const EVERY_ORG: &str = "all";

/// What jobs may reach that ask for a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobNetwork {
    /// None is given one.
    Off,
    /// Public addresses alone.
    Public,
    /// Whatever this machine reaches, but its loopback.
    All,
}

impl Default for JobsConfig {
    fn default() -> Self {
        Self {
            build_slots: 2,
            running_max: 64,
            running_per_org_max: 64,
            running_per_user_max: 32,
            queued_max: 10_000,
            queued_per_org_max: 5_000,
            queued_per_user_max: 2_000,
            memory_mib: 128,
            archive_mib_max: 256,
            unpacked_mib_max: 2048,
            archive_entries_max: 100_000,
            cache_mib: 4096,
            tools: String::new(),
            podman: "podman".to_owned(),
            images: String::new(),
            images_gib_max: 32,
            keep_days: 30,
            org_gib_max: 50,
            at_quota: AtQuota::Refuse,
            drain_ms: 30_000,
            network: JobNetwork::Off,
            network_orgs: EVERY_ORG.to_owned(),
        }
    }
}

impl JobsConfig {
    /// Folders that jobs can read.
    pub fn tools(&self) -> impl Iterator<Item = &Path> {
        let folders = self.tools.split(':').filter(|folder| !folder.is_empty());
        folders.map(Path::new)
    }

    /// Names of images that jobs may have, some of which end in `*`. None: all.
    pub fn images(&self) -> impl Iterator<Item = &str> {
        let names = self.images.split(',').map(str::trim);
        names.filter(|name| !name.is_empty())
    }

    /// Ids of the organisations whose jobs may have a network. None: all.
    #[must_use]
    pub fn network_orgs(&self) -> Option<Vec<&str>> {
        let orgs = self.network_orgs.split(',').map(str::trim);
        let orgs: Vec<&str> = orgs.filter(|org| !org.is_empty()).collect();
        (orgs != [EVERY_ORG]).then_some(orgs)
    }

    /// The first invalid key, and its rule.
    pub(in crate::config) fn check(&self) -> Result<(), (&'static str, &'static str)> {
        let counts = [
            ("jobs.build_slots", self.build_slots),
            ("jobs.running_max", self.running_max),
            ("jobs.running_per_org_max", self.running_per_org_max),
            ("jobs.running_per_user_max", self.running_per_user_max),
        ];
        for (key, value) in counts {
            if !(1..=128).contains(&value) {
                return Err((key, "must be 1 to 128"));
            }
        }
        let queued = [
            ("jobs.queued_max", self.queued_max),
            ("jobs.queued_per_org_max", self.queued_per_org_max),
            ("jobs.queued_per_user_max", self.queued_per_user_max),
        ];
        for (key, value) in queued {
            if !(1..=100_000).contains(&value) {
                return Err((key, "must be 1 to 100000"));
            }
        }
        if !(16..=1_048_576).contains(&self.memory_mib) {
            return Err(("jobs.memory_mib", "must be 16 to 1048576"));
        }
        if !(1..=2047).contains(&self.archive_mib_max) {
            return Err(("jobs.archive_mib_max", "must be 1 to 2047"));
        }
        if !(1..=10_000_000).contains(&self.archive_entries_max) {
            return Err(("jobs.archive_entries_max", "must be 1 to 10000000"));
        }
        if self.tools().any(|folder| !folder.is_absolute()) {
            return Err(("jobs.tools", "must be absolute paths"));
        }
        if self.podman.is_empty() {
            return Err(("jobs.podman", "must be a path, or the name of a program"));
        }
        let is_inner =
            |name: &str| name.trim_end_matches('*').contains('*') || name.ends_with("**");
        if self.images().any(is_inner) {
            return Err(("jobs.images", "must be names, with `*` only at an end"));
        }
        if !(1..=1_048_576).contains(&self.images_gib_max) {
            return Err(("jobs.images_gib_max", "must be 1 to 1048576"));
        }
        if !(1..=1_048_576).contains(&self.org_gib_max) {
            return Err(("jobs.org_gib_max", "must be 1 to 1048576"));
        }
        let is_id = |org: &&str| org.len() == 26 && org.bytes().all(|b| b.is_ascii_alphanumeric());
        if self
            .network_orgs()
            .is_some_and(|orgs| !orgs.iter().all(is_id))
        {
            let rule =
                "must be all, or ids of organisations as `hostd org list` prints, with commas";
            return Err(("jobs.network_orgs", rule));
        }
        if self.drain_ms > 3_600_000 {
            return Err(("jobs.drain_ms", "must be at most 3600000"));
        }
        Ok(())
    }
}
