//! `hostd:host/decode`: native protocol decoding of the caller's finished captures.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use admission::{OwnedPermit, Requester};
use bytes::Bytes;
use decode::foreign::{EngineTrouble, ForeignError};
use decode::{Accepts, DecodeError, Decoder, Format, Spec, SpecError};
use runtime::BodyStream;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use wasmtime::component::{HasData, Resource, ResourceTable};

use super::bindings::hostd::host::captures::Error as CaptureError;
use super::bindings::hostd::host::decode::{
    self as records, Error, Format as WitFormat, Host, Job,
};
use super::door::Door;
use super::waiting::{Gone, on_thread};
use super::{CallLinker, Context, internal, wit};
use lab::captures::Captures;
use lab::captures::reader::{ReadError, Reader};
use lab::decoders::{NoSpec, SIGROK, Wanted};
use look::{Look, Wrong};

mod look;

/// Most stretches of a density.
const STRETCHES_MAX: u32 = 10_000;

/// Bytes per part of a streamed answer.
const PART_BYTES: usize = 64 << 10;

/// Parts that wait for a slow client; decoding pauses while they do.
pub(super) const PARTS_WAITING_MAX: usize = 4;

/// Timeout for a client that takes no part. Until then it occupies a stream's place and a thread.
pub(super) const PART_WAIT_MAX: Duration = Duration::from_secs(10);

/// How long an answer waits for the first part of it, to tell a failure before then with a status.
const FIRST_PART_WAIT_MAX: Duration = Duration::from_secs(5);

/// Events that a guest may take into its memory.
const EVENTS_MAX: u32 = 10_000;

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    table: &'a mut ResourceTable,
    requester: Option<&'a Requester>,
    door: Door<'a>,
    captures: &'a Captures,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::decode::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        table: &mut state.data.table,
        requester: state.data.requester.as_ref(),
        door: Door::new(&state.data.context, &state.data.services),
        captures: &state.data.services.captures,
    })
}

impl Host for View<'_> {
    async fn decoders(&mut self) -> Vec<records::Decoder> {
        let all = self.captures.decoders().all(org(self.context));
        all.iter().map(|decoder| listed(decoder)).collect()
    }

    async fn sigrok_decoders(
        &mut self,
        decoders: Option<String>,
    ) -> Result<Vec<records::Decoder>, Error> {
        let captures = self.captures.decoders().clone();
        let org = org(self.context).to_owned();
        let asked = tokio::task::spawn_blocking(move || {
            let engine = captures.engine()?;
            match decoders {
                None => engine.list(&org),
                Some(decoders) => engine.describe(&org, &decoders).map(|one| vec![one]),
            }
        });
        match asked.await {
            Ok(Ok(all)) => Ok(all.iter().map(|decoder| listed(decoder)).collect()),
            Ok(Err((trouble, told))) => Err(engine_error(trouble, told)),
            Err(e) => Err(Error::Other(internal(self.context, "decode", &e))),
        }
    }

    async fn run(&mut self, capture: String, job: Job) -> Result<Resource<BodyStream>, Error> {
        let (look, spec) = self.open(&capture, &job).await?;
        let (format, content_type) = match job.format {
            WitFormat::Json => (Format::Json, "application/x-ndjson"),
            WitFormat::Sigrok => (Format::Sigrok, "text/plain; charset=utf-8"),
            WitFormat::Csv => (Format::Csv, "text/csv; charset=utf-8"),
        };
        // One more for the error that ends a stream early: it must not wait behind the parts.
        let (parts, receiver) = mpsc::channel(PARTS_WAITING_MAX + 1);
        let permit = self.place(look.has_place()).await?;
        let (tell, told) = oneshot::channel();
        tokio::task::spawn_blocking(move || {
            stream(&look, &spec, format, parts, Telling(Some(tell)));
            drop(permit);
        });
        if let Ok(Ok(Err(failure))) = timeout(FIRST_PART_WAIT_MAX, told).await {
            return Err(self.failed(&failure));
        }
        let stream = BodyStream::new(Some(content_type.to_owned()), receiver);
        self.table
            .push(stream)
            .map_err(|e| Error::Other(internal(self.context, "decode", &e)))
    }

    async fn events(
        &mut self,
        capture: String,
        job: Job,
        max_events: u32,
    ) -> Result<(String, bool), Error> {
        let (look, spec) = self.open(&capture, &job).await?;
        // A decoding by a plugin may take minutes, and holds a place among those of plugins instead.
        let permit = match spec.is_foreign() || look.has_place() {
            true => None,
            false => Some(self.captures.reader_permit().await),
        };
        let most = max_events.min(EVENTS_MAX) as usize;
        let work = move |gone: &Gone| {
            let result = collect(&look, &spec, most, gone);
            drop(permit);
            result
        };
        match on_thread(work).await {
            Ok(Ok(events)) => Ok(events),
            Ok(Err(e)) => Err(self.failed(&e)),
            Err(e) => Err(Error::Other(internal(self.context, "decode", &e))),
        }
    }

    async fn density(
        &mut self,
        capture: String,
        job: Job,
        stretches: u32,
    ) -> Result<String, Error> {
        let (look, spec) = self.open(&capture, &job).await?;
        let most = stretches.clamp(1, STRETCHES_MAX) as usize;
        let permit = self.place(look.has_place()).await?;
        let work = move |gone: &Gone| {
            let done = look.density(&spec, most, &|| !gone.is_gone());
            drop(permit);
            done
        };
        match on_thread(work).await {
            Ok(Ok(Some(told))) => Ok(told),
            Ok(Ok(None)) => Err(look::ended()),
            Ok(Err(e)) => Err(self.failed(&e)),
            Err(e) => Err(Error::Other(internal(self.context, "decode", &e))),
        }
    }
}

/// A reader for a capture, and the decoder specification that a job makes for it.
async fn open(
    (context, door): (&Context, Door<'_>),
    captures: &Captures,
    id: &str,
    job: &Job,
) -> Result<(Arc<Reader>, Spec), Error> {
    let reader = door.reader(captures, id).await;
    let reader = reader.map_err(decode_error)?;
    if !reader.has_logic() && job.thresholds.is_none() {
        return Err(Error::WrongState(
            "the capture has no logic channels".into(),
        ));
    }
    let record = reader.record();
    let channels = job.channels.iter();
    let channels: Vec<(String, String)> = channels
        .map(|(role, channel)| (role.clone(), record.meant(channel)))
        .collect();
    let names = match job.thresholds {
        None => reader.logic_names(),
        Some(_) => {
            let analog = record.channels.iter().filter(|c| c.la.is_none());
            analog.map(|channel| channel.name.clone()).collect()
        }
    };
    let decoders = captures.decoders().clone();
    let (job, caller) = (job.clone(), org(context).to_owned());
    let parse = move || {
        let wanted = Wanted {
            protocol: &job.protocol,
            map: &pairs(&channels),
            options: &pairs(&job.options),
            annotations: job.annotations.as_deref(),
        };
        match job.protocol.starts_with(SIGROK) {
            true => decoders.engine_spec(&caller, wanted, &names),
            false => decoders.spec(&caller, wanted, &names),
        }
    };
    // The program may have to be asked.
    let spec = tokio::task::spawn_blocking(parse).await;
    let spec = spec.map_err(|e| Error::Other(internal(context, "decode", &e)))?;
    Ok((reader, spec.map_err(no_spec)?))
}

fn no_spec(refused: NoSpec) -> Error {
    match refused {
        NoSpec::Invalid(error) => Error::Invalid((field(&error), error.to_string())),
        NoSpec::NotGranted(sentence) => Error::NotGranted(sentence),
        NoSpec::Absent(sentence) => Error::Unavailable(sentence),
        NoSpec::Engine(trouble, told) => engine_error(trouble, told),
    }
}

fn engine_error(trouble: EngineTrouble, told: String) -> Error {
    let trouble = match trouble {
        EngineTrouble::NotInstalled => records::EngineTrouble::NotInstalled,
        EngineTrouble::Unfit => records::EngineTrouble::Unfit,
        EngineTrouble::Busy => records::EngineTrouble::Busy,
        EngineTrouble::TimedOut => records::EngineTrouble::TimedOut,
        EngineTrouble::Failed => records::EngineTrouble::Failed,
    };
    Error::Engine((trouble, told))
}

/// Organisation of the caller.
fn org(context: &Context) -> &str {
    let caller = context.caller.as_ref();
    caller.map_or("", |caller| caller.org())
}

impl View<'_> {
    /// What of a capture a job decodes, and the decoder specification that it makes for it.
    async fn open(&mut self, capture: &str, job: &Job) -> Result<(Look, Spec), Error> {
        let (reader, spec) = open((self.context, self.door), self.captures, capture, job).await?;
        // Analog samples are all read before anything is decoded. Otherwise it is an index.
        let (place, permit) = match job.thresholds {
            Some(_) => (Some(self.stream_permit().await?), None),
            None => (None, Some(self.captures.reader_permit().await)),
        };
        let job = job.clone();
        let looked = on_thread(move |gone| {
            let look = Look::new(reader, (&job, &spec), place, &|| !gone.is_gone());
            drop(permit);
            look.map(|look| (look, spec))
        });
        match looked.await {
            Ok(Ok(opened)) => Ok(opened),
            Ok(Err(Wrong::Asked(error))) => Err(error),
            Ok(Err(Wrong::Read(error))) => Err(self.failed(&error)),
            Err(e) => Err(Error::Other(internal(self.context, "decode", &e))),
        }
    }

    /// A place to decode all of a capture in, unless there is one.
    async fn place(&mut self, has_one: bool) -> Result<Option<OwnedPermit>, Error> {
        match has_one {
            true => Ok(None),
            false => self.stream_permit().await.map(Some),
        }
    }

    async fn stream_permit(&mut self) -> Result<OwnedPermit, Error> {
        let waited = self.captures.stream_permit(self.requester).await;
        waited.map_err(|e| Error::WrongState(e.to_string()))
    }

    /// A decoding that failed: what is wrong with a plugin is told, what is wrong in here is not.
    fn failed(&self, error: &ReadError) -> Error {
        let ReadError::Decode(DecodeError::Foreign { title, source }) = error else {
            return Error::Other(internal(self.context, "decode", error));
        };
        match source {
            ForeignError::Refused(told) => {
                Error::Invalid(("options".to_owned(), format!("set up the {title}: {told}")))
            }
            ForeignError::Busy(told) => Error::Unavailable(format!("the {title} is busy: {told}")),
            ForeignError::Gone(told) => {
                Error::Unavailable(format!("failed to go on with the {title}: {told}"))
            }
            ForeignError::Engine(trouble, told) => engine_error(*trouble, told.clone()),
            ForeignError::Bad(_) | ForeignError::Failed(_) => Error::Failed(format!(
                "failed to decode with the {title}: failed to {source}"
            )),
        }
    }
}

/// Tells once how a decoding begins.
struct Telling(Option<oneshot::Sender<Result<(), ReadError>>>);

impl Telling {
    /// Whoever waits no longer does not learn of it; then the failure comes back.
    fn tell(&mut self, begun: Result<(), ReadError>) -> Result<(), ReadError> {
        match self.0.take() {
            Some(tell) => tell.send(begun).map_or_else(|unheard| unheard, Ok),
            None => begun,
        }
    }
}

/// A decoder's description as handlers see it.
fn listed(decoder: &Decoder) -> records::Decoder {
    let roles = decoder.channels.iter().map(|channel| records::Role {
        id: channel.id.clone(),
        name: channel.name.clone(),
        required: channel.required,
    });
    let options = decoder.options.iter().map(|option| records::OptionInfo {
        id: option.id.clone(),
        text: option.text.clone(),
        default: option.default.clone(),
        values: match &option.accepts {
            Accepts::OneOf(values) => values.clone(),
            Accepts::Integer(..) | Accepts::Number(..) | Accepts::Any => Vec::new(),
        },
    });
    let classes = decoder.classes.iter().map(|class| records::Class {
        id: class.id.clone(),
        text: class.text.clone(),
    });
    let rows = decoder.rows.iter().map(|row| records::Row {
        id: row.id.clone(),
        text: row.text.clone(),
        classes: row.classes.clone(),
    });
    records::Decoder {
        id: decoder.id.clone(),
        name: decoder.name.clone(),
        channels: roles.collect(),
        options: options.collect(),
        classes: classes.collect(),
        rows: rows.collect(),
    }
}

/// Name of the query parameter to blame.
pub(super) fn field(error: &SpecError) -> String {
    match error {
        SpecError::UnknownRole { name, .. }
        | SpecError::RepeatedRole { name }
        | SpecError::UnknownOption { name, .. }
        | SpecError::RepeatedOption { name } => name.clone(),
        SpecError::MissingRole { name, .. } => (*name).to_owned(),
        SpecError::MissingEither { one, .. } => (*one).to_owned(),
        SpecError::SameChannel { other, .. } => (*other).to_owned(),
        SpecError::UnknownChannel { role, .. } | SpecError::AmbiguousChannel { role, .. }
            if !role.is_empty() =>
        {
            role.clone()
        }
        SpecError::InvalidValue { option, .. } => (*option).to_owned(),
        // No query parameter is to blame, so name the part of the job.
        other => other.field().to_owned(),
    }
}

fn pairs(list: &[(String, String)]) -> Vec<(&str, &str)> {
    list.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect()
}

fn decode_error(error: CaptureError) -> Error {
    match error {
        CaptureError::NotFound => Error::NotFound,
        CaptureError::WrongState(text) => Error::WrongState(text),
        CaptureError::Other(text) => Error::Other(text),
        other => Error::Other(format!("{other:?}")),
    }
}

/// Decode into `parts` until the end or until the client has left. `telling` hears of a failure before the first part.
fn stream(
    look: &Look,
    spec: &Spec,
    format: Format,
    parts: mpsc::Sender<io::Result<Bytes>>,
    mut telling: Telling,
) {
    let last = parts.clone().try_reserve_owned();
    let last = last.expect("a new queue has room");
    let gone = parts.clone();
    let mut writer = Parts::new(parts, PART_WAIT_MAX);
    let mut written = writer.write_all(format.header().as_bytes());
    let mut decode = || {
        let segment = look.segment()?;
        let decoding = look.decoding(&segment, spec)?;
        if !spec.is_foreign() {
            let _ = telling.tell(Ok(()));
        }
        look.run(decoding, &mut |seen| {
            written = seen.write(format, spec, &mut writer);
            if writer.has_flushed() {
                let _ = telling.tell(Ok(()));
            }
            match &written {
                Ok(()) if !gone.is_closed() => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            }
        })?;
        Ok::<_, ReadError>(())
    };
    if let Err(e) = decode() {
        // The last part says no more than that there is none.
        last.send(Err(io::Error::other("the decoding failed")));
        if let Err(e) = telling.tell(Err(e)) {
            let cause = std::error::Error::source(&e);
            let cause = cause.map(ToString::to_string).unwrap_or_default();
            tracing::error!(error = %e, cause, "failed to decode a capture");
        }
        return;
    }
    match written.and_then(|()| writer.flush()) {
        Err(e) if e.kind() == io::ErrorKind::TimedOut => {
            tracing::info!("cut a decoding whose client took nothing of it");
            last.send(Err(io::Error::other(e)));
        }
        // A closed channel means that the client has left.
        Ok(()) | Err(_) => {}
    }
    let _ = telling.tell(Ok(()));
}

/// A JSON array of at most `most` events as text, and whether there were more.
fn collect(
    look: &Look,
    spec: &Spec,
    most: usize,
    gone: &Gone,
) -> Result<(String, bool), ReadError> {
    let mut lines = Vec::new();
    let mut count = 0;
    let mut more = false;
    let segment = look.segment()?;
    let decoding = look.decoding(&segment, spec)?;
    look.run(decoding, &mut |seen| {
        let room = most - count;
        more |= seen.count() > room;
        // Whether there are more is known once some come for which there is no room.
        if room > 0 {
            let taken = seen.at_most(room);
            count += taken.count();
            taken
                .write(Format::Json, spec, &mut lines)
                .expect("writing to memory never fails");
        }
        match more || gone.is_gone() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    let text = String::from_utf8_lossy(&lines);
    let events: Vec<&str> = text.lines().collect();
    Ok((format!("[{}]", events.join(",")), more))
}

/// Sends text in full parts as it is written. Only for blocking threads.
pub(super) struct Parts {
    buffer: Vec<u8>,
    parts: mpsc::Sender<io::Result<Bytes>>,
    wait_max: Duration,
    has_flushed: bool,
}

impl Parts {
    pub(super) fn new(parts: mpsc::Sender<io::Result<Bytes>>, wait_max: Duration) -> Self {
        Self {
            buffer: Vec::with_capacity(PART_BYTES),
            parts,
            wait_max,
            has_flushed: false,
        }
    }

    /// Whether a part is on its way.
    fn has_flushed(&self) -> bool {
        self.has_flushed
    }
}

impl Write for Parts {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= PART_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let part = std::mem::replace(&mut self.buffer, Vec::with_capacity(PART_BYTES));
        let sent = async { timeout(self.wait_max, self.parts.send(Ok(part.into()))).await };
        match Handle::current().block_on(sent) {
            Ok(sent) => {
                self.has_flushed = true;
                sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
            }
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

#[cfg(test)]
mod tests;
