//! The physics against closed forms, worked examples of books, and independent programs where these are installed.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests may fail like the tests themselves"
)]

mod atlc;
mod emission;
mod hostile;
mod limits;
mod lines;
mod nec2c;
mod oracle;
mod radiation;
mod resonance;
mod sections;
mod spectrum;
mod wires;

/// Fails unless `found` is within `tolerance` of `expected`, relatively.
#[track_caller]
fn close(found: f64, expected: f64, tolerance: f64) {
    let error = (found / expected - 1.0).abs();
    assert!(
        error <= tolerance,
        "found {found}, expected {expected}: {:.3} % off",
        100.0 * error
    );
}
