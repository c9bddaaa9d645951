//! One connection of a session: a tunnel, or single commands in messages of their own. What waits either way is bounded.

use std::io;
use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::{Buf, BytesMut};
use pod_protocol::commands::Tier;
use pod_protocol::dial::{self, SERVER_DATA_BYTES, ToPod};
use serde_json::{Value, json};
use tokio::io::ReadBuf;

use super::TUNNEL_BYTES_MAX;

/// Bytes written that have not gone out yet.
const WAITING_BYTES_MAX: usize = 16 * 1024;

/// What a connection carries.
#[derive(Debug)]
enum Kind {
    Tunnel {
        is_open: bool,
    },
    /// Commands, a line each, one after the other.
    Commands {
        /// Sent so far.
        count: u64,
        is_asked: bool,
    },
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// Ends once everything written has gone out.
    Closing,
    Closed,
}

/// See the module's documentation.
#[derive(Debug)]
pub(super) struct Channel {
    number: u64,
    kind: Kind,
    phase: Phase,
    received: BytesMut,
    written: BytesMut,
    /// Why it is broken.
    broken: Option<Arc<str>>,
    /// Nobody holds its stream any more.
    is_dropped: bool,
    /// Waits for its turn to send.
    pub(super) is_queued: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

/// What came of bytes for a tunnel.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Offered {
    Taken,
    /// There is no room.
    Full,
}

impl Channel {
    pub(super) fn tunnel(number: u64) -> Self {
        Self::new(number, Kind::Tunnel { is_open: false })
    }

    pub(super) fn commands(number: u64) -> Self {
        let kind = Kind::Commands {
            count: 0,
            is_asked: false,
        };
        Self::new(number, kind)
    }

    fn new(number: u64, kind: Kind) -> Self {
        Self {
            number,
            kind,
            phase: Phase::Open,
            received: BytesMut::new(),
            written: BytesMut::new(),
            broken: None,
            is_dropped: false,
            is_queued: false,
            reader: None,
            writer: None,
        }
    }

    /// Whether it takes one of the pod's tunnels.
    pub(super) fn is_tunnel(&self) -> bool {
        matches!(self.kind, Kind::Tunnel { .. }) && self.phase != Phase::Closed
    }

    /// Whether it carries single commands.
    pub(super) fn is_for_commands(&self) -> bool {
        matches!(self.kind, Kind::Commands { .. }) && self.phase == Phase::Open
    }

    /// Whether nobody needs it any more.
    pub(super) fn is_over(&self) -> bool {
        self.is_dropped && self.phase == Phase::Closed
    }

    /// Whether it has a frame to send.
    pub(super) fn has_news(&self) -> bool {
        match (&self.kind, self.phase) {
            (_, Phase::Closed) => false,
            (Kind::Tunnel { is_open: false }, _) | (_, Phase::Closing) => true,
            (Kind::Tunnel { .. }, Phase::Open) => !self.written.is_empty(),
            (Kind::Commands { is_asked, .. }, Phase::Open) => {
                !is_asked && self.written.contains(&b'\n')
            }
        }
    }

    /// Its next frame, if it has one.
    pub(super) fn next_frame(&mut self) -> Option<String> {
        if self.phase == Phase::Closed {
            return None;
        }
        let is_closing = self.phase == Phase::Closing;
        match &mut self.kind {
            Kind::Tunnel { is_open } => {
                let tunnel_id = tunnel_id(self.number);
                if !mem::replace(is_open, true) {
                    let tunnel_id = tunnel_id.into();
                    let tier = Tier::Firmware;
                    return Some(ToPod::Open { tunnel_id, tier }.write());
                }
                if self.written.is_empty() {
                    if !is_closing {
                        return None;
                    }
                    self.phase = Phase::Closed;
                    wake(&mut self.reader);
                    let tunnel_id = tunnel_id.into();
                    return Some(ToPod::Close { tunnel_id }.write());
                }
                let count = self.written.len().min(SERVER_DATA_BYTES);
                let frame = dial::frame(&tunnel_id, &self.written[..count]);
                self.written.advance(count);
                wake(&mut self.writer);
                Some(frame)
            }
            Kind::Commands { .. } if is_closing => {
                self.phase = Phase::Closed;
                None
            }
            Kind::Commands { count, is_asked } => {
                let end = self.written.iter().position(|byte| *byte == b'\n');
                let end = end.filter(|_| !*is_asked)?;
                let line = self.written.split_to(end + 1);
                wake(&mut self.writer);
                let Ok(command) = serde_json::from_slice(&line) else {
                    self.fail("a command is no JSON object");
                    return None;
                };
                *count += 1;
                *is_asked = true;
                let request_id = format!("{}.{count}", self.number).into();
                Some(
                    ToPod::Request {
                        request_id,
                        command,
                    }
                    .write(),
                )
            }
        }
    }

    /// Takes the data of a frame, or all of it not. What is no base64url breaks the tunnel.
    pub(super) fn offer(&mut self, data: &str) -> Offered {
        if self.broken.is_some() || self.is_dropped || self.phase == Phase::Closed {
            // It may still have been on its way.
            return Offered::Taken;
        }
        if self.received.len() + dial::len(data) > TUNNEL_BYTES_MAX {
            return Offered::Full;
        }
        if dial::decode(data, &mut self.received).is_none() {
            self.fail("the pod sent data that is not base64url");
        }
        wake(&mut self.reader);
        Offered::Taken
    }

    /// Takes the answer to a command, unless another one is meant.
    pub(super) fn answer(&mut self, number: u64, answer: Result<Value, String>) {
        let Kind::Commands { count, is_asked } = &mut self.kind else {
            return;
        };
        if *count != number || !mem::take(is_asked) || self.is_dropped {
            return;
        }
        let line = match answer {
            Ok(data) => json!({"status": "ok", "data": data}),
            Err(message) => json!({"status": "error", "message": message}),
        };
        self.received.extend_from_slice(line.to_string().as_bytes());
        self.received.extend_from_slice(b"\n");
        wake(&mut self.reader);
    }

    /// Ends it now, from this side: the pod is told, and whoever uses it finds out why.
    pub(super) fn fail(&mut self, reason: &str) {
        self.break_off(&reason.into());
        if self.phase == Phase::Open {
            self.phase = Phase::Closing;
        }
        self.received = BytesMut::new();
    }

    /// The pod is gone, or this connection of it. What has arrived can still be read.
    pub(super) fn break_off(&mut self, reason: &Arc<str>) {
        self.broken.get_or_insert_with(|| reason.clone());
        self.written.clear();
        wake(&mut self.reader);
        wake(&mut self.writer);
    }

    /// No more will be written.
    pub(super) fn close(&mut self) {
        if self.phase == Phase::Open {
            self.phase = Phase::Closing;
        }
    }

    /// Nobody holds its stream any more.
    pub(super) fn drop_stream(&mut self) {
        self.is_dropped = true;
        self.received = BytesMut::new();
        self.close();
    }

    pub(super) fn poll_read(
        &mut self,
        context: &Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.received.is_empty() {
            let count = self.received.len().min(into.remaining());
            into.put_slice(&self.received[..count]);
            self.received.advance(count);
            return Poll::Ready(Ok(()));
        }
        if let Some(reason) = &self.broken {
            return Poll::Ready(Err(io::Error::new(
                io::ErrorKind::ConnectionAborted,
                reason.to_string(),
            )));
        }
        if self.phase == Phase::Closed {
            return Poll::Ready(Ok(()));
        }
        self.reader = Some(context.waker().clone());
        Poll::Pending
    }

    pub(super) fn poll_write(
        &mut self,
        context: &Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if let Some(reason) = &self.broken {
            return Poll::Ready(Err(io::Error::new(
                io::ErrorKind::BrokenPipe,
                reason.to_string(),
            )));
        }
        if self.phase != Phase::Open {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let room = WAITING_BYTES_MAX - self.written.len();
        if room == 0 {
            self.writer = Some(context.waker().clone());
            return Poll::Pending;
        }
        let count = bytes.len().min(room);
        self.written.extend_from_slice(&bytes[..count]);
        Poll::Ready(Ok(count))
    }
}

/// The id of a tunnel.
fn tunnel_id(number: u64) -> String {
    format!("t{number}")
}

/// The tunnel that an id means.
pub(super) fn tunnel_number(id: &str) -> Option<u64> {
    id.strip_prefix('t')?.parse().ok()
}

/// The connection and the command that the id of a request means.
pub(super) fn request_number(id: &str) -> Option<(u64, u64)> {
    let (channel, number) = id.split_once('.')?;
    Some((channel.parse().ok()?, number.parse().ok()?))
}

fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}
