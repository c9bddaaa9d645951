//! Turns recordings made elsewhere into captures: every kind of file that [`decode::import`] knows. Some are natural
//! decompression bombs, so they are unpacked block by block and within limits, from disk to disk.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use admission::{OwnedPermit, Requester};
use decode::analog::AnalogEncoder;
pub use decode::import::Options;
use decode::import::{ImportError as FileError, Limits, Store};
use decode::segment::{Encoder, EncoderError, EncoderSpec};

use super::files::{ANALOG, ANALOG_PYRAMID, Files, LOGIC, LOGIC_PYRAMID, Part};
use super::name::check_name;
use super::quota::usage_of;
use super::{CaptureError, Captures, reader};
use base::{id, news};
use blobs::Staged;
use store::captures::{CaptureRecord, ChannelRecord, Kind, Status};

/// Largest file, in bytes.
pub const FILE_BYTES_MAX: u64 = 256 << 20;

/// Bytes of samples after unpacking.
pub(crate) const UNPACKED_BYTES_MAX: u64 = 2 << 30;

/// Bits of an analog sample.
const COUNT_BITS: u32 = 16;

/// Why a recording cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error(transparent)]
    File(#[from] FileError),
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
    /// What is known of the file that it does not say, and which of its channels to take.
    pub options: Options,
    /// Who imports it: nobody gets all places.
    pub requester: Option<Requester>,
}

/// A capture that was imported.
#[derive(Debug, Clone)]
pub struct Imported {
    pub record: CaptureRecord,
    /// What was left out, and what was taken for something else. A sentence each.
    pub notes: Vec<String>,
}

/// What became of a file.
#[derive(Debug)]
pub(crate) struct Unpacked {
    pub(crate) channels: Vec<ChannelRecord>,
    notes: Vec<String>,
}

impl Captures {
    /// Make a capture of a recording. It is done, on disk and in the store, when this returns. It waits for a place as long as
    /// the caller does.
    ///
    /// # Errors
    /// The name is invalid, the file is not a recording or over a limit, there is no room, too many wait, or the disk or
    /// the store fails.
    pub async fn import(
        self: &Arc<Self>,
        import: Import,
        staged: Staged,
    ) -> Result<Imported, CaptureError> {
        check_name(import.name.as_deref())?;
        // A file takes seconds to read.
        let permit = self.import_permit(import.requester.as_ref()).await?;
        let captures = self.clone();
        // On a task of its own, so that it finishes even if the caller goes away.
        let task = tokio::spawn(async move { captures.take_in(import, staged, permit).await });
        task.await
            .map_err(|_| CaptureError::State("the recording could not be imported"))?
    }

    async fn take_in(
        self: Arc<Self>,
        import: Import,
        staged: Staged,
        permit: OwnedPermit,
    ) -> Result<Imported, CaptureError> {
        let now_ms = self.clock.now_ms();
        let mut record = CaptureRecord {
            name: import.name,
            status: Status::Done,
            finished_ms: Some(now_ms),
            ..CaptureRecord::new(
                id::ulid(&self.clock),
                import.org,
                import.device,
                Kind::Logic,
                now_ms,
            )
        };
        self.space.admit(0).map_err(CaptureError::Files)?;
        let (files, id, options) = (self.files.clone(), record.id.clone(), import.options);
        let unpacked = tokio::task::spawn_blocking(move || {
            let unpacked = unpack(&files, &id, staged.path(), &options);
            drop(permit);
            unpacked
        });
        let unpacked = unpacked.await;
        let unpacked =
            unpacked.map_err(|_| CaptureError::State("the recording could not be unpacked"))?;
        let Unpacked { channels, notes } = unpacked.map_err(CaptureError::Import)?;
        record.kind = kind(&channels);
        record.channels = channels;
        record.size_bytes = Some(self.files.size_bytes(&record.id));
        if let Err(error) = self.put_whole(&record).await {
            self.files.remove(&record.id);
            return Err(error);
        }
        tracing::info!(capture = record.id, "recording imported");
        self.tell(news::Kind::CaptureImported, &record);
        Ok(Imported { record, notes })
    }

    /// Store a capture whose samples are on disk, if there is room for it.
    async fn put_whole(self: &Arc<Self>, record: &CaptureRecord) -> Result<(), CaptureError> {
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

/// Unpack the recording at `path` into the files of capture `id`. Blocks.
///
/// # Errors
/// The file is not a recording, is over a limit, or the disk fails. No files are left then.
pub(crate) fn unpack(
    files: &Files,
    id: &str,
    path: &Path,
    options: &Options,
) -> Result<Unpacked, ImportError> {
    let bytes = reader::map(path)?;
    let file = decode::import::Import::open(&bytes, options, &limits())?;
    let mut disk = Disk::new(files, id, &file)?;
    let fed = file.feed(&mut disk);
    disk.failure.take().map_or(Ok(()), Err)?;
    fed?;
    let written = disk.finish();
    if written.is_err() {
        files.remove(id);
    }
    written?;
    Ok(Unpacked {
        channels: channels(&file),
        notes: file.notes().to_vec(),
    })
}

/// The kind of capture that has such channels.
fn kind(channels: &[ChannelRecord]) -> Kind {
    let is_logic = |channel: &ChannelRecord| channel.la.is_some();
    match (channels.iter().any(is_logic), channels.iter().all(is_logic)) {
        (true, true) => Kind::Logic,
        (true, false) => Kind::Dual,
        (false, _) => Kind::Scope,
    }
}

fn limits() -> Limits {
    Limits {
        session: decode::sr::Limits {
            unpacked_bytes_max: UNPACKED_BYTES_MAX,
            ..decode::sr::Limits::default()
        },
        analog_samples_max: UNPACKED_BYTES_MAX / 2,
        ..Limits::default()
    }
}

/// Logic channels are numbered as those of a pod are.
fn channels(file: &decode::import::Import<'_>) -> Vec<ChannelRecord> {
    let mut channels = Vec::new();
    if let Some(logic) = file.logic() {
        let numbered = (1..).zip(&logic.names);
        channels.extend(numbered.map(|(la, name)| ChannelRecord {
            la: Some(la),
            name: name.clone(),
            unit: String::new(),
            sample_rate_hz: logic.sample_rate_hz,
            samples: logic.samples,
            bits: 1,
            full_scale: 1.0,
            offset: 0.0,
        }));
    }
    if let Some(analog) = file.analog() {
        channels.push(ChannelRecord {
            la: None,
            name: analog.name.clone(),
            unit: analog.unit.clone(),
            sample_rate_hz: analog.sample_rate_hz,
            samples: analog.samples,
            bits: COUNT_BITS,
            full_scale: analog.full_scale,
            offset: analog.offset,
        });
    }
    channels
}

/// The samples of one kind and their pyramid, being written.
struct Pair {
    samples: Part,
    pyramid: Part,
}

impl Pair {
    fn begin(files: &Files, id: &str, samples: &str, pyramid: &str) -> io::Result<Self> {
        Ok(Self {
            samples: files.begin(id, samples)?,
            pyramid: files.begin(id, pyramid)?,
        })
    }

    fn write(&mut self, samples: &[u8], pyramid: &[u8]) -> io::Result<()> {
        self.samples.write_all(samples)?;
        self.pyramid.write_all(pyramid)
    }

    fn finish(mut self, samples: &[u8], pyramid: &[u8]) -> io::Result<()> {
        self.write(samples, pyramid)?;
        self.samples.finish()?;
        self.pyramid.finish()
    }
}

/// The files of a capture, being written.
struct Disk {
    logic: Option<(Encoder, Pair)>,
    analog: Option<(AnalogEncoder, Pair)>,
    failure: Option<ImportError>,
}

impl Disk {
    fn new(
        files: &Files,
        id: &str,
        file: &decode::import::Import<'_>,
    ) -> Result<Self, ImportError> {
        let mut disk = Self {
            logic: None,
            analog: None,
            failure: None,
        };
        if let Some(logic) = file.logic() {
            let encoder = Encoder::new(EncoderSpec {
                channels: logic.names.len(),
                sample_rate_hz: logic.sample_rate_hz,
            })?;
            let pair = Pair::begin(files, id, LOGIC, LOGIC_PYRAMID)?;
            disk.logic = Some((encoder.with_pyramid(), pair));
        }
        if let Some(analog) = file.analog() {
            let encoder = AnalogEncoder::new(analog.sample_rate_hz)?;
            let pair = Pair::begin(files, id, ANALOG, ANALOG_PYRAMID)?;
            disk.analog = Some((encoder.with_pyramid(), pair));
        }
        Ok(disk)
    }

    /// Go on unless something failed.
    fn noted(&mut self, written: Result<(), ImportError>) -> ControlFlow<()> {
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failure = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    fn finish(self) -> Result<(), ImportError> {
        if let Some((encoder, pair)) = self.logic {
            let (samples, pyramid) = encoder.finish_both();
            pair.finish(&samples, &pyramid)?;
        }
        if let Some((encoder, pair)) = self.analog {
            let (samples, pyramid) = encoder.finish_both();
            pair.finish(&samples, &pyramid)?;
        }
        Ok(())
    }
}

impl Store for Disk {
    fn samples(&mut self, raw: &[u8], unit: usize) -> ControlFlow<()> {
        let Some((encoder, pair)) = &mut self.logic else {
            return ControlFlow::Continue(());
        };
        encoder.push_raw(raw, unit);
        let written = pair.write(&encoder.take(), &encoder.take_pyramid());
        self.noted(written.map_err(ImportError::from))
    }

    fn edges(&mut self, edges: &[(u64, u64)], upto: u64) -> ControlFlow<()> {
        let Some((encoder, pair)) = &mut self.logic else {
            return ControlFlow::Continue(());
        };
        let pushed = encoder.push_edges(edges, upto).map_err(ImportError::from);
        let written =
            pushed.and_then(|()| Ok(pair.write(&encoder.take(), &encoder.take_pyramid())?));
        self.noted(written)
    }

    fn counts(&mut self, counts: &[u16]) -> ControlFlow<()> {
        let Some((encoder, pair)) = &mut self.analog else {
            return ControlFlow::Continue(());
        };
        encoder.push(counts);
        let written = pair.write(&encoder.take(), &encoder.take_pyramid());
        self.noted(written.map_err(ImportError::from))
    }
}

#[cfg(test)]
mod tests;
