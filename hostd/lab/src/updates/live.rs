//! An update in progress: its record, and the request to stop it. Both are one value, so that it
//! cannot be stopped between the last check and the first byte written.

use tokio::sync::watch;

use store::updates::UpdateRecord;
use store::updates::{Event, Phase};

/// Why an update has to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Stop {
    #[error("it was aborted")]
    Asked,
    #[error("the lease that it was started under is over")]
    Lease,
    #[error("hostd was stopped while the image was on its way; the pod was not changed")]
    Server,
    #[error("the device was removed")]
    Removed,
}

#[derive(Debug)]
struct State {
    record: UpdateRecord,
    stop: Option<Stop>,
}

#[derive(Debug)]
pub(super) struct Live(watch::Sender<State>);

impl Live {
    pub(super) fn new(record: UpdateRecord) -> Self {
        Self(watch::Sender::new(State { record, stop: None }))
    }

    pub(super) fn record(&self) -> UpdateRecord {
        self.0.borrow().record.clone()
    }

    /// Ask it to stop; false when it is too late.
    pub(super) fn stop(&self, why: Stop) -> bool {
        let mut may = false;
        self.0.send_if_modified(|state| {
            may = state.record.phase.may_abort();
            if may {
                state.stop.get_or_insert(why);
            }
            may
        });
        may
    }

    /// Resolves when it has to stop.
    pub(super) async fn stopped(&self) -> Stop {
        let mut states = self.0.subscribe();
        loop {
            if let Some(why) = states.borrow_and_update().stop {
                return why;
            }
            if states.changed().await.is_err() {
                // The sender is `self`.
                return std::future::pending().await;
            }
        }
    }

    /// Resolves when it has ended, with how.
    pub(super) async fn ended(&self) -> UpdateRecord {
        let mut states = self.0.subscribe();
        let ended = states.wait_for(|state| state.record.finished_ms.is_some());
        match ended.await {
            Ok(state) => state.record.clone(),
            Err(_) => self.record(),
        }
    }

    /// Go to the next phase.
    ///
    /// # Errors
    /// It has to stop instead.
    pub(super) fn advance(&self, event: Event) -> Result<UpdateRecord, Stop> {
        let mut outcome = None;
        self.0.send_modify(|state| {
            if let Some(why) = state.stop.filter(|_| state.record.phase.may_abort()) {
                outcome = Some(Err(why));
                return;
            }
            let next = state.record.phase.after(event);
            state.record.phase = next.expect("the run follows the table of phases");
            outcome = Some(Ok(state.record.clone()));
        });
        outcome.expect("the change was made")
    }

    /// Change what is known besides the phase.
    pub(super) fn note(&self, change: impl FnOnce(&mut UpdateRecord)) {
        self.0.send_modify(|state| change(&mut state.record));
    }

    /// How it ends, without announcing it yet.
    pub(super) fn outcome(&self, event: Event, error: Option<String>, now_ms: u64) -> UpdateRecord {
        let mut record = self.record();
        record.phase = record.phase.after(event).unwrap_or(Phase::Failed);
        record.error = error;
        record.finished_ms = Some(now_ms);
        record
    }

    /// Announce how it ended.
    pub(super) fn end(&self, record: UpdateRecord) {
        self.0.send_modify(|state| state.record = record);
    }
}
