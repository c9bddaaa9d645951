//! One job from the first packet to the last: identify the target, program it, start it.

pub(crate) mod connect;
mod program;

use std::time::Instant;

use crate::error::FlashError;
use crate::link::{DapLink, Line};
use crate::progress::{Phase, Progress, Tracker};
use crate::request::{Report, Request};
use crate::stop::Stop;

/// Carries out a request over a link to a probe. Blocks, for seconds: it needs a thread of its own. `report` is
/// called on that thread. The link is dropped at the end.
///
/// After `stop` or a failure of the link nothing more is sent, so this returns as soon as the packet under
/// way has been answered; the target is left as it is, and another job puts it right.
///
/// # Errors
/// [`FlashError`].
pub fn run(
    link: impl DapLink,
    request: &Request,
    stop: &Stop,
    report: &mut dyn FnMut(Progress),
) -> Result<Report, FlashError> {
    let began = Instant::now();
    let mut tracker = Tracker::new(report);
    tracker.begin(Phase::Connecting);
    let line = Line::new(Box::new(link), stop.clone());
    let memory = line.memory().clone();
    let result = carry_out(line, request, &mut tracker);
    // If the link has failed, that is the cause of everything else. The library's errors show only its
    // effects.
    let result = match memory.take_failure() {
        Some(failure) => Err(FlashError::from_link(failure, tracker.phase())),
        None => result,
    };
    result
        .map(|report| Report {
            duration: began.elapsed(),
            ..report
        })
        .map_err(|error| of_target(error, &memory, tracker.phase()))
}

/// Distinguishes a missing target from one that refuses.
pub(crate) fn of_target(
    error: FlashError,
    memory: &crate::link::Memory,
    phase: Phase,
) -> FlashError {
    match error {
        FlashError::Attach { .. } if !memory.has_target_answered() => FlashError::NoTarget,
        FlashError::Attach { .. }
        | FlashError::Erase { .. }
        | FlashError::Program { .. }
        | FlashError::Verify { address: None }
        | FlashError::ReadBack { .. }
        | FlashError::Reset { .. }
            if memory.is_target_silent() =>
        {
            FlashError::TargetLost { phase }
        }
        error => error,
    }
}

fn carry_out(
    line: Line,
    request: &Request,
    tracker: &mut Tracker<'_>,
) -> Result<Report, FlashError> {
    let catalog = crate::chips::Catalog::load();
    let mut connected = connect::connect(&catalog, line, request.into())?;
    let programmed = program::program(&mut connected, request, tracker)?;
    if request.reset {
        tracker.begin(Phase::Resetting);
        let reset = connected.session.core(0).and_then(|mut core| core.reset());
        reset.map_err(|error| FlashError::Reset {
            source: error.into(),
        })?;
    }
    Ok(Report {
        chip: connected.chip.clone(),
        found: connected.identity.as_ref().map(ToString::to_string),
        programmed,
        verified: request.verify,
        reset: request.reset,
        duration: std::time::Duration::ZERO,
    })
}
