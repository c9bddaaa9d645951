//! The task that owns a pod: it keeps one command connection, runs commands one by one, asks an
//! idle pod whether it is there, and connects again after anything that broke the link.
//!
//! A link whose answer was late or garbled is never used again, since nobody could tell which
//! later line belongs to which command. A new connection starts in step.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use tracing::{debug, info, warn};

use super::facts::{PodFacts, PodIdentity};
use super::{PodError, PodOptions, PodState, link};
use crate::connection::lines::Lines;
use crate::connection::{BoxedStream, Transport};
use crate::protocol::REPLY_LINE_BYTES_MAX;

/// A command that waits for its turn.
pub(super) struct Job {
    pub(super) verb: String,
    pub(super) line: Vec<u8>,
    /// The whole time the caller has.
    pub(super) patience: Duration,
    pub(super) deadline: Instant,
    pub(super) answer: oneshot::Sender<Result<Value, PodError>>,
}

/// The owner of a pod.
pub(super) struct Actor {
    transport: Arc<dyn Transport>,
    options: Arc<PodOptions>,
    queue: mpsc::Receiver<Job>,
    publish: watch::Sender<PodState>,
}

/// How the owner's work on one link ended.
enum Ended {
    /// The last handle is gone.
    LetGo,
    /// The link broke.
    Lost(PodError),
}

struct Link {
    lines: Lines<BoxedStream>,
    identity: PodIdentity,
}

impl Actor {
    pub(super) fn new(
        transport: Arc<dyn Transport>,
        options: Arc<PodOptions>,
        queue: mpsc::Receiver<Job>,
        publish: watch::Sender<PodState>,
    ) -> Self {
        Self {
            transport,
            options,
            queue,
            publish,
        }
    }

    pub(super) async fn run(mut self) {
        let mut backoff = self.options.backoff_min;
        loop {
            match self.connect().await {
                Some(Ok(link)) => {
                    let since = Instant::now();
                    match self.serve(link).await {
                        Ended::LetGo => return,
                        Ended::Lost(error) => warn!(%error, "lost the link to a pod"),
                    }
                    self.publish.send_replace(PodState::Connecting);
                    // Commands wait here. A pod whose links never last is not hammered.
                    if since.elapsed() > self.options.ping_interval {
                        backoff = self.options.backoff_min;
                    }
                    tokio::time::sleep(backoff).await;
                    backoff = (backoff * 2).min(self.options.backoff_max);
                    continue;
                }
                Some(Err(error)) => self.go_offline(&error),
                None => return,
            }
            if self.refuse_until(Instant::now() + backoff).await {
                return;
            }
            backoff = (backoff * 2).min(self.options.backoff_max);
        }
    }

    fn go_offline(&self, error: &PodError) {
        let reason = match error {
            PodError::Offline { reason } => reason.clone(),
            other => other.to_string(),
        };
        self.publish.send_if_modified(|state| {
            let next = PodState::Offline { reason };
            let changed = *state != next;
            if changed {
                info!(?next, "a pod is offline");
                *state = next;
            }
            changed
        });
    }

    /// Opens a link and asks the pod who it is. Commands wait when the pod was there just now,
    /// and fail at once when it was not. `None` when the last handle is gone.
    async fn connect(&mut self) -> Option<Result<Link, PodError>> {
        let offline = matches!(&*self.publish.borrow(), PodState::Offline { .. });
        let greeting = greet(
            self.transport.clone(),
            self.options.clone(),
            self.publish.clone(),
        );
        if !offline {
            return Some(greeting.await);
        }
        tokio::pin!(greeting);
        loop {
            tokio::select! {
                greeted = &mut greeting => return Some(greeted),
                job = self.queue.recv() => self.refuse(job?),
            }
        }
    }

    fn refuse(&self, job: Job) {
        let reason = match &*self.publish.borrow() {
            PodState::Offline { reason } => reason.clone(),
            _ => "it is being connected".to_owned(),
        };
        // The caller may have gone; nobody is left to tell then.
        let _ = job.answer.send(Err(PodError::Offline { reason }));
    }

    /// Answers commands as offline until `until`. True when the last handle is gone.
    async fn refuse_until(&mut self, until: Instant) -> bool {
        let pause = tokio::time::sleep_until(until);
        tokio::pin!(pause);
        loop {
            tokio::select! {
                () = &mut pause => return false,
                job = self.queue.recv() => match job {
                    Some(job) => self.refuse(job),
                    None => return true,
                },
            }
        }
    }

    async fn serve(&mut self, mut link: Link) -> Ended {
        let mut next_ping = Instant::now() + self.options.ping_interval;
        loop {
            let served = tokio::select! {
                job = self.queue.recv() => match job {
                    Some(job) => self.perform(&mut link, job).await,
                    None => return Ended::LetGo,
                },
                () = tokio::time::sleep_until(next_ping) => self.ping(&mut link).await,
                broken = unasked(&mut link.lines) => Err(broken),
            };
            if let Err(error) = served {
                return Ended::Lost(error);
            }
            next_ping = Instant::now() + self.options.ping_interval;
        }
    }

    async fn ping(&self, link: &mut Link) -> Result<(), PodError> {
        let line = br#"{"cmd":"ping"}"#.to_vec();
        let timeout = self.options.ping_timeout;
        match link::exchange(&mut link.lines, "ping", line, timeout).await {
            Ok(_) | Err(PodError::Refused(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Runs one command. An error means that the link is out of step.
    async fn perform(&self, link: &mut Link, job: Job) -> Result<(), PodError> {
        let left = job.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || job.answer.is_closed() {
            let expired = PodError::timeout(&job.verb, job.patience);
            let _ = job.answer.send(Err(expired));
            return Ok(());
        }
        let result = link::exchange(&mut link.lines, &job.verb, job.line, left).await;
        debug!(command = job.verb, ok = result.is_ok(), "pod command");
        if let (Ok(data), "status") = (&result, job.verb.as_str()) {
            self.renew_facts(link.identity.clone(), data.clone());
        }
        let broken = match &result {
            Ok(_) | Err(PodError::Refused(_)) => None,
            Err(error) => Some(format!("`{}` failed: {error}", job.verb)),
        };
        let _ = job.answer.send(result);
        broken.map_or(Ok(()), |reason| Err(PodError::Offline { reason }))
    }

    fn renew_facts(&self, identity: PodIdentity, data: Value) {
        if let Ok(facts) = PodFacts::from_data(identity, data) {
            let next = PodState::Online(Arc::new(facts));
            self.publish.send_if_modified(|state| {
                let changed = *state != next;
                *state = next;
                changed
            });
        }
    }
}

/// Ends when the pod sends a line nobody asked for, or closes.
async fn unasked(lines: &mut Lines<BoxedStream>) -> PodError {
    match lines.read().await {
        Ok(Some(_)) => PodError::Offline {
            reason: "it sent a line nobody asked for".to_owned(),
        },
        Ok(None) => PodError::closed(),
        Err(error) => PodError::from_line("idle", error),
    }
}

/// Connects, asks identity and status, and publishes the pod as online.
async fn greet(
    transport: Arc<dyn Transport>,
    options: Arc<PodOptions>,
    publish: watch::Sender<PodState>,
) -> Result<Link, PodError> {
    let stream = link::connect(&*transport, options.connect_timeout).await?;
    let mut lines = Lines::new(stream, REPLY_LINE_BYTES_MAX);
    let identity = {
        let line = br#"{"cmd":"identity_public"}"#.to_vec();
        let timeout = options.greeting_timeout;
        let data = link::exchange(&mut lines, "identity_public", line, timeout).await?;
        PodIdentity::from_data(&data)?
    };
    if let Some(expected) = &options.expected_public_key
        && *expected != identity.public_key
    {
        return Err(PodError::Offline {
            reason: format!("another pod ({}) answers in its place", identity.short_id),
        });
    }
    let line = br#"{"cmd":"status"}"#.to_vec();
    let status = link::exchange(&mut lines, "status", line, options.greeting_timeout).await?;
    let facts = PodFacts::from_data(identity.clone(), status)?;
    info!(
        serial = identity.serial,
        board = facts.board,
        "a pod is online"
    );
    publish.send_replace(PodState::Online(Arc::new(facts)));
    Ok(Link { lines, identity })
}
