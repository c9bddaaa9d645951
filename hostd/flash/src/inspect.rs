//! What a firmware file holds, and what it would do to a chip, without one.

use probe_rs::Target;

use crate::chips::{self, Catalog};
use crate::error::FlashError;
use crate::image::{Extent, Family, Format, Image};
use crate::place::Memory;
use crate::request::Programmed;

/// What a firmware file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// Its format.
    pub format: Format,
    /// Number of data bytes, for all chips together.
    pub data_bytes: u64,
    /// For each family of chips that a UF2 file has (none: for every chip) what goes where. Empty for plain bytes.
    pub parts: Vec<(Option<Family>, Vec<Extent>)>,
    /// What it would do to the chip that was asked for.
    pub effect: Option<Effect>,
}

/// What flashing a file would do to a chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The chip.
    pub chip: String,
    /// What would be programmed where.
    pub programmed: Programmed,
    /// The address and size in bytes of what would be erased first: whole sectors, adjacent ones as one.
    pub erased: Vec<(u64, u64)>,
}

/// Looks at an image, for a chip if one is named: `chip` and `load_address` as in [`crate::Request`].
///
/// # Errors
/// The name means no chip or several; the image is not for it, or has data where it has no memory.
pub fn inspect(
    image: &Image,
    chip: Option<&str>,
    load_address: Option<u32>,
) -> Result<Inspection, FlashError> {
    let effect = chip.map(|chip| effect(image, chip, load_address));
    Ok(Inspection {
        format: image.format(),
        data_bytes: image.data_bytes() as u64,
        parts: image.parts(),
        effect: effect.transpose()?,
    })
}

fn effect(image: &Image, asked: &str, load_address: Option<u32>) -> Result<Effect, FlashError> {
    let catalog = Catalog::load();
    let candidate = chips::choose(asked, catalog.find(asked)?, None, false)?;
    let target = catalog.target(candidate)?;
    let memory = Memory {
        name: &target.name,
        map: &target.memory_map,
        flash_bytes: None,
    };
    let placed = memory.place(image, load_address)?;
    let extents: Vec<Extent> = placed
        .segments
        .iter()
        .map(|segment| segment.extent())
        .collect();
    Ok(Effect {
        erased: erased(&target, &extents),
        chip: target.name,
        programmed: Programmed {
            extents,
            skipped: placed.skipped,
        },
    })
}

/// The sectors that hold any of these bytes.
fn erased(target: &Target, extents: &[Extent]) -> Vec<(u64, u64)> {
    let mut erased: Vec<(u64, u64)> = Vec::new();
    for extent in extents {
        let mut address = u64::from(extent.address);
        let end = address + extent.bytes;
        while address < end {
            let Some((start, size)) = sector(target, address) else {
                // Of RAM, nothing is erased; what follows it may be flash again.
                address = next_flash(target, address).unwrap_or(end);
                continue;
            };
            match erased.last_mut() {
                Some((first, bytes)) if *first + *bytes >= start + size => {}
                Some((first, bytes)) if *first + *bytes == start => *bytes += size,
                _ => erased.push((start, size)),
            }
            address = start + size;
        }
    }
    erased
}

/// The start and the size of the sector at an address.
fn sector(target: &Target, address: u64) -> Option<(u64, u64)> {
    let all = target.flash_algorithms.iter();
    let mut of_address: Vec<_> = all
        .map(|algorithm| (algorithm.default, &algorithm.flash_properties))
        .filter(|(_, flash)| flash.address_range.contains(&address))
        .collect();
    of_address.sort_by_key(|(is_default, _)| !is_default);
    let (_, flash) = of_address.first()?;
    let from_start = address - flash.address_range.start;
    let kinds = flash.sectors.iter();
    let kind = kinds
        .filter(|kind| kind.address <= from_start && kind.size > 0)
        .max_by_key(|kind| kind.address)?;
    let within = (from_start - kind.address) % kind.size;
    Some((address - within, kind.size))
}

fn next_flash(target: &Target, address: u64) -> Option<u64> {
    let all = target.flash_algorithms.iter();
    let starts = all.map(|algorithm| algorithm.flash_properties.address_range.start);
    starts.filter(|start| *start > address).min()
}
