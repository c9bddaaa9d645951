//! Bulk and interrupt endpoints, as the simulated device has them in its hands.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::pace::Pace;
use super::usbip::{Replies, Sequence};

/// Bytes that a device may have ready to send, and as many that it was sent and has not read.
const BUFFER_BYTES_MAX: usize = 256 * 1024;

/// How what a device sends becomes transfers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// A transfer takes what there is.
    #[default]
    Stream,
    /// Each message is a transfer of its own.
    Messages,
    /// A transfer ends when it is full, as it does when a device sends nothing but full packets.
    Full,
}

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
    form: Form,
    pace: Pace,
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
    pub(crate) fn new(form: Form, pace: Pace) -> Self {
        let state = State {
            form,
            pace,
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

    /// The bus has become free.
    pub(crate) fn resume(&self, replies: &Replies) {
        let mut state = self.state();
        match state.pending.front() {
            Some(Transfer::In(..)) => state.send(replies),
            Some(Transfer::Out(..)) => state.receive(replies),
            None => {}
        }
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
            && let Some(Transfer::In(sequence, length)) = self.pending.front()
        {
            let (sequence, length) = (*sequence, *length);
            let is_short = self.form == Form::Full && self.bytes < length;
            if is_short || !self.pace.is_free() {
                break;
            }
            self.pending.pop_front();
            let bytes = self.take(length);
            self.pace.carry(bytes.len());
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
            if !is_whole || self.form == Form::Messages || taken.len() == length {
                break;
            }
        }
        taken
    }

    /// Takes what the controller brings, as far as there is room.
    fn receive(&mut self, replies: &Replies) {
        while self.bytes < BUFFER_BYTES_MAX
            && let Some(Transfer::Out(..)) = self.pending.front()
            && self.pace.is_free()
            && let Some(Transfer::Out(sequence, bytes)) = self.pending.pop_front()
        {
            self.pace.carry(bytes.len());
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
        poll_fn(|context| self.poll_room(context)).await?;
        self.push(message.to_vec());
        Ok(())
    }

    /// Bytes that no transfer has room for.
    pub fn unsent(&self) -> usize {
        let state = self.shared.state();
        let room = state.pending.iter().map(|transfer| match transfer {
            Transfer::In(_, length) => *length,
            Transfer::Out(..) => 0,
        });
        state.bytes.saturating_sub(room.sum())
    }

    /// Whether the device was unplugged.
    pub fn has_ended(&self) -> bool {
        self.shared.state().has_ended
    }

    /// Waits while much is unsent.
    pub fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.shared.state();
        if state.has_ended {
            return Poll::Ready(Err(unplugged()));
        }
        if BUFFER_BYTES_MAX <= state.bytes {
            state.device = Some(context.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    /// Sends a message, for which there was room.
    pub fn push(&mut self, message: Vec<u8>) {
        let mut state = self.shared.state();
        state.bytes += message.len();
        state.messages.push_back(message);
        state.send(&self.replies);
    }

    /// Forgets what was to be sent.
    pub fn clear(&self) {
        self.shared.clear();
    }
}

impl AsyncWrite for Input {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_room(context))?;
        // An empty message would end a transfer.
        if !bytes.is_empty() {
            self.push(bytes.to_vec());
        }
        Poll::Ready(Ok(bytes.len()))
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
    /// The transfer that is being read, and how far it has been.
    current: Vec<u8>,
    read: usize,
}

impl Output {
    pub(crate) fn new(shared: Shared, replies: Replies) -> Self {
        Self {
            shared,
            replies,
            current: Vec::new(),
            read: 0,
        }
    }

    /// The next transfer, whole.
    ///
    /// # Errors
    /// The device was unplugged.
    pub async fn receive(&mut self) -> io::Result<Vec<u8>> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// Forgets what was received and not read.
    pub fn clear(&mut self) {
        self.current.clear();
        self.read = 0;
        self.shared.clear();
        self.shared.state().receive(&self.replies);
        self.shared.clear();
    }

    /// As [`receive`](Self::receive).
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Vec<u8>>> {
        let mut state = self.shared.state();
        let Some(message) = state.messages.pop_front() else {
            if state.has_ended {
                return Poll::Ready(Err(unplugged()));
            }
            state.device = Some(context.waker().clone());
            return Poll::Pending;
        };
        state.bytes -= message.len();
        state.receive(&self.replies);
        Poll::Ready(Ok(message))
    }
}

impl AsyncRead for Output {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // Transfers may be empty, but nothing read would mean the end.
        while self.read == self.current.len() {
            self.current = ready!(self.poll_next(context))?;
            self.read = 0;
        }
        let bytes = &self.current[self.read..];
        let count = bytes.len().min(into.remaining());
        into.put_slice(&bytes[..count]);
        self.read += count;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn full_transfers_are_filled_and_the_rest_is_unsent() {
        let (send, mut told) = mpsc::unbounded_channel();
        let replies = Replies(send);
        let shared = Shared::new(Form::Full, Pace::default());
        let mut input = Input {
            shared: shared.clone(),
            replies: replies.clone(),
        };
        shared.submit_in(1, 8, &replies);
        shared.submit_in(2, 8, &replies);
        input.send(b"abcde").await.unwrap();
        assert!(told.try_recv().is_err());
        assert_eq!(input.unsent(), 0);
        input.send(b"fghij").await.unwrap();
        assert!(told.try_recv().unwrap().ends_with(b"abcdefgh"));
        assert!(told.try_recv().is_err());
        assert!(shared.unlink(2));
        assert_eq!(input.unsent(), 2);
    }
}
