//! Several calls of one instance that nobody else uses meanwhile.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use admission::OwnedPermit;

use crate::exports::{Exports, Invoke};
use crate::failure::CallError;
use crate::guest::Guest;
use crate::instance::Instance;
use crate::state::CallData;

/// A guest's instance, from [`Guest::session`] until it is dropped or a call fails. What the guest
/// returns, a resource for instance, may be used in the next call. Each call has the guest's full
/// deadline and compute time. It takes one of the guest's places however long nothing is called.
pub struct Session<T: CallData, X: Exports<T>> {
    /// None after a failure. Before the place, so that it is gone when the next one comes in.
    instance: Option<Instance<T, X>>,
    guest: Arc<Guest<T, X>>,
    id: String,
    _place: OwnedPermit,
}

impl<T: CallData, X: Exports<T>> Session<T, X> {
    pub(crate) fn new(
        guest: Arc<Guest<T, X>>,
        id: &str,
        instance: Instance<T, X>,
        place: OwnedPermit,
    ) -> Self {
        Self {
            instance: Some(instance),
            guest,
            id: id.to_owned(),
            _place: place,
        }
    }

    /// Make the next call. Dropping the future cancels the call and ends the session. Needs a
    /// tokio runtime with time.
    ///
    /// # Errors
    /// See [`CallError`]; all of them are logged here, and end the session.
    pub async fn call<I: Invoke<T, X>>(&mut self, call: I) -> Result<I::Answer, CallError> {
        let mut instance = self.instance.take().ok_or(CallError::Ended)?;
        let options = self.guest.options();
        let started = Instant::now();
        let deadline = started + Duration::from_millis(options.deadline_ms);
        let answer = {
            let run = pin!(instance.call(call, options, deadline));
            self.guest.bounded(&self.id, started, deadline, run).await?
        };
        self.instance = Some(instance);
        Ok(answer)
    }

    /// The data of its calls. None once the session has ended.
    pub fn data(&mut self) -> Option<&mut T> {
        self.instance.as_mut().map(Instance::data)
    }
}

impl<T: CallData, X: Exports<T>> fmt::Debug for Session<T, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("guest", &self.guest.name())
            .field("id", &self.id)
            .field("instance", &self.instance)
            .finish_non_exhaustive()
    }
}
