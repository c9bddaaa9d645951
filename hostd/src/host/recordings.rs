//! `hostd:host/recordings`: exports, imports and overviews of captures.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use admission::Requester;
use bytes::Bytes;
use decode::import::ImportError as FileError;
use decode::{SpecError, find_channel};
use runtime::BodyStream;
use tokio::sync::mpsc;
use wasmtime::component::{HasData, Resource, ResourceTable};

use super::bindings::hostd::host::captures::Error as CaptureError;
use super::bindings::hostd::host::recordings::{
    Content as WitContent, Error, Format as WitFormat, Host, Link, Loaded, Overview, Reading,
    Selection,
};
use super::decode::{PART_WAIT_MAX, PARTS_WAITING_MAX, Parts};
use super::door::Door;
use super::uploads::given;
use super::{CallLinker, Context, captures, internal, wit};
use base::clock;
use identity::{Identity, TokenError};
use lab::blobs::Staged;
use lab::captures::export::{Asked, Content, Export, ExportError, Format};
use lab::captures::import::{FILE_BYTES_MAX, ImportError};
use lab::captures::overview::overview;
use lab::captures::plan::PlanError;
use lab::captures::reader::Reader;
use lab::captures::{CaptureError as Failure, Captures, Import, Options};
use store::captures::CaptureRecord;

mod links;

use links::Linked;

/// Most stretches of an overview.
const POINTS_MAX: u32 = 10_000;

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    table: &'a mut ResourceTable,
    requester: Option<&'a Requester>,
    door: Door<'a>,
    captures: &'a Arc<Captures>,
    auth: &'a Identity,
    /// Empty = nobody knows.
    public_url: &'a str,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::recordings::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        table: &mut state.data.table,
        requester: state.data.requester.as_ref(),
        door: Door::new(&state.data.context, &state.data.services),
        captures: &state.data.services.captures,
        auth: &state.data.services.auth,
        public_url: &state.data.services.public_url,
    })
}

impl Host for View<'_> {
    async fn save(
        &mut self,
        capture: String,
        format: WitFormat,
        selection: Selection,
    ) -> Result<(String, Resource<BodyStream>), Error> {
        let asked = asked(selection);
        let planned = self.planned(self.door, &capture, to_format(format), &asked);
        let (reader, export) = planned.await?;
        self.sent(self.requester, reader, export).await
    }

    async fn make_link(
        &mut self,
        capture: String,
        format: WitFormat,
        selection: Selection,
        ttl_s: u32,
    ) -> Result<Link, Error> {
        let base = self.context.base(self.public_url).ok_or_else(|| {
            let rule = "must say by what name you know the server".to_owned();
            Error::Invalid(("host".to_owned(), rule))
        })?;
        let (format, asked) = (to_format(format), asked(selection));
        // What would be refused gets no address.
        let planned = self.planned(self.door, &capture, format, &asked);
        drop(planned.await?);
        let caller = self.context.caller.as_ref().ok_or(Error::NotFound)?;
        let what = Linked::export(capture, format, asked);
        let made = self.auth.make_link(caller, what, ttl_s);
        let made = made.map_err(|error| match error {
            TokenError::Invalid { field, message } => Error::Invalid((field.to_owned(), message)),
            other @ TokenError::Sign(_) => {
                Error::Other(internal(self.context, "recordings", &other))
            }
        })?;
        Ok(Link {
            base,
            token: made.token.expose().to_owned(),
            expires_at: clock::text(made.expires_at_ms),
        })
    }

    async fn open_link(
        &mut self,
        capture: String,
        format: WitFormat,
        token: String,
    ) -> Result<(String, Resource<BodyStream>), Error> {
        let format = to_format(format);
        let opened = links::opened(self.auth, &token, &capture, format);
        let (by, asked) = opened.map_err(Error::Link)?;
        let requester = by.requester();
        let context = self.context.acting_for(by);
        let planned = self.planned(self.door.of(&context), &capture, format, &asked);
        let (reader, export) = planned.await?;
        self.sent(Some(&requester), reader, export).await
    }

    async fn look(
        &mut self,
        capture: String,
        channel: String,
        first: Option<u64>,
        end: Option<u64>,
        points: u32,
    ) -> Result<Overview, Error> {
        let found = self.door.capture(self.captures, &capture).await;
        let found = found.map_err(refusal)?;
        let index = self::channel("channel", &found, &channel)?;
        let record = found.channels[index].clone();
        let range = range(first, end, record.samples)?;
        let points = points.clamp(1, POINTS_MAX);
        let asked = range.clone();
        let look = move |reader: &Reader| overview(reader, index, &asked, points);
        let seen = self.captures.look(&found.org, &capture, look).await;
        let seen = seen.map_err(|e| refusal(self.context.capture_error(e)))?;
        Ok(Overview {
            channel: u32::try_from(index).expect("a capture has few channels"),
            name: record.name,
            is_digital: record.la.is_some(),
            unit: record.unit,
            sample_rate_hz: record.sample_rate_hz,
            first: range.start,
            end: range.end,
            trigger_s: found.trigger_s(),
            min: seen.min,
            max: seen.max,
        })
    }

    async fn load_bytes_max(&mut self) -> u64 {
        FILE_BYTES_MAX
    }

    async fn load(
        &mut self,
        file: Resource<Staged>,
        name: Option<String>,
        device: Option<String>,
        reading: Reading,
    ) -> Result<Loaded, Error> {
        let staged = given(self.context, self.table, file).map_err(Error::Other)?;
        let org = self
            .context
            .caller
            .as_ref()
            .ok_or(Error::NotFound)?
            .org()
            .to_owned();
        let device = device.map(|which| self.door.id_of(&which));
        if let Some(device) = &device {
            self.door.device(device).ok_or(Error::NotFound)?;
        } else if self.context.is_restricted() {
            let rule = "is required, since the session is restricted to devices";
            return Err(Error::Invalid(("device_id".to_owned(), rule.to_owned())));
        }
        let import = Import {
            org,
            device: device.unwrap_or_default(),
            name,
            options: Options {
                rate_hz: reading.rate_hz,
                channels: reading.channels,
            },
            requester: self.requester.cloned(),
        };
        let imported = self.captures.import(import, staged).await;
        imported
            .map(|imported| Loaded {
                capture: captures::to_wit(&imported.record),
                notes: imported.notes,
            })
            .map_err(|e| self.import_error(e))
    }
}

impl View<'_> {
    /// The file that is asked for, if whoever is at the door may have it.
    async fn planned(
        &mut self,
        door: Door<'_>,
        capture: &str,
        format: Format,
        asked: &Asked,
    ) -> Result<(Arc<Reader>, Export), Error> {
        let reader = door.reader(self.captures, capture).await;
        let reader = reader.map_err(refusal)?;
        let plan = Export::plan(&reader, format, asked);
        let export = plan.map_err(|error| match error {
            ExportError::Channel(cause) => {
                Error::Invalid(("channels".to_owned(), channel_rule(&cause)))
            }
            ExportError::Range { samples } => {
                let rule = format!("must be above `from` and at most {samples}");
                Error::Invalid(("to".to_owned(), rule))
            }
            ExportError::NotBuilt => Error::NotCapable(error.to_string()),
            ExportError::Lacks(_)
            | ExportError::TooLong { .. }
            | ExportError::Uneven { .. }
            | ExportError::Rate { .. } => Error::WrongState(error.to_string()),
            other => Error::Other(internal(self.context, "recordings", &other)),
        })?;
        Ok((reader, export))
    }

    /// A file on its way, and its media type, in the share of who has it sent.
    async fn sent(
        &mut self,
        requester: Option<&Requester>,
        reader: Arc<Reader>,
        export: Export,
    ) -> Result<(String, Resource<BodyStream>), Error> {
        let media_type = export.content_type().to_owned();
        let sent = send(self.captures, requester, reader, export);
        let receiver = sent
            .await
            .map_err(|e| refusal(self.context.capture_error(e)))?;
        let stream = BodyStream::new(Some(media_type.clone()), receiver);
        let pushed = self.table.push(stream);
        let pushed = pushed.map_err(|e| Error::Other(internal(self.context, "recordings", &e)))?;
        Ok((media_type, pushed))
    }

    fn import_error(&self, error: Failure) -> Error {
        match error {
            Failure::Import(cause) if cause.is_of_file() => {
                let field = blamed(&cause);
                Error::Invalid((field.to_owned(), said(field, &cause)))
            }
            Failure::Plan(PlanError::Invalid { field, message }) => {
                Error::Invalid((field, message))
            }
            other => refusal(self.context.capture_error(other)),
        }
    }
}

/// The field of the request that a file is refused for: what the request says of it, or the file itself.
fn blamed(error: &ImportError) -> &'static str {
    match error {
        ImportError::File(
            FileError::Channels { .. }
            | FileError::UnknownChannel { .. }
            | FileError::TwoAnalog { .. },
        ) => "channels",
        ImportError::File(
            FileError::NoRate | FileError::Rate { .. } | FileError::TooLong { .. },
        ) => "rate",
        ImportError::File(_) | ImportError::Encode(_) | ImportError::Disk(_) => "file",
    }
}

/// What is wrong with a file, as a phrase to follow the name of the field.
fn said(field: &str, error: &ImportError) -> String {
    let cannot = match field {
        "file" => "cannot be imported",
        _ => "cannot be used",
    };
    match std::error::Error::source(error) {
        Some(cause) => format!("{cannot}: failed to {error}: {cause}"),
        None => format!("{cannot}: failed to {error}"),
    }
}

/// Index of the channel that the text of a field refers to.
pub(super) fn channel(field: &str, record: &CaptureRecord, text: &str) -> Result<usize, Error> {
    let names: Vec<String> = record.channels.iter().map(|c| c.name.clone()).collect();
    find_channel(&record.meant(text), &names)
        .map_err(|error| Error::Invalid((field.to_owned(), channel_rule(&error))))
}

/// What is wrong with a channel, as a phrase to follow the word.
fn channel_rule(error: &SpecError) -> String {
    match error {
        SpecError::UnknownChannel { valid, .. } => format!("must be one of {valid}"),
        SpecError::AmbiguousChannel { valid, .. } => {
            format!(
                "is a number that could be a name or a place: it must be one of {valid}, \
                 between double quotes where that is a number"
            )
        }
        other => format!("cannot be used: failed to {other}"),
    }
}

pub(super) fn refusal(error: CaptureError) -> Error {
    match error {
        CaptureError::NotFound => Error::NotFound,
        CaptureError::WrongState(text) => Error::WrongState(text),
        CaptureError::Full(text) => Error::Full(text),
        CaptureError::Other(text) => Error::Other(text),
        other => Error::Other(format!("{other:?}")),
    }
}

pub(super) fn range(
    first: Option<u64>,
    end: Option<u64>,
    samples: u64,
) -> Result<Range<u64>, Error> {
    let range = first.unwrap_or(0)..end.unwrap_or(samples);
    let wrong = |field: &str, rule: String| Err(Error::Invalid((field.to_owned(), rule)));
    if range.end > samples {
        return wrong("to", format!("must be at most {samples}"));
    }
    if range.start >= range.end {
        return wrong("from", format!("must be below {}", range.end));
    }
    Ok(range)
}

fn asked(selection: Selection) -> Asked {
    Asked {
        content: selection.content.map(to_content),
        channels: selection.channels,
        from: selection.first,
        to: selection.end,
    }
}

fn to_format(format: WitFormat) -> Format {
    match format {
        WitFormat::Vcd => Format::Vcd,
        WitFormat::Fst => Format::Fst,
        WitFormat::Sr => Format::Sr,
        WitFormat::Csv => Format::Csv,
        WitFormat::Wav => Format::Wav,
        WitFormat::Bin => Format::Bin,
        WitFormat::Arrow => Format::Arrow,
        WitFormat::Parquet => Format::Parquet,
    }
}

fn to_content(content: WitContent) -> Content {
    match content {
        WitContent::Logic => Content::Logic,
        WitContent::Analog => Content::Analog,
        WitContent::Both => Content::Both,
    }
}

/// Sends a file on a thread of its own, once there is a place for that.
///
/// # Errors
/// Too many wait for one.
pub(super) async fn send(
    captures: &Captures,
    requester: Option<&Requester>,
    reader: Arc<Reader>,
    export: Export,
) -> Result<mpsc::Receiver<io::Result<Bytes>>, Failure> {
    // One more for the error that ends a stream early: it must not wait behind the parts.
    let (parts, receiver) = mpsc::channel(PARTS_WAITING_MAX + 1);
    let permit = captures.stream_permit(requester).await?;
    tokio::task::spawn_blocking(move || {
        stream(&reader, export, parts, PART_WAIT_MAX);
        drop(permit);
    });
    Ok(receiver)
}

/// Write into `parts` until the end or until the client has left.
fn stream(
    reader: &Reader,
    export: Export,
    parts: mpsc::Sender<io::Result<Bytes>>,
    wait_max: Duration,
) {
    let last = parts.clone().try_reserve_owned();
    let last = last.expect("a new queue has room");
    let mut writer = Parts::new(parts, wait_max);
    let written = export.write(reader, &mut writer);
    let written = written.and_then(|()| Ok(writer.flush()?));
    match written {
        Ok(()) => {}
        // The client has left.
        Err(ExportError::Write(e)) if e.kind() == io::ErrorKind::BrokenPipe => {}
        Err(error) => {
            tracing::info!(%error, "cut the file of a capture");
            last.send(Err(io::Error::other(error)));
        }
    }
}
