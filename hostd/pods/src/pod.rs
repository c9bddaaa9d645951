//! One pod, owned by one task: the handle everyone else holds.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::{broadcast, mpsc, watch};

mod access;
mod actor;
mod backoff;
mod commands;
mod connection;
mod dap;
mod error;
mod exclusion;
mod facts;
mod greeting;
mod health;
mod link;
mod options;
mod session;
mod state;
mod upload;

pub use commands::{
    LaVoltage, OTA_PART_BYTES_MAX, OTA_PART_TIMEOUT, OtaProgress, OtaTarget, PowerStatus,
    RailReading,
};
pub use dap::{BlockingDap, DapCancel, DapError, DapRequest, DapSession};
pub use error::{PodError, ProtocolError};
pub use exclusion::{SessionEnd, SessionKind};
pub use facts::{PodFacts, PodIdentity};
pub use options::{
    COMMAND_QUEUE_MAX, DEFAULT_GRACE, DEFAULT_REPLY_TIMEOUT, PodOptions, REPLY_TIMEOUT_MAX,
};
pub use session::Session;
pub use state::{EVENTS_KEPT_MAX, PodEvent, PodState};
pub use upload::{UPLOAD_TIMEOUT_MIN, Upload};

use crate::capture_stream::CaptureStream;
use access::Access;
use actor::{Actor, Known};
use pod_protocol::capture::CaptureRequest;
use pod_protocol::connection::lines::Lines;
use pod_protocol::connection::{BoxedStream, Transport};
use pod_protocol::{Parity, REPLY_LINE_BYTES_MAX};

/// A handle to a pod. Cheap to clone; when the last one is dropped, the pod is released and its
/// sessions end.
#[derive(Clone)]
pub struct Pod {
    access: Arc<Access>,
    /// Tells the owner that somebody still wants the pod.
    _handle: mpsc::Sender<Infallible>,
}

impl Pod {
    /// Starts the task that owns the pod behind `transport`. Needs a tokio runtime.
    pub fn spawn(transport: Arc<dyn Transport>, options: PodOptions) -> Self {
        let (jobs, queue) = mpsc::channel(COMMAND_QUEUE_MAX);
        let (handle, handles) = mpsc::channel(1);
        let (publish, state) = watch::channel(PodState::Connecting);
        let (events, _) = broadcast::channel(EVENTS_KEPT_MAX);
        let options = Arc::new(options);
        let access = Access::new(transport.clone(), options.clone(), jobs, state, events);
        let actor = Actor {
            transport,
            known: Known::default(),
            options,
            queue,
            handles,
            publish,
            events: access.events.clone(),
            sessions: access.sessions.clone(),
            links: access.links.clone(),
        };
        tokio::spawn(actor.run());
        Self {
            access: Arc::new(access),
            _handle: handle,
        }
    }

    /// The certificate the transport is pinned to; see [`Transport::certificate_pin`].
    pub fn certificate_pin(&self) -> Option<String> {
        self.access.transport.certificate_pin()
    }

    /// Whether the pod is online now.
    pub fn state(&self) -> PodState {
        self.access.state.borrow().clone()
    }

    /// Reports every change of [`state`](Self::state).
    pub fn watch(&self) -> watch::Receiver<PodState> {
        self.access.state.clone()
    }

    /// Events of the pod from now on. A receiver more than [`EVENTS_KEPT_MAX`] behind learns how
    /// many it missed.
    pub fn events(&self) -> broadcast::Receiver<PodEvent> {
        self.access.events.subscribe()
    }

    /// The pod's identity, unless it is offline.
    pub fn identity(&self) -> Option<PodIdentity> {
        self.status().map(|facts| facts.identity.clone())
    }

    /// What the pod last reported about itself, unless it is offline. A `status` command refreshes
    /// it; after a lost link it is kept for the grace period.
    pub fn status(&self) -> Option<Arc<PodFacts>> {
        match &*self.access.state.borrow() {
            PodState::Online(facts) | PodState::Reconnecting { facts, .. } => Some(facts.clone()),
            PodState::Connecting | PodState::Offline { .. } => None,
        }
    }

    /// Why the pod cannot be reached, as a fragment; `None` while it is online, and before that is known.
    pub fn away(&self) -> Option<String> {
        match &*self.access.state.borrow() {
            PodState::Reconnecting { reason, .. } | PodState::Offline { reason } => {
                Some(reason.clone())
            }
            PodState::Connecting | PodState::Online(_) => None,
        }
    }

    /// Waits until the pod is online.
    ///
    /// # Errors
    /// [`PodError::Offline`] with the last reason, if it is not online within `timeout`.
    pub async fn wait_online(&self, timeout: Duration) -> Result<Arc<PodFacts>, PodError> {
        let mut state = self.access.state.clone();
        let online = state.wait_for(PodState::is_online);
        let arrived = tokio::time::timeout(timeout, online).await.is_ok();
        let reason = match self.state() {
            PodState::Online(facts) => return Ok(facts),
            PodState::Offline { reason } | PodState::Reconnecting { reason, .. } => reason,
            PodState::Connecting if arrived => return Err(PodError::let_go()),
            PodState::Connecting => "it has not answered yet".to_owned(),
        };
        Err(PodError::Offline { reason })
    }

    /// Runs a single-reply command and returns its `data`, null if there is none.
    ///
    /// `timeout` (at most [`REPLY_TIMEOUT_MAX`]) covers the wait in the queue and for the reply;
    /// the command's deliberate waits are added to it. Dropping the future abandons the command: if
    /// it was not sent yet, it never will be.
    ///
    /// # Errors
    /// [`PodError`]; after anything but `Refused` the link has been reopened.
    pub async fn command(
        &self,
        command: Map<String, Value>,
        timeout: Duration,
    ) -> Result<Value, PodError> {
        self.access.command(command, timeout).await
    }

    /// Starts a capture: a `capture` session. Commands keep working beside it. Drop the stream to
    /// cancel.
    ///
    /// # Errors
    /// [`PodError::Request`] when a field is out of range, [`PodError::Busy`] when another session
    /// excludes it, [`PodError::Offline`] when the pod is offline, [`PodError::Refused`] when its
    /// input could not be routed. A refusal of the capture itself is the stream's first item.
    pub async fn capture(&self, request: CaptureRequest) -> Result<CaptureStream, PodError> {
        request.check()?;
        let session = self.begin(SessionKind::Capture).await?;
        let mut lines = Lines::new(Box::new(session) as BoxedStream, REPLY_LINE_BYTES_MAX);
        if let CaptureRequest::Scope {
            source: Some(source),
            ..
        } = &request
        {
            let mut route = Map::new();
            route.insert("cmd".to_owned(), "analog_path".into());
            route.insert("path".to_owned(), source.path().into());
            let line = link::request_line(&route)?;
            link::exchange(&mut lines, "analog_path", line, DEFAULT_REPLY_TIMEOUT).await?;
        }
        let facts = self.status();
        let sends_raw = facts.is_some_and(|facts| facts.capabilities.capture_raw);
        let command = if sends_raw {
            request.raw_command()
        } else {
            request.command()
        };
        let line = link::request_line(&command)?;
        let packet_timeout = self.access.options.packet_timeout;
        tokio::time::timeout(packet_timeout, lines.write(line))
            .await
            .map_err(|_| PodError::timeout("capture", packet_timeout))?
            .map_err(|error| PodError::from_line("capture", error))?;
        Ok(CaptureStream::new(lines, &request, packet_timeout))
    }

    /// Begins a session of `kind` for something that speaks the protocol itself: its bytes are
    /// those of a connection to the pod.
    ///
    /// # Errors
    /// [`PodError::Busy`] when an open session excludes it, [`PodError::NoPermit`] when the pod's
    /// connections are all in use, [`PodError::Offline`] when it is offline.
    pub async fn begin(&self, kind: SessionKind) -> Result<Session, PodError> {
        Session::begin(&self.access, kind).await
    }

    /// Begins a `console` session: `rx` is the channel that listens to the target, `tx` the one that
    /// talks to it (LA numbers from 1). `parity` is for devices that have
    /// [`uart_parity`](pod_protocol::Capabilities::uart_parity), and no others.
    ///
    /// # Errors
    /// As [`begin`](Self::begin), and [`PodError::Refused`] when the pod cannot have the channels.
    pub async fn uart(
        &self,
        rx: u8,
        tx: u8,
        baud: u32,
        parity: Option<Parity>,
    ) -> Result<Session, PodError> {
        let session = self.begin(SessionKind::Console).await?;
        let fields = [("rx", rx.into()), ("tx", tx.into()), ("baud", baud.into())];
        let mut request = commands::request("uart_proxy_start", fields);
        if let Some(parity) = parity {
            request.insert("parity".to_owned(), parity.name().into());
        }
        Ok(session.switch(&request).await?.0)
    }

    /// How many links to the pod there have been. Commands answered between two equal numbers went
    /// over the same link, one after the other.
    pub fn links(&self) -> u64 {
        self.access.links.load(Ordering::Acquire)
    }

    /// Kinds of the sessions that are open.
    pub fn sessions(&self) -> Vec<SessionKind> {
        self.access.sessions.open_kinds()
    }

    /// Whether one more session would get a connection, as far as that is known now.
    ///
    /// # Errors
    /// [`PodError::NoPermit`] when all connections that sessions may have are in use.
    pub fn check_permit(&self) -> Result<(), PodError> {
        self.access.check_permit()
    }

    /// Revokes all sessions. `reason` is a fragment.
    pub fn revoke_sessions(&self, reason: &str) {
        let reason = reason.to_owned();
        self.access
            .sessions
            .end_all(&SessionEnd::Revoked { reason });
    }

    /// Connections that are open beside the command connection.
    #[cfg(test)]
    pub(crate) fn connections_taken(&self) -> usize {
        self.access.connections_taken()
    }

    /// Opens one more connection outside the rules for sessions.
    ///
    /// # Errors
    /// [`PodError::NoPermit`] when the pod's connections are all in use, [`PodError::Offline`] when
    /// it is not there.
    pub async fn open(&self) -> Result<BoxedStream, PodError> {
        Ok(Box::new(self.access.open().await?))
    }
}

#[cfg(test)]
mod tests;
