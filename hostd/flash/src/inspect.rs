//! What a firmware file holds, and what it would do to a chip, without one.

use std::ops::Range;

use crate::chips::{self, Catalog};
use crate::error::FlashError;
use crate::image::{Extent, Family, Format, Image};
use crate::place::{self, Memory};
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
        erased: erased(&place::flash(&target), &extents),
        chip: target.name,
        programmed: Programmed {
            extents,
            skipped: placed.skipped,
        },
    })
}

/// The sectors that hold any of these bytes.
fn erased(flash: &[(Range<u64>, u64)], extents: &[Extent]) -> Vec<(u64, u64)> {
    let mut erased: Vec<(u64, u64)> = Vec::new();
    for extent in extents {
        let (start, end) = (
            u64::from(extent.address),
            u64::from(extent.address) + extent.bytes,
        );
        for (part, sector) in flash {
            let (from, to) = (start.max(part.start), end.min(part.end));
            if from >= to {
                continue;
            }
            let from = from - (from - part.start) % sector;
            let to = (part.start + (to - part.start).next_multiple_of(*sector)).min(part.end);
            match erased.last_mut() {
                Some((first, bytes)) if *first + *bytes >= from => {
                    *bytes = (*first + *bytes).max(to) - *first;
                }
                _ => erased.push((from, to - from)),
            }
        }
    }
    erased
}
