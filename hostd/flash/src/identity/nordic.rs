//! Nordic's chips: factory information registers (FICR), from the product specifications of the nRF51 and
//! nRF52 series. The chip descriptions say which values belong to which chip.

use std::fmt;

use super::ReadWord;
use crate::chips::Catalog;

const CODE_PAGE_BYTES: u64 = 0x1000_0010;
const CODE_PAGES: u64 = 0x1000_0014;
/// Page sizes of these chips; any other value means that this is not a FICR.
const PAGE_BYTES: [u32; 2] = [1024, 4096];
const PAGES_MAX: u32 = 4096;

/// A Nordic chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The chip, up to where its variant begins: `nRF52832`.
    chip: String,
    flash_bytes: Option<u64>,
}

impl Found {
    pub(super) fn read(catalog: &Catalog, read: &mut ReadWord<'_>) -> Option<Self> {
        let mut methods = catalog
            .families()
            .iter()
            .flat_map(|family| &family.chip_detection);
        let chip = methods.find_map(|method| {
            let name = if let Some(method) = method.as_nordic_ficr() {
                let is_part = read(method.part_address.into()) == Some(method.part);
                // A newer variant is still this chip.
                is_part.then(|| method.variants.values().next()).flatten()
            } else {
                let method = method.as_nordic_configid()?;
                let id = read(method.configid_address.into())?;
                method.hwid.get(&(id & 0xffff))
            };
            name.map(|name| name.split('_').next().unwrap_or(name).to_owned())
        })?;
        let size = read(CODE_PAGE_BYTES).zip(read(CODE_PAGES));
        let size = size.filter(|(bytes, pages)| PAGE_BYTES.contains(bytes) && *pages <= PAGES_MAX);
        let flash_bytes = size.map(|(bytes, pages)| u64::from(bytes) * u64::from(pages));
        // The older chips have a number for each build code, which other chips may hold by chance.
        if chip.starts_with("nRF51") && flash_bytes.is_none() {
            return None;
        }
        Some(Self { chip, flash_bytes })
    }

    /// The nRF51 chips do not differ in anything that matters here.
    pub(super) fn admits(&self, name: &str) -> bool {
        match self.chip.starts_with("nRF51") {
            true => name.starts_with("nRF51"),
            false => name.starts_with(&self.chip),
        }
    }

    pub(super) fn flash_bytes(&self) -> Option<u64> {
        self.flash_bytes
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an {}", self.chip)?;
        match self.flash_bytes {
            Some(bytes) => write!(f, " with {} KiB of flash", bytes / 1024),
            None => Ok(()),
        }
    }
}
