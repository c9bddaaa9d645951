//! What the user sees: one line per step on standard error, so that standard output has only what
//! was asked for.

use std::io::Write;
use std::time::{Duration, Instant};

/// Says that a step begins.
pub(crate) fn step(line: &str) {
    write_line(&format!("xtask: {line}"));
}

/// Says more about the step that is running.
pub(crate) fn detail(line: &str) {
    write_line(&format!("       {line}"));
}

/// Says what is no failure, but should be looked at.
pub(crate) fn warning(line: &str) {
    write_line(&format!("warning: {line}"));
}

/// Says why the command failed, with the whole chain of causes on one line.
pub(crate) fn failure(error: &anyhow::Error) {
    write_line(&format!("xtask: failed: {error:#}"));
}

/// Writes text that the user asked for to standard output.
pub(crate) fn text(text: &str) {
    // A closed pipe (`cargo xtask --help | head`) is no failure of ours.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// Runs `work` as a step and returns its result and how long it took.
pub(crate) fn timed<T>(line: &str, work: impl FnOnce() -> T) -> (T, Duration) {
    step(line);
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

fn write_line(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
