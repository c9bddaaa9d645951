//! ST's chips: the device identifier of the debug unit, the size of the flash and read protection, from
//! the reference manuals of the series.

mod devices;

use std::fmt;

use super::ReadWord;
use devices::DEVICES;

/// Where series keep their device identifier (DBGMCU_IDCODE).
const ID_M0: u64 = 0x4001_5800;
const ID_M3: u64 = 0xe004_2000;
const ID_H7: u64 = 0x5c00_1000;
const ID_PLACES: [u64; 3] = [ID_M0, ID_M3, ID_H7];

/// How a series shows that its flash is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protection {
    /// Some of these bits are set at the address.
    Bits(u64, u32),
    /// The byte at this many bits above the lowest is not 0xaa.
    Byte(u64, u32),
}

const UNPROTECTED: u32 = 0xaa;

/// What the chips of a series have in common.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Series {
    /// Name of the family in the chip descriptions.
    family: &'static str,
    id_at: u64,
    /// Address of the flash size: 16 bits, in KiB.
    flash_size_at: u64,
    protection: Protection,
}

const fn series(
    family: &'static str,
    id_at: u64,
    flash_size_at: u64,
    protection: Protection,
) -> Series {
    Series {
        family,
        id_at,
        flash_size_at,
        protection,
    }
}

const SERIES: &[Series] = &[
    series(
        "STM32C0 Series",
        ID_M0,
        0x1fff_75a0,
        Protection::Byte(0x4002_2020, 0),
    ),
    series(
        "STM32F0 Series",
        ID_M0,
        0x1fff_f7cc,
        Protection::Bits(0x4002_201c, 6),
    ),
    series(
        "STM32F1 Series",
        ID_M3,
        0x1fff_f7e0,
        Protection::Bits(0x4002_201c, 2),
    ),
    series(
        "STM32F2 Series",
        ID_M3,
        0x1fff_7a22,
        Protection::Byte(0x4002_3c14, 8),
    ),
    series(
        "STM32F3 Series",
        ID_M3,
        0x1fff_f7cc,
        Protection::Bits(0x4002_201c, 6),
    ),
    series(
        "STM32F4 Series",
        ID_M3,
        0x1fff_7a22,
        Protection::Byte(0x4002_3c14, 8),
    ),
    series(
        "STM32F7 Series",
        ID_M3,
        0x1ff0_f442,
        Protection::Byte(0x4002_3c14, 8),
    ),
    series(
        "STM32G0 Series",
        ID_M0,
        0x1fff_75e0,
        Protection::Byte(0x4002_2020, 0),
    ),
    series(
        "STM32G4 Series",
        ID_M3,
        0x1fff_75e0,
        Protection::Byte(0x4002_2020, 0),
    ),
    series(
        "STM32H7 Series",
        ID_H7,
        0x1ff1_e880,
        Protection::Byte(0x5200_201c, 8),
    ),
    series(
        "STM32L0 Series",
        ID_M0,
        0x1ff8_007c,
        Protection::Byte(0x4002_201c, 0),
    ),
    series(
        "STM32L4 Series",
        ID_M3,
        0x1fff_75e0,
        Protection::Byte(0x4002_2020, 0),
    ),
    series(
        "STM32WB Series",
        ID_M3,
        0x1fff_75e0,
        Protection::Byte(0x5800_4020, 0),
    ),
];

/// The series of a chip family, if it is known here.
pub(super) fn series_of(family: &str) -> Option<&'static Series> {
    SERIES.iter().find(|series| series.family == family)
}

#[cfg(test)]
pub(super) fn series_names() -> impl Iterator<Item = &'static str> {
    SERIES.iter().map(|series| series.family)
}

impl Series {
    /// Whether the flash is protected from debuggers.
    pub(super) fn is_protected(&self, read: &mut ReadWord<'_>) -> bool {
        match self.protection {
            Protection::Bits(address, bits) => read(address).is_some_and(|word| word & bits != 0),
            Protection::Byte(address, shift) => {
                read(address).is_some_and(|word| word >> shift & 0xff != UNPROTECTED)
            }
        }
    }
}

/// A chip of ST.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    device: u32,
    names: &'static [&'static str],
    flash_kib: Option<u32>,
}

impl Found {
    /// Reads the identifier where the chips of a series have it.
    pub(super) fn read(series: &Series, read: &mut ReadWord<'_>) -> Option<Self> {
        let mut found = Self::read_at(series.id_at, read)?;
        if found.is_of(series) {
            // A half-word at an odd index is in the upper half of a word.
            let word = read(series.flash_size_at & !3)?;
            let kib = word >> (8 * (series.flash_size_at & 2)) & 0xffff;
            found.flash_kib = (kib != 0 && kib != 0xffff).then_some(kib);
        }
        Some(found)
    }

    /// Tries every address at which an ST chip may have its identifier.
    pub(super) fn read_any(read: &mut ReadWord<'_>) -> Option<Self> {
        ID_PLACES
            .iter()
            .find_map(|place| Self::read_at(*place, read))
    }

    /// Every known chip, for checking the table.
    #[cfg(test)]
    pub(super) fn all() -> impl Iterator<Item = Self> {
        DEVICES.iter().map(|(device, names)| Self {
            device: *device,
            names,
            flash_kib: None,
        })
    }

    fn read_at(place: u64, read: &mut ReadWord<'_>) -> Option<Self> {
        let device = read(place)? & 0xfff;
        let (_, names) = DEVICES.iter().find(|(known, _)| *known == device)?;
        Some(Self {
            device,
            names,
            flash_kib: None,
        })
    }

    /// Whether a chip of this series can have the identifier.
    pub(super) fn is_of(&self, series: &Series) -> bool {
        let prefix = series.family.split(' ').next().unwrap_or(series.family);
        self.names.iter().any(|name| name.starts_with(prefix))
    }

    pub(super) fn admits(&self, name: &str) -> bool {
        self.names.iter().any(|pattern| {
            let mut letters = name.bytes();
            pattern.bytes().all(|wanted| {
                letters
                    .next()
                    .is_some_and(|letter| wanted == b'?' || letter == wanted)
            })
        })
    }

    pub(super) fn flash_bytes(&self) -> Option<u64> {
        self.flash_kib.map(|kib| u64::from(kib) * 1024)
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.names.join(", ").replace('?', "x");
        write!(f, "a chip with device id {:#05x} ({names})", self.device)?;
        match self.flash_kib {
            Some(kib) => write!(f, " and {kib} KiB of flash"),
            None => Ok(()),
        }
    }
}
