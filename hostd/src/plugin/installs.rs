//! Packages that come over HTTP: so many at once, and none is refused without anybody being told.
//!
//! Whoever sends one may be gone before it is installed, and each takes a file and much memory until then.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tracing::warn;

use super::{OrderError, Plugins};

/// Packages that came over HTTP and are being installed at once. One is compiled at a time; the others wait.
pub(super) const INSTALLS_MAX: usize = 4;

/// That a package was not installed. If nobody has heard of it when this goes, it is listed as refused.
#[derive(Debug)]
pub struct Unheard(Option<Noted>);

#[derive(Debug)]
struct Noted {
    plugins: Arc<Plugins>,
    request_id: String,
    reason: String,
}

impl Plugins {
    /// A place for a package that came over HTTP, to be held until it is installed.
    ///
    /// # Errors
    /// They are all taken.
    pub fn install_place(&self) -> Result<OwnedSemaphorePermit, OrderError> {
        place(&self.installs)
    }
}

impl Unheard {
    /// Of the package that the request `request_id` brought.
    #[must_use]
    pub fn new(plugins: &Arc<Plugins>, request_id: &str, error: &OrderError) -> Self {
        let reason = match error {
            OrderError::NotFound => "it is gone".to_owned(),
            OrderError::Forbidden(sentence)
            | OrderError::Refused(sentence)
            | OrderError::Busy(sentence) => sentence.clone(),
            OrderError::Failed(error) => format!("{error:#}"),
        };
        Self(Some(Noted {
            plugins: plugins.clone(),
            request_id: request_id.to_owned(),
            reason,
        }))
    }

    /// Somebody has.
    pub fn heard(mut self) {
        self.0 = None;
    }
}

impl Drop for Unheard {
    fn drop(&mut self) {
        let Some(noted) = self.0.take() else { return };
        let (request_id, reason) = (noted.request_id, noted.reason);
        warn!(request_id, reason, "a package was not installed");
        noted.plugins.refusals.note_request(&request_id, reason);
    }
}

fn place(places: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, OrderError> {
    places.clone().try_acquire_owned().map_err(|_| {
        OrderError::Busy(format!(
            "{INSTALLS_MAX} packages are being installed already; try again later"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_so_many_places_and_each_becomes_free_again() {
        let places = Arc::new(Semaphore::new(INSTALLS_MAX));
        let mut held: Vec<_> = (0..INSTALLS_MAX).map(|_| place(&places).unwrap()).collect();
        let OrderError::Busy(refused) = place(&places).unwrap_err() else {
            panic!("it can be done later");
        };
        assert!(refused.contains("try again later"), "{refused}");
        held.pop();
        held.push(place(&places).unwrap());
    }
}
