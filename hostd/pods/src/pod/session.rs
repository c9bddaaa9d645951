//! A session: a separate connection for longer work, within the rules of what may be open together.
//!
//! It carries bytes both ways. It ends when it is dropped or closed, when the pod goes offline or
//! restarts, and when somebody revokes it; the last three become read and write errors that carry a
//! [`SessionEnd`].

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use pod_protocol::connection::lines::Lines;
use pod_protocol::{REPLY_LINE_BYTES_MAX, verbs};
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::access::Access;
use super::connection::Connection;
use super::exclusion::{SessionEnd, SessionKind, Share};
use super::{DEFAULT_REPLY_TIMEOUT, PodError, link};

/// Pause between checks of a closed session's channels.
const RELEASE_POLL: Duration = Duration::from_millis(20);

/// An open session.
pub struct Session {
    connection: Option<Connection>,
    /// Bytes that arrived together with an acknowledgement and are still unread.
    received: Vec<u8>,
    reads: Ended,
    writes: Ended,
    // Declared after the connection, so that nobody else gets the share before it is closed.
    share: Share,
    access: Arc<Access>,
}

impl Session {
    /// Opens one, unless others exclude it.
    pub(super) async fn begin(access: &Arc<Access>, kind: SessionKind) -> Result<Self, PodError> {
        let share = access.sessions.enter(kind)?;
        if share.follows_unsettled {
            // The result does not matter: the pod itself refuses what it cannot do yet.
            let _ = access.round_trip().await;
        }
        let connection = access.open().await?;
        let session = Self {
            connection: Some(connection),
            received: Vec::new(),
            reads: Ended::new(share.end.subscribe()),
            writes: Ended::new(share.end.subscribe()),
            share,
            access: access.clone(),
        };
        match session.end() {
            Some(end) => Err(PodError::Ended(end)),
            None => Ok(session),
        }
    }

    /// What it is for.
    pub fn kind(&self) -> SessionKind {
        self.share.kind
    }

    /// Why it was ended from this side; `None` while it runs and after the pod closed it.
    pub fn end(&self) -> Option<SessionEnd> {
        self.share.end.borrow().clone()
    }

    /// Resolves when the session is ended from this side.
    pub fn ended(&self) -> impl Future<Output = SessionEnd> + Send + use<> {
        wait_for_end(self.share.end.subscribe())
    }

    /// Ends this one alone: its reads and writes fail from now on.
    #[cfg(test)]
    pub(crate) fn revoke(&self, reason: &str) {
        let reason = reason.to_owned();
        super::exclusion::end(&self.share.end, SessionEnd::Revoked { reason });
    }

    /// Closes it and waits until the pod has released what it held.
    ///
    /// # Errors
    /// [`PodError::NotReleased`] when its channels are still taken after
    /// [`release_wait`](super::PodOptions::release_wait); otherwise why the request failed.
    pub async fn close(mut self) -> Result<(), PodError> {
        if let Some(mut connection) = self.connection.take() {
            // Do not wait for a peer that reads nothing; closing ends it anyway.
            let wait = self.access.options.release_wait;
            let _ = timeout(wait, connection.shutdown()).await;
        }
        let released = released(&self.access, self.kind()).await;
        if released.is_ok() {
            self.share.settle();
        }
        released
    }

    /// Sends a request that switches the connection, and returns the data of its acknowledgement.
    /// Whatever follows is read from the session.
    pub(super) async fn switch(
        self,
        request: &Map<String, Value>,
    ) -> Result<(Self, Value), PodError> {
        let line = link::request_line(request)?;
        let verb = verbs::verb(request)
            .expect("built with its verb")
            .to_owned();
        let patience = DEFAULT_REPLY_TIMEOUT + verbs::deliberate_wait(request);
        let mut lines = Lines::new(self, REPLY_LINE_BYTES_MAX);
        let data = link::exchange(&mut lines, &verb, line, patience).await?;
        let (mut session, received) = lines.into_parts();
        session.received = received;
        Ok((session, data))
    }
}

const UART_FUNCTIONS: [&str; 2] = ["uart_rx", "uart_tx"];
const PROBE_FUNCTIONS: [&str; 2] = ["swd_clk", "swd_dio"];
const RAW_FUNCTIONS: [&str; 4] = ["uart_rx", "uart_tx", "swd_clk", "swd_dio"];

/// Waits until the pod has released what a session of `kind` held.
async fn released(access: &Access, kind: SessionKind) -> Result<(), PodError> {
    let functions: &[&str] = match kind {
        SessionKind::Uart | SessionKind::Console => &UART_FUNCTIONS,
        SessionKind::Flash => &PROBE_FUNCTIONS,
        SessionKind::Exclusive => &RAW_FUNCTIONS,
        SessionKind::Capture | SessionKind::Dac | SessionKind::Update => {
            return access.round_trip().await;
        }
    };
    let deadline = Instant::now() + access.options.release_wait;
    loop {
        let mut request = Map::new();
        request.insert("cmd".to_owned(), "la_pins".into());
        let left = deadline.saturating_duration_since(Instant::now());
        let table = access.command(request, left).await?;
        let pins = table.get("pins").and_then(Value::as_array);
        let held = pins.into_iter().flatten().any(|pin| {
            let function = pin.get("function").and_then(Value::as_str);
            function.is_some_and(|function| functions.contains(&function))
        });
        if !held {
            return Ok(());
        }
        if Instant::now() + RELEASE_POLL >= deadline {
            return Err(PodError::NotReleased { kind });
        }
        sleep(RELEASE_POLL).await;
    }
}

async fn wait_for_end(mut end: watch::Receiver<Option<SessionEnd>>) -> SessionEnd {
    let ended = end.wait_for(Option::is_some).await;
    match ended {
        Ok(end) => end.clone().expect("waited for it"),
        Err(_) => SessionEnd::LetGo,
    }
}

/// Wakes one direction of a session when it is ended.
struct Ended {
    end: watch::Receiver<Option<SessionEnd>>,
    wait: Pin<Box<dyn Future<Output = SessionEnd> + Send>>,
}

impl Ended {
    fn new(end: watch::Receiver<Option<SessionEnd>>) -> Self {
        let wait = Box::pin(wait_for_end(end.clone()));
        Self { end, wait }
    }

    /// An error if the session was ended; otherwise wakes the caller when it is.
    fn check(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        if let Some(end) = self.end.borrow().clone() {
            return Err(end.into());
        }
        match self.wait.as_mut().poll(cx) {
            Poll::Ready(end) => Err(end.into()),
            Poll::Pending => Ok(()),
        }
    }
}

impl From<SessionEnd> for io::Error {
    fn from(end: SessionEnd) -> Self {
        Self::new(io::ErrorKind::ConnectionAborted, end)
    }
}

fn closed() -> io::Error {
    io::ErrorKind::NotConnected.into()
}

impl AsyncRead for Session {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.reads.check(cx)?;
        if !this.received.is_empty() {
            let taken = this.received.len().min(buf.remaining());
            buf.put_slice(&this.received[..taken]);
            this.received.drain(..taken);
            return Poll::Ready(Ok(()));
        }
        let connection = this.connection.as_mut().ok_or_else(closed)?;
        Pin::new(connection).poll_read(cx, buf)
    }
}

impl AsyncWrite for Session {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.writes.check(cx)?;
        let connection = this.connection.as_mut().ok_or_else(closed)?;
        Pin::new(connection).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.writes.check(cx)?;
        let connection = this.connection.as_mut().ok_or_else(closed)?;
        Pin::new(connection).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let connection = self.get_mut().connection.as_mut().ok_or_else(closed)?;
        Pin::new(connection).poll_shutdown(cx)
    }
}
