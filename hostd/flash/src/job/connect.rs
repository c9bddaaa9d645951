//! From a line to a debug session with a chip that has been identified as the right one.

use probe_rs::architecture::arm::dp::DpAddress;
use probe_rs::architecture::arm::sequences::DefaultArmSequence;
use probe_rs::architecture::arm::{ArmError, FullyQualifiedApAddress};
use probe_rs::probe::Probe;
use probe_rs::{MemoryInterface, Permissions, Session};

use crate::chips::{self, Candidate, Catalog};
use crate::error::FlashError;
use crate::identity::Identity;
use crate::link::Line;
use crate::probe::DapProbeDriver;
use crate::request::Request;

/// Which target is wanted, and how it is reached; see [`Request`].
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) chip: &'a str,
    pub(crate) force: bool,
    pub(crate) connect_under_reset: bool,
    pub(crate) speed_khz: u32,
}

impl<'a> From<&'a Request> for Wanted<'a> {
    fn from(request: &'a Request) -> Self {
        Self {
            chip: &request.chip,
            force: request.force,
            connect_under_reset: request.connect_under_reset,
            speed_khz: request.speed_khz,
        }
    }
}

/// A target that is ready to be programmed.
pub(crate) struct Connected {
    pub(crate) session: Session,
    /// The chip that it is programmed as.
    pub(crate) chip: String,
    pub(crate) identity: Option<Identity>,
}

/// Identifies the target and starts a session with it.
pub(crate) fn connect(
    catalog: &Catalog,
    line: Line,
    request: Wanted<'_>,
) -> Result<Connected, FlashError> {
    let candidates = catalog.find(request.chip)?;
    let driver =
        DapProbeDriver::open(line, request.speed_khz).map_err(|error| FlashError::Probe {
            source: error.into(),
        })?;
    let probe = Probe::new(driver);
    let (probe, identity) = look(catalog, &candidates, probe, request)?;
    let candidate = admit(&candidates, identity.as_ref(), request)?;
    let mut session = attach(catalog, candidate, probe, request)?;
    let chip = candidate.chip.name.clone();
    // Some can be identified only after steps specific to their series.
    let identity = match identity {
        Some(identity) => Some(identity),
        None => {
            let identity = look_again(catalog, &candidates, &mut session);
            admit(&candidates, identity.as_ref(), request)?;
            identity
        }
    };
    if identity
        .as_ref()
        .is_some_and(|identity| identity.is_protected)
    {
        return Err(FlashError::Locked { chip });
    }
    Ok(Connected {
        session,
        chip,
        identity,
    })
}

/// Identifies the target, assuming only a debug port and memory behind the first access port. Returns
/// the probe, with the target still in reset if that was requested.
fn look(
    catalog: &Catalog,
    candidates: &[Candidate<'_>],
    mut probe: Probe,
    request: Wanted<'_>,
) -> Result<(Probe, Option<Identity>), FlashError> {
    // With two debug ports on one wire, neither answers before it is addressed.
    if candidates
        .iter()
        .any(|chip| chip.family.name.starts_with("RP2"))
    {
        return Ok((probe, None));
    }
    let attached = if request.connect_under_reset {
        probe.attach_to_unspecified_under_reset()
    } else {
        probe.attach_to_unspecified()
    };
    attached.map_err(|error| FlashError::Probe {
        source: error.into(),
    })?;
    let interface = probe.try_into_arm_debug_interface(DefaultArmSequence::create());
    let mut interface = interface.map_err(|(_, error)| failed(request, error))?;
    let selected = interface.select_debug_port(DpAddress::Default);
    selected.map_err(|error| failed(request, error))?;
    let port = FullyQualifiedApAddress::v1_with_default_dp(0);
    let identity = match interface.memory_interface(&port) {
        Ok(mut memory) => Identity::read(catalog, candidates, &mut |address| {
            memory.read_word_32(address).ok()
        }),
        Err(error) => {
            tracing::debug!(%error, "the target's memory cannot be reached without knowing it");
            None
        }
    };
    Ok((interface.close(), identity))
}

fn look_again(
    catalog: &Catalog,
    candidates: &[Candidate<'_>],
    session: &mut Session,
) -> Option<Identity> {
    let mut core = session.core(0).ok()?;
    Identity::read(catalog, candidates, &mut |address| {
        core.read_word_32(address).ok()
    })
}

/// The chip to program it as, among those requested.
fn admit<'a>(
    candidates: &[Candidate<'a>],
    identity: Option<&Identity>,
    request: Wanted<'_>,
) -> Result<Candidate<'a>, FlashError> {
    let Some(identity) = identity else {
        return chips::choose(request.chip, candidates.to_vec(), None, false);
    };
    let is_right = |candidate: &Candidate<'_>| identity.admits(candidate);
    let admitted: Vec<_> = candidates.iter().copied().filter(is_right).collect();
    if !admitted.is_empty() {
        let bytes = identity.flash_bytes();
        return chips::choose(request.chip, admitted, bytes, identity.is_known());
    }
    if request.force {
        tracing::warn!(asked = request.chip, found = %identity, "programming another chip by force");
        return chips::choose(request.chip, candidates.to_vec(), None, false);
    }
    Err(FlashError::WrongTarget {
        asked: request.chip.to_owned(),
        found: identity.to_string(),
    })
}

fn attach(
    catalog: &Catalog,
    candidate: Candidate<'_>,
    probe: Probe,
    request: Wanted<'_>,
) -> Result<Session, FlashError> {
    let target = catalog.target(candidate)?;
    let registry = catalog.registry();
    let permissions = Permissions::default();
    let session = if request.connect_under_reset {
        probe.attach_under_reset_with_registry(target, permissions, registry)
    } else {
        probe.attach_with_registry(target, permissions, registry)
    };
    let chip = candidate.chip.name.clone();
    session.map_err(|error| match error {
        probe_rs::Error::MissingPermissions(_)
        | probe_rs::Error::Arm(ArmError::MissingPermissions(_)) => FlashError::Locked { chip },
        error => FlashError::Attach {
            chip,
            source: error.into(),
        },
    })
}

fn failed(request: Wanted<'_>, error: ArmError) -> FlashError {
    FlashError::Attach {
        chip: request.chip.to_owned(),
        source: error.into(),
    }
}
