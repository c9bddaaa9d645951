//! `[limits]`: what a plugin takes of the machine. It may ask for less or more than the default, up to a maximum.

use serde::Serialize;

use super::section::{Report, Section};

/// A limit that a manifest may set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Its key.
    pub key: &'static str,
    /// Smallest value.
    pub least: u32,
    /// What counts if the manifest says nothing.
    pub default: u32,
    /// Largest value.
    pub most: u32,
}

pub(super) const fn limit(key: &'static str, least: u32, default: u32, most: u32) -> Limit {
    Limit {
        key,
        least,
        default,
        most,
    }
}

const MEMORY_MIB: Limit = limit("memory_mib", 1, 64, 512);
const DEADLINE_MS: Limit = limit("deadline_ms", 10, 10_000, 60_000);
const COMPUTE_MS: Limit = limit("compute_ms", 1, 2_000, 30_000);
const IN_FLIGHT: Limit = limit("in_flight", 1, 4, 64);
const STORE_MIB: Limit = limit("store_mib", 1, 16, 1024);

/// All of them.
pub const LIMITS: [Limit; 5] = [MEMORY_MIB, DEADLINE_MS, COMPUTE_MS, IN_FLIGHT, STORE_MIB];

/// What a plugin takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Memory of one instance.
    pub memory_mib: u32,
    /// From the beginning of a call to its end.
    pub deadline_ms: u32,
    /// Processor time of a call.
    pub compute_ms: u32,
    /// Calls at once.
    pub in_flight: u32,
    /// Room for its keys in an organisation; 0 if it does not ask for the interface.
    pub store_mib: u32,
    /// Whether an instance may serve one call after another.
    pub reuse: bool,
}

/// Reads the section; a plugin that does not ask for the store has no room in it.
pub(super) fn read(limits: &mut Section<'_>, has_store: bool, report: &mut Report<'_>) -> Limits {
    let store_at = limits.join(STORE_MIB.key);
    let mut number = |limit: Limit| number(limits, limit, report);
    let mut read = Limits {
        memory_mib: number(MEMORY_MIB).unwrap_or(MEMORY_MIB.default),
        deadline_ms: number(DEADLINE_MS).unwrap_or(DEADLINE_MS.default),
        compute_ms: number(COMPUTE_MS).unwrap_or(COMPUTE_MS.default),
        in_flight: number(IN_FLIGHT).unwrap_or(IN_FLIGHT.default),
        store_mib: 0,
        reuse: true,
    };
    let store_mib = number(STORE_MIB);
    if has_store {
        read.store_mib = store_mib.unwrap_or(STORE_MIB.default);
    } else if store_mib.is_some() {
        report.note(
            limits.at(),
            &store_at,
            "needs \"store\" in wants.interfaces",
        );
    }
    read.reuse = limits.flag("reuse", report).unwrap_or(true);
    if read.compute_ms > read.deadline_ms {
        let what = format!("must not exceed deadline_ms, which is {}", read.deadline_ms);
        report.note(limits.at(), &limits.join(COMPUTE_MS.key), what);
    }
    std::mem::replace(limits, Section::none()).finish(report);
    read
}

/// The value that a section has for a limit, if it is within it.
pub(super) fn number(
    section: &mut Section<'_>,
    limit: Limit,
    report: &mut Report<'_>,
) -> Option<u32> {
    let (number, found) = section.integer(limit.key, report)?;
    let number = u32::try_from(number).ok();
    let number = number.filter(|number| (limit.least..=limit.most).contains(number));
    if number.is_none() {
        let what = format!("must be from {} to {}", limit.least, limit.most);
        report.note(found.at, &found.path, what);
    }
    number
}
