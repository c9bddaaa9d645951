//! `hostd:host/replay`: waveforms out of the DAC of one of the caller's devices.

use pods::{PodError, RefusalKind};
use wasmtime::component::HasData;

use super::bindings::hostd::host::replay::{
    Error, Fault as WitFault, FaultKind, Host, Order as WitOrder, Playing as WitPlaying, Source,
};
use super::door::Door;
use super::{CallLinker, Context, internal, wit};
use lab::leases::Entered;
use lab::replay::{self, Playing, ReplayError, Request};
use lab::waveforms::signal::{CODE_MAX, Fault};
use lab::waveforms::{Sampled, WaveformError, Waveforms};

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    door: Door<'a>,
    waveforms: &'a Waveforms,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::replay::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        door: Door::new(&state.data.context, &state.data.services),
        waveforms: &state.data.services.waveforms,
    })
}

impl Host for View<'_> {
    async fn start(&mut self, request: WitOrder) -> Result<WitPlaying, Error> {
        let Entered {
            device,
            pod,
            mut visit,
            ..
        } = self.door.enter(&request.device)?;
        let capabilities = device.capabilities().ok_or(Error::Offline)?;
        let sampled = self.sampled(&device.record.org, &request.source).await?;
        let waveforms = self.waveforms;
        let playing = tokio::select! {
            playing = replay::start(waveforms, &pod, capabilities, sampled, to_request(&request)) => playing,
            () = visit.over() => {
                drop(visit);
                return Err(Error::Held(self.door.cut(&device.record.id)));
            }
        };
        playing.map(to_wit).map_err(|e| self.replay_error(e))
    }
}

impl View<'_> {
    async fn sampled(&self, org: &str, source: &Source) -> Result<Sampled, Error> {
        let sampled = match source {
            Source::Library(id) => self.waveforms.sampled(org, id).await,
            Source::Inline(given) => Sampled::given(
                &given.samples_b64,
                given.bits,
                given.sample_rate_hz,
                given.full_scale_v,
            ),
        };
        sampled.map_err(|e| self.replay_error(e.into()))
    }

    fn replay_error(&self, error: ReplayError) -> Error {
        match error {
            ReplayError::NotCapable { .. } => Error::NotCapable(error.to_string()),
            ReplayError::Invalid { field, message }
            | ReplayError::Waveform(WaveformError::Invalid { field, message }) => {
                Error::Invalid((field.to_owned(), message))
            }
            ReplayError::Limited => Error::WrongState(error.to_string()),
            ReplayError::TooSlow => Error::TimedOut(replay::START_WAIT_MS),
            ReplayError::NoRange => Error::Protocol(error.to_string()),
            ReplayError::Waveform(WaveformError::NotFound) => Error::NoWaveform,
            ReplayError::Waveform(other) => Error::Other(internal(self.context, "replay", &other)),
            ReplayError::Pod(error) => self.replay_pod_error(error),
        }
    }

    fn replay_pod_error(&self, error: PodError) -> Error {
        match error {
            PodError::Offline { .. } | PodError::Ended(_) => Error::Offline,
            PodError::Refused(refusal) => match refusal.kind {
                RefusalKind::Busy => Error::Busy(refusal.text),
                RefusalKind::NoAnalog => Error::NotCapable(refusal.text),
                _ => Error::Refused(refusal.text),
            },
            PodError::Busy { .. } | PodError::NoPermit { .. } | PodError::QueueFull { .. } => {
                Error::Busy(error.to_string())
            }
            PodError::Timeout { waited_ms, .. } => Error::TimedOut(waited_ms),
            PodError::Protocol(cause) => Error::Protocol(cause.to_string()),
            other => Error::Other(internal(self.context, "replay", &other)),
        }
    }
}

fn to_request(request: &WitOrder) -> Request {
    Request {
        output: request.output.into(),
        mapping: request.mapping.into(),
        rate_hz: request.sample_rate_mhz.map(|mhz| mhz * 1e6),
        window_start: index(request.window_start),
        window_len: request.window_len.map(index),
        codes_max: request.target_samples.map(index),
        on_capture: request.on_capture,
        fault: request.fault.map(fault),
    }
}

/// A count beyond the address space is beyond every waveform.
fn index(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn fault(fault: WitFault) -> Fault {
    let usual = match fault.kind {
        FaultKind::Flatline => 0,
        FaultKind::Spike | FaultKind::Stuck => CODE_MAX,
    };
    Fault {
        start: index(fault.start),
        width: fault.width.map(index),
        level: fault.level.unwrap_or(usual),
    }
}

fn to_wit(playing: Playing) -> WitPlaying {
    WitPlaying {
        samples: playing.codes as u64,
        source_samples: playing.source_samples as u64,
        averaged: playing.averaged as u64,
        sample_rate_hz: playing.rate_hz,
        speed: playing.speed,
        deep: playing.deep,
        armed: playing.armed,
        warnings: playing.warnings,
    }
}
