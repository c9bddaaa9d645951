//! Table of stored waveforms. Samples are blobs; segments are in the record.

use std::collections::HashSet;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::records::{Pairs, Records, pair};
use super::snapshot::{Range, Source};
use super::{Store, StoreError};

pub(super) const TABLES: [&str; 1] = ["waveforms"];

/// `org/id` to waveform; ids sort by time.
const WAVEFORMS: Records<WaveformRecord> = Records::new(TABLES[0]);

/// What a waveform is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Codes that a client wrote.
    Codes,
    /// Samples of a capture, little-endian u16.
    Recording,
    Segments,
}

/// The unit of levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Volts,
    Milliamps,
}

/// An output of the DAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    V3,
    V5,
    V12,
    Current,
}

impl Output {
    #[must_use]
    pub fn unit(self) -> Unit {
        match self {
            Self::V3 | Self::V5 | Self::V12 => Unit::Volts,
            Self::Current => Unit::Milliamps,
        }
    }

    /// Its name in the API and in the pod protocol.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::V3 => "3v3",
            Self::V5 => "5v",
            Self::V12 => "12v",
            Self::Current => "current_out",
        }
    }
}

/// How a segment goes from its first level to its second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    Ramp,
    /// The first level throughout.
    Hold,
    /// The second level throughout.
    Step,
}

/// One piece of a waveform.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    pub shape: Shape,
    pub duration_ms: f64,
    /// In the unit of the output.
    pub from_level: f64,
    pub to_level: f64,
}

/// Samples of a waveform, as a blob.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Samples {
    /// Lower-case hexadecimal; the blob's name.
    pub sha256: String,
    pub size_bytes: u64,
}

/// A kept waveform.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WaveformRecord {
    /// ULID.
    pub id: String,
    pub org: String,
    /// User whose credential stored it.
    pub user: String,
    pub name: String,
    pub kind: Kind,
    pub count: u64,
    /// 0 = not known.
    pub sample_rate_hz: f64,
    /// Of one sample: 8 or 16.
    pub bits: u8,
    /// Level of the highest sample; 0 = the samples are plain codes.
    pub full_scale: f64,
    pub unit: Unit,
    /// None for segments.
    pub samples: Option<Samples>,
    /// The output that segments are meant for.
    pub output: Option<Output>,
    pub segments: Vec<Segment>,
    pub created_ms: u64,
}

impl WaveformRecord {
    /// Bytes of its samples.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.samples.as_ref().map_or(0, |s| s.size_bytes)
    }
}

/// How much an organisation may store.
#[derive(Debug, Clone, Copy)]
pub struct Quota {
    pub count_max: u64,
    pub bytes_max: u64,
}

/// What an organisation keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub count: u64,
    pub bytes: u64,
}

/// Which part of a quota is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    Count,
    Bytes,
}

impl Quota {
    /// How many bytes one more waveform may have.
    ///
    /// # Errors
    /// The part that is used up.
    pub fn room(self, used: Usage) -> Result<u64, Full> {
        if used.count >= self.count_max {
            return Err(Full::Count);
        }
        match self.bytes_max.saturating_sub(used.bytes) {
            0 => Err(Full::Bytes),
            left => Ok(left),
        }
    }
}

/// Visit the waveforms of an organisation, newest first, until `visit` breaks.
fn newest_first(
    from: &impl Source,
    org: &str,
    before: Option<&str>,
    mut visit: impl FnMut(WaveformRecord) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    // Whatever the cursor holds, its key begins like all keys of this organisation.
    let keys = Pairs::before(org, before);
    let range = keys.backwards();
    WAVEFORMS.each(from, range, |_, waveform| visit(waveform))
}

fn usage(from: &impl Source, org: &str) -> Result<Usage, StoreError> {
    let mut used = Usage::default();
    newest_first(from, org, None, |waveform| {
        used.count += 1;
        used.bytes += waveform.size_bytes();
        ControlFlow::Continue(())
    })?;
    Ok(used)
}

/// Blobs that any waveform of any organisation refers to.
///
/// # Errors
/// The storage failed.
pub fn blobs(from: &impl Source) -> Result<HashSet<String>, StoreError> {
    let mut found = HashSet::new();
    WAVEFORMS.each(from, Range::ALL, |_, waveform| {
        found.extend(waveform.samples.map(|s| s.sha256));
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

impl Store {
    /// One waveform of an organisation.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn waveform_get(
        &self,
        org: &str,
        id: &str,
    ) -> Result<Option<WaveformRecord>, StoreError> {
        let key = pair(org, id);
        self.read(move |s| WAVEFORMS.get(s, &key)).await
    }

    /// Waveforms of an organisation, newest first, older than the waveform `before`.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn waveforms_list(
        &self,
        org: &str,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<WaveformRecord>, StoreError> {
        let (org, before) = (org.to_owned(), before.map(str::to_owned));
        self.read(move |s| {
            let mut found = Vec::new();
            newest_first(s, &org, before.as_deref(), |waveform| {
                found.push(waveform);
                if found.len() < limit {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            })?;
            Ok(found)
        })
        .await
    }

    /// What an organisation keeps.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn waveforms_usage(&self, org: &str) -> Result<Usage, StoreError> {
        let org = org.to_owned();
        self.read(move |s| usage(s, &org)).await
    }

    /// Store a waveform, if the quota has room for it.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn waveform_add(
        &self,
        waveform: WaveformRecord,
        quota: Quota,
    ) -> Result<Result<(), Full>, StoreError> {
        self.write(move |w| {
            match quota.room(usage(w, &waveform.org)?) {
                Err(full) => return Ok(Err(full)),
                Ok(left) if waveform.size_bytes() > left => return Ok(Err(Full::Bytes)),
                Ok(_) => {}
            }
            WAVEFORMS.put(w, &pair(&waveform.org, &waveform.id), &waveform)?;
            Ok::<_, StoreError>(Ok(()))
        })
        .await
    }

    /// Give a waveform another name. None = there is no such waveform.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn waveform_rename(
        &self,
        org: &str,
        id: &str,
        name: String,
    ) -> Result<Option<WaveformRecord>, StoreError> {
        let key = pair(org, id);
        self.write(move |w| {
            let Some(mut waveform) = WAVEFORMS.get(w, &key)? else {
                return Ok::<_, StoreError>(None);
            };
            waveform.name.clone_from(&name);
            WAVEFORMS.put(w, &key, &waveform)?;
            Ok(Some(waveform))
        })
        .await
    }

    /// Delete a waveform; returns whether it existed.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn waveform_delete(&self, org: &str, id: &str) -> Result<bool, StoreError> {
        let key = pair(org, id);
        self.write(move |w| WAVEFORMS.remove(w, &key)).await
    }
}
