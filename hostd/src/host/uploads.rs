//! `bench:host/uploads`: request bodies written to disk for a handler that never sees their bytes.

use std::sync::{Arc, Mutex, PoisonError};

use hyper::body::Incoming;
use wasmtime::component::Resource;

use super::bindings::bench::host::uploads::{Error, Host, HostUpload};
use super::{Call, internal};
use crate::blobs::{StageError, Staged};

/// A request's body that nobody has read yet. Shared, so that whoever took the request in can read
/// on when the handler did not.
#[derive(Debug, Clone, Default)]
pub struct Inbound(Arc<Mutex<Option<Incoming>>>);

impl Inbound {
    #[must_use]
    pub fn new(body: Incoming) -> Self {
        Self(Arc::new(Mutex::new(Some(body))))
    }

    /// Take what has not been taken.
    #[must_use]
    pub fn take(&self) -> Option<Incoming> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn put_back(&self, body: Incoming) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
    }
}

impl Host for Call {
    async fn receive(&mut self, bytes_max: u64) -> Result<Resource<Staged>, Error> {
        let mut body = self.inbound.take().ok_or(Error::NoBody)?;
        let builds = &self.services.builds;
        let wait = builds.upload_wait();
        let staged = builds.blobs().stage(&mut body, bytes_max, wait).await;
        if staged.is_err() {
            self.inbound.put_back(body);
        }
        match staged {
            Ok(staged) => {
                let pushed = self.table.push(staged);
                pushed.map_err(|e| Error::Other(internal(self, "uploads", &e)))
            }
            Err(StageError::TooLarge { limit_bytes }) => Err(Error::TooLarge(limit_bytes)),
            Err(StageError::TooSlow { wait_ms }) => Err(Error::TooSlow(wait_ms)),
            Err(StageError::Broken) => Err(Error::Incomplete),
            Err(error) => Err(Error::Other(internal(self, "uploads", &error))),
        }
    }
}

impl HostUpload for Call {
    async fn size_bytes(&mut self, upload: Resource<Staged>) -> u64 {
        self.table.get(&upload).map_or(0, Staged::size_bytes)
    }

    async fn sha256(&mut self, upload: Resource<Staged>) -> String {
        let staged = self.table.get(&upload);
        staged.map_or_else(|_| String::new(), |s| s.sha256().to_owned())
    }

    async fn drop(&mut self, upload: Resource<Staged>) -> wasmtime::Result<()> {
        self.table.delete(upload)?;
        Ok(())
    }
}
