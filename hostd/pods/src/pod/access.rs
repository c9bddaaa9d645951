//! What a pod's handles and sessions share: the channel to its owner, and the permits for
//! connections beside the owner's.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use pod_protocol::connection::Transport;
use pod_protocol::verbs;
use serde_json::{Map, Value};
use tokio::sync::{Semaphore, broadcast, mpsc, oneshot, watch};
use tokio::time::{Instant, timeout, timeout_at};

use super::actor::Job;
use super::connection::Connection;
use super::exclusion::Sessions;
use super::{COMMAND_QUEUE_MAX, PodError, PodEvent, PodOptions, PodState, REPLY_TIMEOUT_MAX, link};

/// Connections of a pod reserved for its owner, so that commands work beside any session.
const OWN_CONNECTIONS: usize = 1;

/// See the module's documentation.
pub(super) struct Access {
    pub(super) transport: Arc<dyn Transport>,
    pub(super) options: Arc<PodOptions>,
    pub(super) jobs: mpsc::Sender<Job>,
    pub(super) state: watch::Receiver<PodState>,
    pub(super) events: broadcast::Sender<PodEvent>,
    pub(super) sessions: Arc<Sessions>,
    /// Number of links so far.
    pub(super) links: Arc<AtomicU64>,
    permits: Arc<Semaphore>,
    permits_max: usize,
}

impl Access {
    pub(super) fn new(
        transport: Arc<dyn Transport>,
        options: Arc<PodOptions>,
        jobs: mpsc::Sender<Job>,
        state: watch::Receiver<PodState>,
        events: broadcast::Sender<PodEvent>,
    ) -> Self {
        let permits_max = transport
            .connections_max()
            .saturating_sub(OWN_CONNECTIONS)
            .max(1);
        Self {
            transport,
            options,
            jobs,
            state,
            events,
            sessions: Arc::default(),
            links: Arc::default(),
            permits: Arc::new(Semaphore::new(permits_max)),
            permits_max,
        }
    }

    /// Runs a single-reply command; see [`Pod::command`](super::Pod::command).
    pub(super) async fn command(
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
        let timeout = timeout.min(REPLY_TIMEOUT_MAX) + verbs::deliberate_wait(&command);
        let deadline = Instant::now() + timeout;
        let (answer, reply) = oneshot::channel();
        let job = Job {
            verb: verb.clone(),
            line,
            timeout,
            deadline,
            answer,
        };
        self.jobs.try_send(job).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => PodError::QueueFull {
                limit: COMMAND_QUEUE_MAX,
            },
            mpsc::error::TrySendError::Closed(_) => PodError::let_go(),
        })?;
        match timeout_at(deadline, reply).await {
            Ok(answered) => answered.unwrap_or_else(|_| Err(PodError::let_go())),
            Err(_) => Err(self.unanswered(&verb, timeout)),
        }
    }

    /// The error for a command whose time is over.
    fn unanswered(&self, verb: &str, timeout: Duration) -> PodError {
        match &*self.state.borrow() {
            PodState::Reconnecting { reason, .. } => PodError::Offline {
                reason: format!("its link is being opened anew ({reason})"),
            },
            PodState::Connecting => PodError::Offline {
                reason: "it has not answered yet".to_owned(),
            },
            PodState::Online(_) | PodState::Offline { .. } => PodError::timeout(verb, timeout),
        }
    }

    /// See [`Pod::check_permit`](super::Pod::check_permit).
    pub(super) fn check_permit(&self) -> Result<(), PodError> {
        match self.permits.available_permits() {
            0 => Err(self.no_permit()),
            _ => Ok(()),
        }
    }

    fn no_permit(&self) -> PodError {
        PodError::NoPermit {
            limit: self.permits_max,
        }
    }

    /// Opens a connection beside the owner's.
    pub(super) async fn open(&self) -> Result<Connection, PodError> {
        self.settled().await?;
        let permit = timeout(
            self.options.permit_timeout,
            self.permits.clone().acquire_owned(),
        )
        .await
        .map_err(|_| self.no_permit())?
        .expect("the semaphore is never closed");
        let stream = link::connect(self.transport.connect(), self.options.connect_timeout).await?;
        Ok(Connection::new(stream, permit))
    }

    /// Waits while the link is being opened; an error if the pod is offline.
    async fn settled(&self) -> Result<(), PodError> {
        let mut state = self.state.clone();
        let greeting = self.options.connect_timeout + 2 * self.options.greeting_timeout;
        let limit = self.options.grace + greeting;
        let settled = timeout(limit, state.wait_for(PodState::is_settled)).await;
        match settled {
            Ok(Ok(state)) => match &*state {
                PodState::Offline { reason } => Err(PodError::Offline {
                    reason: reason.clone(),
                }),
                _ => Ok(()),
            },
            Ok(Err(_)) => Err(PodError::let_go()),
            Err(_) => Err(PodError::Offline {
                reason: "it has not answered yet".to_owned(),
            }),
        }
    }

    /// One round trip on the owner's connection: pods handle closed connections before they take
    /// the next command.
    pub(super) async fn round_trip(&self) -> Result<(), PodError> {
        let mut ping = Map::new();
        ping.insert("cmd".to_owned(), "ping".into());
        match self.command(ping, self.options.release_wait).await {
            Ok(_) | Err(PodError::Refused(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Connections that are open beside the owner's.
    #[cfg(test)]
    pub(super) fn connections_taken(&self) -> usize {
        self.permits_max - self.permits.available_permits()
    }
}
