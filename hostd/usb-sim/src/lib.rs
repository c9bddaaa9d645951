//! Simulated USB devices that a real kernel, its drivers and every program on it take for real ones.
//!
//! Linux has a virtual host controller, `vhci_hcd`, made for devices of other machines: the kernel writes each transfer
//! to a socket, in the format of USB/IP (Documentation/usb/usbip_protocol.rst). [`Attached`] is the other end of that
//! socket, within this process and without a network. A [`Device`] says what it is by its [`Descriptors`] and answers
//! control requests; its bulk endpoints are [`Input`]s, to which it writes, and [`Output`]s, from which it reads.
//!
//! As with real hardware, a transfer from a device that has nothing to send stays pending, one to a device that does not
//! read does, too, and both can be cancelled. Otherwise transfers take no time, unless a device is
//! [plugged in](Attached::paced) to have the speed of a bus.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod bus;
mod control;
pub mod cp210x;
mod descriptors;
mod endpoint;
pub mod fx2;
pub mod hub;
pub mod jlink;
mod pace;
pub mod stlink;
mod usbip;
mod vhci;
mod wires;

pub use bus::{Answer, Bus, Device, Setup};
pub use descriptors::{Descriptors, Endpoint, Interface, Speed};
pub use endpoint::{Input, Output};
pub use vhci::{AttachError, Attached};
pub use wires::{Later, Refusal, Registers, Wires};

#[doc(hidden)]
pub use usbip::fuzz;

#[cfg(test)]
mod tests;
