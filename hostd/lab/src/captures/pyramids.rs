//! Pyramids that are missing or damaged, also those of captures that older versions stored: made again from the samples
//! when somebody looks at the capture from afar.

use std::io::{self, Write};
use std::sync::Arc;

use decode::pyramid;
use decode::segment::SegmentError;
use tracing::{info, warn};

use super::files::{ANALOG_PYRAMID, Files, LOGIC_PYRAMID};
use super::quota::Usage;
use super::reader::{ReadError, Reader};
use super::{CaptureError, Captures};

/// Why a pyramid cannot be made.
#[derive(Debug, thiserror::Error)]
enum RaiseError {
    #[error("read the samples")]
    Samples(#[from] ReadError),
    #[error("keep the pyramid")]
    Disk(#[from] io::Error),
}

impl From<SegmentError> for RaiseError {
    fn from(error: SegmentError) -> Self {
        Self::Samples(error.into())
    }
}

/// Which pyramids to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    /// Those that cannot be opened.
    Missing,
    /// All: one that could be opened is damaged further inside.
    All,
}

impl Captures {
    /// Look at a finished capture from afar, on a thread that may block: `look` is given the samples with their pyramids,
    /// which are made first where they are missing, and again where they turn out to be damaged. Where they cannot be made,
    /// the look takes longer.
    ///
    /// # Errors
    /// As [`read`](Self::read), and what `look` returns.
    pub async fn look<T: Send + 'static>(
        self: &Arc<Self>,
        org: &str,
        id: &str,
        look: impl Fn(&Reader) -> Result<T, ReadError> + Send + Sync + 'static,
    ) -> Result<T, CaptureError> {
        let look = Arc::new(look);
        let first = {
            let look = look.clone();
            Arc::new(move |reader: &Reader| match missing(reader)?.is_empty() {
                true => look(reader).map(Some),
                false => Ok(None),
            })
        };
        let reader = self.read(org, id).await?;
        let which = match self.seen(&reader, &first).await? {
            Ok(Some(seen)) => return Ok(seen),
            Ok(None) => Which::Missing,
            Err(error) if error.is_of_pyramid() => {
                warn!(capture = id, %error, "a pyramid is made again");
                Which::All
            }
            Err(error) => return Err(error.into()),
        };
        let reader = self.raise(org, id, which).await?;
        Ok(self.seen(&reader, &look).await??)
    }

    async fn seen<T: Send + 'static>(
        &self,
        reader: &Arc<Reader>,
        look: &Arc<impl Fn(&Reader) -> Result<T, ReadError> + Send + Sync + 'static>,
    ) -> Result<Result<T, ReadError>, CaptureError> {
        let permit = self.reader_permit().await;
        let (reader, look) = (reader.clone(), look.clone());
        let seen = tokio::task::spawn_blocking(move || {
            let seen = look(&reader);
            drop(permit);
            seen
        });
        seen.await
            .map_err(|_| CaptureError::State("the capture could not be read"))
    }

    /// Make pyramids, and open the capture with them.
    async fn raise(
        self: &Arc<Self>,
        org: &str,
        id: &str,
        which: Which,
    ) -> Result<Arc<Reader>, CaptureError> {
        let order = self.raising.clone().lock_owned().await;
        let (captures, org, id) = (self.clone(), org.to_owned(), id.to_owned());
        // On a task of its own, so that what is made is counted, and by one at a time, even if the caller goes away.
        let task = tokio::spawn(async move {
            let _order = order;
            captures.make_missing(&org, &id, which).await
        });
        task.await
            .map_err(|_| CaptureError::State("the capture could not be read"))?
    }

    async fn make_missing(
        &self,
        org: &str,
        id: &str,
        which: Which,
    ) -> Result<Arc<Reader>, CaptureError> {
        let reader = self.read(org, id).await?;
        let files = self.files.clone();
        let make = Arc::new(move |reader: &Reader| {
            // Somebody else may have made them meanwhile.
            let kinds = match which {
                Which::Missing => missing(reader)?,
                Which::All => wanted(reader),
            };
            let id = &reader.record().id;
            let before = files.size_bytes(id);
            let made = make(&files, reader, &kinds);
            Ok(made.map(|()| (kinds.len(), before, files.size_bytes(id))))
        });
        match self.seen(&reader, &make).await?? {
            Ok((pyramids, before, after)) => {
                self.ledger.raised(pyramids);
                if before != after {
                    self.count_pyramid(org, id, before, after).await?;
                }
            }
            Err(error) => warn!(capture = id, %error, "failed to make a pyramid"),
        }
        self.read(org, id).await
    }

    /// Count what the files have become; a capture that was deleted meanwhile has none.
    async fn count_pyramid(
        &self,
        org: &str,
        id: &str,
        before: u64,
        after: u64,
    ) -> Result<(), CaptureError> {
        if !self.store.capture_resize(id, after).await? {
            self.files.remove(id);
            return Ok(());
        }
        let bytes = |bytes| Usage { count: 0, bytes };
        self.ledger.add(org, bytes(after));
        self.ledger.give_back(org, bytes(before));
        info!(
            capture = id,
            bytes = after.saturating_sub(before),
            "pyramid made"
        );
        Ok(())
    }
}

/// The pyramids that a capture should have.
fn wanted(reader: &Reader) -> Vec<&'static str> {
    let logic = reader.has_logic().then_some(LOGIC_PYRAMID);
    let analog = reader.has_analog().then_some(ANALOG_PYRAMID);
    logic.into_iter().chain(analog).collect()
}

/// Those that it does not have.
fn missing(reader: &Reader) -> Result<Vec<&'static str>, ReadError> {
    let mut missing = Vec::new();
    for kind in wanted(reader) {
        let found = match kind {
            LOGIC_PYRAMID => reader.logic_pyramid()?,
            _ => reader.analog_pyramid()?,
        };
        if found.is_none() {
            missing.push(kind);
        }
    }
    Ok(missing)
}

/// Make pyramids. Blocks on the disk.
fn make(files: &Files, reader: &Reader, kinds: &[&'static str]) -> Result<(), RaiseError> {
    for &kind in kinds {
        let mut part = files.begin(&reader.record().id, kind)?;
        let mut out = |bytes: &[u8]| Ok::<_, RaiseError>(part.write_all(bytes)?);
        if kind == LOGIC_PYRAMID {
            pyramid::of_logic(&reader.logic()?, &mut out)?;
        } else {
            pyramid::of_analog(&reader.analog()?, &mut out)?;
        }
        part.finish()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
