//! Erasing, programming and verifying, once the target is known.

use probe_rs::flashing::{self, DownloadOptions, FlashProgress};
use probe_rs::{MemoryInterface, Session};

use super::connect::Connected;
use crate::error::FlashError;
use crate::identity::Identity;
use crate::image::{Placed, Segment};
use crate::place::Memory;
use crate::progress::{Phase, Tracker};
use crate::request::{Programmed, Request};

/// Bytes read at once when searching for a difference.
const SEARCH_BYTES: usize = 1024;

/// Programs the image; returns what of it went where.
pub(super) fn program(
    connected: &mut Connected,
    request: &Request,
    tracker: &mut Tracker<'_>,
) -> Result<Programmed, FlashError> {
    let chip = Memory {
        name: &connected.chip,
        map: &connected.session.target().memory_map,
        // The chip's own statement counts if its flash is smaller than its type may have.
        flash_bytes: connected.identity.as_ref().and_then(Identity::flash_bytes),
    };
    let Placed { segments, skipped } = chip.place(&request.image, request.load_address)?;
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
        Ok(()) => Ok(Programmed {
            extents: segments.iter().map(Segment::extent).collect(),
            skipped,
        }),
        Err(flashing::FlashError::Verify) => Err(FlashError::Verify {
            address: first_difference(session, &segments),
        }),
        Err(error) => Err(explain(error, tracker.phase())),
    }
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
