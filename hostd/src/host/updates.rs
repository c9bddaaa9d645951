//! `hostd:host/updates`: firmware updates of pods.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pods::PodError;
use wasmtime::component::{HasData, ResourceTable};

use super::bindings::hostd::host::updates::{
    Error, Host, Image as WitImage, Phase as WitPhase, Terms as WitTerms, Update,
};
use super::door::Door;
use super::uploads::given;
use super::{CallLinker, Context, internal, wit};
use base::clock;
use lab::builds::{Builds, REPORTED};
use lab::updates::image::{Image, ImageError};
use lab::updates::{Terms, UpdateError, Updates};
use store::devices::DeviceRecord;
use store::updates::{Phase, UpdateRecord};

/// Bytes of a signature block.
const SIGNATURE_BYTES: usize = 128;

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    table: &'a mut ResourceTable,
    door: Door<'a>,
    builds: &'a Builds,
    updates: &'a Arc<Updates>,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::updates::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        table: &mut state.data.table,
        door: Door::new(&state.data.context, &state.data.services),
        builds: &state.data.services.builds,
        updates: &state.data.services.updates,
    })
}

impl Host for View<'_> {
    async fn start(
        &mut self,
        device: String,
        image: WitImage,
        terms: WitTerms,
    ) -> Result<Update, Error> {
        let device = self.updatable(&device)?;
        let signature = terms.signature.as_deref().map(signature).transpose()?;
        let image = self.image(image, terms.sha256.as_deref()).await?;
        let terms = Terms {
            signature,
            version: terms.version,
        };
        let owner = self.context.owner();
        let shown = self.door.shown(&device.id, &owner);
        let updates = self.updates;
        let started = updates.start(&device.org, &device.id, shown, image, terms);
        started
            .await
            .map(|record| to_wit(Some(record)))
            .map_err(|e| self.update_error(e))
    }

    async fn get(&mut self, device: String) -> Result<Update, Error> {
        let device = self.updatable(&device)?;
        let found = self.updates.get(&device.id).await;
        found
            .map(to_wit)
            .map_err(|e| self.update_error(UpdateError::Store(e)))
    }

    async fn abort(&mut self, device: String) -> Result<Update, Error> {
        let device = self.updatable(&device)?;
        let owner = self.context.owner();
        let shown = self.door.shown(&device.id, &owner);
        let updates = self.updates;
        let aborted = updates.abort(&device.org, &device.id, shown).await;
        aborted.map(to_wit).map_err(|e| self.update_error(e))
    }
}

impl View<'_> {
    /// Read the requested image into memory, so that it does not matter if its build or file is
    /// deleted meanwhile.
    async fn image(&mut self, image: WitImage, sha256: Option<&str>) -> Result<Image, Error> {
        let read = match image {
            WitImage::Upload(upload) => {
                let staged = given(self.context, self.table, upload).map_err(Error::Other)?;
                expect_hash(staged.sha256(), sha256)?;
                Image::read(staged.path(), staged.size_bytes(), staged.sha256()).await
            }
            WitImage::Artifact((build, name)) => {
                let org = self.context.caller.as_ref().ok_or(Error::NotFound)?.org();
                let builds = self.builds;
                let found = builds.artifact(org, &build, REPORTED, &name).await;
                let file = found.map_err(|_| Error::NoArtifact)?.file;
                expect_hash(&file.sha256, sha256)?;
                let path = builds.blobs().path(&file.sha256);
                Image::read(&path, file.size_bytes, &file.sha256).await
            }
        };
        read.map_err(|error| match error {
            ImageError::Empty | ImageError::TooLarge { .. } => {
                Error::Invalid(("image".to_owned(), format!("cannot be used: {error}")))
            }
            ImageError::Read { .. } => Error::Other(internal(self.context, "updates", &error)),
        })
    }

    /// The device, for those who may update it.
    fn updatable(&self, id: &str) -> Result<DeviceRecord, Error> {
        let record = self.door.device(id).ok_or(Error::NotFound)?.record;
        if !self.context.caller.as_ref().is_some_and(|c| c.is_admin()) {
            return Err(Error::Forbidden);
        }
        Ok(record)
    }

    fn update_error(&self, error: UpdateError) -> Error {
        match error {
            UpdateError::NoDevice => Error::NotFound,
            UpdateError::Offline => Error::Offline,
            UpdateError::NotCapable => Error::NotCapable(error.to_string()),
            UpdateError::Busy(busy) => Error::Held(self.door.told(&busy)),
            UpdateError::Running | UpdateError::Full => Error::InUse(error.to_string()),
            UpdateError::InUse(text) => Error::InUse(text),
            UpdateError::State(text) => Error::WrongState(text.to_owned()),
            UpdateError::Pod(PodError::Refused(refusal)) => Error::Refused(refusal.to_string()),
            UpdateError::Pod(_) | UpdateError::Store(_) => {
                Error::Other(internal(self.context, "updates", &error))
            }
        }
    }
}

fn expect_hash(found: &str, wanted: Option<&str>) -> Result<(), Error> {
    match wanted {
        Some(wanted) if !wanted.eq_ignore_ascii_case(found) => Err(Error::Invalid((
            "sha256".to_owned(),
            format!("is not that of the image, which is {found}"),
        ))),
        _ => Ok(()),
    }
}

fn signature(text: &str) -> Result<Vec<u8>, Error> {
    let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('='));
    let bytes = bytes.ok().filter(|bytes| bytes.len() == SIGNATURE_BYTES);
    bytes.ok_or_else(|| {
        let rule = format!("must be base64url of {SIGNATURE_BYTES} bytes");
        Error::Invalid(("signature".to_owned(), rule))
    })
}

fn to_wit(record: Option<UpdateRecord>) -> Update {
    let Some(record) = record else {
        return Update {
            id: None,
            phase: WitPhase::Idle,
            bytes: 0,
            total_bytes: 0,
            sha256: String::new(),
            signature: None,
            version_before: None,
            version_after: None,
            error: None,
            created_at: None,
            finished_at: None,
        };
    };
    Update {
        id: Some(record.id),
        phase: phase(record.phase),
        bytes: record.bytes,
        total_bytes: record.bytes_total,
        sha256: record.sha256,
        signature: record.signature.filter(|word| !word.is_empty()),
        version_before: Some(record.version_before),
        version_after: record.version_after,
        error: record.error,
        created_at: Some(clock::text(record.created_ms)),
        finished_at: record.finished_ms.map(clock::text),
    }
}

fn phase(phase: Phase) -> WitPhase {
    match phase {
        Phase::Idle => WitPhase::Idle,
        Phase::Transferring => WitPhase::Transferring,
        Phase::Verifying => WitPhase::Verifying,
        Phase::Staged => WitPhase::Staged,
        Phase::Installing => WitPhase::Installing,
        Phase::Rebooting => WitPhase::Rebooting,
        Phase::Done => WitPhase::Done,
        Phase::Failed => WitPhase::Failed,
        Phase::Aborted => WitPhase::Aborted,
    }
}
