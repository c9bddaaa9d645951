//! Waveforms that an organisation stores for its DACs: codes, recordings and segments, within a
//! quota, and what an output makes of them.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use blobs::FileParts;
use tokio::sync::Semaphore;
use tracing::info;

use base::clock::Clock;
use base::config::WaveformsConfig;
use base::id;
use blobs::{Blobs, StageError};
use store::waveforms::{Full, Kind, Output, Quota, Unit, WaveformRecord};
use store::{Store, StoreError};

mod check;
mod keep;
mod sampled;
pub mod signal;

pub use check::{SEGMENTS_MAX, segments_rate_hz};
pub use keep::decode_codes;
pub use sampled::{Sampled, Scale};

use signal::{Mapping, Span};

/// Signals computed at once; each may hold a whole recording.
const COMPUTED_MAX: usize = 2;

/// All kept waveforms of all organisations.
#[derive(Debug)]
pub struct Waveforms {
    config: WaveformsConfig,
    store: Store,
    clock: Clock,
    blobs: Arc<Blobs>,
    permits: Arc<Semaphore>,
}

/// Why a waveform cannot be kept, found or used.
#[derive(Debug, thiserror::Error)]
pub enum WaveformError {
    #[error("there is no such waveform")]
    NotFound,
    #[error("{what}: {max} at most")]
    Full { what: &'static str, max: u64 },
    #[error("{0}")]
    WrongKind(&'static str),
    #[error("{field}: {message}")]
    Invalid {
        field: &'static str,
        message: String,
    },
    #[error("write the samples")]
    Stage(#[source] StageError),
    #[error("read or keep the samples in {}", path.display())]
    Blob {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("compute the waveform")]
    Panicked(#[source] tokio::task::JoinError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Who stores a waveform, and its name.
#[derive(Debug, Clone, Copy)]
pub struct Label<'a> {
    pub org: &'a str,
    pub user: &'a str,
    pub name: &'a str,
}

/// What a client says about a recording when storing it.
#[derive(Debug, Clone, Copy)]
pub struct Recorded {
    /// 0 = not known.
    pub sample_rate_hz: f64,
    /// Level of the sample 65535.
    pub full_scale: f64,
    pub unit: Unit,
    /// How many samples there should be.
    pub samples: Option<u64>,
}

/// What an output would play.
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    pub codes: Vec<u16>,
    pub span: Span,
    /// 0 = not known.
    pub sample_rate_hz: f64,
    /// Samples averaged into each code.
    pub averaged: usize,
}

impl Waveforms {
    #[must_use]
    pub fn new(config: &WaveformsConfig, store: Store, clock: Clock, blobs: Arc<Blobs>) -> Self {
        Self {
            config: config.clone(),
            store,
            clock,
            blobs,
            permits: Arc::new(Semaphore::new(COMPUTED_MAX)),
        }
    }

    /// Newest first, at most `limit`, older than the waveform `before`.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn list(
        &self,
        org: &str,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<WaveformRecord>, WaveformError> {
        Ok(self.store.waveforms_list(org, before, limit).await?)
    }

    /// One waveform of an organisation.
    ///
    /// # Errors
    /// It does not exist there, or the storage failed.
    pub async fn get(&self, org: &str, id: &str) -> Result<WaveformRecord, WaveformError> {
        if !id::is_ulid(id) {
            return Err(WaveformError::NotFound);
        }
        let found = self.store.waveform_get(org, id).await?;
        found.ok_or(WaveformError::NotFound)
    }

    /// How many bytes the next recording may have.
    ///
    /// # Errors
    /// The quota is used up, or the storage failed.
    pub async fn room(&self, org: &str) -> Result<u64, WaveformError> {
        let used = self.store.waveforms_usage(org).await?;
        let left = self.quota().room(used).map_err(|full| self.full(full))?;
        Ok(left.min(u64::from(self.config.recording_mib_max) << 20))
    }

    /// Give a waveform another name.
    ///
    /// # Errors
    /// There is none, the name is bad, or the storage failed.
    pub async fn rename(
        &self,
        label: Label<'_>,
        id: &str,
    ) -> Result<WaveformRecord, WaveformError> {
        check::name(label.name)?;
        self.get(label.org, id).await?;
        let name = label.name.to_owned();
        let renamed = self.store.waveform_rename(label.org, id, name).await?;
        renamed.ok_or(WaveformError::NotFound)
    }

    /// Delete a waveform. Its samples are removed at the next sweep of blobs.
    ///
    /// # Errors
    /// There is none, or the storage failed.
    pub async fn delete(&self, org: &str, id: &str) -> Result<(), WaveformError> {
        self.get(org, id).await?;
        if self.store.waveform_delete(org, id).await? {
            info!(waveform = id, "waveform deleted");
            return Ok(());
        }
        Err(WaveformError::NotFound)
    }

    /// The samples of codes, in base64.
    ///
    /// # Errors
    /// There are none, or they cannot be read.
    pub async fn samples_b64(&self, org: &str, id: &str) -> Result<String, WaveformError> {
        let record = self.get(org, id).await?;
        if record.kind != Kind::Codes {
            return Err(WaveformError::WrongKind("only codes are told in base64"));
        }
        let path = self.path(&record)?;
        let read = tokio::task::spawn_blocking(move || match std::fs::read(&path) {
            Ok(bytes) => Ok(STANDARD.encode(bytes)),
            Err(source) => Err(WaveformError::Blob { path, source }),
        });
        read.await.map_err(WaveformError::Panicked)?
    }

    /// Stream the samples of a recording.
    ///
    /// # Errors
    /// It is not a recording, or they cannot be read.
    pub async fn read(&self, org: &str, id: &str) -> Result<FileParts, WaveformError> {
        let record = self.get(org, id).await?;
        if record.kind != Kind::Recording {
            let text = "only recordings have a recording; `samples_b64` and `segments` are members of the other records";
            return Err(WaveformError::WrongKind(text));
        }
        let path = self.path(&record)?;
        let samples = record.samples.as_ref().ok_or(WaveformError::NotFound)?;
        let opened = self.blobs.read(&samples.sha256).await;
        opened.map_err(|source| WaveformError::Blob { path, source })
    }

    /// What `output` would play, in at most `points` codes.
    ///
    /// # Errors
    /// There is no such waveform, the output has another unit, or the samples cannot be read.
    pub async fn preview(
        &self,
        org: &str,
        id: &str,
        mapping: Mapping,
        output: Output,
        points: usize,
    ) -> Result<Preview, WaveformError> {
        let sampled = self.sampled(org, id).await?;
        sampled.check_unit(output, mapping)?;
        self.compute(move || {
            let range = 0..sampled.count();
            let block = signal::block(range.len(), points);
            let means = sampled.means(range, block)?;
            Ok(Preview {
                codes: signal::codes(&means, mapping, sampled.span(Span::of(output))),
                span: Span::of(output),
                sample_rate_hz: sampled.rate_hz
                    / f64::from(u32::try_from(block).unwrap_or(u32::MAX)),
                averaged: block,
            })
        })
        .await
    }

    /// A kept waveform, to compute with.
    ///
    /// # Errors
    /// There is no such waveform, or the storage failed.
    pub async fn sampled(&self, org: &str, id: &str) -> Result<Sampled, WaveformError> {
        let record = self.get(org, id).await?;
        let path = match record.kind {
            Kind::Segments => PathBuf::new(),
            Kind::Codes | Kind::Recording => self.path(&record)?,
        };
        Ok(Sampled::kept(record, path))
    }

    /// Run `f` off the async threads, when there is a permit.
    ///
    /// # Errors
    /// Those of `f`.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        f: impl FnOnce() -> Result<T, WaveformError> + Send + 'static,
    ) -> Result<T, WaveformError> {
        let permits = self.permits.clone();
        let permit = permits.acquire_owned().await;
        let permit = permit.expect("the semaphore is never closed");
        let computing = tokio::task::spawn_blocking(move || {
            let computed = f();
            drop(permit);
            computed
        });
        computing.await.map_err(WaveformError::Panicked)?
    }

    fn path(&self, record: &WaveformRecord) -> Result<PathBuf, WaveformError> {
        let samples = record.samples.as_ref().ok_or(WaveformError::NotFound)?;
        Ok(self.blobs.path(&samples.sha256))
    }

    fn quota(&self) -> Quota {
        Quota {
            count_max: self.config.count_max.into(),
            bytes_max: u64::from(self.config.quota_mib) << 20,
        }
    }

    fn full(&self, full: Full) -> WaveformError {
        match full {
            Full::Count => WaveformError::Full {
                what: "waveforms of the organisation (waveforms.count_max)",
                max: self.config.count_max.into(),
            },
            Full::Bytes => WaveformError::Full {
                what: "MiB of waveforms of the organisation (waveforms.quota_mib)",
                max: self.config.quota_mib.into(),
            },
        }
    }
}

fn invalid(field: &'static str, message: String) -> WaveformError {
    WaveformError::Invalid { field, message }
}

#[cfg(test)]
mod tests;
