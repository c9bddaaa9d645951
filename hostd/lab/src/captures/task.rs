//! One capture from its turn at the pod to its final record.

use std::sync::Arc;
use std::time::Duration;

use pods::protocol::RefusalKind;
use pods::{Frame, Pod, PodError};
use serde_json::Map;
use tokio::sync::{Semaphore, watch};
use tracing::{info, warn};

use super::feed::Event;
use super::plan::Plan;
use super::quota::Usage;
use super::recording::Recording;
use super::spool::{Both, Spool};
use super::supply::Supply;
use super::{CaptureError, Captures, wire};
use base::news::Kind;
use base::space;
use store::captures::{CaptureRecord, Status};

/// Timeout for each command that prepares a capture.
const PREPARE_WAIT: Duration = Duration::from_secs(10);

/// The stored error of a capture whose samples do not fit on the disk.
const DISK_FULL: &str = "the disk of the server has no room for the samples";

/// Everything one capture needs while it runs.
pub(super) struct Task {
    pub captures: Arc<Captures>,
    pub pod: Pod,
    pub plan: Plan,
    pub record: CaptureRecord,
    pub cancelled: watch::Receiver<bool>,
}

/// Samples that came, and the files that they are written to while they come.
struct Recorded {
    recording: Recording,
    spool: Option<Spool>,
}

/// Why a capture failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum TaskError {
    #[error("cancelled")]
    Cancelled,
    #[error(transparent)]
    Pod(#[from] PodError),
    #[error("the pod sent {got} of {wanted} samples")]
    Short { got: u64, wanted: u64 },
    #[error("the samples could not be stored")]
    Store(#[source] std::io::Error),
    #[error(transparent)]
    NoRoom(CaptureError),
    #[error("the samples could not be prepared for storing")]
    Panicked(#[source] tokio::task::JoinError),
    /// A decoder did not see the trigger in time.
    #[error("{0}")]
    NoTrigger(String),
    #[error("the trigger could not be looked for: failed to {0}")]
    Hunt(String),
    #[error("the samples could not be encoded")]
    Encode(#[source] super::recording::RecordError),
}

impl Task {
    /// Wait for the device, capture, store.
    pub(super) async fn go(mut self, lane: Arc<Semaphore>) {
        let mut cancelled = self.cancelled.clone();
        let permit = tokio::select! {
            _ = cancelled.wait_for(|c| *c) => None,
            permit = lane.acquire_owned() => Some(permit.expect("a lane is never closed")),
        };
        let outcome = match &permit {
            None => Err(TaskError::Cancelled),
            Some(_) => {
                let recorded = tokio::select! {
                    _ = cancelled.wait_for(|c| *c) => Err(TaskError::Cancelled),
                    recorded = self.record() => recorded,
                };
                self.silence().await;
                match recorded {
                    // Files are being written: a cancel must now wait for that, or nobody would be
                    // left to remove them.
                    Ok(recorded) => self.keep(recorded).await,
                    Err(error) => Err(error),
                }
            }
        };
        self.finish(outcome).await;
        // Held until the final record is written, so that a stop can wait for it.
        drop(permit);
    }

    async fn record(&mut self) -> Result<Recorded, TaskError> {
        self.prepare().await?;
        let stream = self.pod.capture(self.plan.request.clone()).await?;
        let mut supply = Supply::new(stream, self.plan.awaited.clone())?;
        if let Some(running) = self.captures.running().get(&self.record.id) {
            running.begun.send_replace(true);
        }
        let mut recorded = None;
        let mut upto = 0;
        while let Some(frame) = supply.next().await {
            let frame = frame?;
            let recorded = match &mut recorded {
                Some(recorded) => recorded,
                none => {
                    let is_shorter = self.shorten(supply.samples());
                    if self.achieve(supply.la_rate_hz()) || is_shorter {
                        let feed = self.captures.feeds.of(&self.record.device);
                        feed.tell(Event::State(self.record.clone()));
                    }
                    none.insert(self.recorded().await?)
                }
            };
            self.captures.tally.take(&frame, upto);
            if let Frame::La { upto: to, .. } = &frame {
                upto = *to;
            }
            self.lose(supply.gaps());
            recorded
                .recording
                .set_rates(supply.adc_rate_hz(), supply.la_rate_hz());
            self.take(recorded, frame).await?;
        }
        if self.record.triggered.is_some() {
            self.record.triggered = Some(true);
            self.record.trigger_sample = supply.trigger_sample();
            self.record.found_after = supply.found_after();
        }
        match recorded {
            Some(recorded) => Ok(recorded),
            None => self.recorded().await,
        }
    }

    /// Sends what comes before the samples, and says that the capture begins.
    async fn prepare(&mut self) -> Result<(), TaskError> {
        for command in &self.plan.before {
            self.pod.command(command.clone(), PREPARE_WAIT).await?;
        }
        if self.plan.settle_ms > 0 {
            tokio::time::sleep(Duration::from_millis(self.plan.settle_ms.into())).await;
        }
        if let Some(stimulus) = &self.plan.stimulus {
            stimulus.arm(&self.pod).await?;
        }
        self.record.status = if self.record.triggered.is_some() {
            Status::Armed
        } else {
            Status::Running
        };
        self.captures.note(&self.record).await;
        self.captures.tell(Kind::CaptureChanged, &self.record);
        let feed = self.captures.feeds.of(&self.record.device);
        feed.tell(Event::State(self.record.clone()));
        Ok(())
    }

    async fn recorded(&self) -> Result<Recorded, TaskError> {
        let recording = Recording::new(&self.record.channels, self.plan.adc_wraps);
        if !self.plan.request.is_streamed() {
            return Ok(Recorded {
                recording,
                spool: None,
            });
        }
        let (files, id) = (self.captures.files.clone(), self.record.id.clone());
        let begun = tokio::task::spawn_blocking(move || Spool::begin(&files, &id));
        let begun = begun.await.map_err(TaskError::Panicked)?;
        Ok(Recorded {
            recording,
            spool: Some(begun.map_err(TaskError::Store)?),
        })
    }

    /// Takes a frame, and tells of what is complete with it.
    async fn take(&mut self, recorded: &mut Recorded, frame: Frame) -> Result<(), TaskError> {
        let recording = &mut recorded.recording;
        recording.push(frame).map_err(TaskError::Encode)?;
        let feed = self.captures.feeds.of(&self.record.device);
        let capture: Arc<str> = self.record.id.as_str().into();
        while let Some(frame) = recording.take_frame() {
            let capture = capture.clone();
            feed.tell(Event::Frame { capture, frame });
        }
        if let Some(spool) = recorded.spool.take() {
            let both = recording.take_logic();
            recorded.spool = Some(self.spool(spool, both).await?);
        }
        Ok(())
    }

    /// Writes what is final of the samples, if there is room.
    async fn spool(&mut self, mut spool: Spool, both: Both) -> Result<Spool, TaskError> {
        let bytes = (both.0.len() + both.1.len()) as u64;
        if bytes == 0 {
            return Ok(spool);
        }
        self.claim(bytes).await?;
        let written = tokio::task::spawn_blocking(move || spool.write(&both).map(|()| spool));
        let written = written.await.map_err(TaskError::Panicked)?;
        written.map_err(TaskError::Store)
    }

    /// Takes room of the organisation's for more bytes of samples.
    async fn claim(&mut self, bytes: u64) -> Result<(), TaskError> {
        let claimed = self.captures.claim(&self.record.org, samples_of(bytes));
        claimed.await.map_err(TaskError::NoRoom)?;
        self.record.size_bytes = Some(self.record.size_bytes.unwrap_or(0) + bytes);
        Ok(())
    }

    /// Notes what the pod lost since the last time, and tells of it.
    fn lose(&mut self, gaps: &[(u64, u64)]) {
        let known = self.record.gaps.last().copied();
        if known == gaps.last().copied() {
            return;
        }
        let feed = self.captures.feeds.of(&self.record.device);
        let capture: Arc<str> = self.record.id.as_str().into();
        // The last one that is known may have grown.
        let seen = self.record.gaps.len().saturating_sub(1);
        let behind = known.map_or(0, |(_, to)| to);
        for &(from, to) in gaps[seen..].iter().filter(|(_, to)| behind < *to) {
            let (is_new, from) = (behind <= from, from.max(behind));
            self.captures.tally.lose(to - from, is_new);
            let capture = capture.clone();
            feed.tell(Event::Gap { capture, from, to });
        }
        self.record.gaps = gaps.to_vec();
    }

    /// Take the samples of the ADC and the LA that there will be; whether those are fewer than were asked for, since the
    /// trigger came early.
    fn shorten(&mut self, (adc, la): (u64, u64)) -> bool {
        let mut is_shorter = false;
        for channel in &mut self.record.channels {
            let samples = if channel.la.is_some() { la } else { adc };
            is_shorter |= samples < channel.samples;
            channel.samples = channel.samples.min(samples);
        }
        is_shorter
    }

    /// Take the rate that the pod really has for the logic channels; whether it is another one than was asked for.
    fn achieve(&mut self, la_rate_hz: Option<f64>) -> bool {
        let logic = self.record.channels.iter_mut();
        let mut is_other = false;
        for (channel, rate_hz) in logic
            .filter(|c| c.la.is_some())
            .zip(la_rate_hz.iter().cycle())
        {
            is_other |= (channel.sample_rate_hz - rate_hz).abs() > f64::EPSILON * rate_hz;
            channel.sample_rate_hz = *rate_hz;
        }
        is_other
    }

    /// Stop the stimulus, however the capture went.
    async fn silence(&self) {
        if self.plan.stimulus.is_none() {
            return;
        }
        let stop = Map::from_iter([("cmd".to_owned(), "dac_stop".into())]);
        if let Err(error) = self.pod.command(stop, PREPARE_WAIT).await {
            warn!(capture = self.record.id, %error, "failed to stop a stimulus");
        }
    }

    async fn keep(&mut self, recorded: Recorded) -> Result<(), TaskError> {
        let Recorded { recording, spool } = recorded;
        let wanted: u64 = self.record.channels.iter().map(|c| c.samples).sum();
        let finished = tokio::task::spawn_blocking(move || recording.finish()).await;
        let finished = finished.map_err(TaskError::Panicked)?;
        let got: u64 = finished.channels.iter().map(|c| c.samples).sum();
        if got != wanted {
            return Err(TaskError::Short { got, wanted });
        }
        self.claim(finished.size_bytes()).await?;
        self.record.channels = finished.channels.clone();
        let is_late = self.record.trigger_sample.is_some_and(|at| at > 0);
        if is_late || !self.record.gaps.is_empty() {
            // A capture whose samples are on disk may be found without its last record. Its bytes count with that one.
            let so_far = CaptureRecord {
                size_bytes: None,
                ..self.record.clone()
            };
            self.captures.note(&so_far).await;
        }
        let (captures, id) = (self.captures.clone(), self.record.id.clone());
        let written = tokio::task::spawn_blocking(move || {
            if let Some(mut spool) = spool {
                let rest = finished.logic.zip(finished.logic_pyramid);
                spool.write(&rest.unwrap_or_default())?;
                return spool.finish();
            }
            for (kind, bytes) in finished.files() {
                if let Some(bytes) = bytes {
                    captures.files.write(&id, kind, bytes)?;
                }
            }
            Ok(())
        });
        let written = written.await.map_err(TaskError::Panicked)?;
        written.map_err(TaskError::Store)?;
        if *self.cancelled.borrow() {
            return Err(TaskError::Cancelled);
        }
        Ok(())
    }

    async fn finish(mut self, outcome: Result<(), TaskError>) {
        let id = self.record.id.clone();
        let (status, error) = ending(&id, outcome);
        info!(capture = id, ?status, error, "capture ended");
        if status != Status::Done {
            self.captures.files.remove(&id);
            self.give_back();
        }
        self.record.status = status;
        self.record.error = error;
        self.record.finished_ms = Some(self.captures.clock.now_ms());
        let kept = self.captures.note_last(&self.record).await;
        self.captures.leave(&id);
        if !kept {
            self.captures.files.remove(&id);
            self.give_back();
        }
        if kept {
            let kind = match status {
                Status::Done => Kind::CaptureDone,
                _ => Kind::CaptureFailed,
            };
            self.captures.tell(kind, &self.record);
        }
        let feed = self.captures.feeds.of(&self.record.device);
        feed.tell(match status {
            Status::Done => {
                let frames = wire::count(&self.record);
                Event::Done(self.record, frames)
            }
            _ => Event::Failed(self.record),
        });
    }

    /// The samples are gone, so return their share of the quota.
    fn give_back(&mut self) {
        if let Some(bytes) = self.record.size_bytes.take() {
            let org = &self.record.org;
            self.captures.ledger.give_back(org, samples_of(bytes));
        }
    }
}

/// The samples of a capture that is already counted.
fn samples_of(bytes: u64) -> Usage {
    Usage { count: 0, bytes }
}

/// How a capture ends, and the error to report.
fn ending(id: &str, outcome: Result<(), TaskError>) -> (Status, Option<String>) {
    match outcome {
        Ok(()) => (Status::Done, None),
        Err(TaskError::Cancelled) => (Status::Cancelled, None),
        Err(TaskError::NoTrigger(text)) => (Status::TimedOut, Some(text)),
        Err(TaskError::Pod(PodError::Refused(refusal)))
            if matches!(refusal.kind, RefusalKind::TriggerTimeout { .. }) =>
        {
            (Status::TimedOut, Some(refusal.text))
        }
        Err(TaskError::Pod(PodError::Refused(refusal))) => (Status::Failed, Some(refusal.text)),
        Err(TaskError::NoRoom(full @ CaptureError::Full { .. })) => {
            let text = format!("there is no room for the samples: {full}");
            (Status::Failed, Some(text))
        }
        Err(error) if space::is_full(&error) => (Status::Failed, Some(DISK_FULL.into())),
        Err(error) => {
            warn!(capture = id, error = %error, cause = ?std::error::Error::source(&error), "capture failed");
            (Status::Failed, Some(error.to_string()))
        }
    }
}
