//! Work on a thread that may block, which ends early when nobody waits for its result any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use admission::Requester;
use lab::captures::{CaptureError, Captures};
use tokio::task::JoinError;

/// Held by what waits for the work; the work is asked to end when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Waiting(Arc<AtomicBool>);

/// Says to the work whether it is still waited for.
#[derive(Debug)]
pub(crate) struct Gone(Arc<AtomicBool>);

impl Waiting {
    pub(crate) fn gone(&self) -> Gone {
        Gone(self.0.clone())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Gone {
    pub(crate) fn is_gone(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Does work on a whole capture, which may take seconds, in one of the places of those who are sent whole captures. The work
/// should end when the request that waits for it has.
///
/// # Errors
/// Too many wait for a place. The inner one: the work panicked.
pub(super) async fn in_place<T: Send + 'static>(
    captures: &Captures,
    requester: Option<&Requester>,
    work: impl FnOnce(&Gone) -> T + Send + 'static,
) -> Result<Result<T, JoinError>, CaptureError> {
    let permit = captures.stream_permit(requester).await?;
    let in_it = move |gone: &Gone| {
        let done = work(gone);
        drop(permit);
        done
    };
    Ok(on_thread(in_it).await)
}

/// Does work on a thread that may block. It should end when what waits for it has.
///
/// # Errors
/// The work panicked.
pub(super) async fn on_thread<T: Send + 'static>(
    work: impl FnOnce(&Gone) -> T + Send + 'static,
) -> Result<T, JoinError> {
    let waiting = Waiting::default();
    let gone = waiting.gone();
    tokio::task::spawn_blocking(move || work(&gone)).await
}

#[cfg(test)]
mod tests {
    use super::Waiting;

    #[test]
    fn work_is_asked_to_end_when_nothing_waits_for_it() {
        let waiting = Waiting::default();
        let gone = waiting.gone();
        assert!(!gone.is_gone());
        drop(waiting);
        assert!(gone.is_gone());
    }
}
