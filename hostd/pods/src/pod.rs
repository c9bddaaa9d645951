//! One pod, owned by one task: the handle everyone else holds.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

mod actor;
mod error;
mod facts;
mod link;

pub use error::{PodError, ProtocolError};
pub use facts::{PodFacts, PodIdentity};

use crate::capture::{CaptureRequest, CaptureStream};
use crate::connection::lines::Lines;
use crate::connection::{BoxedStream, Transport};
use crate::protocol::{REPLY_LINE_BYTES_MAX, verbs};
use actor::{Actor, Job};

/// How long a reply may take beyond what its command waits for on purpose.
pub const DEFAULT_REPLY_TIMEOUT: Duration = Duration::from_secs(30);

/// Longest patience a caller may have for one command.
pub const REPLY_TIMEOUT_MAX: Duration = Duration::from_secs(120);

/// Commands that may wait for a pod.
pub const COMMAND_QUEUE_MAX: usize = 64;

/// How a pod is looked after.
#[derive(Debug, Clone)]
pub struct PodOptions {
    /// How long opening a connection may take.
    pub connect_timeout: Duration,
    /// How long the pod may take to tell its identity and status after connecting, each.
    pub greeting_timeout: Duration,
    /// How often an idle pod is asked whether it is there.
    pub ping_interval: Duration,
    /// How long a ping may take.
    pub ping_timeout: Duration,
    /// Pause after a failed attempt to connect; doubled each time.
    pub backoff_min: Duration,
    /// The longest such pause.
    pub backoff_max: Duration,
    /// Longest gap between two packets of a capture.
    pub packet_timeout: Duration,
    /// Public key the pod must have; another one counts as offline.
    pub expected_public_key: Option<String>,
}

impl Default for PodOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(5),
            greeting_timeout: Duration::from_secs(5),
            ping_interval: Duration::from_secs(5),
            ping_timeout: Duration::from_secs(5),
            backoff_min: Duration::from_millis(100),
            backoff_max: Duration::from_secs(5),
            packet_timeout: DEFAULT_REPLY_TIMEOUT,
            expected_public_key: None,
        }
    }
}

/// Whether a pod is there.
#[derive(Debug, Clone, PartialEq)]
pub enum PodState {
    /// The link is being opened, for the first time or after it broke. Commands wait.
    Connecting,
    /// The pod answers; what it said of itself.
    Online(Arc<PodFacts>),
    /// The pod cannot be reached. Commands fail at once; attempts go on.
    Offline {
        /// Why, as a fragment.
        reason: String,
    },
}

impl PodState {
    /// Whether the pod answers.
    pub fn is_online(&self) -> bool {
        matches!(self, Self::Online(_))
    }
}

/// A handle to a pod. Cheap to clone; when the last one is dropped the pod is let go.
#[derive(Clone)]
pub struct Pod {
    transport: Arc<dyn Transport>,
    options: Arc<PodOptions>,
    jobs: mpsc::Sender<Job>,
    state: watch::Receiver<PodState>,
}

impl Pod {
    /// Starts the task that owns the pod behind `transport`. Needs a tokio runtime.
    pub fn spawn(transport: Arc<dyn Transport>, options: PodOptions) -> Self {
        let (jobs, queue) = mpsc::channel(COMMAND_QUEUE_MAX);
        let (publish, state) = watch::channel(PodState::Connecting);
        let options = Arc::new(options);
        let actor = Actor::new(transport.clone(), options.clone(), queue, publish);
        tokio::spawn(actor.run());
        Self {
            transport,
            options,
            jobs,
            state,
        }
    }

    /// The transport's kind: `sim`, `tcp`, `tls`, `usb`.
    pub fn transport_kind(&self) -> &'static str {
        self.transport.kind()
    }

    /// The certificate the transport is pinned to; see [`Transport::certificate_pin`].
    pub fn certificate_pin(&self) -> Option<String> {
        self.transport.certificate_pin()
    }

    /// Whether the pod is there, now.
    pub fn state(&self) -> PodState {
        self.state.borrow().clone()
    }

    /// Tells every change of [`state`](Self::state).
    pub fn watch(&self) -> watch::Receiver<PodState> {
        self.state.clone()
    }

    /// Who the pod is, when it is online.
    pub fn identity(&self) -> Option<PodIdentity> {
        self.status().map(|facts| facts.identity.clone())
    }

    /// What the pod last said of itself, when it is online. A `status` command renews it.
    pub fn status(&self) -> Option<Arc<PodFacts>> {
        match &*self.state.borrow() {
            PodState::Online(facts) => Some(facts.clone()),
            PodState::Connecting | PodState::Offline { .. } => None,
        }
    }

    /// Waits until the pod is online.
    ///
    /// # Errors
    /// [`PodError::Offline`] with the last reason when it is not within `timeout`.
    pub async fn wait_online(&self, timeout: Duration) -> Result<Arc<PodFacts>, PodError> {
        let mut state = self.state.clone();
        let online = state.wait_for(PodState::is_online);
        let arrived = tokio::time::timeout(timeout, online).await.is_ok();
        self.status().ok_or_else(|| match self.state() {
            PodState::Offline { reason } => PodError::Offline { reason },
            _ if arrived => PodError::closed(),
            _ => PodError::Offline {
                reason: "it has not answered yet".to_owned(),
            },
        })
    }

    /// Runs a single-reply command and gives its `data`, null when there is none.
    ///
    /// `timeout` (at most [`REPLY_TIMEOUT_MAX`]) covers the wait in the queue and for the reply;
    /// what the command waits for on purpose is added to it.
    ///
    /// # Errors
    /// [`PodError`]; after anything but `Refused` the link has been opened anew.
    pub async fn command(
        &self,
        command: Map<String, Value>,
        timeout: Duration,
    ) -> Result<Value, PodError> {
        let Some(verb) = verbs::verb(&command) else {
            return Err(PodError::MissingCommand);
        };
        if verbs::needs_tunnel(&command) {
            let command = verb.to_owned();
            return Err(PodError::NeedsTunnel { command });
        }
        let verb = verb.to_owned();
        let line = link::request_line(&command)?;
        let patience = timeout.min(REPLY_TIMEOUT_MAX) + verbs::deliberate_wait(&command);
        let (answer, reply) = oneshot::channel();
        let job = Job {
            verb,
            line,
            patience,
            deadline: Instant::now() + patience,
            answer,
        };
        self.jobs.try_send(job).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => PodError::QueueFull {
                limit: COMMAND_QUEUE_MAX,
            },
            mpsc::error::TrySendError::Closed(_) => PodError::closed(),
        })?;
        reply.await.unwrap_or_else(|_| Err(PodError::closed()))
    }

    /// Starts a capture on a connection of its own. Commands go on beside it; a second capture is
    /// refused by the pod as busy. Drop the stream to cancel.
    ///
    /// # Errors
    /// [`PodError::Request`] when a field is out of range, [`PodError::Offline`] when the pod is not
    /// there, [`PodError::Refused`] when its input could not be routed. A refusal of the capture itself is the stream's first item.
    pub async fn capture(&self, request: CaptureRequest) -> Result<CaptureStream, PodError> {
        request.check()?;
        let mut lines = Lines::new(self.open().await?, REPLY_LINE_BYTES_MAX);
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
        let line = link::request_line(&request.command())?;
        let sent = tokio::time::timeout(self.options.packet_timeout, lines.write(line)).await;
        sent.map_err(|_| PodError::timeout("capture", self.options.packet_timeout))?
            .map_err(|error| PodError::from_line("capture", error))?;
        Ok(CaptureStream::new(
            lines,
            &request,
            self.options.packet_timeout,
        ))
    }

    /// Opens one more connection, for a session that speaks the protocol itself.
    ///
    /// # Errors
    /// [`PodError::Offline`] when the pod is not there.
    pub async fn open(&self) -> Result<BoxedStream, PodError> {
        if let PodState::Offline { reason } = self.state() {
            return Err(PodError::Offline { reason });
        }
        link::connect(&*self.transport, self.options.connect_timeout).await
    }
}

#[cfg(test)]
mod tests;
