//! The export `decoding` of a plugin: decoders that are listed and used beside the built-in ones.

use std::sync::Arc;
use std::time::{Duration, Instant};

use decode::Decoder;
use decode::foreign::{ForeignDecoding, ForeignError, Input, Setup};
use runtime::{CallData, CallError, Guest, GuestOptions, Metrics, Mode, Session};
use tokio::runtime::Handle;
use wasmtime::component::ResourceAny;

use super::bindings::decoder::Decoder as World;
use super::call::PluginCall;
use super::loaded::{LoadError, Loading};
use calls::{Changes, Create, Decoders as List, Finish, Samples};

mod calls;
mod described;
mod found;
pub(super) mod library;
pub mod offline;

pub use described::DecodersError;

/// Name of the export, without its version.
pub(super) const DECODING: &str = "hostd:plugin/decoding";

/// Captures that one plugin decodes at once.
const IN_FLIGHT_MAX: u32 = 4;

/// Decodings that may wait for a place.
const QUEUED_MAX: u32 = 16;

/// How long one capture may take.
const DECODING_MAX: Duration = Duration::from_secs(600);

/// Bytes that one call may return, its annotations together, beside the 2 MiB that any call may: as many of them as there may
/// be, and about 200 bytes of text for each. The host holds as much for each decoding that is under way.
const FOUND_BYTES_MAX: usize = 32 << 20;

/// What decodes captures.
#[derive(Debug)]
pub(super) struct Decoders {
    guest: Arc<Guest<PluginCall, World>>,
    known: Vec<Known>,
}

/// One decoder of a plugin.
#[derive(Debug, Clone)]
pub struct Known {
    /// Its id in the plugin.
    pub(super) id: String,
    /// Described as everybody sees it: `<plugin id>/<decoder id>`.
    pub(super) decoder: Arc<Decoder>,
    pub(super) input: Input,
}

impl Decoders {
    /// Start an instance and ask it for its decoders; none if the component has no decoders.
    pub(super) fn load(loading: Loading<'_>) -> Result<Option<Self>, LoadError> {
        if !loading.exports(DECODING) {
            return Ok(None);
        }
        let mut guest = loading.guest::<World>(options(loading.options()))?;
        let declared = guest.start(List).map_err(LoadError::Decoders)?;
        let known = described::checked(loading.manifest.id.as_str(), declared)?;
        Ok(Some(Self {
            guest: Arc::new(guest),
            known,
        }))
    }

    pub(super) fn guest(&self) -> &Arc<Guest<PluginCall, World>> {
        &self.guest
    }

    pub(super) fn known(&self) -> &[Known] {
        &self.known
    }

    /// What it has done so far.
    pub(super) fn metrics(&self) -> Metrics {
        self.guest.metrics()
    }
}

/// Each decoding has an instance of its own.
pub(super) fn options(options: GuestOptions) -> GuestOptions {
    GuestOptions {
        mode: Mode::Fresh,
        in_flight_max: options.in_flight_max.min(IN_FLIGHT_MAX),
        queued_max: QUEUED_MAX,
        response_bytes_max: FOUND_BYTES_MAX,
        ..options
    }
}

/// A capture that is being decoded by an instance of its own. Its calls block the thread that makes them, and compute on
/// another of a lower priority.
pub(super) struct Running<T: CallData> {
    handle: Handle,
    session: Session<T, World>,
    decoding: ResourceAny,
    classes: usize,
    until: Instant,
}

/// The time that a decoding has is over. Fits "failed to …".
#[derive(Debug, thiserror::Error)]
#[error("decode the capture within {} s", DECODING_MAX.as_secs())]
struct Late;

impl<T: CallData> Running<T> {
    /// Begin with a decoder in an instance of `guest`.
    pub(super) async fn begin(
        handle: Handle,
        guest: &Arc<Guest<T, World>>,
        (request_id, data): (&str, T),
        known: &Known,
        setup: &Setup<'_>,
    ) -> Result<Self, ForeignError> {
        let mut session = guest.session(request_id, data).await.map_err(failed)?;
        let created = session
            .call_apart(Create::new(&known.id, setup))
            .await
            .map_err(failed)?;
        Ok(Self {
            handle,
            session,
            decoding: created.map_err(|told| ForeignError::Refused(described::line(&told)))?,
            classes: known.decoder.classes.len(),
            until: Instant::now() + DECODING_MAX,
        })
    }

    /// The data of its calls. None once one has failed.
    fn data(&mut self) -> Option<&mut T> {
        self.session.data()
    }

    fn time(&self) -> Result<(), ForeignError> {
        if Instant::now() < self.until {
            return Ok(());
        }
        Err(ForeignError::Failed(Box::new(Late)))
    }
}

impl<T: CallData> ForeignDecoding for Running<T> {
    fn changes(&mut self, data: &[u32]) -> Result<Vec<decode::Annotation>, ForeignError> {
        self.time()?;
        let decoding = self.decoding;
        let data = data.to_vec();
        let called = self.session.call_apart(Changes { decoding, data });
        found::all(self.handle.block_on(called).map_err(failed)?, self.classes)
    }

    fn samples(
        &mut self,
        start: u64,
        data: &[u8],
    ) -> Result<Vec<decode::Annotation>, ForeignError> {
        self.time()?;
        let called = self.session.call_apart(Samples {
            decoding: self.decoding,
            start,
            data: data.to_vec(),
        });
        found::all(self.handle.block_on(called).map_err(failed)?, self.classes)
    }

    fn finish(&mut self, end: u64) -> Result<Vec<decode::Annotation>, ForeignError> {
        let decoding = self.decoding;
        let called = self.session.call_apart(Finish { decoding, end });
        found::all(self.handle.block_on(called).map_err(failed)?, self.classes)
    }
}

fn failed(error: CallError) -> ForeignError {
    match error {
        CallError::Overloaded { retry_after_s } => ForeignError::Busy(format!(
            "all places for its decodings are taken; retry in {retry_after_s} s"
        )),
        other => ForeignError::Failed(Box::new(other)),
    }
}
