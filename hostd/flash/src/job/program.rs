//! Erasing, programming and verifying, once the target is known.

use probe_rs::config::MemoryRegion;
use probe_rs::flashing::{self, DownloadOptions, FlashProgress};
use probe_rs::{MemoryInterface, Session};

use super::connect::Connected;
use crate::chips;
use crate::error::FlashError;
use crate::image::{ImageError, Segment};
use crate::progress::{Phase, Tracker};
use crate::request::Request;

/// Bytes read at once when searching for a difference.
const SEARCH_BYTES: usize = 1024;

/// Programs the image; returns its size in bytes.
pub(super) fn program(
    connected: &mut Connected,
    request: &Request,
    tracker: &mut Tracker<'_>,
) -> Result<u64, FlashError> {
    let segments = place(connected, request)?;
    let session = &mut connected.session;
    let mut loader = session.target().flash_loader();
    for segment in &segments {
        let added = loader.add_data(segment.address.into(), &segment.data);
        added.map_err(|error| explain(error, Phase::Erasing))?;
    }
    let committed = {
        let mut options = DownloadOptions::default();
        options.verify = request.verify;
        options.progress = FlashProgress::new(|event| tracker.take(&event));
        loader.commit(session, options)
    };
    match committed {
        Ok(()) => Ok(request.image.data_bytes() as u64),
        Err(flashing::FlashError::Verify) => Err(FlashError::Verify {
            address: first_difference(session, &segments),
        }),
        Err(error) => Err(explain(error, tracker.phase())),
    }
}

/// Places the image at addresses that the chip has.
fn place(connected: &Connected, request: &Request) -> Result<Vec<Segment>, FlashError> {
    let target = connected.session.target();
    let flash = chips::boot_flash(&target.memory_map);
    let base = match (request.load_address, &flash) {
        (Some(address), _) => address,
        (None, Some(flash)) => u32::try_from(flash.start).unwrap_or(u32::MAX),
        (None, None) => 0,
    };
    let segments = request.image.placed(base).map_err(|error| match error {
        ImageError::Wraps { address, bytes } => FlashError::OutsideMemory {
            address,
            bytes: bytes as u64,
            chip: connected.chip.clone(),
        },
        error => FlashError::Image(error),
    })?;
    // The chip's own statement counts if its flash is smaller than its type may have.
    let real = connected.identity.as_ref();
    let real = real.and_then(crate::identity::Identity::flash_bytes);
    let missing = match (flash, real) {
        (Some(flash), Some(bytes)) if flash.start + bytes < flash.end => {
            Some(flash.start + bytes..flash.end)
        }
        _ => None,
    };
    for segment in &segments {
        if let Some(address) = first_outside(segment, &target.memory_map, missing.as_ref()) {
            return Err(FlashError::OutsideMemory {
                address: u32::try_from(address).unwrap_or(u32::MAX),
                bytes: segment.end() - address,
                chip: connected.chip.clone(),
            });
        }
    }
    Ok(segments)
}

/// The first address of a segment for which there is no memory.
fn first_outside(
    segment: &Segment,
    map: &[MemoryRegion],
    missing: Option<&std::ops::Range<u64>>,
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

/// Where the target differs from the image. The library does not say.
fn first_difference(session: &mut Session, segments: &[Segment]) -> Option<u64> {
    let mut core = session.core(0).ok()?;
    let mut bytes = [0; SEARCH_BYTES];
    for segment in segments {
        let mut address = u64::from(segment.address);
        for chunk in segment.data.chunks(SEARCH_BYTES) {
            let found = &mut bytes[..chunk.len()];
            core.read(address, found).ok()?;
            let mut pairs = found.iter().zip(chunk);
            if let Some(place) = pairs.position(|(found, wanted)| found != wanted) {
                return Some(address + place as u64);
            }
            address += chunk.len() as u64;
        }
    }
    None
}

/// What failed, from the library's error or, if that does not tell, from the current phase.
fn explain(error: flashing::FlashError, phase: Phase) -> FlashError {
    let address = match &error {
        flashing::FlashError::EraseFailed { sector_address, .. } => {
            return FlashError::Erase {
                address: Some(*sector_address),
                source: error.into(),
            };
        }
        flashing::FlashError::PageWrite { page_address, .. } => Some(*page_address),
        _ => None,
    };
    let source = error.into();
    match phase {
        Phase::Programming => FlashError::Program { address, source },
        Phase::Verifying => FlashError::ReadBack { source },
        _ if address.is_some() => FlashError::Program { address, source },
        _ => FlashError::Erase { address, source },
    }
}
