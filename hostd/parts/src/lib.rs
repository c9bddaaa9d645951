//! One device out of plain parts: a debug probe, a serial port, a switchable supply, a logic analyzer, a scope.
//!
//! A [`Bench`] is a pod in software: it answers the pod protocol on connections inside this process, so that whoever
//! drives pods drives it. Each part is opened, watched and opened again by a task of its own. What the bench can do
//! follows from the parts that are there; a command for one that is not is refused with its name.

#![warn(missing_docs)]

mod address;
mod args;
mod bench;
mod chip;
mod client;
mod commands;
mod driver;
#[doc(hidden)]
pub mod fuzzing;
mod plain;
mod power;
mod presence;
mod probe;
mod refuse;
mod sampling;
pub mod scan;
mod session;
mod status;
mod tty;
mod uart;
pub mod udev;
mod usb;

#[cfg(test)]
mod tests;

pub use bench::Bench;
pub use driver::{Driver, SCHEME};
