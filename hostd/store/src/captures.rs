//! Table of capture heads, with an index by device and one of unfinished captures. The samples are
//! in separate files.
//!
//! Keys end in the capture's ULID, so key order is order of creation, and the cost of a page
//! depends only on its length, not on where it begins.

use std::ops::ControlFlow;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use marks::{Firmware, Marker, Marks, Setup};

use super::records::{Pairs, Records, pair};
use super::snapshot::{Range, Source};
use super::{Store, StoreError, Writing};
use base::id::is_ulid;

pub mod looked;
mod marks;

pub(super) const TABLES: [&str; 4] = [
    "captures",
    "captures_by_id",
    "captures_by_device",
    "captures_open",
];

/// `org/id` to head.
const CAPTURES: Records<CaptureRecord> = Records::new(TABLES[0]);
/// Id to organisation.
const BY_ID: Records<String> = Records::new(TABLES[1]);
/// `org.device/id` to id; and `org.job/id` to id for what a job recorded, since no device has the id of a job.
const BY_DEVICE: Records<String> = Records::new(TABLES[2]);
/// Id to organisation, while the capture has not finished.
const OPEN: Records<String> = Records::new(TABLES[3]);

/// Most captures on one page of the list.
pub(crate) const PAGE_MAX: usize = 200;

/// Captures of one job that are told; later ones are found among those of its device.
pub const OF_JOB_MAX: usize = 500;

/// The state of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Waiting for the pod.
    Pending,
    /// Waiting for the trigger.
    Armed,
    Running,
    Done,
    Failed,
    /// The trigger did not come.
    TimedOut,
    Cancelled,
}

impl Status {
    /// Whether nothing more will happen to the capture.
    #[must_use]
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Pending | Self::Armed | Self::Running)
    }
}

/// What was captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// ADC alone.
    Scope,
    /// Logic analyzer alone.
    Logic,
    /// Logic analyzer on an I²C bus.
    I2c,
    /// ADC and logic analyzer from one trigger.
    Dual,
    /// ADC while the DAC plays a stimulus.
    Measure,
}

/// One channel of a capture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChannelRecord {
    /// Logic-analyzer channel, 1..=14; none = the ADC.
    pub la: Option<u8>,
    /// `ADC` or `LA1`..`LA14`.
    pub name: String,
    /// `V`, `A`, or empty for digital.
    pub unit: String,
    pub sample_rate_hz: f64,
    pub samples: u64,
    pub bits: u32,
    /// Value in `unit` of one count; 1 for digital.
    pub full_scale: f64,
    /// Value in `unit` of count 0; 0 for digital.
    pub offset: f64,
}

impl ChannelRecord {
    /// What a count of the converter means, in `unit`.
    #[must_use]
    pub fn value(&self, count: u16) -> f64 {
        let counts = f64::from(self.bits).exp2();
        self.offset + f64::from(count) * self.full_scale / counts
    }
}

/// What of a job recorded a capture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Run of the job: `smoke.f0`.
    pub run: String,
    /// Number of the attempt, from 1, within the job.
    pub attempt: u32,
    /// What people call the step; none = a program of the run recorded it.
    pub step: Option<String>,
}

/// The head of a capture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaptureRecord {
    /// ULID.
    pub id: String,
    pub org: String,
    /// Device id.
    pub device: String,
    pub kind: Kind,
    pub name: Option<String>,
    pub status: Status,
    /// Why it failed.
    pub error: Option<String>,
    pub created_ms: u64,
    pub finished_ms: Option<u64>,
    /// None if no trigger was requested.
    pub triggered: Option<bool>,
    /// Samples before the trigger: of the logic channels, or of the ADC alone. None without a trigger, before it came, and
    /// where it is not known; in records of earlier versions, see [`trigger_at`](Self::trigger_at).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger_sample: Option<u64>,
    /// Samples that had come behind the trigger when it was seen, where a decoder of ours looked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_after: Option<u64>,
    /// Samples before the trigger that were asked for; more than `trigger_sample` if it came early.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pre_samples: u64,
    /// Logic samples that were lost on their way, from one up to another, in order: they are stored with the levels of the one
    /// before them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<(u64, u64)>,
    pub channels: Vec<ChannelRecord>,
    /// SCL and SDA channel, for [`Kind::I2c`].
    pub i2c: Option<(u8, u8)>,
    /// Of the samples on disk; none = not known, in records of earlier versions and of captures
    /// without samples.
    #[serde(default)]
    pub size_bytes: Option<u64>,
    /// Id of the job that a step or a program of which recorded it. None in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// What of that job. None in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    #[serde(default, skip_serializing_if = "Setup::is_empty")]
    pub setup: Setup,
    #[serde(default, skip_serializing_if = "Marks::is_empty")]
    pub marks: Marks,
}

impl CaptureRecord {
    /// A capture of which nothing is known yet: pending, without channels.
    #[must_use]
    pub fn new(id: String, org: String, device: String, kind: Kind, created_ms: u64) -> Self {
        Self {
            id,
            org,
            device,
            kind,
            name: None,
            status: Status::Pending,
            error: None,
            created_ms,
            finished_ms: None,
            triggered: None,
            trigger_sample: None,
            found_after: None,
            pre_samples: 0,
            gaps: Vec::new(),
            channels: Vec::new(),
            i2c: None,
            size_bytes: None,
            job: None,
            origin: None,
            setup: Setup::default(),
            marks: Marks::default(),
        }
    }

    /// What people call a channel: its label, or else its name.
    #[must_use]
    pub fn shown(&self, channel: usize) -> &str {
        let label = u32::try_from(channel).ok();
        let label = label.and_then(|channel| self.marks.labels.get(&channel));
        label.map_or(&self.channels[channel].name, |label| label)
    }

    /// What a text means that names a channel: the name of the channel that has it as a label, in the quotes of names; otherwise
    /// the text.
    #[must_use]
    pub fn meant(&self, text: &str) -> String {
        let plain = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
        let plain = plain.unwrap_or(text);
        let labelled = self.marks.labels.iter().find(|(_, label)| *label == plain);
        let channel = labelled.and_then(|(channel, _)| self.channels.get(*channel as usize));
        channel.map_or_else(
            || text.to_owned(),
            |channel| format!("\"{}\"", channel.name),
        )
    }
}

/// What became of a request to delete a capture.
#[derive(Debug, Clone, PartialEq)]
pub enum Deletion {
    /// There is no such capture.
    Missing,
    /// It is pinned, and stays.
    Pinned,
    Done(Box<CaptureRecord>),
}

/// What became of a request to change a capture.
#[derive(Debug, Clone, PartialEq)]
pub enum Change<E> {
    /// There is no such capture.
    Missing,
    /// It has not finished, and its recorder writes the record.
    Unfinished,
    /// The change does not fit it.
    Refused(E),
    /// The record before and after the change.
    Done(Box<(CaptureRecord, CaptureRecord)>),
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl CaptureRecord {
    /// The sample at which its trigger was met: of the logic channels, or of the ADC alone. None without a trigger and where
    /// that is not known.
    #[must_use]
    pub fn trigger_at(&self) -> Option<u64> {
        // Earlier versions had nothing before it, and did not store it.
        let first = (self.triggered == Some(true) && self.pre_samples == 0).then_some(0);
        self.trigger_sample.or(first)
    }

    /// The same in seconds from the first sample.
    #[must_use]
    pub fn trigger_s(&self) -> Option<f64> {
        let sample = self.trigger_at()?;
        let logic = self.channels.iter().find(|channel| channel.la.is_some());
        let counted = logic.or(self.channels.first())?;
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        let sample = sample as f64;
        Some(sample / counted.sample_rate_hz)
    }
}

/// Whose captures are listed.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'l> {
    pub org: &'l str,
    /// Of these devices; none = all of the organisation.
    pub devices: Option<&'l [String]>,
    /// Of this job alone.
    pub job: Option<&'l str>,
}

/// Visit all captures of all organisations.
///
/// # Errors
/// The storage failed.
pub fn each(from: &impl Source, mut visit: impl FnMut(CaptureRecord)) -> Result<(), StoreError> {
    CAPTURES.each(from, Range::ALL, |_, record| {
        visit(record);
        ControlFlow::Continue(())
    })
}

/// Visit the captures of `org` that may be deleted to make room, oldest first: finished, not pinned, and without a name that a
/// person gave them. Those of jobs have the names of their steps.
///
/// # Errors
/// The storage failed.
pub fn giving_way(
    from: &impl Source,
    org: &str,
    mut visit: impl FnMut(CaptureRecord) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let keys = Pairs::of(org);
    let range = keys.forwards();
    CAPTURES.each(from, range, |_, record| {
        let is_kept = record.marks.pinned || record.name.is_some() && record.job.is_none();
        if !is_kept && record.status.is_final() {
            visit(record)
        } else {
            ControlFlow::Continue(())
        }
    })
}

impl Store {
    /// One capture, of any organisation.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn capture_get(&self, id: &str) -> Result<Option<CaptureRecord>, StoreError> {
        let id = id.to_owned();
        self.read(move |s| by_id(s, &id)).await
    }

    /// Captures, newest first, older than the capture `before`. `limit` is clamped to 1..=`PAGE_MAX`.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn captures_list(
        &self,
        of: Listed<'_>,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<CaptureRecord>, StoreError> {
        let (org, devices) = (of.org.to_owned(), of.devices.map(<[String]>::to_vec));
        let (job, before) = (of.job.map(str::to_owned), before.map(str::to_owned));
        self.read(move |s| {
            let of = Listed {
                org: &org,
                devices: devices.as_deref(),
                job: job.as_deref(),
            };
            list(s, of, before.as_deref(), limit)
        })
        .await
    }

    /// What a job recorded, oldest first, at most [`OF_JOB_MAX`]. Earlier versions did not store it so that it is found.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn captures_of_job(
        &self,
        org: &str,
        job: &str,
    ) -> Result<Vec<CaptureRecord>, StoreError> {
        let (org, job) = (org.to_owned(), job.to_owned());
        self.read(move |s| of_job(s, &org, &job)).await
    }

    /// Captures that had not finished when the server stopped, oldest first.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn captures_unfinished(&self) -> Result<Vec<CaptureRecord>, StoreError> {
        self.read(unfinished).await
    }

    /// Write a whole head, new or existing.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn capture_put(&self, record: CaptureRecord) -> Result<(), StoreError> {
        self.write(move |w| put(w, &record)).await
    }

    /// Write a whole head if the capture still exists; returns whether it did. A capture that was
    /// deleted while it ran does not come back.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn capture_update(&self, record: CaptureRecord) -> Result<bool, StoreError> {
        self.write(move |w| {
            if by_id(w, &record.id)?.is_none() {
                return Ok(false);
            }
            put(w, &record)?;
            Ok(true)
        })
        .await
    }

    /// Note the size of a capture's files; false if there is no such capture.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn capture_resize(&self, id: &str, size_bytes: u64) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.write(move |w| {
            let Some(mut record) = by_id(w, &id)? else {
                return Ok(false);
            };
            record.size_bytes = Some(size_bytes);
            put(w, &record)?;
            Ok(true)
        })
        .await
    }

    /// Change a finished capture by `change`, which may run more than once.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn capture_change<E: Send + 'static>(
        &self,
        id: &str,
        mut change: impl FnMut(&mut CaptureRecord) -> Result<(), E> + Send + 'static,
    ) -> Result<Change<E>, StoreError> {
        let id = id.to_owned();
        self.write(move |w| {
            let Some(before) = by_id(w, &id)? else {
                return Ok::<_, StoreError>(Change::Missing);
            };
            if !before.status.is_final() {
                return Ok(Change::Unfinished);
            }
            let mut after = before.clone();
            if let Err(refused) = change(&mut after) {
                return Ok(Change::Refused(refused));
            }
            put(w, &after)?;
            Ok(Change::Done(Box::new((before, after))))
        })
        .await
    }

    /// Delete a capture that is not pinned.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn capture_delete(&self, id: &str) -> Result<Deletion, StoreError> {
        let id = id.to_owned();
        self.write(move |w| {
            let Some(capture) = by_id(w, &id)? else {
                return Ok::<_, StoreError>(Deletion::Missing);
            };
            if capture.marks.pinned {
                return Ok(Deletion::Pinned);
            }
            CAPTURES.remove(w, &pair(&capture.org, &id))?;
            BY_ID.remove(w, &id)?;
            BY_DEVICE.remove(w, &pair(&device_key(&capture), &id))?;
            if let Some(job) = &capture.job {
                BY_DEVICE.remove(w, &pair(&job_key(&capture.org, job), &id))?;
            }
            OPEN.remove(w, &id)?;
            Ok(Deletion::Done(Box::new(capture)))
        })
        .await
    }
}

fn by_id(from: &impl Source, id: &str) -> Result<Option<CaptureRecord>, StoreError> {
    match BY_ID.get(from, id)? {
        Some(org) => CAPTURES.get(from, &pair(&org, id)),
        None => Ok(None),
    }
}

fn list(
    from: &impl Source,
    of: Listed<'_>,
    before: Option<&str>,
    limit: usize,
) -> Result<Vec<CaptureRecord>, StoreError> {
    let limit = limit.clamp(1, PAGE_MAX);
    let mut found = Vec::new();
    let Some(devices) = of.devices else {
        newest(from, &CAPTURES, of.org, before, |capture: CaptureRecord| {
            if of.is_over(&capture.id) {
                return ControlFlow::Break(());
            }
            if of.has(&capture) {
                found.push(capture);
            }
            stop_if(found.len() == limit)
        })?;
        return Ok(found);
    };
    // Each device's captures are ordered by themselves; a page merges the newest of all.
    for device in devices {
        let key = format!("{}.{device}", of.org);
        let (mut left, mut failed) = (limit, None);
        newest(from, &BY_DEVICE, &key, before, |id: String| {
            if of.is_over(&id) {
                return ControlFlow::Break(());
            }
            match CAPTURES.get(from, &pair(of.org, &id)) {
                Ok(Some(capture)) if of.has(&capture) => {
                    found.push(capture);
                    left -= 1;
                }
                Ok(_) => {}
                Err(error) => {
                    failed = Some(error);
                    return ControlFlow::Break(());
                }
            }
            stop_if(left == 0)
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
    }
    found.sort_unstable_by(|a, b| b.id.cmp(&a.id));
    found.dedup_by(|a, b| a.id == b.id);
    found.truncate(limit);
    Ok(found)
}

impl Listed<'_> {
    fn has(&self, capture: &CaptureRecord) -> bool {
        self.job
            .is_none_or(|job| capture.job.as_deref() == Some(job))
    }

    /// Whether this capture and all that are older are from before the job: ids of both are in order of time.
    fn is_over(&self, id: &str) -> bool {
        self.job.is_some_and(|job| is_ulid(job) && id < job)
    }
}

/// Visit the records whose keys begin with `first`, newest first, older than the capture `before`.
fn newest<R: Serialize + DeserializeOwned>(
    from: &impl Source,
    records: &Records<R>,
    first: &str,
    before: Option<&str>,
    mut visit: impl FnMut(R) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    // Whatever the cursor holds, its key begins like all keys of this organisation.
    let keys = Pairs::before(first, before);
    let range = keys.backwards();
    records.each(from, range, |_, record| visit(record))
}

fn unfinished(from: &impl Source) -> Result<Vec<CaptureRecord>, StoreError> {
    let mut keys = Vec::new();
    OPEN.each(from, Range::ALL, |id, org| {
        keys.push(pair(&org, id));
        ControlFlow::Continue(())
    })?;
    let mut found = Vec::with_capacity(keys.len());
    for key in keys {
        found.extend(CAPTURES.get(from, &key)?);
    }
    Ok(found)
}

fn put(w: &Writing<'_>, capture: &CaptureRecord) -> Result<(), StoreError> {
    CAPTURES.put(w, &pair(&capture.org, &capture.id), capture)?;
    BY_ID.put(w, &capture.id, &capture.org)?;
    BY_DEVICE.put(w, &pair(&device_key(capture), &capture.id), &capture.id)?;
    if let Some(job) = &capture.job {
        let key = pair(&job_key(&capture.org, job), &capture.id);
        BY_DEVICE.put(w, &key, &capture.id)?;
    }
    if capture.status.is_final() {
        OPEN.remove(w, &capture.id)?;
        Ok(())
    } else {
        OPEN.put(w, &capture.id, &capture.org)
    }
}

fn device_key(capture: &CaptureRecord) -> String {
    format!("{}.{}", capture.org, capture.device)
}

fn job_key(org: &str, job: &str) -> String {
    format!("{org}.{job}")
}

fn of_job(from: &impl Source, org: &str, job: &str) -> Result<Vec<CaptureRecord>, StoreError> {
    let mut ids = Vec::new();
    let keys = Pairs::of(&job_key(org, job));
    BY_DEVICE.each(from, keys.forwards(), |_, id| {
        ids.push(id);
        stop_if(ids.len() == OF_JOB_MAX)
    })?;
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        // An earlier version may have deleted it, which knew nothing of this entry.
        let capture = CAPTURES.get(from, &pair(org, &id))?;
        found.extend(capture.filter(|capture| capture.job.as_deref() == Some(job)));
    }
    Ok(found)
}

fn stop_if(done: bool) -> ControlFlow<()> {
    if done {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}
