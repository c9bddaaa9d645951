//! Arriving bodies: how many at once, per user, per organisation and in all, and how fast.
//!
//! An arriving body holds a place here and none in a handler group, so a slow sender takes nothing
//! from complete requests. Small bodies, which are kept in memory, have many places; anything larger
//! is an upload, whether it is kept in memory or written to disk.

use std::time::Duration;

use admission::{Admission, Limits, Permit, Requester};
use bytes::{Bytes, BytesMut};
use http_body::Body;
use hyper::body::Incoming;
use tokio::time::timeout;

use super::body::{self, ReadError};
use crate::host::uploads::{Arrived, Wanted};
use base::config::{HttpConfig, UploadsConfig};
use base::pace::{Pace, Paced};
use lab::blobs::{Blobs, FormRules, StageError, StageFormError};

/// A body beyond this is an upload.
const SMALL_BYTES_MAX: usize = 64 << 10;

/// Small bodies in memory at once: 64 MiB at most.
const SMALL_MAX: u32 = 1024;

/// Senders of small bodies that may wait for a place; they send nothing meanwhile.
const SMALL_QUEUED_MAX: u32 = 256;

/// How long they may wait.
const SMALL_QUEUE_WAIT: Duration = Duration::from_secs(2);

/// Senders of uploads that may wait, for each that has a place.
const QUEUED_PER_PLACE: u32 = 4;

/// Why an upload did not arrive.
#[derive(Debug, thiserror::Error)]
pub enum ArrivalError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Stage(#[from] StageFormError),
}

/// Everything that arrives.
#[derive(Debug)]
pub struct Arrivals {
    small: Admission,
    uploads: Admission,
    small_pace: Pace,
    upload_pace: Pace,
}

/// A body in memory, and its permit as long as it is needed.
#[derive(Debug)]
pub struct Read<'a> {
    pub bytes: Bytes,
    #[allow(dead_code, reason = "held")]
    permit: Option<Permit<'a>>,
}

impl Arrivals {
    /// With nothing arriving. An upload that is written to disk may take `upload_wait`.
    #[must_use]
    pub fn new(http: &HttpConfig, uploads: &UploadsConfig, upload_wait: Duration) -> Self {
        let upload_pace = Pace {
            wait: upload_wait,
            bytes_per_s_min: uploads.bytes_per_s_min,
            grace: Duration::from_millis(uploads.grace_ms),
        };
        Self {
            small: Admission::new(Limits {
                permits_max: SMALL_MAX,
                per_user_max: SMALL_MAX,
                per_org_max: SMALL_MAX,
                queued_max: SMALL_QUEUED_MAX,
                wait_max: SMALL_QUEUE_WAIT,
            }),
            uploads: Admission::new(Limits {
                permits_max: uploads.total_max,
                per_user_max: uploads.per_user_max,
                per_org_max: uploads.per_org_max,
                queued_max: uploads.total_max.saturating_mul(QUEUED_PER_PLACE),
                wait_max: Duration::from_millis(uploads.queue_wait_ms),
            }),
            small_pace: Pace {
                wait: Duration::from_millis(http.body_wait_ms),
                ..upload_pace
            },
            upload_pace,
        }
    }

    /// Uploads arriving now.
    #[must_use]
    pub fn uploads(&self) -> u32 {
        self.uploads.taken()
    }

    /// Read all of `body`, at most `limit_bytes`. With a limit of 0 no body is expected, and any that
    /// comes is ignored.
    ///
    /// # Errors
    /// A limit is exceeded. A declared length over the limit fails before a byte is read.
    pub async fn read(
        &self,
        mut body: Incoming,
        limit_bytes: u32,
        requester: &Requester,
    ) -> Result<Read<'_>, ReadError> {
        if body.is_end_stream() {
            return Ok(Read::empty());
        }
        if limit_bytes == 0 {
            body::drain(body).await;
            return Ok(Read::empty());
        }
        let read = self.collect(&mut body, limit_bytes, requester).await;
        if matches!(
            read,
            Err(ReadError::TooLarge { .. } | ReadError::Crowded(_))
        ) {
            body::drain(body).await;
        }
        read
    }

    /// Receive the body in the form that a handler wants.
    ///
    /// # Errors
    /// A limit is exceeded, the form is malformed, the connection breaks, or the disk fails.
    pub async fn receive<B>(
        &self,
        body: &mut B,
        wanted: &Wanted,
        blobs: &Blobs,
        requester: &Requester,
    ) -> Result<Arrived, ArrivalError>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let pace = self.upload_pace;
        Ok(match wanted {
            Wanted::Bytes { bytes_max } => {
                let read = self.collect(body, *bytes_max, requester).await?;
                Arrived::Bytes(read.bytes)
            }
            Wanted::File { bytes_max } => {
                let _place = self.begin_upload(requester).await?;
                Arrived::File(blobs.stage(body, *bytes_max, pace).await?)
            }
            Wanted::Form {
                boundary,
                files,
                bytes_max,
            } => {
                let _place = self.begin_upload(requester).await?;
                let rules = FormRules {
                    files,
                    bytes_max: *bytes_max,
                };
                Arrived::Form(blobs.stage_form(body, boundary, rules, pace).await?)
            }
        })
    }

    /// The start of every upload: get a place.
    async fn begin_upload(&self, requester: &Requester) -> Result<Permit<'_>, ReadError> {
        let permit = self.uploads.enter(Some(requester)).await;
        permit.map_err(ReadError::Crowded)
    }

    async fn collect<B>(
        &self,
        body: &mut B,
        limit_bytes: u32,
        requester: &Requester,
    ) -> Result<Read<'_>, ReadError>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let least = body.size_hint().lower();
        if least > u64::from(limit_bytes) {
            return Err(ReadError::TooLarge { limit_bytes });
        }
        let is_small = least <= SMALL_BYTES_MAX as u64;
        let permit = if is_small {
            let permit = self.small.enter(Some(requester)).await;
            permit.map_err(ReadError::Crowded)?
        } else {
            self.begin_upload(requester).await?
        };
        let gathering = Gathering {
            arrivals: self,
            permit,
            is_small,
            first: Bytes::new(),
            all: BytesMut::new(),
        };
        let pace = self.small_pace;
        let body = Paced::new(body, pace);
        let gathered = timeout(pace.wait, gathering.gather(body, limit_bytes, requester)).await;
        gathered.unwrap_or_else(|_| Err(pace.exceeded().into()))
    }
}

impl Read<'_> {
    fn empty() -> Self {
        Self {
            bytes: Bytes::new(),
            permit: None,
        }
    }
}

/// A body being read into memory.
struct Gathering<'a> {
    arrivals: &'a Arrivals,
    permit: Permit<'a>,
    is_small: bool,
    /// The whole body, as long as it is one part.
    first: Bytes,
    /// The whole body, from the second part on.
    all: BytesMut,
}

impl<'a> Gathering<'a> {
    async fn gather<B>(
        mut self,
        mut body: Paced<'_, B>,
        limit_bytes: u32,
        requester: &Requester,
    ) -> Result<Read<'a>, ReadError>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        while let Some(frame) = body.frame().await? {
            let Ok(part) = frame.map_err(|_| ReadError::Broken)?.into_data() else {
                continue;
            };
            let size = self.len() + part.len();
            if size > limit_bytes as usize {
                return Err(ReadError::TooLarge { limit_bytes });
            }
            if self.is_small && size > SMALL_BYTES_MAX {
                self.permit = self.arrivals.begin_upload(requester).await?;
                self.is_small = false;
            }
            self.append(part);
        }
        let bytes = if self.all.is_empty() {
            self.first
        } else {
            self.all.freeze()
        };
        Ok(Read {
            bytes,
            permit: Some(self.permit),
        })
    }

    fn len(&self) -> usize {
        self.first.len().max(self.all.len())
    }

    fn append(&mut self, part: Bytes) {
        if self.len() == 0 {
            self.first = part;
            return;
        }
        if self.all.is_empty() {
            self.all.extend_from_slice(&self.first);
        }
        self.all.extend_from_slice(&part);
    }
}

impl From<StageError> for ArrivalError {
    fn from(error: StageError) -> Self {
        StageFormError::from(error).into()
    }
}

#[cfg(test)]
mod tests;
