//! The memory of a chip, and where in it an image goes.

use std::ops::Range;

use probe_rs::config::MemoryRegion;

use crate::chips;
use crate::error::FlashError;
use crate::image::{Image, ImageError, Placed, Segment};

/// What of a chip counts for placing an image.
pub(crate) struct Memory<'a> {
    pub(crate) name: &'a str,
    pub(crate) map: &'a [MemoryRegion],
    /// How much flash the chip says that it has, if it does.
    pub(crate) flash_bytes: Option<u64>,
}

impl Memory<'_> {
    /// Places an image at addresses that the chip has.
    ///
    /// # Errors
    /// [`FlashError::OutsideMemory`], or the image is not for this chip.
    pub(crate) fn place(
        &self,
        image: &Image,
        load_address: Option<u32>,
    ) -> Result<Placed, FlashError> {
        let flash = chips::boot_flash(self.map);
        let base = match (load_address, &flash) {
            (Some(address), _) => address,
            (None, Some(flash)) => u32::try_from(flash.start).unwrap_or(u32::MAX),
            (None, None) => 0,
        };
        let outside = |address, bytes| FlashError::OutsideMemory {
            address,
            bytes,
            chip: self.name.to_owned(),
        };
        let placed = image.placed(base, self.name);
        let placed = placed.map_err(|error| match error {
            ImageError::Wraps { address, bytes } => outside(address, bytes as u64),
            error => FlashError::Image(error),
        })?;
        let missing = match (flash, self.flash_bytes) {
            (Some(flash), Some(bytes)) if flash.start + bytes < flash.end => {
                Some(flash.start + bytes..flash.end)
            }
            _ => None,
        };
        for segment in &placed.segments {
            if let Some(address) = first_outside(segment, self.map, missing.as_ref()) {
                let bytes = segment.end() - address;
                return Err(outside(u32::try_from(address).unwrap_or(u32::MAX), bytes));
            }
        }
        Ok(placed)
    }
}

/// The first address of a segment for which there is no memory.
fn first_outside(
    segment: &Segment,
    map: &[MemoryRegion],
    missing: Option<&Range<u64>>,
) -> Option<u64> {
    let mut address = u64::from(segment.address);
    while address < segment.end() {
        if missing.is_some_and(|missing| missing.contains(&address)) {
            return Some(address);
        }
        let regions = map
            .iter()
            .filter(|region| region.as_nvm_region().is_some() || region.as_ram_region().is_some());
        let mut ranges = regions.map(MemoryRegion::address_range);
        let Some(range) = ranges.find(|range| range.contains(&address)) else {
            return Some(address);
        };
        let limit = missing.map_or(u64::MAX, |missing| missing.start);
        address = if limit > address {
            range.end.min(limit)
        } else {
            range.end
        };
    }
    None
}
