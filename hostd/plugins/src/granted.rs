//! A grant as it is now. A call holds one as long as it runs and asks it before everything it does, so that what an
//! administrator takes back counts for calls that are under way, too.

use std::future::pending;
use std::sync::Arc;

use tokio::sync::watch;

use crate::grant::Grant;

/// What a plugin is granted in an organisation, now: a grant that replaces the one before counts at once. Once it was taken
/// back it is gone for good, also if the plugin is approved again: that is for later calls.
#[derive(Debug, Clone)]
pub struct Granted(watch::Receiver<Option<Arc<Grant>>>);

/// Where a grant is kept, to be replaced or taken back.
#[derive(Debug)]
pub(crate) struct Kept(watch::Sender<Option<Arc<Grant>>>);

impl Granted {
    /// Nothing.
    #[must_use]
    pub fn none() -> Self {
        None.into()
    }

    /// The grant, if there is one and it was not taken back.
    #[must_use]
    pub fn now(&self) -> Option<Arc<Grant>> {
        self.0.borrow().clone()
    }

    /// Returns when there is no grant, or once it has been taken back.
    pub async fn revoked(mut self) {
        // A server that ends keeps its grants.
        if self.0.wait_for(Option::is_none).await.is_err() {
            pending::<()>().await;
        }
    }
}

impl From<Option<Arc<Grant>>> for Granted {
    /// One that stays as it is.
    fn from(grant: Option<Arc<Grant>>) -> Self {
        Self(watch::channel(grant).1)
    }
}

impl Kept {
    pub(crate) fn new(grant: Grant) -> Self {
        Self(watch::Sender::new(Some(Arc::new(grant))))
    }

    pub(crate) fn now(&self) -> Option<Arc<Grant>> {
        self.0.borrow().clone()
    }

    pub(crate) fn granted(&self) -> Granted {
        Granted(self.0.subscribe())
    }

    pub(crate) fn replace(&self, grant: Grant) {
        self.0.send_replace(Some(Arc::new(grant)));
    }

    /// Take it back from everyone who holds it.
    pub(crate) fn take_back(&self) {
        self.0.send_replace(None);
    }
}
