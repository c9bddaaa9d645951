//! What happens to the queue from outside.

use std::sync::Arc;

use lab::blobs::Staged;
use scheduler::{AttemptId, Submission};
use store::jobs::{Job, Request, RequestKey};
use tokio::sync::{mpsc, oneshot};

use super::prospects::Prospective;
use crate::attempt::Ended;
use crate::checked::Warning;
use crate::error::JobError;
use crate::facts::Wants;
use crate::record::Entry;
use crate::why::Why;

/// Events that wait for the driver at most. Whoever has one more waits.
const WAITING_MAX: usize = 256;

/// A job that arrives at the queue.
pub(crate) struct Arrival {
    pub(crate) entry: Entry,
    pub(crate) submission: Submission<Wants>,
    /// Why it may not be queued, unless its request is the repetition of one that was answered.
    pub(crate) objection: Option<JobError>,
    pub(crate) request: Option<(RequestKey, Request)>,
    /// Its archive, which becomes a blob with the job.
    pub(crate) archive: Option<Staged>,
}

/// Why an attempt did not get its device.
pub(crate) struct Refusal {
    /// Who has it.
    pub(crate) holder: String,
    /// Until when at most, if that is known.
    pub(crate) expires_ms: Option<u64>,
    /// When to ask again, from now.
    pub(crate) retry_ms: u64,
}

type Answer<T> = oneshot::Sender<T>;

/// Something that happened.
pub(crate) enum Event {
    /// A job is submitted. With the answer: whether an earlier request made it.
    Submit(Box<Arrival>, Answer<Result<(Arc<Job>, bool), JobError>>),
    /// A job of an organisation is to end.
    Cancel(String, String, Answer<Result<Arc<Job>, JobError>>),
    /// Why an unfinished job does not run.
    Why(String, Answer<Option<Why>>),
    /// What would be in the way of the runs of a job, if it was submitted.
    Prospects(Prospective, Answer<Result<Vec<Warning>, JobError>>),
    /// A person trusts a device again. Whether it was in quarantine.
    Readmit(String, Answer<Result<bool, JobError>>),
    /// The first step of an attempt begins.
    Started(AttemptId),
    /// A test is about to say its first word; whether it may.
    FirstOutput(AttemptId, Answer<bool>),
    /// An attempt has ended.
    Ended(AttemptId, Box<Ended>),
    /// An attempt could not begin, since somebody has its device.
    GiveBack(AttemptId, Refusal),
    /// Nothing starts any more; answered when nothing runs.
    Drain(Answer<()>),
}

/// Where events are sent.
#[derive(Clone)]
pub(crate) struct Events(mpsc::Sender<Event>);

impl Events {
    pub(crate) fn new() -> (Self, mpsc::Receiver<Event>) {
        let (sender, receiver) = mpsc::channel(WAITING_MAX);
        (Self(sender), receiver)
    }

    /// Asks the driver.
    ///
    /// # Errors
    /// The server stops.
    pub(crate) async fn ask<T>(
        &self,
        event: impl FnOnce(Answer<T>) -> Event,
    ) -> Result<T, JobError> {
        let (answer, answered) = oneshot::channel();
        let sent = self.0.send(event(answer)).await;
        sent.map_err(|_| JobError::Stopping)?;
        answered.await.map_err(|_| JobError::Stopping)
    }

    /// Tells the driver from a thread that may block. Nobody listens only when the server has stopped.
    pub(crate) fn blocking(&self, event: Event) {
        let _ = self.0.blocking_send(event);
    }

    pub(crate) async fn ended(&self, attempt: AttemptId, ended: Ended) {
        let _ = self.0.send(Event::Ended(attempt, Box::new(ended))).await;
    }

    pub(crate) async fn give_back(&self, attempt: AttemptId, refusal: Refusal) {
        let _ = self.0.send(Event::GiveBack(attempt, refusal)).await;
    }
}
