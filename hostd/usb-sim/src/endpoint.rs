//! Bulk and interrupt endpoints, as the simulated device has them in its hands.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::usbip::{Replies, Sequence};

/// Bytes that a device may have ready to send, and as many that it was sent and has not read.
const BUFFER_BYTES_MAX: usize = 256 * 1024;

/// What an endpoint and the controller share.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Transfers of the controller that are not complete, the first one first.
    pending: VecDeque<Transfer>,
    /// Messages of the device, or bytes from the controller.
    messages: VecDeque<Vec<u8>>,
    /// Bytes of the first message that are gone already.
    begun: usize,
    bytes: usize,
    /// Each message is a transfer of its own.
    keeps_messages: bool,
    has_ended: bool,
    device: Option<Waker>,
}

#[derive(Debug)]
enum Transfer {
    /// Wants at most so many bytes.
    In(Sequence, usize),
    /// Brings these.
    Out(Sequence, Vec<u8>),
}

/// An endpoint, shared by the device and the controller.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shared(Arc<Mutex<State>>);

impl Shared {
    pub(crate) fn new(keeps_messages: bool) -> Self {
        let state = State {
            keeps_messages,
            ..State::default()
        };
        Self(Arc::new(Mutex::new(state)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The controller asks for bytes.
    pub(crate) fn submit_in(&self, sequence: Sequence, length: usize, replies: &Replies) {
        let mut state = self.state();
        state.pending.push_back(Transfer::In(sequence, length));
        state.send(replies);
    }

    /// The controller brings bytes.
    pub(crate) fn submit_out(&self, sequence: Sequence, bytes: Vec<u8>, replies: &Replies) {
        let mut state = self.state();
        state.pending.push_back(Transfer::Out(sequence, bytes));
        state.receive(replies);
    }

    /// The controller no longer wants a transfer. Whether it was still pending.
    pub(crate) fn unlink(&self, sequence: Sequence) -> bool {
        let mut state = self.state();
        let before = state.pending.len();
        state.pending.retain(|transfer| {
            let (Transfer::In(pending, _) | Transfer::Out(pending, _)) = transfer;
            *pending != sequence
        });
        state.pending.len() < before
    }

    /// The device was unplugged.
    pub(crate) fn end(&self) {
        let mut state = self.state();
        state.has_ended = true;
        state.pending.clear();
        state.wake();
    }

    /// Forgets what is under way in the device.
    fn clear(&self) {
        let mut state = self.state();
        state.messages.clear();
        (state.begun, state.bytes) = (0, 0);
    }
}

impl State {
    fn wake(&mut self) {
        if let Some(waker) = self.device.take() {
            waker.wake();
        }
    }

    /// Completes transfers with what the device has to send.
    fn send(&mut self, replies: &Replies) {
        while !self.messages.is_empty()
            && let Some(Transfer::In(sequence, length)) = self.pending.pop_front()
        {
            let bytes = self.take(length);
            replies.completed_in(sequence, &bytes);
        }
        if self.bytes < BUFFER_BYTES_MAX {
            self.wake();
        }
    }

    /// Takes bytes for one transfer: of one message, or as many as there are.
    fn take(&mut self, length: usize) -> Vec<u8> {
        let mut taken = Vec::new();
        while let Some(first) = self.messages.front() {
            let rest = &first[self.begun..];
            let count = rest.len().min(length - taken.len());
            taken.extend_from_slice(&rest[..count]);
            self.bytes -= count;
            self.begun += count;
            let is_whole = self.begun == first.len();
            if is_whole {
                self.messages.pop_front();
                self.begun = 0;
            }
            if !is_whole || self.keeps_messages || taken.len() == length {
                break;
            }
        }
        taken
    }

    /// Takes what the controller brings, as far as there is room.
    fn receive(&mut self, replies: &Replies) {
        while self.bytes < BUFFER_BYTES_MAX
            && let Some(Transfer::Out(sequence, bytes)) = self.pending.pop_front()
        {
            self.bytes += bytes.len();
            replies.completed_out(sequence, bytes.len());
            self.messages.push_back(bytes);
        }
        if !self.messages.is_empty() {
            self.wake();
        }
    }
}

fn unplugged() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the device was unplugged")
}

/// An endpoint on which a device sends. As a writer, it is a stream of bytes.
#[derive(Debug)]
pub struct Input {
    pub(crate) shared: Shared,
    pub(crate) replies: Replies,
}

impl Input {
    /// Sends a message, which ends its transfer. Waits while much is unsent.
    ///
    /// # Errors
    /// The device was unplugged.
    pub async fn send(&mut self, message: &[u8]) -> io::Result<()> {
        let mut message = Some(message.to_vec());
        poll_fn(|context| self.poll_push(context, &mut message)).await
    }

    /// Forgets what was to be sent.
    pub fn clear(&self) {
        self.shared.clear();
    }

    fn poll_push(
        &self,
        context: &mut Context<'_>,
        message: &mut Option<Vec<u8>>,
    ) -> Poll<io::Result<()>> {
        let mut state = self.shared.state();
        if state.has_ended {
            return Poll::Ready(Err(unplugged()));
        }
        if BUFFER_BYTES_MAX <= state.bytes {
            state.device = Some(context.waker().clone());
            return Poll::Pending;
        }
        if let Some(message) = message.take() {
            state.bytes += message.len();
            state.messages.push_back(message);
            state.send(&self.replies);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Input {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let count = bytes.len();
        // An empty message would end a transfer.
        let mut message = (count > 0).then(|| bytes.to_vec());
        self.poll_push(context, &mut message).map_ok(|()| count)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// An endpoint on which a device receives. As a reader, it is a stream of bytes.
#[derive(Debug)]
pub struct Output {
    pub(crate) shared: Shared,
    pub(crate) replies: Replies,
}

impl Output {
    /// The next transfer, whole.
    ///
    /// # Errors
    /// The device was unplugged.
    pub async fn receive(&mut self) -> io::Result<Vec<u8>> {
        poll_fn(|context| self.poll_take(context, usize::MAX)).await
    }

    /// Forgets what was received and not read.
    pub fn clear(&self) {
        self.shared.clear();
        self.shared.state().receive(&self.replies);
        self.shared.clear();
    }

    /// Some bytes of the next transfer.
    fn poll_take(&self, context: &mut Context<'_>, most: usize) -> Poll<io::Result<Vec<u8>>> {
        let mut state = self.shared.state();
        if state.messages.is_empty() {
            if state.has_ended {
                return Poll::Ready(Err(unplugged()));
            }
            state.device = Some(context.waker().clone());
            return Poll::Pending;
        }
        let taken = state.take(most);
        state.receive(&self.replies);
        Poll::Ready(Ok(taken))
    }
}

impl AsyncRead for Output {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let Poll::Ready(taken) = self.poll_take(context, into.remaining()) else {
                return Poll::Pending;
            };
            let taken = taken?;
            // Transfers may be empty, but nothing read would mean the end.
            if !taken.is_empty() {
                into.put_slice(&taken);
                return Poll::Ready(Ok(()));
            }
        }
    }
}
