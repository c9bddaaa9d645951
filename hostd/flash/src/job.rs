//! One job from the first packet to the last: find out what the target is, program it, start it.

mod connect;
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
/// After `stop` or a failure of the link nothing more is sent, so this returns as soon as the packet that is
/// under way has been answered; the target is then left as it is, and a job of its own puts it right.
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
    // The cause of everything else, if the link has failed. Errors of the library only show its effects.
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

/// Tells a target that is not there from one that refuses.
fn of_target(error: FlashError, memory: &crate::link::Memory, phase: Phase) -> FlashError {
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
    let mut connected = connect::connect(&catalog, line, request)?;
    let bytes = program::program(&mut connected, request, tracker)?;
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
        bytes,
        verified: request.verify,
        reset: request.reset,
        duration: std::time::Duration::ZERO,
    })
}
