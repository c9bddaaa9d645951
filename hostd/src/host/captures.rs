//! `bench:host/captures`: start, watch and read the caller's captures.

use std::sync::Arc;

use runtime::{CallData, Upgrade};
use wasmtime::component::Resource;

use super::bindings::bench::host::captures::{
    Channel, ChannelType, Error, Frame, FrameData, Frames, Host, HostCapture, Info, Kind, Order,
    Page, Plan, Started, Status as WitStatus, Stimulus as WitStimulus,
};
use super::{Call, Context, cursor_rule, internal};
use base::clock;
use base::live::BoxedLive;
use lab::captures::CaptureError;
use lab::captures::follow::{Follower, Resume};
use lab::captures::layout::frames;
use lab::captures::plan::PlanError;
use lab::captures::reader::{Data, ReadError, Reader};
use lab::leases::Beside;
use lab::replay::Stimulus;
use lab::waveforms::{Sampled, WaveformError};
use store::captures::{self, CaptureRecord, ChannelRecord, Status};

mod order;

/// Longest page of the list.
const LIST_MAX: u32 = 200;

/// Most frame data of one read, in bytes.
const READ_BYTES_MAX: u32 = 1 << 20;

/// A finished capture that a guest holds open.
#[derive(Debug)]
pub struct OpenCapture {
    reader: Arc<Reader>,
}

impl Host for Call {
    async fn start(&mut self, order: Order) -> Result<Started, Error> {
        let entered = self.enter(&order.device)?;
        let stimulus = self.stimulus(&entered.device.record.org, &order).await?;
        let captures = &self.services.captures;
        let started = captures.start(entered, &order.into(), stimulus).await;
        let (record, warnings) = started.map_err(|e| self.capture_error(e))?;
        Ok(Started {
            info: to_wit(&record),
            warnings,
        })
    }

    async fn get(&mut self, id: String) -> Result<Info, Error> {
        self.capture(&id).await.map(|r| to_wit(&r))
    }

    async fn list(
        &mut self,
        device: Option<String>,
        cursor: Option<String>,
        limit: u32,
    ) -> Result<Page, Error> {
        let caller = self.caller.as_ref().ok_or(Error::NotFound)?;
        let limit = limit.clamp(1, LIST_MAX) as usize;
        if let Some(rule) = cursor.as_deref().and_then(cursor_rule) {
            return Err(Error::Invalid(("cursor".to_owned(), rule.to_owned())));
        }
        if self.is_restricted() && device.as_ref().is_some_and(|d| self.device(d).is_none()) {
            return Err(Error::NotFound);
        }
        // A restricted session gets full pages of what it may see.
        let usable = |devices: &[String]| {
            let usable = devices.iter().filter(|d| self.device(d).is_some());
            usable.cloned().collect()
        };
        let devices: Option<Vec<String>> = match device {
            Some(device) => Some(vec![device]),
            None => caller.devices().map(usable),
        };
        let found = self
            .services
            .captures
            .list(caller.org(), devices.as_deref(), cursor.as_deref(), limit)
            .await
            .map_err(|e| self.capture_error(e))?;
        let next = (found.len() == limit)
            .then(|| found.last().map(|r| r.id.clone()))
            .flatten();
        let items = found.iter().map(to_wit).collect();
        Ok(Page { items, next })
    }

    async fn cancel(&mut self, id: String) -> Result<Info, Error> {
        let org = self.capture(&id).await?.org;
        let cancelled = self.services.captures.cancel(&org, &id).await;
        cancelled
            .map(|r| to_wit(&r))
            .map_err(|e| self.capture_error(e))
    }

    async fn delete(&mut self, id: String) -> Result<(), Error> {
        let org = self.capture(&id).await?.org;
        let deleted = self.services.captures.delete(&org, &id).await;
        deleted.map_err(|e| self.capture_error(e))
    }

    async fn open(&mut self, id: String) -> Result<Resource<OpenCapture>, Error> {
        let org = self.capture(&id).await?.org;
        let reader = self.services.captures.read(&org, &id).await;
        let reader = reader.map_err(|e| self.capture_error(e))?;
        self.table()
            .push(OpenCapture { reader })
            .map_err(|e| Error::Other(internal(self, "captures", &e)))
    }

    async fn follow(
        &mut self,
        device: String,
        resume: Option<(String, u32)>,
        binary: bool,
    ) -> Result<Resource<Upgrade>, Error> {
        let Beside { device, pod, .. } = self.look(&device)?;
        let record = device.record;
        let resume = match resume {
            None => None,
            Some((id, from_seq)) => {
                let capture = self.capture(&id).await?;
                if capture.device != record.id {
                    let rule = "must be a capture of the device".to_owned();
                    return Err(Error::Invalid(("capture_id".to_owned(), rule)));
                }
                Some(Resume {
                    org: capture.org,
                    capture: capture.id,
                    from_seq,
                })
            }
        };
        let events = pod.events();
        let state = (device.facts.is_some(), events);
        let captures = self.services.captures.clone();
        let follower = Follower::new(captures, &record.id, state, binary, resume);
        self.upgrade(follower)
    }
}

impl Call {
    /// A follower as what a response becomes.
    fn upgrade(&mut self, follower: Follower) -> Result<Resource<Upgrade>, Error> {
        let stream: BoxedLive = Box::new(follower);
        let pushed = self.table().push(Upgrade::new(stream));
        pushed.map_err(|e| Error::Other(internal(self, "captures", &e)))
    }
}

impl HostCapture for Call {
    async fn frames(
        &mut self,
        capture: Resource<OpenCapture>,
        from_seq: u32,
        max_bytes: u32,
    ) -> Result<Frames, Error> {
        let reader = match self.table().get(&capture) {
            Ok(open) => open.reader.clone(),
            Err(e) => return Err(Error::Other(internal(self, "captures", &e))),
        };
        let place = self.services.captures.reader_place().await;
        let budget = max_bytes.clamp(1, READ_BYTES_MAX) as usize;
        let read = tokio::task::spawn_blocking(move || {
            let page = page(&reader, from_seq, budget);
            drop(place);
            page
        })
        .await;
        match read {
            Ok(page) => page.map_err(|e| self.capture_error(e.into())),
            Err(e) => Err(Error::Other(internal(self, "captures", &e))),
        }
    }

    async fn drop(&mut self, capture: Resource<OpenCapture>) -> wasmtime::Result<()> {
        self.table().delete(capture)?;
        Ok(())
    }
}

/// Frames from number `from_seq` on until `budget` bytes are reached; always at least one.
fn page(reader: &Reader, from_seq: u32, budget: usize) -> Result<Frames, ReadError> {
    let mut list = Vec::new();
    let mut used = 0;
    for place in frames(&reader.samples(), from_seq) {
        if used >= budget {
            return Ok(Frames {
                frames: list,
                next_seq: Some(place.seq),
            });
        }
        let data = match reader.frame(place)? {
            Data::Counts(bytes) => {
                used += bytes.len();
                FrameData::Counts(bytes)
            }
            Data::Runs { level, runs } => {
                used += size_of_val(runs.as_slice());
                FrameData::Runs((level, runs))
            }
        };
        list.push(Frame {
            seq: place.seq,
            channel: u32::try_from(place.channel).expect("a capture has few channels"),
            start_sample: place.start_sample,
            count: u32::try_from(place.count).expect("a frame is short"),
            data,
        });
    }
    Ok(Frames {
        frames: list,
        next_seq: None,
    })
}

impl Context {
    /// The waveform that a measurement names or brings along.
    async fn stimulus(&self, org: &str, order: &Order) -> Result<Option<Stimulus>, Error> {
        let Plan::Measure(measure) = &order.plan else {
            return Ok(None);
        };
        let waveforms = &self.services.waveforms;
        let (sampled, field) = match &measure.stimulus {
            WitStimulus::Generate(_) => return Ok(None),
            WitStimulus::Library(id) => (waveforms.sampled(org, id).await, "waveform_id"),
            WitStimulus::Given(given) => {
                let (bits, rate_hz) = (given.bits, given.sample_rate_hz);
                let full = given.full_scale_v;
                let sampled = Sampled::given(&given.samples_b64, bits, rate_hz, full);
                (sampled, "samples_b64")
            }
        };
        let sampled = sampled.map_err(|e| self.stimulus_error(e, None))?;
        let stimulus = Stimulus::of(waveforms, sampled).await;
        stimulus
            .map(Some)
            .map_err(|e| self.stimulus_error(e, Some(field)))
    }

    /// `whole` is the member to blame when it is the waveform as a whole.
    fn stimulus_error(&self, error: WaveformError, whole: Option<&str>) -> Error {
        match (error, whole) {
            (WaveformError::NotFound, _) => Error::NoWaveform,
            (WaveformError::Invalid { .. }, Some(field)) => {
                let message = "must be in volts, or plain codes".to_owned();
                Error::Invalid((format!("stimulus.{field}"), message))
            }
            (WaveformError::Invalid { field, message }, None) => {
                Error::Invalid((format!("stimulus.{field}"), message))
            }
            (other, _) => Error::Other(internal(self, "captures", &other)),
        }
    }

    /// The capture with this id, if the caller may use its device. A device that was removed
    /// leaves its captures to everyone in the organisation whose session is not restricted.
    pub(super) async fn capture(&self, id: &str) -> Result<CaptureRecord, Error> {
        let caller = self.caller.as_ref().ok_or(Error::NotFound)?;
        let found = self.services.captures.get(caller.org(), id).await;
        let record = found.map_err(|e| self.capture_error(e))?;
        if self.device(&record.device).is_some() || !self.is_restricted() {
            Ok(record)
        } else {
            Err(Error::NotFound)
        }
    }

    pub(super) fn is_restricted(&self) -> bool {
        self.caller.as_ref().is_none_or(|c| c.devices().is_some())
    }

    pub(super) fn capture_error(&self, error: CaptureError) -> Error {
        match error {
            CaptureError::NotFound | CaptureError::NoDevice => Error::NotFound,
            CaptureError::Offline => Error::Offline,
            CaptureError::Busy { .. } => Error::Busy,
            CaptureError::InUse(text) => Error::InUse(text),
            CaptureError::Plan(PlanError::Invalid { field, message }) => {
                Error::Invalid((field, message))
            }
            CaptureError::Plan(e @ PlanError::NotCapable { .. }) => {
                Error::NotCapable(e.to_string())
            }
            CaptureError::Unready { field, message } => Error::Unready((field.to_owned(), message)),
            CaptureError::State(text) => Error::WrongState(text.to_owned()),
            CaptureError::Full { .. } => Error::Full(error.to_string()),
            other => Error::Other(internal(self, "captures", &other)),
        }
    }
}

pub(super) fn to_wit(record: &CaptureRecord) -> Info {
    Info {
        id: record.id.clone(),
        device_id: record.device.clone(),
        kind: record.kind.into(),
        name: record.name.clone(),
        status: match record.status {
            Status::Pending => WitStatus::Pending,
            Status::Armed => WitStatus::Armed,
            Status::Running => WitStatus::Running,
            Status::Done => WitStatus::Done,
            Status::Failed => WitStatus::Failed,
            Status::TimedOut => WitStatus::TimedOut,
            Status::Cancelled => WitStatus::Cancelled,
        },
        error: record.error.clone(),
        created_at: clock::text(record.created_ms),
        finished_at: record.finished_ms.map(clock::text),
        triggered: record.triggered,
        channels: (0u32..).zip(&record.channels).map(channel).collect(),
        i2c: record.i2c,
    }
}

fn channel((id, channel): (u32, &ChannelRecord)) -> Channel {
    Channel {
        id,
        type_: if channel.la.is_some() {
            ChannelType::Digital
        } else {
            ChannelType::Analog
        },
        name: channel.name.clone(),
        unit: channel.unit.clone(),
        sample_rate_hz: channel.sample_rate_hz,
        samples: channel.samples,
        bits: channel.bits,
        full_scale: channel.full_scale,
        offset: channel.offset,
    }
}

impl From<Kind> for captures::Kind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Scope => Self::Scope,
            Kind::Logic => Self::Logic,
            Kind::I2c => Self::I2c,
            Kind::Dual => Self::Dual,
            Kind::Measure => Self::Measure,
        }
    }
}

impl From<captures::Kind> for Kind {
    fn from(kind: captures::Kind) -> Self {
        match kind {
            captures::Kind::Scope => Self::Scope,
            captures::Kind::Logic => Self::Logic,
            captures::Kind::I2c => Self::I2c,
            captures::Kind::Dual => Self::Dual,
            captures::Kind::Measure => Self::Measure,
        }
    }
}
