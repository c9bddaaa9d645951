//! Devices on USB that are no pods: found by what they are, with errors that say what to do.

use std::io;

use nusb::transfer::{Buffer, Bulk, BulkOrInterrupt, Direction, In, Out};
use nusb::{DeviceId, DeviceInfo, Endpoint, ErrorKind, Interface};
use tokio::time::{Duration, timeout};
use usb_host::devices;

/// A device that is meant.
///
/// # Errors
/// None is plugged in, which `what` names.
pub(crate) async fn find(
    what: &str,
    is_meant: impl Fn(&DeviceInfo) -> bool,
) -> io::Result<DeviceInfo> {
    let lack = || io::Error::new(io::ErrorKind::NotFound, format!("{what} is not plugged in"));
    devices().await?.into_iter().find(is_meant).ok_or_else(lack)
}

/// Whether a device that was found is still plugged in: it has another number each time.
///
/// # Errors
/// It is not, which `what` names.
pub(crate) async fn still_there(what: &str, id: DeviceId) -> io::Result<()> {
    find(what, |device| device.id() == id).await.map(drop)
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

/// How soon a message comes that a device still has for whoever used it before.
const OLD_WITHIN: Duration = Duration::from_millis(30);

/// Most of these. Devices have room for a few.
const OLD_MAX: usize = 64;

/// Messages each way over a pair of endpoints of one kind, one transfer each.
pub(crate) struct Pipe<Kind: BulkOrInterrupt = Bulk> {
    output: Endpoint<Kind, Out>,
    input: Endpoint<Kind, In>,
    /// Most bytes of a message from the device, a multiple of what a packet on the wire holds.
    message_bytes: usize,
    /// A message is fetched already that nobody expects yet.
    is_ahead: bool,
}

impl<Kind: BulkOrInterrupt> Pipe<Kind> {
    /// The first endpoint each way of an interface. A message from the device has at most `message_bytes`.
    pub(crate) fn new(what: &str, interface: &Interface, message_bytes: usize) -> io::Result<Self> {
        let none = || {
            let kind = Kind::TYPE;
            io::Error::other(format!("{what} lacks an endpoint of the type {kind:?}"))
        };
        let descriptor = interface.descriptor().ok_or_else(none)?;
        let address = |direction| {
            let mut endpoints = descriptor.endpoints();
            let found = endpoints.find(|endpoint| {
                endpoint.transfer_type() == Kind::TYPE && endpoint.direction() == direction
            });
            found.map(|endpoint| endpoint.address()).ok_or_else(none)
        };
        let explained = |error| explained(what, &error);
        let output = interface
            .endpoint(address(Direction::Out)?)
            .map_err(explained)?;
        let input: Endpoint<Kind, In> = interface
            .endpoint(address(Direction::In)?)
            .map_err(explained)?;
        let mut pipe = Self {
            output,
            input,
            message_bytes: 0,
            is_ahead: false,
        };
        pipe.set_message_bytes(message_bytes);
        Ok(pipe)
    }

    /// Bytes of a packet on the wire to the device.
    pub(crate) fn packet_bytes(&self) -> usize {
        self.output.max_packet_size()
    }

    /// Changes how many bytes a message from the device has at most, for those that are fetched from now on.
    pub(crate) fn set_message_bytes(&mut self, bytes: usize) {
        let packet_bytes = self.input.max_packet_size().max(1);
        self.message_bytes = bytes.max(1).next_multiple_of(packet_bytes);
    }

    /// Fetches one more message, which [`receive`](Self::receive) then returns: a device may take the next message only
    /// once its answer to this one can go.
    pub(crate) fn expect(&mut self) {
        if !std::mem::take(&mut self.is_ahead) {
            self.fetch();
        }
    }

    fn fetch(&mut self) {
        let buffer = self.input.allocate(self.message_bytes);
        self.input.submit(buffer);
    }

    /// Takes the answers that the device still has for whoever used it before, and was killed: they would pass for those
    /// to the first messages.
    pub(crate) async fn forget_old(&mut self) -> io::Result<()> {
        for _ in 0..OLD_MAX {
            match timeout(OLD_WITHIN, self.receive()).await {
                Ok(old) => drop(old?),
                Err(_) => {
                    // What was fetched last is for the first answer.
                    self.is_ahead = true;
                    return Ok(());
                }
            }
        }
        Err(io::Error::other("it sends what nobody asked for"))
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
            self.fetch();
        }
        let done = self.input.next_complete().await;
        done.status?;
        Ok(done.buffer[..done.actual_len].to_vec())
    }
}
