//! `hostd:host/builds`: builds of the caller's organisation, reported or made by jobs.

use runtime::BodyStream;
use serde_json::{Map, Value};
use wasmtime::component::{HasData, Resource, ResourceTable};

use super::bindings::hostd::host::builds::{
    Artifact as WitArtifact, Build as WitBuild, Error, Format as WitFormat, Host, Kind as WitKind,
    Selector as WitSelector, Source, Status as WitStatus,
};
use super::uploads::given;
use super::{CallLinker, Context, internal, wit};
use crate::benches;
use base::clock;
use identity::Verified;
use lab::blobs::Staged;
use lab::builds::{Artifact, BuildError, Builds, Format, NewBuild, Selector};
use store::Store;
use store::builds::{Build, Kind, Origin, Status};

/// Most files of one list.
const LIST_MAX: u32 = 500;

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    table: &'a mut ResourceTable,
    builds: &'a Builds,
    store: &'a Store,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::builds::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        table: &mut state.data.table,
        builds: &state.data.services.builds,
        store: &state.data.services.store,
    })
}

impl Host for View<'_> {
    async fn create(
        &mut self,
        source: Source,
        target: String,
        name: String,
        wiring: String,
    ) -> Result<WitBuild, Error> {
        let caller = self.build_caller()?;
        let new = NewBuild {
            origin: origin(source),
            target,
            name,
            wiring: object(&wiring)?,
        };
        let builds = self.builds;
        let made = builds.create(caller.org(), caller.user(), new).await;
        made.map(|b| to_wit(&b)).map_err(|e| self.build_error(e))
    }

    async fn room(&mut self, build: String, kind: WitKind) -> Result<u64, Error> {
        let org = self.build_caller()?.org();
        let room = self.builds.room(org, &build, kind.into()).await;
        room.map_err(|e| self.build_error(e))
    }

    async fn attach(
        &mut self,
        build: String,
        kind: WitKind,
        name: String,
        content_type: String,
        file: Resource<Staged>,
    ) -> Result<WitArtifact, Error> {
        let staged = given(self.context, self.table, file).map_err(Error::Other)?;
        let org = self.build_caller()?.org();
        let builds = self.builds;
        let attached = builds.attach(org, &build, kind.into(), &name, &content_type, &staged);
        attached
            .await
            .map(|a| artifact(&a))
            .map_err(|e| self.build_error(e))
    }

    async fn finish(
        &mut self,
        build: String,
        success: bool,
        reason: String,
        wiring: Option<String>,
    ) -> Result<WitBuild, Error> {
        let org = self.build_caller()?.org();
        let wiring = wiring.as_deref().map(object).transpose()?;
        let builds = self.builds;
        let finished = builds.finish(org, &build, success, reason, wiring.unwrap_or_default());
        finished
            .await
            .map(|b| to_wit(&b))
            .map_err(|e| self.build_error(e))
    }

    async fn select(&mut self, selector: WitSelector) -> Result<WitArtifact, Error> {
        let org = self.build_caller()?.org();
        let selector = Selector {
            build: selector.build,
            repo: selector.repo,
            r#ref: selector.ref_,
            pack: selector.pack,
            artifact: selector.artifact,
        };
        let found = self.builds.select(org, selector).await;
        found.map(|a| artifact(&a)).map_err(|e| self.build_error(e))
    }

    async fn flashable(&mut self, device: String, limit: u32) -> Result<Vec<WitArtifact>, Error> {
        let org = self.build_caller()?.org();
        let wiring = benches::wiring(self.store, org, &device).await;
        let wiring = wiring.map_err(|e| Error::Other(internal(self.context, "builds", &e)))?;
        let limit = limit.clamp(1, LIST_MAX) as usize;
        let found = self.builds.flashable(org, wiring.target, limit).await;
        found
            .map(|list| list.iter().map(artifact).collect())
            .map_err(|e| self.build_error(e))
    }

    async fn read(
        &mut self,
        build: String,
        pack: String,
        name: String,
    ) -> Result<(WitArtifact, Resource<BodyStream>), Error> {
        let org = self.build_caller()?.org();
        let builds = self.builds;
        let found = builds.artifact(org, &build, &pack, &name).await;
        let found = found.map_err(|e| self.build_error(e))?;
        let stream = builds.read(&found).await;
        let stream = stream.map_err(|e| self.build_error(e))?;
        let pushed = self.table.push(BodyStream::new(None, stream));
        let pushed = pushed.map_err(|e| Error::Other(internal(self.context, "builds", &e)))?;
        Ok((artifact(&found), pushed))
    }
}

impl View<'_> {
    fn build_caller(&self) -> Result<&Verified, Error> {
        self.context.caller.as_ref().ok_or(Error::NotFound)
    }

    fn build_error(&self, error: BuildError) -> Error {
        match error {
            BuildError::NotFound => Error::NotFound,
            BuildError::Finished => Error::Finished,
            BuildError::NameTaken => Error::NameTaken,
            BuildError::Full { .. } => Error::Full(error.to_string()),
            BuildError::Ambiguous { names } => Error::Ambiguous(names),
            BuildError::Invalid { field, message } => Error::Invalid((field.to_owned(), message)),
            other => Error::Other(internal(self.context, "builds", &other)),
        }
    }
}

fn object(text: &str) -> Result<Map<String, Value>, Error> {
    serde_json::from_str(text)
        .map_err(|_| Error::Invalid(("wiring".to_owned(), "must be an object".to_owned())))
}

fn origin(source: Source) -> Origin {
    Origin {
        repo_owner: source.repo_owner,
        repo: source.repo,
        r#ref: source.ref_,
        sha: source.sha,
        event: source.event,
        workflow: source.workflow,
        actor: source.actor,
        run_id: source.run_id,
        run_attempt: source.run_attempt,
    }
}

fn to_wit(build: &Build) -> WitBuild {
    let origin = build.origin.clone();
    WitBuild {
        id: build.id.clone(),
        source: Source {
            repo_owner: origin.repo_owner,
            repo: origin.repo,
            ref_: origin.r#ref,
            sha: origin.sha,
            event: origin.event,
            workflow: origin.workflow,
            actor: origin.actor,
            run_id: origin.run_id,
            run_attempt: origin.run_attempt,
        },
        target: build.target.clone(),
        name: build.name.clone(),
        wiring: Value::Object(build.wiring.clone()).to_string(),
        status: match build.status {
            Status::Open => WitStatus::Open,
            Status::Success => WitStatus::Success,
            Status::Failure => WitStatus::Failure,
        },
        reason: build.reason.clone(),
        created_at: clock::text(build.created_ms),
    }
}

fn artifact(artifact: &Artifact) -> WitArtifact {
    let file = &artifact.file;
    WitArtifact {
        build: to_wit(&artifact.build),
        pack: artifact.pack.clone(),
        name: file.name.clone(),
        content_type: file.content_type.clone(),
        format: match Format::of(&file.name) {
            Format::Elf => WitFormat::Elf,
            Format::Hex => WitFormat::Hex,
            Format::Bin => WitFormat::Bin,
            Format::Uf2 => WitFormat::Uf2,
            Format::Other => WitFormat::Other,
        },
        size_bytes: file.size_bytes,
        sha256: file.sha256.clone(),
        created_at: clock::text(file.created_ms),
    }
}

impl From<WitKind> for Kind {
    fn from(kind: WitKind) -> Self {
        match kind {
            WitKind::Artifact => Self::Artifact,
            WitKind::Log => Self::Log,
        }
    }
}

#[cfg(test)]
mod tests {
    use lab::builds::REPORTED;

    /// Handlers, which are programs of their own, name the pack of a reported build, too.
    #[test]
    fn handlers_call_the_pack_of_a_reported_build_the_same() {
        let handlers = include_str!("../../../handlers/guest/src/selection.rs");
        let constant = format!("REPORTED: &str = \"{REPORTED}\";");
        assert!(handlers.contains(&constant), "{constant}");
    }
}
