//! Bulk endpoints as what carries a link.

use std::any::Any;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use nusb::Endpoint;
use nusb::transfer::{Buffer, Bulk, In, Out};
use pod_protocol::usb::{Incoming, Outgoing, Room, TRANSFER_BYTES, Transfer};

/// Transfers of [`TRANSFER_BYTES`] under way, each way. Eight fill a link of 480 Mbit/s, and the kernel keeps no more
/// than 16 MiB for all devices together.
const TRANSFERS: usize = 8;

/// Buffers of the kernel for each pod, of those under way and those that wait for their reader: 2 MiB. Beyond that, ones
/// of this process do.
const KERNEL_BUFFERS_MAX: usize = 32;

/// What comes from a pod.
pub(super) struct FromPod {
    endpoint: Endpoint<Bulk, In>,
    /// Buffers that nobody uses.
    free: Arc<Mutex<Vec<Buffer>>>,
    kernel_buffers: usize,
}

impl FromPod {
    pub(super) fn new(endpoint: Endpoint<Bulk, In>) -> Self {
        Self {
            endpoint,
            free: Arc::default(),
            kernel_buffers: 0,
        }
    }

    fn buffer(&mut self) -> Buffer {
        if let Some(buffer) = free(&self.free).pop() {
            return buffer;
        }
        if KERNEL_BUFFERS_MAX <= self.kernel_buffers {
            return Buffer::new(TRANSFER_BYTES);
        }
        self.kernel_buffers += 1;
        self.endpoint.allocate(TRANSFER_BYTES)
    }
}

impl Incoming for FromPod {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
        while self.endpoint.pending() < TRANSFERS {
            let buffer = self.buffer();
            self.endpoint.submit(buffer);
        }
        let done = ready!(self.endpoint.poll_next_complete(context));
        done.status?;
        Poll::Ready(Ok(Bytes::from_owner(Lent {
            buffer: Some(done.buffer),
            free: self.free.clone(),
        })))
    }
}

/// A buffer that is being read, and is used again afterwards.
struct Lent {
    /// Always there, until it is given back.
    buffer: Option<Buffer>,
    free: Arc<Mutex<Vec<Buffer>>>,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        self.buffer.as_deref().unwrap_or_default()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // Buffers of this process would take the places of the kernel's.
        if let Some(mut buffer) = self.buffer.take()
            && buffer.is_zero_copy()
        {
            buffer.clear();
            free(&self.free).push(buffer);
        }
    }
}

fn free(buffers: &Mutex<Vec<Buffer>>) -> MutexGuard<'_, Vec<Buffer>> {
    buffers.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Buffers of the kernel for what goes to each pod: those under way, those that connections write, and one more.
const ROOMS_MAX: usize = TRANSFERS + 4;

/// What goes to a pod.
pub(super) struct ToPod {
    endpoint: Endpoint<Bulk, Out>,
    /// The last transfer ended on a full packet, after which a pod that waits for the end of a burst cannot tell it.
    ends_full: bool,
    /// Buffers of the kernel that nobody uses.
    free: Vec<Buffer>,
    /// The kernel has no buffers, or no more.
    is_exhausted: bool,
    /// Shared with the buffers that connections have, to count them: one that is closed takes its own along.
    lent: Arc<()>,
}

/// A buffer of the kernel that is being written, and is used again once it was sent.
#[derive(Debug)]
struct KernelRoom {
    buffer: Buffer,
    _lent: Arc<()>,
}

impl Room for KernelRoom {
    fn bytes(&self) -> &[u8] {
        &self.buffer
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.buffer
    }

    fn put(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    fn clear(&mut self) -> bool {
        self.buffer.clear();
        true
    }
}

impl ToPod {
    pub(super) fn new(endpoint: Endpoint<Bulk, Out>) -> Self {
        Self {
            endpoint,
            ends_full: false,
            free: Vec::new(),
            is_exhausted: false,
            lent: Arc::default(),
        }
    }

    /// One more buffer of the kernel, within the bound. Those that are neither under way nor lent are all free.
    fn allocate(&mut self) -> Option<Buffer> {
        let lent = Arc::strong_count(&self.lent) - 1;
        if self.is_exhausted || ROOMS_MAX <= self.endpoint.pending() + lent {
            return None;
        }
        let buffer = self.endpoint.allocate(TRANSFER_BYTES);
        self.is_exhausted = !buffer.is_zero_copy();
        buffer.is_zero_copy().then_some(buffer)
    }

    /// Waits until no more than so many are under way.
    fn poll_below(&mut self, context: &mut Context<'_>, most: usize) -> Poll<io::Result<()>> {
        while most < self.endpoint.pending() {
            let mut done = ready!(self.endpoint.poll_next_complete(context));
            if done.buffer.is_zero_copy() {
                done.buffer.clear();
                self.free.push(done.buffer);
            }
            done.status?;
        }
        Poll::Ready(Ok(()))
    }
}

impl Outgoing for ToPod {
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_below(context, TRANSFERS - 1)
    }

    fn free(&mut self) -> Option<Transfer> {
        let buffer = self.free.pop().or_else(|| self.allocate())?;
        let _lent = self.lent.clone();
        Some(Box::new(KernelRoom { buffer, _lent }))
    }

    fn send(&mut self, transfer: Transfer) {
        let transfer: Box<dyn Any> = transfer;
        let buffer = match transfer.downcast::<KernelRoom>() {
            Ok(room) => room.buffer,
            Err(other) => {
                let bytes = other.downcast::<Vec<u8>>();
                Buffer::from(*bytes.expect("no other room was given"))
            }
        };
        let beyond = buffer.len().checked_rem(self.endpoint.max_packet_size());
        self.ends_full = beyond == Some(0) && !buffer.is_empty();
        self.endpoint.submit(buffer);
    }

    /// Nothing more is to go for now, so a burst is over.
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if std::mem::take(&mut self.ends_full) {
            self.endpoint.submit(Buffer::new(0));
        }
        self.poll_below(context, 0)
    }
}
