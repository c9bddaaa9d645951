//! Devices on USB that are no pods: found by what they are, with errors that say what to do.

use std::io;
use std::task::{Context, Poll, Waker};

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

/// Buffers for messages from a device that are kept while none is fetched.
const SPARE_MAX: usize = 8;

/// Messages under way to a device that has not taken them.
const POSTED_MAX: usize = 8;

/// Messages each way over a pair of endpoints of one kind, one transfer each.
pub(crate) struct Pipe<Kind: BulkOrInterrupt = Bulk> {
    output: Endpoint<Kind, Out>,
    input: Endpoint<Kind, In>,
    /// Most bytes of a message from the device, a multiple of what a packet on the wire holds.
    message_bytes: usize,
    /// A message is fetched already that nobody expects yet.
    is_ahead: bool,
    /// Buffers for messages, to be used again: the kernel takes its time to give one.
    spare: Vec<Buffer>,
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
            spare: Vec::new(),
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
        self.spare.clear();
    }

    /// Fetches one more message, which [`receive`](Self::receive) then returns: a device may take the next message only
    /// once its answer to this one can go.
    pub(crate) fn expect(&mut self) {
        if !std::mem::take(&mut self.is_ahead) {
            self.fetch();
        }
    }

    fn fetch(&mut self) {
        let spare = self.spare.pop();
        let buffer = spare.unwrap_or_else(|| self.input.allocate(self.message_bytes));
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

    /// Sends a message without waiting until the device has taken it, unless it has not taken [`POSTED_MAX`] before. That
    /// it could not be sent is told by one of the next calls of this, or of [`posted`](Self::posted).
    pub(crate) async fn post(&mut self, message: &[u8], wait: Duration) -> io::Result<()> {
        self.posted()?;
        if POSTED_MAX <= self.output.pending() {
            self.taken(wait).await?;
        }
        self.output.submit(Buffer::from(message.to_vec()));
        Ok(())
    }

    /// Whether all could be sent that the device was posted, as far as that is known.
    pub(crate) fn posted(&mut self) -> io::Result<()> {
        let mut nobody = Context::from_waker(Waker::noop());
        while self.output.pending() > 0
            && let Poll::Ready(done) = self.output.poll_next_complete(&mut nobody)
        {
            done.status?;
        }
        Ok(())
    }

    /// Waits until the device has taken the oldest message under way.
    async fn taken(&mut self, wait: Duration) -> io::Result<()> {
        match timeout(wait, self.output.next_complete()).await {
            Ok(done) => Ok(done.status?),
            Err(_) => {
                // The pipe is of no use any more: nobody waits for what was cancelled.
                self.output.cancel_all();
                Err(io::ErrorKind::TimedOut.into())
            }
        }
    }

    /// Sends a message, and waits until the device has taken it.
    pub(crate) async fn send(&mut self, message: &[u8], wait: Duration) -> io::Result<()> {
        self.output.submit(Buffer::from(message.to_vec()));
        self.taken(wait).await
    }

    /// The next message. Cancelling loses nothing.
    pub(crate) async fn receive(&mut self) -> io::Result<Vec<u8>> {
        if self.input.pending() == 0 {
            self.fetch();
        }
        let mut done = self.input.next_complete().await;
        done.status?;
        let message = done.buffer[..done.actual_len].to_vec();
        if done.buffer.requested_len() == self.message_bytes && self.spare.len() < SPARE_MAX {
            done.buffer.clear();
            self.spare.push(done.buffer);
        }
        Ok(message)
    }
}
