//! `hostd:host/flashing`: programming the targets of the caller's devices.

use std::io::ErrorKind;
use std::sync::Arc;

use admission::Requester;
use pods::PodError;
use wasmtime::component::{HasData, Resource, ResourceTable};

use super::bindings::hostd::host::flashing::{
    Artifact, Effect as WitEffect, Error, Extent as WitExtent, Flash, Host,
    Inspection as WitInspection, Order as WitOrder, Outcome as WitOutcome, Part as WitPart,
    Phase as WitPhase, Source,
};
use super::door::Door;
use super::uploads::given;
use super::{CallLinker, Context, internal, wit};
use base::clock;
use flash::image::{Extent, Family, Skipped};
use flash::{EXTENTS_NAMED_MAX, Inspection};
use lab::blobs::Staged;
use lab::builds::{BuildError, Builds};
use lab::devices::Device;
use lab::flashing::{
    Failure, Firmware, Flashing, FlashingError, Outcome, Phase, RETRY_AFTER_S, Request, State,
};

/// What is missing when the firmware is.
const FILE: &str = "build or file";

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    table: &'a mut ResourceTable,
    door: Door<'a>,
    builds: &'a Builds,
    flashing: &'a Arc<Flashing>,
    requester: Option<&'a Requester>,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::flashing::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        table: &mut state.data.table,
        door: Door::new(&state.data.context, &state.data.services),
        builds: &state.data.services.builds,
        flashing: &state.data.services.flashing,
        requester: state.data.requester.as_ref(),
    })
}

impl Host for View<'_> {
    async fn start(&mut self, request: WitOrder, source: Source) -> Result<Flash, Error> {
        let firmware = match source {
            Source::Upload((upload, name)) => self.uploaded(upload, name)?,
            Source::Artifact((build, pack, name)) => {
                built(self.context, self.builds, &build, &pack, &name).await?
            }
        };
        let entered = self.door.enter(&request.device)?;
        let flashing = self.flashing;
        let started = flashing.start(entered, request_of(request), firmware);
        let started = started.await.map_err(|e| self.flashing_error(e))?;
        Ok(to_wit(started))
    }

    async fn inspect(
        &mut self,
        (upload, name): (Resource<Staged>, String),
        target: Option<String>,
        load_address: Option<u32>,
    ) -> Result<WitInspection, Error> {
        let firmware = self.uploaded(upload, name)?;
        let flashing = self.flashing;
        let looked = flashing
            .inspect(self.requester, firmware, target, load_address)
            .await;
        looked.map(inspection).map_err(|e| self.flashing_error(e))
    }

    async fn wait(&mut self, device: String, id: String) -> Result<Flash, Error> {
        self.flashed(&device)?;
        let flashing = self.flashing;
        let seen = flashing
            .wait(&device, &id, self.context.answer_by.into())
            .await;
        seen.map(to_wit).map_err(|e| self.flashing_error(e))
    }

    async fn get(&mut self, device: String, id: String) -> Result<Flash, Error> {
        self.flashed(&device)?;
        let found = self.flashing.get(&device, &id);
        found.map(to_wit).map_err(|e| self.flashing_error(e))
    }

    async fn list(&mut self, device: String) -> Result<Vec<Flash>, Error> {
        self.flashed(&device)?;
        let found = self.flashing.list(&device);
        Ok(found.into_iter().map(to_wit).collect())
    }

    async fn cancel(&mut self, device: String, id: String) -> Result<Flash, Error> {
        self.flashed(&device)?;
        self.door.admit(&device).map_err(Error::Held)?;
        let ended = self.flashing.cancel(&device, &id).await;
        ended.map(to_wit).map_err(|e| self.flashing_error(e))
    }
}

impl View<'_> {
    fn uploaded(&mut self, upload: Resource<Staged>, name: String) -> Result<Firmware, Error> {
        let staged = given(self.context, self.table, upload).map_err(Error::Other)?;
        Ok(Firmware {
            name,
            size_bytes: staged.size_bytes(),
            sha256: staged.sha256().to_owned(),
            build: None,
            path: staged.path().to_owned(),
            staged: Some(staged),
        })
    }

    /// A device that the caller may use.
    fn flashed(&self, id: &str) -> Result<Device, Error> {
        self.door
            .device(id)
            .ok_or_else(|| Error::NotFound("device".to_owned()))
    }

    fn flashing_error(&self, error: FlashingError) -> Error {
        match error {
            FlashingError::NotFound => Error::NotFound("flash".to_owned()),
            FlashingError::Ended => Error::Ended,
            FlashingError::Full => Error::Overloaded(RETRY_AFTER_S),
            FlashingError::Invalid { field, message } => Error::Invalid((field.into(), message)),
            FlashingError::Running
            | FlashingError::Pod(PodError::Busy { .. } | PodError::NoPermit { .. }) => {
                Error::Busy(error.to_string())
            }
            FlashingError::Pod(PodError::Offline { .. } | PodError::Ended(_)) => Error::Offline,
            // Its build was deleted meanwhile.
            FlashingError::Read { source, .. } if source.kind() == ErrorKind::NotFound => {
                Error::NotFound(FILE.to_owned())
            }
            error @ (FlashingError::Read { .. } | FlashingError::Pod(_)) => {
                Error::Other(internal(self.context, "flashing", &error))
            }
        }
    }
}

/// A file of a build of the caller's organisation.
async fn built(
    context: &Context,
    builds: &Builds,
    build: &str,
    pack: &str,
    name: &str,
) -> Result<Firmware, Error> {
    let missing = || Error::NotFound(FILE.to_owned());
    let org = context.caller.as_ref().ok_or_else(missing)?.org();
    let found = builds.artifact(org, build, pack, name).await;
    let found = found.map_err(|error| match error {
        BuildError::NotFound => missing(),
        other => Error::Other(internal(context, "flashing", &other)),
    })?;
    let file = found.file;
    Ok(Firmware {
        path: builds.blobs().path(&file.sha256),
        name: file.name,
        size_bytes: file.size_bytes,
        sha256: file.sha256,
        build: Some((found.build.id, found.pack)),
        staged: None,
    })
}

fn request_of(request: WitOrder) -> Request {
    Request {
        target: request.target,
        load_address: request.load_address,
        swclk: request.swclk,
        swdio: request.swdio,
        efuse: (request.efuse > 0).then_some(request.efuse),
        la_mv: request.la_mv,
        verify: request.verify,
        reset: request.reset,
        force: request.force,
        connect_under_reset: request.connect_under_reset,
        attended: request.attended,
    }
}

fn to_wit(state: State) -> Flash {
    let course = state.course;
    Flash {
        id: state.id,
        device: state.device,
        target: state.target,
        artifact: Artifact {
            name: state.name,
            size_bytes: state.size_bytes,
            sha256: state.sha256,
            build: state.build,
        },
        phase: course.phase.into(),
        percent: course.percent,
        bytes: course.bytes,
        total_bytes: course.total_bytes,
        created_at: clock::text(state.created_ms),
        finished_at: course.finished_ms.map(clock::text),
        outcome: course.outcome.map(outcome),
    }
}

fn outcome(outcome: Outcome) -> WitOutcome {
    let (failure, programmed) = (outcome.failure, outcome.programmed);
    WitOutcome {
        target_unreachable: failure.as_ref().is_some_and(|f| f.is_target_unreachable),
        error: failure.map(|f| (f.code.to_owned(), told(f))),
        output: outcome.output,
        bytes: programmed.bytes(),
        extents: extents(&programmed.extents),
        skipped: skipped(&programmed.skipped),
        chip: outcome.chip,
        duration_ms: u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
    }
}

fn inspection(found: Inspection) -> WitInspection {
    let part = |(family, all): (Option<Family>, Vec<Extent>)| WitPart {
        family: family.map(|family| family.to_string()),
        bytes: all.iter().map(|extent| extent.bytes).sum(),
        extents: extents(&all),
    };
    WitInspection {
        format: found.format.word().to_owned(),
        data_bytes: found.data_bytes,
        parts: found.parts.into_iter().map(part).collect(),
        effect: found.effect.map(|effect| WitEffect {
            chip: effect.chip,
            bytes: effect.programmed.bytes(),
            extents: extents(&effect.programmed.extents),
            skipped: skipped(&effect.programmed.skipped),
            erased: effect.erased.into_iter().take(EXTENTS_NAMED_MAX).collect(),
        }),
    }
}

fn skipped(all: &[Skipped]) -> Vec<(String, u64)> {
    let one = |skipped: &Skipped| (skipped.family.to_string(), skipped.bytes);
    all.iter().map(one).collect()
}

fn extents(all: &[Extent]) -> Vec<WitExtent> {
    all.iter().take(EXTENTS_NAMED_MAX).map(extent).collect()
}

fn extent(extent: &Extent) -> WitExtent {
    WitExtent {
        address: extent.address,
        bytes: extent.bytes,
        crc32: extent.crc32,
    }
}

impl From<Phase> for WitPhase {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Preparing => Self::Preparing,
            Phase::Connecting => Self::Connecting,
            Phase::Erasing => Self::Erasing,
            Phase::Programming => Self::Programming,
            Phase::Verifying => Self::Verifying,
            Phase::Resetting => Self::Resetting,
            Phase::Done => Self::Done,
            Phase::Failed => Self::Failed,
            Phase::Cancelled => Self::Cancelled,
        }
    }
}

/// Why a flash failed, and what a request can do about it.
fn told(failure: Failure) -> String {
    match failure.code {
        "wrong_target" => format!(
            "{}; correct `target`, or send `force` to program it all the same",
            failure.sentence
        ),
        _ => failure.sentence,
    }
}
