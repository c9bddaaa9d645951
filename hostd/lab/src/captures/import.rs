//! Turns recordings made elsewhere (`.sr` files) into captures. Such files are natural
//! decompression bombs, so they are unpacked block by block and within limits, from disk to disk.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use decode::import::unique_names;
use decode::segment::{CHANNELS_MAX, Encoder, EncoderError, EncoderSpec};
use decode::sr::{Archive, Limits, SrError};

use super::files::{Files, LOGIC, LOGIC_PYRAMID};
use super::name::check_name;
use super::quota::usage_of;
use super::{CaptureError, Captures, reader};
use base::id;
use blobs::Staged;
use store::captures::{CaptureRecord, ChannelRecord, Kind, Status};

/// Largest file, in bytes.
pub const FILE_BYTES_MAX: u64 = 256 << 20;

/// Bytes of samples after unpacking.
pub(crate) const UNPACKED_BYTES_MAX: u64 = 2 << 30;

/// Why a recording cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error(transparent)]
    Archive(#[from] SrError),
    #[error("find its sample rate; the file does not say")]
    NoRate,
    #[error("find samples; the file has none")]
    Empty,
    #[error("encode its samples")]
    Encode(#[from] EncoderError),
    #[error("keep its samples")]
    Disk(#[from] io::Error),
}

/// What an import becomes.
#[derive(Debug, Clone)]
pub struct Import {
    pub org: String,
    /// The device whose captures it belongs to; empty = none.
    pub device: String,
    pub name: Option<String>,
}

impl Captures {
    /// Make a capture of a recording. It is done, on disk and in the store, when this returns.
    ///
    /// # Errors
    /// The name is invalid, the file is not a recording or over a limit, there is no room, or the disk or
    /// the store fails.
    pub async fn import(
        self: &Arc<Self>,
        import: Import,
        staged: Staged,
    ) -> Result<CaptureRecord, CaptureError> {
        check_name(import.name.as_deref())?;
        let captures = self.clone();
        // On a task of its own, so that it finishes even if the caller goes away.
        let task = tokio::spawn(async move { captures.take_in(import, staged).await });
        task.await
            .map_err(|_| CaptureError::State("the recording could not be imported"))?
    }

    async fn take_in(
        self: Arc<Self>,
        import: Import,
        staged: Staged,
    ) -> Result<CaptureRecord, CaptureError> {
        let now_ms = self.clock.now_ms();
        let mut record = CaptureRecord {
            id: id::ulid(&self.clock),
            org: import.org,
            device: import.device,
            kind: Kind::Logic,
            name: import.name,
            status: Status::Done,
            error: None,
            created_ms: now_ms,
            finished_ms: Some(now_ms),
            triggered: None,
            channels: Vec::new(),
            i2c: None,
            size_bytes: None,
            job: None,
            origin: None,
        };
        self.space.admit(0).map_err(CaptureError::Files)?;
        let permit = self.reader_permit().await;
        let (files, id) = (self.files.clone(), record.id.clone());
        let unpacked = tokio::task::spawn_blocking(move || {
            let channels = unpack(&files, &id, staged.path());
            drop(permit);
            channels
        });
        let unpacked = unpacked.await;
        let channels =
            unpacked.map_err(|_| CaptureError::State("the recording could not be unpacked"))?;
        record.channels = channels.map_err(CaptureError::Import)?;
        record.size_bytes = Some(self.files.size_bytes(&record.id));
        if let Err(error) = self.put_whole(&record).await {
            self.files.remove(&record.id);
            return Err(error);
        }
        tracing::info!(capture = record.id, "recording imported");
        Ok(record)
    }

    /// Store a capture whose samples are on disk, if there is room for it.
    async fn put_whole(&self, record: &CaptureRecord) -> Result<(), CaptureError> {
        let whole = usage_of(&self.files, record);
        self.claim(&record.org, whole).await?;
        let put = self.store.capture_put(record.clone()).await;
        if put.is_err() {
            self.ledger.give_back(&record.org, whole);
        }
        Ok(put?)
    }
}

impl ImportError {
    /// Whether the file is to blame.
    #[must_use]
    pub fn is_of_file(&self) -> bool {
        !matches!(self, Self::Disk(_))
    }
}

/// Unpack the recording at `path` into the files of capture `id`; returns its channels. Blocks.
///
/// # Errors
/// The file is not a recording, is over a limit, or the disk fails. No files are left then.
pub(crate) fn unpack(
    files: &Files,
    id: &str,
    path: &Path,
) -> Result<Vec<ChannelRecord>, ImportError> {
    let bytes = reader::map(path)?;
    let limits = Limits {
        unpacked_bytes_max: UNPACKED_BYTES_MAX,
        ..Limits::default()
    };
    let archive = Archive::parse(&bytes, &limits)?;
    let sample_rate_hz = archive.sample_rate_hz().ok_or(ImportError::NoRate)?;
    let unit = archive.unit_size();
    // Old files name more channels than a sample has bits; the surplus never carried data.
    let channels = archive.channels().len().min(unit * 8).min(CHANNELS_MAX);
    if archive.total_samples() == 0 || channels == 0 {
        return Err(ImportError::Empty);
    }
    let mut encoder = Encoder::new(EncoderSpec {
        channels,
        sample_rate_hz,
    })?
    .with_pyramid();
    let mut file = files.begin(id, LOGIC)?;
    let mut pyramid = files.begin(id, LOGIC_PYRAMID)?;
    let mut written = Ok(());
    // The callback that stopped it has recorded why.
    let _ = archive.visit(&mut |raw| {
        encoder.push_raw(raw, unit);
        written = file
            .write_all(&encoder.take())
            .and_then(|()| pyramid.write_all(&encoder.take_pyramid()));
        match &written {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    })?;
    written?;
    let samples = encoder.samples();
    let (last, top) = encoder.finish_both();
    pyramid.write_all(&top)?;
    file.write_all(&last)?;
    file.finish()?;
    if let Err(error) = pyramid.finish() {
        files.remove(id);
        return Err(error.into());
    }
    let names = unique_names(&archive.channels()[..channels]);
    let numbered = (1..).zip(names);
    Ok(numbered
        .map(|(la, name)| ChannelRecord {
            la: Some(la),
            name,
            unit: String::new(),
            sample_rate_hz,
            samples,
            bits: 1,
            full_scale: 1.0,
            offset: 0.0,
        })
        .collect())
}

#[cfg(test)]
mod tests;
