//! The section `emi`: analysis of boards.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Largest upload that may be allowed, in MiB: less than what a zip without extensions may hold.
const UPLOAD_MIB: RangeInclusive<u32> = 1..=2047;

/// What one organisation may keep, in MiB: without room for anything, nothing could be uploaded; 1 TiB at most.
const QUOTA_MIB: RangeInclusive<u32> = 1..=1_048_576;

/// Days until boards are deleted, or 0: a hundred years at most.
const KEEP_DAYS: RangeInclusive<u32> = 0..=36_500;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EmiConfig {
    pub upload_mib_max: u32,
    pub unpacked_mib_max: u32,
    pub entries_max: u32,
    pub run_s_max: u32,
    pub memory_mib_max: u32,
    pub running_max: u32,
    pub queued_max: u32,
    pub queued_per_org_max: u32,
    pub projects_max: u32,
    pub boards_max: u32,
    pub runs_max: u32,
    pub quota_mib: u32,
    /// 0 = for ever.
    pub keep_days: u32,
    /// Empty = there is none.
    pub openems: PathBuf,
    /// No credential is asked of programs on this computer.
    pub local: bool,
    pub solve_s_max: u32,
}

impl Default for EmiConfig {
    fn default() -> Self {
        Self {
            upload_mib_max: 200,
            unpacked_mib_max: 512,
            entries_max: 2000,
            run_s_max: 120,
            memory_mib_max: 2048,
            running_max: 2,
            queued_max: 128,
            queued_per_org_max: 32,
            projects_max: 100,
            boards_max: 500,
            runs_max: 2000,
            quota_mib: 4096,
            keep_days: 90,
            openems: PathBuf::new(),
            local: false,
            solve_s_max: 900,
        }
    }
}

impl EmiConfig {
    /// Memory of a run that makes sense, in MiB.
    pub const MEMORY_MIB: RangeInclusive<u32> = 256..=65_536;

    /// The first invalid key, and its rule.
    pub(in crate::config) fn check(&self) -> Result<(), (&'static str, String)> {
        let bounds = [
            ("emi.upload_mib_max", UPLOAD_MIB, self.upload_mib_max),
            ("emi.unpacked_mib_max", 1..=65_536, self.unpacked_mib_max),
            ("emi.entries_max", 1..=1_000_000, self.entries_max),
            ("emi.run_s_max", 1..=86_400, self.run_s_max),
            ("emi.solve_s_max", 1..=86_400, self.solve_s_max),
            ("emi.memory_mib_max", Self::MEMORY_MIB, self.memory_mib_max),
            ("emi.running_max", 1..=64, self.running_max),
            ("emi.queued_max", 1..=10_000, self.queued_max),
            (
                "emi.queued_per_org_max",
                1..=10_000,
                self.queued_per_org_max,
            ),
            ("emi.projects_max", 1..=10_000, self.projects_max),
            ("emi.boards_max", 1..=10_000, self.boards_max),
            ("emi.runs_max", 1..=10_000, self.runs_max),
            ("emi.quota_mib", QUOTA_MIB, self.quota_mib),
            ("emi.keep_days", KEEP_DAYS, self.keep_days),
        ];
        for (key, range, value) in bounds {
            if !range.contains(&value) {
                return Err((key, format!("must be {} to {}", range.start(), range.end())));
            }
        }
        if !self.openems.as_os_str().is_empty() && !self.openems.is_absolute() {
            return Err(("emi.openems", "must be an absolute path, or empty".into()));
        }
        Ok(())
    }
}
