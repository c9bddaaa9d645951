//! `hostd:host/captures`: start, watch and read the caller's captures.

use std::sync::Arc;

use admission::Requester;
use runtime::Upgrade;
use wasmtime::component::{HasData, Resource, ResourceTable};

use super::bindings::hostd::host::captures::{
    Channel, ChannelType, Edit as WitEdit, Error, Firmware as WitFirmware, Frame, FrameData,
    Frames, Host, HostCapture, Info, Kind, LiveDecoding, Looked, Marker as WitMarker, Order, Page,
    Setup as WitSetup, Started, Status as WitStatus,
};
use super::door::Door;
use super::{CallLinker, Context, cursor_rule, internal, wit};
use base::clock;
use base::live::BoxedLive;
use identity::JobGrant;
use lab::captures::follow::{DECODERS_MAX, Follower, Job as LiveJob, NoDecoding, Resume};
use lab::captures::layout::frames;
use lab::captures::order::{OfJob, Origin};
use lab::captures::plan::PlanError;
use lab::captures::reader::{Data, ReadError, Reader};
use lab::captures::{CaptureError, Captures, Edit};
use lab::decoders::NoSpec;
use lab::flashing::Flashing;
use lab::leases::Beside;
use lab::waveforms::Waveforms;
use looked::Reach;
use store::captures::{self, CaptureRecord, ChannelRecord, Listed, Marker, Setup, Status};

mod looked;
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

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    table: &'a mut ResourceTable,
    door: Door<'a>,
    captures: &'a Arc<Captures>,
    requester: Option<&'a Requester>,
    waveforms: &'a Waveforms,
    flashing: &'a Flashing,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::captures::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        table: &mut state.data.table,
        door: Door::new(&state.data.context, &state.data.services),
        captures: &state.data.services.captures,
        requester: state.data.requester.as_ref(),
        waveforms: &state.data.services.waveforms,
        flashing: &state.data.services.flashing,
    })
}

impl Host for View<'_> {
    async fn start(&mut self, order: Order) -> Result<Started, Error> {
        let entered = self.door.enter(&order.device)?;
        let org = &entered.device.record.org;
        let stimulus = order::stimulus(self.context, self.waveforms, org, &order).await?;
        let captures = self.captures;
        let of = self.context.job().map(of_job);
        let setup = Setup {
            holder: self.door.holder(&entered.device.record.id),
            firmware: self.flashing.firmware(&entered.device.record.id),
            ..Setup::default()
        };
        let order = order.into();
        let started = captures.start(entered, &order, stimulus, of, setup);
        let started = started.await;
        let (record, warnings) = started.map_err(|e| self.context.capture_error(e))?;
        Ok(Started {
            info: to_wit(&record),
            warnings,
        })
    }

    async fn get(&mut self, id: String) -> Result<Info, Error> {
        self.door
            .capture(self.captures, &id)
            .await
            .map(|r| to_wit(&r))
    }

    async fn list(
        &mut self,
        looked: Looked,
        cursor: Option<String>,
        limit: u32,
    ) -> Result<Page, Error> {
        let limit = limit.clamp(1, LIST_MAX) as usize;
        let reach = Reach {
            context: self.context,
            door: self.door,
            captures: self.captures,
            requester: self.requester,
        };
        let (found, next) = reach.looked_for(looked, cursor, limit).await?;
        let items = found.iter().map(in_list).collect();
        Ok(Page { items, next })
    }

    async fn cancel(&mut self, id: String) -> Result<Info, Error> {
        let org = self.door.capture(self.captures, &id).await?.org;
        let cancelled = self.captures.cancel(&org, &id).await;
        cancelled
            .map(|r| to_wit(&r))
            .map_err(|e| self.context.capture_error(e))
    }

    async fn update(&mut self, id: String, edit: WitEdit) -> Result<Info, Error> {
        let org = self.door.capture(self.captures, &id).await?.org;
        if edit.pinned == Some(true) && self.context.job().is_some() {
            // Captures of jobs make room for others; what a job does must not outlast it.
            let rule = "must not be true for a job: people pin captures".to_owned();
            return Err(Error::Invalid(("pinned".to_owned(), rule)));
        }
        let edited = self.captures.edit(&org, &id, edit.into()).await;
        edited
            .map(|record| to_wit(&record))
            .map_err(|e| self.context.capture_error(e))
    }

    async fn delete(&mut self, id: String) -> Result<(), Error> {
        let org = self.door.capture(self.captures, &id).await?.org;
        let deleted = self.captures.delete(&org, &id).await;
        deleted.map_err(|e| self.context.capture_error(e))
    }

    async fn open(&mut self, id: String) -> Result<Resource<OpenCapture>, Error> {
        let reader = self.door.reader(self.captures, &id).await?;
        self.table
            .push(OpenCapture { reader })
            .map_err(|e| Error::Other(internal(self.context, "captures", &e)))
    }

    async fn follow(
        &mut self,
        device: String,
        resume: Option<(String, u32)>,
        binary: bool,
        decoding: Option<LiveDecoding>,
    ) -> Result<Resource<Upgrade>, Error> {
        let Beside { device, pod, .. } = self.door.look(&device)?;
        let record = device.record;
        let resume = match resume {
            None => None,
            Some((id, from_seq)) => {
                let capture = self.door.capture(self.captures, &id).await?;
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
        let captures = self.captures.clone();
        let mut follower = Follower::new(captures, &record.id, state, binary, resume);
        if let Some(decoding) = decoding {
            let job = live(record.org, decoding);
            follower = follower.with_decoding(job).map_err(not_decoded)?;
        }
        self.upgrade(follower)
    }
}

/// Whose captures a caller sees, of those that it asks for.
struct Seen {
    /// Ids; none = all.
    devices: Option<Vec<String>>,
    job: Option<String>,
}

/// Of a device, a job or all; none = of nothing.
fn seen(
    context: &Context,
    door: Door<'_>,
    (device, job): (Option<String>, Option<String>),
) -> Result<Option<Seen>, Error> {
    let caller = context.caller.as_ref().ok_or(Error::NotFound)?;
    let device = device.map(|which| door.id_of(&which));
    if context.is_restricted() && device.as_ref().is_some_and(|d| door.device(d).is_none()) {
        return Err(Error::NotFound);
    }
    // A job sees what it recorded itself.
    let own = context.job().map(|grant| grant.job.clone());
    if own.is_some() && job.is_some() && own != job {
        return Ok(None);
    }
    // A restricted session still gets full pages, of what it may see.
    let usable = |devices: &[String]| {
        let usable = devices.iter().filter(|d| door.device(d).is_some());
        usable.cloned().collect()
    };
    let devices = match device {
        Some(device) => Some(vec![device]),
        None => caller.devices().map(usable),
    };
    let job = own.or(job);
    Ok(Some(Seen { devices, job }))
}

/// What is decoded for a follower.
fn live(org: String, decoding: LiveDecoding) -> LiveJob {
    LiveJob {
        org,
        protocol: decoding.protocol,
        map: decoding.channels,
        options: decoding.options,
        annotations: decoding.annotations,
        has_frames: decoding.frames,
    }
}

fn not_decoded(why: NoDecoding) -> Error {
    match why {
        NoDecoding::Busy => Error::WrongState(format!(
            "{DECODERS_MAX} clients have the captures of this device decoded; retry later"
        )),
        NoDecoding::Spec(NoSpec::Invalid(error)) => Error::Invalid((
            super::decode::field(&error),
            format!("cannot be used: failed to {error}"),
        )),
        NoDecoding::Spec(
            NoSpec::NotGranted(sentence) | NoSpec::Absent(sentence) | NoSpec::Engine(_, sentence),
        ) => Error::Invalid(("protocol".to_owned(), format!("cannot be used: {sentence}"))),
    }
}

/// Captures of a device, of a job or of all that the caller may see, newest first, older than a cursor.
pub(super) async fn wanted(
    context: &Context,
    door: Door<'_>,
    captures: &Captures,
    (device, job, cursor): (Option<String>, Option<String>, Option<String>),
    limit: usize,
) -> Result<Vec<CaptureRecord>, Error> {
    let caller = context.caller.as_ref().ok_or(Error::NotFound)?;
    if let Some(rule) = cursor.as_deref().and_then(cursor_rule) {
        return Err(Error::Invalid(("cursor".to_owned(), rule.to_owned())));
    }
    let Some(seen) = seen(context, door, (device, job))? else {
        return Ok(Vec::new());
    };
    let listed = Listed {
        org: caller.org(),
        devices: seen.devices.as_deref(),
        job: seen.job.as_deref(),
    };
    let found = captures.list(listed, cursor.as_deref(), limit).await;
    found.map_err(|e| context.capture_error(e))
}

impl View<'_> {
    /// Upgrade the response to a follower's stream.
    fn upgrade(&mut self, follower: Follower) -> Result<Resource<Upgrade>, Error> {
        let stream: BoxedLive = Box::new(follower);
        let pushed = self.table.push(Upgrade::new(stream));
        pushed.map_err(|e| Error::Other(internal(self.context, "captures", &e)))
    }
}

impl HostCapture for View<'_> {
    async fn frames(
        &mut self,
        capture: Resource<OpenCapture>,
        from_seq: u32,
        max_bytes: u32,
    ) -> Result<Frames, Error> {
        let reader = match self.table.get(&capture) {
            Ok(open) => open.reader.clone(),
            Err(e) => return Err(Error::Other(internal(self.context, "captures", &e))),
        };
        let permit = self.captures.reader_permit().await;
        let budget = max_bytes.clamp(1, READ_BYTES_MAX) as usize;
        let read = tokio::task::spawn_blocking(move || {
            let page = page(&reader, from_seq, budget);
            drop(permit);
            page
        })
        .await;
        match read {
            Ok(page) => page.map_err(|e| self.context.capture_error(e.into())),
            Err(e) => Err(Error::Other(internal(self.context, "captures", &e))),
        }
    }

    async fn drop(&mut self, capture: Resource<OpenCapture>) -> wasmtime::Result<()> {
        self.table.delete(capture)?;
        Ok(())
    }
}

/// Frames from number `from_seq` on, until `budget` bytes are reached; always at least one.
fn page(reader: &Reader, from_seq: u32, budget: usize) -> Result<Frames, ReadError> {
    let mut list = Vec::new();
    let mut used = 0;
    for span in frames(&reader.samples(), from_seq) {
        if used >= budget {
            return Ok(Frames {
                frames: list,
                next_seq: Some(span.seq),
            });
        }
        let data = match reader.frame(span)? {
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
            seq: span.seq,
            channel: u32::try_from(span.channel).expect("a capture has few channels"),
            start_sample: span.start_sample,
            count: u32::try_from(span.count).expect("a frame is short"),
            data,
        });
    }
    Ok(Frames {
        frames: list,
        next_seq: None,
    })
}

impl Door<'_> {
    /// The capture with this id, if the caller may see it.
    pub(super) async fn capture(
        self,
        captures: &Captures,
        id: &str,
    ) -> Result<CaptureRecord, Error> {
        let caller = self.context.caller.as_ref().ok_or(Error::NotFound)?;
        let found = captures.get(caller.org(), id).await;
        let record = found.map_err(|e| self.context.capture_error(e))?;
        match self.shows(&record) {
            true => Ok(record),
            false => Err(Error::NotFound),
        }
    }

    /// A reader for the capture with this id, if the caller may use its device.
    pub(super) async fn reader(self, captures: &Captures, id: &str) -> Result<Arc<Reader>, Error> {
        let record = self.capture(captures, id).await?;
        let reader = captures.read(&record.org, id).await;
        reader.map_err(|e| self.context.capture_error(e))
    }
}

impl Context {
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

/// What a program records that has the key of a job.
fn of_job(grant: &JobGrant) -> OfJob {
    OfJob {
        job: grant.job.clone(),
        origin: Origin {
            run: grant.run.clone(),
            attempt: grant.attempt,
            step: None,
        },
    }
}

pub(super) fn to_wit(record: &CaptureRecord) -> Info {
    Info {
        markers: record.marks.markers.iter().map(marker).collect(),
        gaps: record.gaps.clone(),
        setup: (!record.setup.is_empty()).then(|| setup(&record.setup)),
        ..in_list(record)
    }
}

/// A capture without what may be long.
fn in_list(record: &CaptureRecord) -> Info {
    let origin = record.origin.as_ref();
    Info {
        id: record.id.clone(),
        device_id: record.device.clone(),
        kind: record.kind.into(),
        name: record.name.clone(),
        pinned: record.marks.pinned,
        job: record.job.clone(),
        run: origin.map(|origin| origin.run.clone()),
        attempt: origin.map(|origin| origin.attempt),
        step: origin.and_then(|origin| origin.step.clone()),
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
        trigger_sample: record.trigger_at(),
        pre_samples: record.pre_samples,
        found_after: record.found_after,
        gaps: Vec::new(),
        channels: (0u32..)
            .zip(&record.channels)
            .map(|(id, channel)| self::channel(id, channel, record.marks.labels.get(&id)))
            .collect(),
        i2c: record.i2c,
        markers: Vec::new(),
        setup: None,
    }
}

fn marker(marker: &Marker) -> WitMarker {
    WitMarker {
        channel: marker.channel,
        sample: marker.sample,
        note: marker.note.clone(),
    }
}

fn setup(setup: &Setup) -> WitSetup {
    let wiring = serde_json::Value::from(setup.wiring.clone());
    WitSetup {
        holder: setup.holder.clone(),
        wiring: (!setup.wiring.is_empty()).then(|| wiring.to_string()),
        firmware: setup.firmware.as_ref().map(|firmware| WitFirmware {
            name: firmware.name.clone(),
            sha256: firmware.sha256.clone(),
            build: firmware.build.clone(),
        }),
    }
}

impl From<WitEdit> for Edit {
    fn from(edit: WitEdit) -> Self {
        let marker = |marker: WitMarker| Marker {
            channel: marker.channel,
            sample: marker.sample,
            note: marker.note,
        };
        let markers = edit.markers;
        Self {
            name: edit.name,
            pinned: edit.pinned,
            labels: edit.labels,
            markers: markers.map(|markers| markers.into_iter().map(marker).collect()),
        }
    }
}

fn channel(id: u32, channel: &ChannelRecord, label: Option<&String>) -> Channel {
    Channel {
        id,
        type_: if channel.la.is_some() {
            ChannelType::Digital
        } else {
            ChannelType::Analog
        },
        name: channel.name.clone(),
        label: label.cloned(),
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
