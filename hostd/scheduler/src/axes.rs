//! How far a job is, why it ended, and what it says about the firmware: three questions, so three
//! axes. A single word for all of them cannot tell a failed test from a failed bench.

use serde::{Deserialize, Serialize};

/// How far a job or an attempt is. It only moves forward; a second attempt has a state of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Waiting for a place.
    Queued,
    /// Has a place and is being set up.
    Assigned,
    /// Its steps are running.
    Running,
    /// Being ended: no further steps, the device is made safe.
    Stopping,
    /// Has ended.
    Finished,
}

/// Why it ended. The first reason stays: if the pod is unplugged after a cancel, the job was
/// cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedBecause {
    /// All steps that should run have run.
    Completed,
    /// Somebody ended it.
    Cancelled,
    /// It found no place in time.
    QueueTimeout,
    /// A step or the whole job took too long.
    Timeout,
    /// The device went away.
    DeviceLost,
    /// The organisation has no device that fits.
    NoMatchingDevice,
    /// The pipeline cannot be run as written.
    DefinitionError,
    /// The bench or the server failed.
    InfraError,
}

/// What it says about the firmware and its tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing: not yet, or the bench failed before it could.
    Pending,
    /// Everything ran, and nothing failed.
    Success,
    /// The build or a test failed.
    Failure,
}

/// The short word for all three that published clients know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Waiting.
    New,
    /// Has a place, or is running.
    InProgress,
    /// Being ended.
    Stopping,
    /// Ended with success.
    Done,
    /// Ended without success.
    Failed,
    /// Ended because it took or waited too long.
    TimedOut,
}

/// The three axes of a job or of an attempt, which enforce their own rules: a change that breaks them
/// is not made, and the call reports that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Axes {
    state: State,
    ended_because: Option<EndedBecause>,
    verdict: Verdict,
}

impl Default for Axes {
    fn default() -> Self {
        Self {
            state: State::Queued,
            ended_because: None,
            verdict: Verdict::Pending,
        }
    }
}

impl Axes {
    /// How far it is.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Why it ended or is about to; `None` until that is decided.
    #[must_use]
    pub fn ended_because(&self) -> Option<EndedBecause> {
        self.ended_because
    }

    /// What it says about the firmware so far.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// The word for published clients.
    #[must_use]
    pub fn status(&self) -> Status {
        match (self.state, self.ended_because, self.verdict) {
            (State::Queued, ..) => Status::New,
            (State::Assigned | State::Running, ..) => Status::InProgress,
            (State::Stopping, ..) => Status::Stopping,
            (_, Some(EndedBecause::Timeout | EndedBecause::QueueTimeout), _) => Status::TimedOut,
            (_, Some(EndedBecause::Completed), Verdict::Success) => Status::Done,
            (State::Finished, ..) => Status::Failed,
        }
    }

    /// Moves on to `to`; returns whether it did. It never moves back, never makes the same move
    /// twice, and finishes only with a reason.
    pub fn advance(&mut self, to: State) -> bool {
        let may = to > self.state && (to != State::Finished || self.ended_because.is_some());
        if may {
            self.state = to;
        }
        may
    }

    /// Records why it ends; returns whether it did. The first writer wins.
    pub fn end(&mut self, because: EndedBecause) -> bool {
        let may = self.ended_because.is_none() && self.state != State::Finished;
        if may {
            self.ended_because = Some(because);
        }
        may
    }

    /// Records what it says about the firmware; returns whether it did. The first writer wins.
    /// Success is recorded only after completion; failure at any time before the end, since an
    /// observed failure stays a failure, whatever ends the rest.
    pub fn judge(&mut self, verdict: Verdict) -> bool {
        let possible = match verdict {
            Verdict::Pending => false,
            Verdict::Success => self.ended_because == Some(EndedBecause::Completed),
            Verdict::Failure => true,
        };
        let may = possible && self.verdict == Verdict::Pending && self.state != State::Finished;
        if may {
            self.verdict = verdict;
        }
        may
    }
}

#[cfg(test)]
mod tests;
