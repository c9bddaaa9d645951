//! `bench:host/uploads`: request bodies written to disk for a handler that never sees their bytes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use wasmtime::component::Resource;

use super::bindings::bench::host::uploads::{Error, Form, FormFile, Host, HostUpload};
use super::{Call, Context, internal};
use crate::blobs::{FormRules, StageError, StageFormError, Staged, StagedForm};
use crate::http::multipart;

/// Largest body that may come into a guest.
const READ_BYTES_MAX: u32 = 1 << 20;

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
        let staged = staged.map_err(|error| self.stage_error(error))?;
        self.hand_over(staged)
    }

    async fn receive_form(
        &mut self,
        content_type: String,
        files: Vec<String>,
        bytes_max: u64,
    ) -> Result<Form, Error> {
        let boundary = multipart::boundary(&content_type)
            .map_err(|error| Error::Malformed(error.to_string()))?
            .ok_or_else(|| Error::Malformed("its media type is no form's".to_owned()))?;
        let mut body = self.inbound.take().ok_or(Error::NoBody)?;
        let builds = &self.services.builds;
        let rules = FormRules {
            files: &files,
            bytes_max,
        };
        let wait = builds.upload_wait();
        let taking = builds.blobs().stage_form(&mut body, &boundary, rules, wait);
        match taking.await {
            Ok(form) => self.hand_over_form(form),
            Err(error) => {
                self.inbound.put_back(body);
                Err(match error {
                    StageFormError::Stage(error) => self.stage_error(error),
                    malformed => Error::Malformed(malformed.to_string()),
                })
            }
        }
    }

    async fn read(&mut self, bytes_max: u32) -> Result<Vec<u8>, Error> {
        let mut body = self.inbound.take().ok_or(Error::NoBody)?;
        let limit = bytes_max.min(READ_BYTES_MAX);
        let wait = self.services.builds.upload_wait();
        let read = read_all(&mut body, limit, wait).await;
        if read.is_err() {
            self.inbound.put_back(body);
        }
        read
    }
}

async fn read_all(body: &mut Incoming, limit: u32, wait: Duration) -> Result<Vec<u8>, Error> {
    let bytes_max = usize::try_from(limit).expect("32 bits fit");
    let all = Limited::new(body, bytes_max).collect();
    match tokio::time::timeout(wait, all).await {
        Ok(Ok(all)) => Ok(all.to_bytes().into()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Error::TooLarge(limit.into())),
        Ok(Err(_)) => Err(Error::Incomplete),
        Err(_) => Err(Error::TooSlow(
            u32::try_from(wait.as_millis()).unwrap_or(u32::MAX),
        )),
    }
}

impl Call {
    fn hand_over(&mut self, staged: Staged) -> Result<Resource<Staged>, Error> {
        let pushed = self.table.push(staged);
        pushed.map_err(|e| Error::Other(internal(self, "uploads", &e)))
    }

    fn hand_over_form(&mut self, form: StagedForm) -> Result<Form, Error> {
        let mut files = Vec::new();
        for file in form.files {
            files.push(FormFile {
                name: file.name,
                file_name: file.file_name,
                content_type: file.content_type,
                content: self.hand_over(file.staged)?,
            });
        }
        let texts = form.texts;
        Ok(Form { texts, files })
    }
}

impl Context {
    fn stage_error(&self, error: StageError) -> Error {
        match error {
            StageError::TooLarge { limit_bytes } => Error::TooLarge(limit_bytes),
            StageError::TooSlow { wait_ms } => Error::TooSlow(wait_ms),
            StageError::Broken => Error::Incomplete,
            error @ StageError::Write { .. } => Error::Other(internal(self, "uploads", &error)),
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
