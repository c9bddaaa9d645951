//! Bulk endpoints as what carries a link.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use nusb::Endpoint;
use nusb::transfer::{Buffer, Bulk, In, Out};
use pod_protocol::usb::{Incoming, Outgoing, TRANSFER_BYTES};

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
        let mut free = free(&self.free);
        if let Some(mut buffer) = self.buffer.take()
            && free.len() < KERNEL_BUFFERS_MAX
        {
            buffer.clear();
            free.push(buffer);
        }
    }
}

fn free(buffers: &Mutex<Vec<Buffer>>) -> MutexGuard<'_, Vec<Buffer>> {
    buffers.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What goes to a pod.
pub(super) struct ToPod(pub(super) Endpoint<Bulk, Out>);

impl ToPod {
    /// Waits until no more than so many are under way.
    fn poll_below(&mut self, context: &mut Context<'_>, most: usize) -> Poll<io::Result<()>> {
        while most < self.0.pending() {
            ready!(self.0.poll_next_complete(context)).status?;
        }
        Poll::Ready(Ok(()))
    }
}

impl Outgoing for ToPod {
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_below(context, TRANSFERS - 1)
    }

    fn send(&mut self, transfer: Vec<u8>) {
        self.0.submit(transfer.into());
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_below(context, 0)
    }
}
