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
    /// Shared with a call that is made apart, which may end after the session.
    place: Arc<OwnedPermit>,
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
            place: Arc::new(place),
        }
    }

    /// Make the next call. Dropping the future cancels the call and ends the session. Needs a
    /// tokio runtime with time.
    ///
    /// # Errors
    /// See [`CallError`]; all of them are logged here, and end the session.
    pub async fn call<I: Invoke<T, X>>(&mut self, call: I) -> Result<I::Answer, CallError> {
        let mut instance = self.instance.take().ok_or(CallError::Ended)?;
        let answer = bounded(&self.guest, &self.id, &mut instance, call).await?;
        self.instance = Some(instance);
        Ok(answer)
    }

    /// As [`Session::call`], on a thread that has a lower priority than the caller's, as calls of [`Guest::call_apart`].
    ///
    /// # Errors
    /// As there.
    pub async fn call_apart<I>(&mut self, call: I) -> Result<I::Answer, CallError>
    where
        I: Invoke<T, X> + 'static,
        I::Answer: 'static,
    {
        let instance = self.instance.take().ok_or(CallError::Ended)?;
        let (guest, id, place) = (self.guest.clone(), self.id.clone(), self.place.clone());
        let work = async move {
            let _place = place;
            let mut instance = instance;
            let answer = bounded(&guest, &id, &mut instance, call).await?;
            Ok::<_, CallError>((answer, instance))
        };
        let Some(outcome) = self.guest.threads().run(work).await else {
            let overloaded = CallError::overloaded(self.guest.options());
            return Err(self.guest.report(&self.id, overloaded.into()));
        };
        let (answer, instance) = outcome?;
        self.instance = Some(instance);
        Ok(answer)
    }

    /// The data of its calls. None once the session has ended.
    pub fn data(&mut self) -> Option<&mut T> {
        self.instance.as_mut().map(Instance::data)
    }
}

/// One call within the guest's deadline.
async fn bounded<T: CallData, X: Exports<T>, I: Invoke<T, X>>(
    guest: &Guest<T, X>,
    id: &str,
    instance: &mut Instance<T, X>,
    call: I,
) -> Result<I::Answer, CallError> {
    let options = guest.options();
    let started = Instant::now();
    let deadline = started + Duration::from_millis(options.deadline_ms);
    let run = pin!(instance.call(call, options, deadline));
    guest.bounded(id, started, deadline, run).await
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
