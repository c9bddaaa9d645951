//! One connection of a link: what has come and not been read, what is to go, and how it ends.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use tokio::io::ReadBuf;

use super::frame::{HEADER_BYTES, Header, Kind};
use super::greeting::Terms;
use super::inbox::Inbox;
use super::link::LinkError;
use super::outbox::Outbox;
use super::wires::Transfer;

/// Bytes of the text in a reset that are kept.
pub(super) const REASON_BYTES_MAX: usize = 200;

/// The state of a connection. Whoever changes it so that [`has_news`](Self::has_news) has it sent.
#[derive(Debug)]
pub(super) struct Channel {
    pub(super) number: u16,
    inbox: Inbox,
    /// Bytes that the other side may still send.
    window: u32,
    /// What [`Self::window`] began with.
    window_max: u32,
    /// Bytes that were read and not yet granted again.
    taken: u32,
    outbox: Outbox,
    /// Bytes that may still be sent.
    credit: u32,
    /// Frames without data that are to be sent first.
    opens: bool,
    accepts: bool,
    /// The other side has confirmed that it is open.
    is_open: bool,
    ending: Progress,
    /// The other side sends no more.
    has_ended: bool,
    resetting: Progress,
    /// The other side has ended it both ways.
    was_reset: bool,
    reason: Option<Arc<str>>,
    /// Nobody will read what comes.
    is_dropped: bool,
    /// It stands in the line of those with something to send.
    pub(super) is_waiting: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

/// How far something is that is to be sent once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    No,
    Due,
    Sent,
}

impl Channel {
    /// A connection that this side opens.
    pub(super) fn opening(number: u16, (ours, theirs): (Terms, Terms)) -> Self {
        let (window, credit) = (ours.window_bytes, theirs.window_bytes);
        Self {
            number,
            inbox: Inbox::default(),
            window,
            window_max: window,
            taken: 0,
            outbox: Outbox::new(theirs.data_max()),
            credit,
            opens: true,
            accepts: false,
            is_open: false,
            ending: Progress::No,
            has_ended: false,
            resetting: Progress::No,
            was_reset: false,
            reason: None,
            is_dropped: false,
            is_waiting: false,
            reader: None,
            writer: None,
        }
    }

    /// A connection that the other side opened.
    pub(super) fn opened(number: u16, terms: (Terms, Terms)) -> Self {
        Self {
            opens: false,
            accepts: true,
            is_open: true,
            ..Self::opening(number, terms)
        }
    }

    /// One that the other side opened and will not get.
    pub(super) fn refused(number: u16, terms: (Terms, Terms), reason: &str) -> Self {
        Self {
            accepts: false,
            resetting: Progress::Due,
            reason: Some(reason.into()),
            is_dropped: true,
            window: 0,
            credit: 0,
            ..Self::opened(number, terms)
        }
    }

    /// Nothing can be sent or received on it any more, and the number is free.
    pub(super) fn is_over(&self) -> bool {
        (self.resetting == Progress::Sent && self.was_reset)
            || (self.ending == Progress::Sent && self.has_ended && self.resetting == Progress::No)
    }

    /// Waits until the other side has accepted it.
    pub(super) fn poll_open(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.was_reset {
            let reason = self.reason.clone();
            let reason = reason.as_deref().unwrap_or("it gives no reason");
            let error = io::Error::new(
                io::ErrorKind::ConnectionRefused,
                format!("the pod refused the connection: {reason}"),
            );
            return Poll::Ready(Err(error));
        }
        if self.is_open {
            return Poll::Ready(Ok(()));
        }
        self.reader = Some(context.waker().clone());
        Poll::Pending
    }

    /// Reads what has come; nothing means that no more will.
    pub(super) fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.inbox.is_empty() {
            let count = self.inbox.read(into);
            self.taken += u32::try_from(count).expect("a window is below 4 GiB");
            return Poll::Ready(Ok(()));
        }
        if self.has_ended {
            return Poll::Ready(Ok(()));
        }
        if self.was_reset {
            return Poll::Ready(Err(self.broken()));
        }
        self.reader = Some(context.waker().clone());
        Poll::Pending
    }

    /// Takes bytes to send, large ones in what `free` has.
    pub(super) fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        bytes: &[u8],
        free: impl FnMut() -> Option<Transfer>,
    ) -> Poll<io::Result<usize>> {
        if self.was_reset {
            return Poll::Ready(Err(self.broken()));
        }
        if self.ending != Progress::No {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let count = self.outbox.write(bytes, self.credit as usize, free);
        if count == 0 && !bytes.is_empty() {
            self.writer = Some(context.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Ok(count))
    }

    /// Sends no more once the outbox is empty.
    pub(super) fn end(&mut self) {
        if self.ending == Progress::No {
            self.ending = Progress::Due;
        }
    }

    /// Nobody reads or writes any more. What was written is sent as far as the other side takes it. As with TCP, what
    /// came and was not read resets the connection.
    pub(super) fn drop_stream(&mut self) {
        self.is_dropped = true;
        self.end();
        if !self.inbox.is_empty() || self.credit == 0 && !self.outbox.is_empty() {
            self.reset();
        }
        self.inbox = Inbox::default();
    }

    fn reset(&mut self) {
        if self.resetting == Progress::No {
            self.resetting = Progress::Due;
        }
    }

    /// The link is gone.
    pub(super) fn break_off(&mut self, reason: &str) {
        if !self.is_over() {
            self.was_reset = true;
            self.reason.get_or_insert_with(|| reason.into());
        }
        self.wake();
    }

    fn broken(&self) -> io::Error {
        let reason = self.reason.as_deref().unwrap_or("it gives no reason");
        let text = format!("the pod ended the connection: {reason}");
        io::Error::new(io::ErrorKind::ConnectionReset, text)
    }

    fn wake(&mut self) {
        for waker in [self.reader.take(), self.writer.take()]
            .into_iter()
            .flatten()
        {
            waker.wake();
        }
    }

    /// Takes a frame of this channel.
    pub(super) fn take(&mut self, kind: Kind, bytes: Bytes) -> Result<(), LinkError> {
        if kind == Kind::Reset {
            self.was_reset = true;
            let text = &bytes[..bytes.len().min(REASON_BYTES_MAX)];
            if !text.is_empty() {
                let text = String::from_utf8_lossy(text);
                let text: String = text.chars().filter(|c| !c.is_control()).collect();
                self.reason = Some(text.into());
            }
            self.reset();
            self.outbox.clear();
            self.wake();
            return Ok(());
        }
        if self.resetting != Progress::No {
            // Sent before the other side knew.
            return Ok(());
        }
        match kind {
            Kind::Accept if !self.is_open => self.is_open = true,
            Kind::Data => self.receive(bytes)?,
            Kind::Credit => {
                let more = bytes[..].try_into().map(u32::from_le_bytes);
                let more = more.map_err(|_| LinkError::Misused("a credit is not of four bytes"))?;
                let credit = self.credit.checked_add(more);
                self.credit = credit.ok_or(LinkError::Misused("the credit overflows"))?;
            }
            Kind::End if !self.has_ended => self.has_ended = true,
            _ => return Err(LinkError::Misused("a frame came out of turn")),
        }
        self.wake();
        Ok(())
    }

    fn receive(&mut self, bytes: Bytes) -> Result<(), LinkError> {
        if self.has_ended {
            return Err(LinkError::Misused("data came after its end"));
        }
        let count = u32::try_from(bytes.len()).expect("a frame is below 4 GiB");
        let left = self.window.checked_sub(count);
        self.window = left.ok_or(LinkError::Misused("more data came than was granted"))?;
        if self.is_dropped {
            self.reset();
        } else {
            self.inbox.push(bytes);
        }
        Ok(())
    }

    /// Whether there is something that can be sent now.
    pub(super) fn has_news(&self) -> bool {
        if self.resetting == Progress::Sent {
            return false;
        }
        let can_send = !self.outbox.is_empty() && self.credit > 0;
        let ends = self.outbox.is_empty() && self.ending == Progress::Due;
        self.opens
            || self.accepts
            || self.resetting == Progress::Due
            || can_send
            || ends
            || self.grants()
    }

    /// Half of the window is granted at once: neither does the other side wait, nor is there a grant for each frame.
    fn grants(&self) -> bool {
        !self.has_ended && self.window_max / 2 < self.taken
    }

    /// Writes frames to `head`, and returns the frame of data that comes after them, if there is one. What comes after
    /// data waits for the next turn.
    pub(super) fn write(&mut self, head: &mut Vec<u8>) -> Option<Transfer> {
        let number = self.number;
        let mut put = |kind, bytes: &[u8]| {
            head.extend_from_slice(&Header::new(number, kind, bytes.len()).to_bytes());
            head.extend_from_slice(bytes);
        };
        if std::mem::take(&mut self.opens) {
            put(Kind::Open, &[]);
        }
        if std::mem::take(&mut self.accepts) {
            put(Kind::Accept, &[]);
        }
        if self.resetting == Progress::Sent {
            return None;
        }
        if self.grants() {
            put(Kind::Credit, &self.taken.to_le_bytes());
            self.window += self.taken;
            self.taken = 0;
        }
        if !self.outbox.is_empty() && self.credit > 0 {
            return Some(self.write_data());
        }
        if self.resetting == Progress::Due {
            self.resetting = Progress::Sent;
            self.outbox.clear();
            let reason = self.reason.as_deref().unwrap_or_default();
            let reason = if self.was_reset { "" } else { reason };
            put(Kind::Reset, reason.as_bytes());
        } else if self.ending == Progress::Due && self.outbox.is_empty() {
            self.ending = Progress::Sent;
            put(Kind::End, &[]);
        }
        None
    }

    fn write_data(&mut self) -> Transfer {
        let frame = self.outbox.pop(self.number, self.credit as usize);
        let sent =
            u32::try_from(frame.bytes().len() - HEADER_BYTES).expect("no more than the credit");
        self.credit -= sent;
        if self.is_dropped && self.credit == 0 && !self.outbox.is_empty() {
            self.reset();
        }
        if let Some(writer) = self.writer.take() {
            writer.wake();
        }
        frame
    }
}
