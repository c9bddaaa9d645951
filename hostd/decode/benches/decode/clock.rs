//! Processor time: the only reliable clock on a shared machine.

use rustix::time::{ClockId, clock_gettime};
use std::fs;
use std::process::Command;

/// Clock ticks per second in `/proc`; fixed by Linux's user interface.
const TICKS_PER_SECOND: f64 = 100.0;

/// Seconds this thread has run.
pub(crate) fn thread_seconds() -> f64 {
    seconds(ClockId::ThreadCPUTime)
}

/// Seconds all threads of this process have run.
pub(crate) fn process_seconds() -> f64 {
    seconds(ClockId::ProcessCPUTime)
}

#[expect(clippy::cast_precision_loss, reason = "a bench does not run for years")]
fn seconds(clock: ClockId) -> f64 {
    let now = clock_gettime(clock);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

/// User seconds of the children that have ended.
fn children_seconds() -> Option<f64> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    // The name in brackets may contain blanks, so fields are counted after it. `cutime` is field
    // 16.
    let rest = text.rsplit_once(')')?.1;
    let ticks: f64 = rest.split_whitespace().nth(13)?.parse().ok()?;
    Some(ticks / TICKS_PER_SECOND)
}

/// Runs a command to its end; returns its user seconds, or `None` if it is not installed or fails.
pub(crate) fn user_seconds(command: &mut Command) -> Option<f64> {
    let before = children_seconds()?;
    let output = command.output().ok()?;
    let seconds = children_seconds()? - before;
    output.status.success().then_some(seconds)
}
