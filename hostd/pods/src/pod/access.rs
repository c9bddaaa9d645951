//! What the handles of a pod and its sessions share: the way to its owner, and the places for
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
use super::exclusion::Sessions;
use super::place::Connection;
use super::{COMMAND_QUEUE_MAX, PodError, PodEvent, PodOptions, PodState, REPLY_TIMEOUT_MAX, link};

/// Connections of a pod that are kept for its owner, so that commands work beside any session.
const OWN_CONNECTIONS: usize = 1;

/// See the module's documentation.
pub(super) struct Access {
    pub(super) transport: Arc<dyn Transport>,
    pub(super) options: Arc<PodOptions>,
    pub(super) jobs: mpsc::Sender<Job>,
    pub(super) state: watch::Receiver<PodState>,
    pub(super) events: broadcast::Sender<PodEvent>,
    pub(super) sessions: Arc<Sessions>,
    /// How many links the owner has had.
    pub(super) links: Arc<AtomicU64>,
    places: Arc<Semaphore>,
    places_max: usize,
}

impl Access {
    pub(super) fn new(
        transport: Arc<dyn Transport>,
        options: Arc<PodOptions>,
        jobs: mpsc::Sender<Job>,
        state: watch::Receiver<PodState>,
        events: broadcast::Sender<PodEvent>,
    ) -> Self {
        let places_max = transport
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
            places: Arc::new(Semaphore::new(places_max)),
            places_max,
        }
    }

    /// Runs a single-reply command; see [`Pod::command`](super::Pod::command).
    pub(super) async fn command(
        &self,
        command: Map<String, Value>,
        patience: Duration,
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
        let patience = patience.min(REPLY_TIMEOUT_MAX) + verbs::deliberate_wait(&command);
        let deadline = Instant::now() + patience;
        let (answer, reply) = oneshot::channel();
        let job = Job {
            verb: verb.clone(),
            line,
            patience,
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
            Err(_) => Err(self.unanswered(&verb, patience)),
        }
    }

    /// What to say of a command whose time is over.
    fn unanswered(&self, verb: &str, patience: Duration) -> PodError {
        match &*self.state.borrow() {
            PodState::Reconnecting { reason, .. } => PodError::Offline {
                reason: format!("its link is being opened anew ({reason})"),
            },
            PodState::Connecting => PodError::Offline {
                reason: "it has not answered yet".to_owned(),
            },
            PodState::Online(_) | PodState::Offline { .. } => PodError::timeout(verb, patience),
        }
    }

    /// See [`Pod::check_place`](super::Pod::check_place).
    pub(super) fn check_place(&self) -> Result<(), PodError> {
        match self.places.available_permits() {
            0 => Err(self.no_place()),
            _ => Ok(()),
        }
    }

    fn no_place(&self) -> PodError {
        PodError::NoPlace {
            limit: self.places_max,
        }
    }

    /// Opens a connection beside the owner's.
    pub(super) async fn open(&self) -> Result<Connection, PodError> {
        self.settled().await?;
        let place = timeout(self.options.place_wait, self.places.clone().acquire_owned())
            .await
            .map_err(|_| self.no_place())?
            .expect("the places are never closed");
        let stream = link::connect(&*self.transport, self.options.connect_timeout).await?;
        Ok(Connection::new(stream, place))
    }

    /// Waits while the link is being opened; an error when the pod is not there.
    async fn settled(&self) -> Result<(), PodError> {
        let mut state = self.state.clone();
        let greeting = self.options.connect_timeout + 2 * self.options.greeting_timeout;
        let patience = self.options.grace + greeting;
        let settled = timeout(patience, state.wait_for(PodState::is_settled)).await;
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

    /// One round trip on the owner's connection: pods look after closed connections before they
    /// take the next command.
    pub(super) async fn round_trip(&self) -> Result<(), PodError> {
        let mut ping = Map::new();
        ping.insert("cmd".to_owned(), "ping".into());
        match self.command(ping, self.options.release_wait).await {
            Ok(_) | Err(PodError::Refused(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Connections that are open beside the owner's.
    pub(super) fn places_taken(&self) -> usize {
        self.places_max - self.places.available_permits()
    }
}
