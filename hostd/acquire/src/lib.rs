//! Samples from instruments that are no pods: logic analyzers and scopes that somebody owns already.
//!
//! An [`Instrument`] has [`Facts`] and takes a [`Request`]; what it answers is a [`Capture`], whose frames are those of
//! the pod protocol. There are two kinds of instruments: those that libsigrok supports, through the program
//! `sigrok-cli`, and analyzers with the firmware `fx2lafw`, natively over USB. Where an instrument cannot wait for a
//! trigger, this crate looks for it in what it samples.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod capture;
mod edges;
mod error;
mod fx2lafw;
mod instrument;
mod intake;
mod rates;
mod sigrok;
mod trigger;
mod volts;
mod wiring;

pub use capture::Capture;
#[doc(hidden)]
pub mod fuzzing;
#[doc(hidden)]
pub use edges::{Each as EdgesEach, fast as edges_fast};
pub use error::AcquireError;
pub use fx2lafw::{Fx2lafw, Fx2lafwSettings};
pub use instrument::{Beside, Facts, Input, Instrument, Looking, Request, SAMPLES_MAX, Starting};
pub use rates::Rates;
pub use sigrok::{Sigrok, SigrokSettings};
