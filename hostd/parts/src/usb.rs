//! Devices on USB that are no pods: found by what they are, with errors that say what to do.

use std::io;

use nusb::descriptors::TransferType;
use nusb::transfer::{Buffer, Bulk, Direction, In, Out};
use nusb::{DeviceInfo, Endpoint, ErrorKind, Interface};
use tokio::time::{Duration, timeout};

/// A device that is meant.
///
/// # Errors
/// None is plugged in, which `what` names.
pub(crate) async fn find(
    what: &str,
    is_meant: impl Fn(&DeviceInfo) -> bool,
) -> io::Result<DeviceInfo> {
    let lack = || io::Error::new(io::ErrorKind::NotFound, format!("{what} is not plugged in"));
    all().await?.into_iter().find(is_meant).ok_or_else(lack)
}

/// What Linux answers for a folder that is not there (`ENOENT`).
const NO_ENTRY: u32 = 2;

/// All devices that are plugged in.
///
/// # Errors
/// The system does not tell.
pub(crate) async fn all() -> io::Result<Vec<DeviceInfo>> {
    match nusb::list_devices().await {
        // This machine has no USB; what the system cannot list has no kind of its own.
        Err(error) if error.kind() == ErrorKind::NotFound || error.os_error() == Some(NO_ENTRY) => {
            Ok(Vec::new())
        }
        devices => Ok(devices?.collect()),
    }
}

/// Whether this names a port: bus, then the chain of ports, `1-2.3`.
pub(crate) fn is_port(text: &str) -> bool {
    let is_number = |part: &str| part.parse::<u8>().is_ok_and(|number| number > 0);
    text.split_once('-')
        .is_some_and(|(bus, chain)| is_number(bus) && chain.split('.').all(is_number))
}

/// The name of the port that a device is plugged into, as the kernel has it: `1-2.3`.
pub(crate) fn port(device: &DeviceInfo) -> String {
    let chain: Vec<String> = device.port_chain().iter().map(u8::to_string).collect();
    let bus = device.bus_id().trim_start_matches('0');
    format!("{bus}-{}", chain.join("."))
}

/// The system's error with what to do about it.
pub(crate) fn explained(what: &str, error: &nusb::Error) -> io::Error {
    let (kind, told) = match error.kind() {
        ErrorKind::PermissionDenied => (
            io::ErrorKind::PermissionDenied,
            format!(
                "this user may not open {what}: install the rules that `hostd udev` prints, and plug it in again; a hub needs one \
                 of its own"
            ),
        ),
        ErrorKind::Busy => (
            io::ErrorKind::ResourceBusy,
            format!("{what} is used by another program; stop that one"),
        ),
        ErrorKind::Disconnected => (io::ErrorKind::NotConnected, format!("{what} was unplugged")),
        _ => (
            io::ErrorKind::Other,
            format!("{what} cannot be used: {error}"),
        ),
    };
    io::Error::new(kind, told)
}

/// Messages each way over a pair of bulk endpoints, one transfer each.
pub(crate) struct Pipe {
    output: Endpoint<Bulk, Out>,
    input: Endpoint<Bulk, In>,
    /// Most bytes of a message from the device, a multiple of what a packet on the wire holds.
    message_bytes: usize,
}

impl Pipe {
    /// The first bulk endpoint each way of an interface. A message from the device has at most `message_bytes`.
    pub(crate) fn new(what: &str, interface: &Interface, message_bytes: usize) -> io::Result<Self> {
        let none = || io::Error::other(format!("{what} has no bulk endpoints"));
        let descriptor = interface.descriptor().ok_or_else(none)?;
        let address = |direction| {
            let mut endpoints = descriptor.endpoints();
            let found = endpoints.find(|endpoint| {
                endpoint.transfer_type() == TransferType::Bulk && endpoint.direction() == direction
            });
            found.map(|endpoint| endpoint.address()).ok_or_else(none)
        };
        let explained = |error| explained(what, &error);
        let output = interface
            .endpoint(address(Direction::Out)?)
            .map_err(explained)?;
        let input: Endpoint<Bulk, In> = interface
            .endpoint(address(Direction::In)?)
            .map_err(explained)?;
        let message_bytes = message_bytes.next_multiple_of(input.max_packet_size().max(1));
        Ok(Self {
            output,
            input,
            message_bytes,
        })
    }

    /// Fetches one more message, which [`receive`](Self::receive) then returns: a device may take the next message only
    /// once its answer to this one can go.
    pub(crate) fn expect(&mut self) {
        let buffer = self.input.allocate(self.message_bytes);
        self.input.submit(buffer);
    }

    /// Sends a message.
    pub(crate) async fn send(&mut self, message: &[u8], wait: Duration) -> io::Result<()> {
        self.output.submit(Buffer::from(message.to_vec()));
        match timeout(wait, self.output.next_complete()).await {
            Ok(done) => Ok(done.status?),
            Err(_) => {
                // The pipe is of no use any more: nobody waits for what was cancelled.
                self.output.cancel_all();
                Err(io::ErrorKind::TimedOut.into())
            }
        }
    }

    /// The next message. Cancelling loses nothing.
    pub(crate) async fn receive(&mut self) -> io::Result<Vec<u8>> {
        if self.input.pending() == 0 {
            self.expect();
        }
        let done = self.input.next_complete().await;
        done.status?;
        Ok(done.buffer[..done.actual_len].to_vec())
    }
}
