//! The task that owns a pod: it keeps one command connection, runs commands one by one, pings an
//! idle pod, and reconnects after a failure.
//!
//! A link with a late or garbled answer is never used again, since nobody could tell which later
//! line answers which command. A new connection starts in step.

use std::convert::Infallible;
use std::error::Error as _;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pod_protocol::connection::lines::Lines;
use pod_protocol::connection::{BoxedStream, Transport};
use serde_json::Value;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::time::Instant;
use tracing::{debug, info, warn};

use super::backoff::Backoff;
use super::exclusion::{SessionEnd, Sessions};
use super::facts::{PodFacts, PodIdentity};
use super::greeting::{self, Greeted, Link, Unwelcome};
use super::health::Look;
use super::{PodError, PodEvent, PodOptions, PodState, link};

/// A command that waits for its turn.
pub(super) struct Job {
    pub(super) verb: String,
    pub(super) line: Vec<u8>,
    /// The whole time the caller has.
    pub(super) timeout: Duration,
    pub(super) deadline: Instant,
    pub(super) answer: oneshot::Sender<Result<Value, PodError>>,
}

/// The owner of a pod.
pub(super) struct Actor {
    pub(super) transport: Arc<dyn Transport>,
    pub(super) options: Arc<PodOptions>,
    pub(super) queue: mpsc::Receiver<Job>,
    /// Never carries anything; ends with the last handle. Sessions send commands, too, but do not
    /// keep the pod alive.
    pub(super) handles: mpsc::Receiver<Infallible>,
    pub(super) publish: watch::Sender<PodState>,
    pub(super) events: broadcast::Sender<PodEvent>,
    pub(super) sessions: Arc<Sessions>,
    pub(super) links: Arc<AtomicU64>,
    pub(super) known: Known,
}

/// What the owner remembers of its pod across links.
#[derive(Default)]
pub(super) struct Known {
    /// The key of the pod that belongs here.
    pub(super) public_key: Option<String>,
    /// The key of the pod that last answered in its place.
    impostor: Option<String>,
    look: Option<Look>,
    /// When to stop waiting for a pod that lost its link.
    grace_until: Option<Instant>,
}

/// How the owner's work on one link ended.
enum Ended {
    /// The last handle is gone.
    LetGo,
    /// The link broke.
    Lost(PodError),
}

impl Actor {
    pub(super) async fn run(mut self) {
        let mut backoff = Backoff::new(self.options.backoff_min, self.options.backoff_max);
        loop {
            let greeting = greeting::greet(
                self.transport.clone(),
                self.options.clone(),
                self.known.public_key.clone(),
            );
            match self.meanwhile(greeting).await {
                None => break,
                Some(Ok(greeted)) => {
                    let link = self.welcome(greeted);
                    let since = Instant::now();
                    match self.serve(link).await {
                        Ended::LetGo => break,
                        Ended::Lost(error) => self.lose(&error),
                    }
                    // Do not hammer a pod whose links never last.
                    if since.elapsed() > self.options.ping_interval {
                        backoff.reset();
                    }
                }
                Some(Err(unwelcome)) => self.turn_away(unwelcome),
            }
            let pause = backoff.pause();
            let transport = self.transport.clone();
            let pause = async {
                // It need not come.
                let _ = tokio::time::timeout(pause, transport.arrival()).await;
            };
            if self.meanwhile(pause).await.is_none() {
                break;
            }
        }
        self.sessions.end_all(&SessionEnd::LetGo);
    }

    /// Waits for `work` without a link. Commands wait, too, during the pod's grace period; when it
    /// is offline they fail at once. `None` when the last handle is gone.
    async fn meanwhile<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        tokio::pin!(work);
        loop {
            let offline = matches!(&*self.publish.borrow(), PodState::Offline { .. });
            let grace_until = self.known.grace_until;
            let grace_over = async {
                match grace_until {
                    Some(until) => tokio::time::sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                done = &mut work => return Some(done),
                _ = self.handles.recv() => return None,
                () = grace_over => self.end_grace(),
                Some(job) = self.queue.recv(), if offline => self.refuse(job),
            }
        }
    }

    /// The pod answers: records and reports what is new about it.
    fn welcome(&mut self, greeted: Greeted) -> Link {
        let Greeted { link, facts } = greeted;
        self.known.public_key = Some(link.identity.public_key.clone());
        self.known.impostor = None;
        self.known.grace_until = None;
        info!(
            serial = link.identity.serial,
            board = facts.board,
            "a pod is online"
        );
        let was_away = !matches!(&*self.publish.borrow(), PodState::Reconnecting { .. });
        let facts = Arc::new(facts);
        self.note(&facts);
        self.links.fetch_add(1, Ordering::AcqRel);
        self.publish.send_replace(PodState::Online(facts.clone()));
        if was_away {
            self.tell(PodEvent::Online(facts));
        }
        link
    }

    /// Compares a status of the pod with the previous one.
    fn note(&mut self, facts: &PodFacts) {
        let look = Look::from_status(&facts.raw, &facts.firmware_version);
        let before = self.known.look.replace(look.clone());
        let Some(before) = before else { return };
        if before.restarted_before(&look) {
            info!(cause = look.cause, "a pod has restarted");
            self.sessions.end_all(&SessionEnd::Rebooted);
            let cause = look.cause.clone();
            self.tell(PodEvent::Rebooted { cause });
        }
        if before.firmware != look.firmware {
            info!(was = before.firmware, now = look.firmware, "other firmware");
            self.tell(PodEvent::FirmwareChanged {
                was: before.firmware,
                now: look.firmware,
            });
        }
    }

    fn tell(&self, event: PodEvent) {
        // There may be no listeners.
        let _ = self.events.send(event);
    }

    /// The link broke: start the pod's grace period.
    fn lose(&mut self, error: &PodError) {
        let reason = reason_of(error);
        warn!(reason, "lost the link to a pod");
        let PodState::Online(facts) = self.publish.borrow().clone() else {
            return;
        };
        self.known.grace_until = Some(Instant::now() + self.options.grace);
        self.publish
            .send_replace(PodState::Reconnecting { facts, reason });
    }

    fn end_grace(&mut self) {
        let reason = match &*self.publish.borrow() {
            PodState::Reconnecting { reason, .. } => format!(
                "{reason}, and it has not come back within {} s",
                self.options.grace.as_secs_f32()
            ),
            _ => "it has not come back".to_owned(),
        };
        self.go_offline(reason);
    }

    /// An attempt to connect failed, or reached another pod.
    fn turn_away(&mut self, unwelcome: Unwelcome) {
        match unwelcome {
            Unwelcome::Failed(error) => {
                let waiting = matches!(&*self.publish.borrow(), PodState::Reconnecting { .. });
                if !waiting {
                    self.go_offline(reason_of(&error));
                }
            }
            Unwelcome::Another { expected, found } => {
                let reason = format!(
                    "another pod ({}) answers in its place ({} belongs here)",
                    found.short_id,
                    PodIdentity::short_id_of(&expected)
                );
                self.go_offline(reason);
                if self.known.impostor.as_ref() != Some(&found.public_key) {
                    self.known.impostor = Some(found.public_key.clone());
                    let was = expected;
                    self.tell(PodEvent::IdentityChanged { was, now: found });
                }
            }
        }
    }

    fn go_offline(&mut self, reason: String) {
        self.known.grace_until = None;
        let next = PodState::Offline {
            reason: reason.clone(),
        };
        let before = self.publish.send_replace(next);
        let was_offline = matches!(before, PodState::Offline { .. });
        if !was_offline {
            info!(reason, "a pod is offline");
            self.sessions.end_all(&SessionEnd::Offline {
                reason: reason.clone(),
            });
            self.tell(PodEvent::Offline { reason });
        }
    }

    fn refuse(&self, job: Job) {
        let reason = match &*self.publish.borrow() {
            PodState::Offline { reason } => reason.clone(),
            _ => "it is being connected".to_owned(),
        };
        // The caller may be gone, and then nobody needs the answer.
        let _ = job.answer.send(Err(PodError::Offline { reason }));
    }

    async fn serve(&mut self, mut link: Link) -> Ended {
        let mut next_look = Instant::now() + self.options.ping_interval;
        let mut next_status = Instant::now() + self.options.status_interval;
        let transport = self.transport.clone();
        loop {
            let served = tokio::select! {
                _ = self.handles.recv() => return Ended::LetGo,
                Some(job) = self.queue.recv() => self.perform(&mut link, job).await,
                () = tokio::time::sleep_until(next_look) => {
                    if next_status <= Instant::now() {
                        next_status = Instant::now() + self.options.status_interval;
                        self.look(&mut link).await
                    } else {
                        self.ping(&mut link).await
                    }
                }
                broken = unasked(&mut link.lines) => Err(broken),
                () = transport.changed() => self.look(&mut link).await,
            };
            if let Err(error) = served {
                return Ended::Lost(error);
            }
            next_look = Instant::now() + self.options.ping_interval;
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

    /// Requests the status instead of a ping.
    async fn look(&mut self, link: &mut Link) -> Result<(), PodError> {
        let line = br#"{"cmd":"status"}"#.to_vec();
        let timeout = self.options.ping_timeout;
        match link::exchange(&mut link.lines, "status", line, timeout).await {
            Ok(data) => {
                self.renew_facts(link.identity.clone(), data);
                Ok(())
            }
            Err(PodError::Refused(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Runs one command. An error means that the link is out of step.
    async fn perform(&mut self, link: &mut Link, job: Job) -> Result<(), PodError> {
        let left = job.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || job.answer.is_closed() {
            let expired = PodError::timeout(&job.verb, job.timeout);
            let _ = job.answer.send(Err(expired));
            return Ok(());
        }
        let mut result = link::exchange(&mut link.lines, &job.verb, job.line, left).await;
        if matches!(result, Err(PodError::Timeout { .. })) {
            // The caller's own timeout, part of which may have passed in the queue.
            result = Err(PodError::timeout(&job.verb, job.timeout));
        }
        debug!(command = job.verb, ok = result.is_ok(), "pod command");
        if let (Ok(data), "status") = (&result, job.verb.as_str()) {
            self.renew_facts(link.identity.clone(), data.clone());
        }
        let looked = match (&result, job.verb.as_str()) {
            // Another image has other capabilities, and the caller may use them at once.
            (Ok(_), "fpga_image") => self.look(link).await,
            _ => Ok(()),
        };
        let broken = match &result {
            Ok(_) | Err(PodError::Refused(_)) => None,
            Err(error @ PodError::Protocol(_)) => {
                let reason = reason_of(error);
                Some(format!("its answer to `{}` is wrong: {reason}", job.verb))
            }
            Err(error) => Some(reason_of(error)),
        };
        let _ = job.answer.send(result);
        looked?;
        broken.map_or(Ok(()), |reason| Err(PodError::Offline { reason }))
    }

    fn renew_facts(&mut self, identity: PodIdentity, data: Value) {
        if let Ok(facts) = PodFacts::from_data(identity, data) {
            self.note(&facts);
            let next = PodState::Online(Arc::new(facts));
            self.publish.send_if_modified(|state| {
                let changed = *state != next;
                *state = next;
                changed
            });
        }
    }
}

/// The error as a fragment.
fn reason_of(error: &PodError) -> String {
    match error {
        PodError::Offline { reason } => reason.clone(),
        PodError::Protocol(cause) => match cause.source() {
            Some(source) => format!("{cause}: {source}"),
            None => cause.to_string(),
        },
        other => other.to_string(),
    }
}

/// Ends when the pod sends an unsolicited line, or closes.
async fn unasked(lines: &mut Lines<BoxedStream>) -> PodError {
    match lines.read().await {
        Ok(Some(_)) => PodError::Offline {
            reason: "it sent a line nobody asked for".to_owned(),
        },
        Ok(None) => PodError::closed(),
        Err(error) => PodError::from_line("idle", error),
    }
}
