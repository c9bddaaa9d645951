//! Storing a waveform: it is checked, then its samples are written to disk, then its record.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::Full as FullBody;
use std::time::Duration;
use tracing::info;

use super::{Label, Recorded, WaveformError, Waveforms, check, invalid, segments_rate_hz, signal};
use crate::waveforms::signal::Span;
use base::id;
use base::pace::Pace;
use blobs::Staged;
use store::waveforms::{Kind, Output, Samples, Segment, Unit, WaveformRecord};

/// Time to write codes from memory to disk.
const WRITE_WAIT: Duration = Duration::from_secs(30);

impl Waveforms {
    /// Store codes: u8 or little-endian u16, as `bits` says, in base64.
    ///
    /// # Errors
    /// They are malformed, the quota is used up, or the storage failed.
    pub async fn save_codes(
        &self,
        label: Label<'_>,
        samples_b64: &str,
        bits: u8,
        sample_rate_hz: f64,
        full_scale: Option<f64>,
    ) -> Result<WaveformRecord, WaveformError> {
        let bytes = decode_codes(samples_b64, bits)?;
        check::rate("sample_rate_hz", sample_rate_hz)?;
        if let Some(full_scale) = full_scale {
            check::full_scale(full_scale)?;
        }
        let count = bytes.len() as u64 / u64::from(bits / 8);
        let size = bytes.len() as u64;
        let mut body = FullBody::new(Bytes::from(bytes));
        let staged = self
            .blobs
            .stage(&mut body, size, Pace::within(WRITE_WAIT))
            .await;
        let staged = staged.map_err(WaveformError::Stage)?;
        let record = WaveformRecord {
            count,
            sample_rate_hz,
            bits,
            full_scale: full_scale.unwrap_or(0.0),
            ..self.record(label, Kind::Codes)?
        };
        self.keep(record, &staged).await
    }

    /// Store an upload of little-endian u16 samples.
    ///
    /// # Errors
    /// It does not match its description, the quota is used up, or the storage failed.
    pub async fn save_recording(
        &self,
        label: Label<'_>,
        staged: &Staged,
        told: Recorded,
    ) -> Result<WaveformRecord, WaveformError> {
        check::rate("sample_rate_hz", told.sample_rate_hz)?;
        check::full_scale(told.full_scale)?;
        let size = staged.size_bytes();
        if size == 0 || !size.is_multiple_of(2) {
            let message = format!("must be one or more 16-bit samples, not {size} bytes");
            return Err(invalid("body", message));
        }
        let count = size / 2;
        if told.samples.is_some_and(|samples| samples != count) {
            let message = format!("must be {count}, as many as came");
            return Err(invalid("sample_count", message));
        }
        let record = WaveformRecord {
            count,
            sample_rate_hz: told.sample_rate_hz,
            full_scale: told.full_scale,
            unit: told.unit,
            ..self.record(label, Kind::Recording)?
        };
        self.keep(record, staged).await
    }

    /// Store segments meant for an output.
    ///
    /// # Errors
    /// They are out of bounds, the quota is used up, or the storage failed.
    pub async fn save_segments(
        &self,
        label: Label<'_>,
        output: Output,
        segments: Vec<Segment>,
    ) -> Result<WaveformRecord, WaveformError> {
        check::segments(output, &segments)?;
        let rate_hz = segments_rate_hz(&segments);
        let record = WaveformRecord {
            count: segments
                .iter()
                .map(|segment| signal::count(segment, rate_hz) as u64)
                .sum(),
            sample_rate_hz: rate_hz,
            full_scale: Span::of(output).high,
            unit: output.unit(),
            output: Some(output),
            segments,
            ..self.record(label, Kind::Segments)?
        };
        self.add(record).await
    }

    fn record(&self, label: Label<'_>, kind: Kind) -> Result<WaveformRecord, WaveformError> {
        check::name(label.name)?;
        Ok(WaveformRecord {
            id: id::ulid(&self.clock),
            org: label.org.to_owned(),
            user: label.user.to_owned(),
            name: label.name.to_owned(),
            kind,
            count: 0,
            sample_rate_hz: 0.0,
            bits: 16,
            full_scale: 0.0,
            unit: Unit::Volts,
            samples: None,
            output: None,
            segments: Vec::new(),
            created_ms: self.clock.now_ms(),
        })
    }

    async fn keep(
        &self,
        mut record: WaveformRecord,
        staged: &Staged,
    ) -> Result<WaveformRecord, WaveformError> {
        record.samples = Some(Samples {
            sha256: staged.sha256().to_owned(),
            size_bytes: staged.size_bytes(),
        });
        let path = self.path(&record)?;
        let turn = self.blobs.turn().await;
        let kept = self.blobs.keep(&turn, staged);
        kept.map_err(|source| WaveformError::Blob { path, source })?;
        let added = self.add(record).await;
        drop(turn);
        added
    }

    async fn add(&self, record: WaveformRecord) -> Result<WaveformRecord, WaveformError> {
        let added = self.store.waveform_add(record.clone(), self.quota());
        added.await?.map_err(|full| self.full(full))?;
        info!(
            waveform = record.id,
            samples = record.count,
            "waveform kept"
        );
        Ok(record)
    }
}

/// Decode the bytes of one or more whole codes.
///
/// # Errors
/// What is wrong with them, by field.
pub fn decode_codes(samples_b64: &str, bits: u8) -> Result<Vec<u8>, WaveformError> {
    if !matches!(bits, 8 | 16) {
        return Err(invalid("bits", "must be 8 or 16".to_owned()));
    }
    let bytes = STANDARD.decode(samples_b64);
    let bytes = bytes.map_err(|error| {
        let message = format!("must be standard base64 with padding: {error}");
        invalid("samples_b64", message)
    })?;
    if bytes.is_empty() || !bytes.len().is_multiple_of(usize::from(bits / 8)) {
        let message = format!("must hold one or more whole samples of {bits} bits");
        return Err(invalid("samples_b64", message));
    }
    Ok(bytes)
}
