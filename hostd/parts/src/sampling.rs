//! What samples for a bench: an instrument of `acquire` for logic channels, one for analog inputs, or one for both.
//! Each is asked what it is from time to time, and captures with it are answered as a pod answers them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use acquire::{AcquireError, Facts, Input, Instrument, Request};
use pod_protocol::capture::Trigger;
use tokio::sync::Notify;
use tokio::time::{Duration, timeout};

use crate::presence::{Part, Presences};
use crate::refuse::Refuse;

mod lines;
mod plan;
mod request;

pub(crate) use lines::Capture;
pub(crate) use plan::Instruments;
pub(crate) use request::{Dual, adc, dual, la};

/// How often an instrument that is there is asked what it is, which takes a program or a USB transfer.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// How often one that is away is tried.
const RETRY: Duration = Duration::from_secs(2);

/// A part that samples.
pub(crate) struct Sampler {
    part: Part,
    instrument: Arc<dyn Instrument>,
    presences: Arc<Presences>,
    facts: Mutex<Option<Arc<Facts>>>,
    /// Notified when a capture failed: whether it is still there is worth knowing then.
    doubt: Notify,
}

impl std::fmt::Debug for Sampler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.part.name())
    }
}

impl Sampler {
    pub(crate) fn new(
        part: Part,
        instrument: Arc<dyn Instrument>,
        presences: Arc<Presences>,
    ) -> Self {
        Self {
            part,
            instrument,
            presences,
            facts: Mutex::default(),
            doubt: Notify::new(),
        }
    }

    /// Asks the instrument what it is, for ever.
    pub(crate) async fn keep(&self) {
        loop {
            let pause = match self.instrument.facts().await {
                Ok(facts) => self.note(facts),
                // It samples, so it is there.
                Err(AcquireError::Busy { .. }) if self.facts().is_some() => LOOK_EVERY,
                Err(error) => {
                    *self.known() = None;
                    self.presences.away(self.part, error.to_string());
                    RETRY
                }
            };
            // Either is a reason to look again.
            let _ = timeout(pause, self.doubt.notified()).await;
        }
    }

    fn note(&self, facts: Facts) -> Duration {
        let has = match self.part {
            Part::Analog => !facts.analog.is_empty(),
            _ => !facts.logic.is_empty(),
        };
        if !has {
            let model = &facts.model;
            let none = format!("{model} has no {} channels", self.part.name());
            self.presences.away(self.part, none);
            return RETRY;
        }
        *self.known() = Some(Arc::new(facts));
        self.presences.there(self.part);
        LOOK_EVERY
    }

    /// What it is, while it is there.
    pub(crate) fn facts(&self) -> Option<Arc<Facts>> {
        self.known().clone()
    }

    fn known(&self) -> MutexGuard<'_, Option<Arc<Facts>>> {
        // One assignment, so a panic elsewhere leaves it valid.
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it is the same instrument as another part, which samples for both from one instant.
    pub(crate) fn is_one_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.instrument, &other.instrument)
    }

    /// Checks a request of a client.
    fn request(
        &self,
        input: Input,
        samples: u64,
        rate_hz: f64,
        trigger: Option<Trigger>,
    ) -> Result<Request, Refuse> {
        let away = || match self.presences.lack(self.part) {
            Some(lack) => Refuse::lack(self.part, lack),
            None => Refuse::away(self.part, "it is being opened".to_owned()),
        };
        let facts = self.facts().ok_or_else(away)?;
        let request = Request {
            input,
            samples,
            rate_hz,
            trigger,
        };
        match request.check(&facts) {
            Ok(()) => Ok(request),
            Err(error) => Err(Refuse::Part(error.to_string())),
        }
    }

    /// The refusal for a capture that failed.
    fn failed(&self, error: &AcquireError) -> Refuse {
        match error {
            AcquireError::Busy { .. } => Refuse::Part(format!("busy: {error}")),
            AcquireError::TriggerTimeout { .. } => Refuse::Part(error.to_string()),
            _ => {
                self.doubt.notify_one();
                Refuse::Part(error.to_string())
            }
        }
    }
}
