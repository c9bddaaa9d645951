//! What is plugged into USB, and how its ports are named: the same for pods, parts of benches and analyzers.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

use std::io;

use nusb::{DeviceInfo, ErrorKind};

mod port;

pub use port::{is_port, port};

/// What Linux answers for a folder that is not there (`ENOENT`).
const NO_ENTRY: u32 = 2;

/// All devices that are plugged in; none on a machine without USB.
///
/// # Errors
/// The system does not tell.
pub async fn devices() -> io::Result<Vec<DeviceInfo>> {
    match nusb::list_devices().await {
        // This machine has no USB; what the system cannot list has no kind of its own.
        Err(error) if error.kind() == ErrorKind::NotFound || error.os_error() == Some(NO_ENTRY) => {
            Ok(Vec::new())
        }
        devices => Ok(devices?.collect()),
    }
}
