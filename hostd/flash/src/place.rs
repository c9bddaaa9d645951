//! The memory of a chip: its flash, and where an image goes.

use std::ops::Range;

use probe_rs::Target;
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

/// The flash that some algorithm programs, in ascending order, in parts whose sectors have one size: addresses, and bytes that
/// are erased together.
pub(crate) fn flash(target: &Target) -> Vec<(Range<u64>, u64)> {
    let mut parts: Vec<(Range<u64>, u64)> = Vec::new();
    for region in target
        .memory_map
        .iter()
        .filter_map(|region| region.as_nvm_region())
    {
        let algorithm = target.flash_algorithms.iter().find(|algorithm| {
            let range = &algorithm.flash_properties.address_range;
            range.start <= region.range.start && region.range.start < range.end
        });
        let Some(properties) = algorithm.map(|algorithm| &algorithm.flash_properties) else {
            continue;
        };
        if region.is_alias {
            continue;
        }
        let end = region.range.end.min(properties.address_range.end);
        let starts = |place: usize| {
            let group = properties.sectors.get(place)?;
            Some(properties.address_range.start + group.address)
        };
        for (place, group) in properties.sectors.iter().enumerate() {
            let start = starts(place).unwrap_or(end).max(region.range.start);
            let part = start..starts(place + 1).unwrap_or(end).min(end);
            let is_new = parts
                .iter()
                .all(|(known, _)| known.end <= part.start || part.end <= known.start);
            if !part.is_empty() && is_new {
                parts.push((part, group.size));
            }
        }
    }
    parts.sort_by_key(|(part, _)| part.start);
    parts
}
