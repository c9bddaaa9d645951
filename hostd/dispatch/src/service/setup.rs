//! What the service is made of, from its configuration.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use admission::Memory;
use archive::Limits as ArchiveLimits;
use base::config::JobsConfig;
use jobs::{ImageOptions, Runner};
use pipeline::Caps;
use scheduler::Limits;
use store::jobs::Head;

use super::Parts;
use crate::attempt::Tools;
use crate::files::Files;
use crate::intake::Intake;
use crate::network::Network;
use crate::quota::Ledger;

/// Counts the jobs that no attempt can make grow; the others are counted when they are restored.
pub(super) fn count(ledger: &Ledger, heads: &[(String, String, Head)], unreadable: &[String]) {
    let unreadable: HashSet<&str> = unreadable.iter().map(String::as_str).collect();
    for (org, id, head) in heads {
        if !head.is_open || unreadable.contains(id.as_str()) {
            ledger.add(org, head.bytes);
        }
    }
}

pub(super) fn tools(
    runner: Runner,
    files: &Files,
    config: &JobsConfig,
    parts: &Parts,
    (ledger, memory): (Arc<Ledger>, Arc<Memory>),
) -> Tools {
    Tools {
        runner,
        files: files.clone(),
        blobs: parts.blobs.clone(),
        leases: parts.leases.clone(),
        benches: parts.benches.clone(),
        vault: parts.vault.clone(),
        store: parts.store.clone(),
        network: Network::new(config),
        ledger,
        memory,
        at_quota: config.at_quota,
        caps: Caps::default(),
        reading: Mutex::default(),
        meter: Arc::default(),
    }
}

pub(super) fn intake(files: &Files, config: &JobsConfig, parts: &Parts) -> Intake {
    Intake {
        files: files.clone(),
        caps: Caps::default(),
        limits: archive_limits(config),
        images: images(config),
        blobs: parts.blobs.clone(),
        space: parts.space.clone(),
        vault: parts.vault.clone(),
        network: Network::new(config),
        memory: Memory::new(u64::from(config.memory_mib) << 20),
    }
}

pub(super) fn runner_options(files: &Files, config: &JobsConfig) -> jobs::Options {
    let mut options = jobs::Options::new(files.work());
    options.cache_bytes = u64::from(config.cache_mib) << 20;
    options.tools = config.tools().map(jail::Bind::same).collect();
    options.images = images(config);
    options
}

fn images(config: &JobsConfig) -> ImageOptions {
    ImageOptions {
        podman: PathBuf::from(&config.podman),
        names: config.images().map(str::to_owned).collect(),
        bytes_max: u64::from(config.images_gib_max) << 30,
    }
}

fn archive_limits(config: &JobsConfig) -> ArchiveLimits {
    ArchiveLimits {
        packed_bytes_max: u64::from(config.archive_mib_max) << 20,
        unpacked_bytes_max: u64::from(config.unpacked_mib_max) << 20,
        entries_max: config.archive_entries_max as usize,
        ..ArchiveLimits::default()
    }
}

pub(super) fn limits(config: &JobsConfig) -> Limits {
    Limits {
        queued_max: config.queued_max as usize,
        queued_per_org_max: config.queued_per_org_max as usize,
        queued_per_user_max: config.queued_per_user_max as usize,
        running_max: config.running_max,
        running_per_org_max: config.running_per_org_max,
        running_per_user_max: config.running_per_user_max,
        build_slots: config.build_slots,
        ..Limits::default()
    }
}
