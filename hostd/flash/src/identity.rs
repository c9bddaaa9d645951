//! Identifies a target before anything is written to it. The underlying library programs a chip as
//! whatever it is told, so this is the only guard against the wrong one.

mod nordic;
mod st;

#[cfg(test)]
mod tests;

use std::fmt;

use probe_rs::CoreType;

use crate::chips::{Candidate, Catalog};

/// The CPUID register of every Cortex-M (ARMv6-M Architecture Reference Manual, B3.2.3), and the part numbers
/// in its bits 15:4.
const CPUID: u64 = 0xe000_ed00;
const CPUID_MAKER_ARM: u32 = 0x41;

/// RP2040 SYSINFO CHIP_ID: the part in bits 27:12, the maker in bits 11:0 (RP2040 data sheet, 2.20).
const RASPBERRY_PI_ID: u64 = 0x4000_0000;
const RASPBERRY_PI: u32 = 0x927;
const RP2040: u32 = 2;

/// Reads a word of the target's memory; `None` when that is not possible.
pub(crate) type ReadWord<'a> = dyn FnMut(u64) -> Option<u32> + 'a;

/// A target's identity, as read from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    core: Core,
    maker: Maker,
    /// Whether it keeps debuggers away from its flash.
    pub(crate) is_protected: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Core {
    /// Part number in CPUID.
    part: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Maker {
    St(st::Found),
    Nordic(nordic::Found),
    Rp2040,
    /// It reveals only its core.
    Unknown,
}

impl Core {
    fn read(read: &mut ReadWord<'_>) -> Option<Self> {
        let word = read(CPUID)?;
        let part = word >> 4 & 0xfff;
        (word >> 24 == CPUID_MAKER_ARM).then_some(Self { part })
    }

    fn name(self) -> Option<&'static str> {
        Some(match self.part {
            0xc20 => "Cortex-M0",
            0xc60 => "Cortex-M0+",
            0xc21 => "Cortex-M1",
            0xc23 => "Cortex-M3",
            0xc24 => "Cortex-M4",
            0xc27 => "Cortex-M7",
            0xd20 => "Cortex-M23",
            0xd21 => "Cortex-M33",
            0xd22 => "Cortex-M55",
            0xd31 => "Cortex-M35P",
            _ => return None,
        })
    }

    /// Whether a chip with a core of this type can have it. Unknown parts are accepted.
    fn is(self, core_type: CoreType) -> bool {
        match self.part {
            0xc20 | 0xc60 | 0xc21 => core_type == CoreType::Armv6m,
            // Chip descriptions do not always distinguish these two.
            0xc23 | 0xc24 | 0xc27 => matches!(core_type, CoreType::Armv7m | CoreType::Armv7em),
            0xd20 | 0xd21 | 0xd22 | 0xd31 => core_type == CoreType::Armv8m,
            _ => true,
        }
    }
}

impl Identity {
    /// Reads the target's identity, first in the way of the expected chips. `None` if its memory cannot be
    /// read.
    pub(crate) fn read(
        catalog: &Catalog,
        expected: &[Candidate<'_>],
        read: &mut ReadWord<'_>,
    ) -> Option<Self> {
        let core = Core::read(read)?;
        let family = expected
            .first()
            .map_or("", |chip| chip.family.name.as_str());
        let series = st::series_of(family);
        let maker = series
            .and_then(|series| st::Found::read(series, read))
            .map(Maker::St)
            .or_else(|| nordic::Found::read(catalog, read).map(Maker::Nordic))
            .or_else(|| is_rp2040(read).then_some(Maker::Rp2040))
            .or_else(|| st::Found::read_any(read).map(Maker::St))
            .unwrap_or(Maker::Unknown);
        let is_protected = match (&maker, series) {
            (Maker::St(found), Some(series)) => found.is_of(series) && series.is_protected(read),
            _ => false,
        };
        Some(Self {
            core,
            maker,
            is_protected,
        })
    }

    /// Whether the target can be this chip. Unknown properties count as matching.
    pub(crate) fn admits(&self, candidate: &Candidate<'_>) -> bool {
        let is_core = candidate.core_type().is_some_and(|core| self.core.is(core));
        let name = candidate.chip.name.as_str();
        is_core
            && match &self.maker {
                Maker::St(found) => found.admits(name),
                Maker::Nordic(found) => found.admits(name),
                Maker::Rp2040 => name.starts_with("RP2040"),
                Maker::Unknown => true,
            }
    }

    /// Whether it reveals more than its core.
    pub(crate) fn is_known(&self) -> bool {
        self.maker != Maker::Unknown
    }

    /// Size of its flash in bytes, if it says so.
    pub(crate) fn flash_bytes(&self) -> Option<u64> {
        match &self.maker {
            Maker::St(found) => found.flash_bytes(),
            Maker::Nordic(found) => found.flash_bytes(),
            Maker::Rp2040 | Maker::Unknown => None,
        }
    }
}

fn is_rp2040(read: &mut ReadWord<'_>) -> bool {
    read(RASPBERRY_PI_ID)
        .is_some_and(|id| id & 0xfff == RASPBERRY_PI && id >> 12 & 0xffff == RP2040)
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.maker {
            Maker::St(found) => found.fmt(f),
            Maker::Nordic(found) => found.fmt(f),
            Maker::Rp2040 => f.write_str("an RP2040"),
            Maker::Unknown => match self.core.name() {
                Some(name) => write!(f, "a chip with a {name}"),
                None => write!(f, "a chip with the unknown core {:#05x}", self.core.part),
            },
        }
    }
}
