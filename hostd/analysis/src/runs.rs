//! Runs: what is asked of boards.

use std::ops::ControlFlow;
use std::sync::Arc;

use base::id;
use blobs::FileParts;
use serde_json::{Map, Value};
use store::StoreError;
use store::emi::projects;
use store::emi::runs::{self, Artifact, Kind, Progress, Run, Status};
use tracing::info;

use crate::compute;
use crate::error::Error;
use crate::link::{For, Signed};
use crate::page::{Filling, Listed, Page};
use crate::runner::failure;
use crate::service::Analysis;

/// Largest params of a run, as JSON.
const PARAMS_BYTES_MAX: usize = 16 << 10;

impl Analysis {
    /// Queue a run of a board. `params` has keys of `emi.rules.yaml`.
    ///
    /// # Errors
    /// The kind is unknown or not offered, the params are refused, there is no such board in the project, too many runs wait,
    /// or the store failed.
    pub async fn create_run(
        self: &Arc<Self>,
        org: &str,
        user: &str,
        (project, board): (&str, &str),
        kind: &str,
        params: Map<String, Value>,
    ) -> Result<Run, Error> {
        self.check_running()?;
        let run = self.ordered(org, user, (project, board), kind, params);
        let run = self.counted(run)?;
        let mut tasks = self.tasks.lock().await;
        let added = self.store.emi_run_add(run.clone(), self.queue()).await;
        self.counted(added.map_err(Error::from))?;
        info!(run = run.id, kind = run.kind.name(), "run queued");
        self.attend(&mut tasks, &run);
        Ok(run)
    }

    fn ordered(
        &self,
        org: &str,
        user: &str,
        of: (&str, &str),
        kind: &str,
        params: Map<String, Value>,
    ) -> Result<Run, Error> {
        let words: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        let kind = Kind::parse(kind).ok_or_else(|| {
            Error::invalid("kind", format!("must be one of {}", words.join(", ")))
        })?;
        self.check_offered(kind)?;
        if Value::Object(params.clone()).to_string().len() > PARAMS_BYTES_MAX {
            let message = format!("must be at most {PARAMS_BYTES_MAX} bytes of JSON");
            return Err(Error::invalid("params", message));
        }
        compute::asked(kind, &params).map_err(|why| {
            Error::invalid(
                "params",
                format!("must be what the kind of run takes: {why}"),
            )
        })?;
        Ok(self.new_run(org, user, of, kind, params))
    }

    fn check_offered(&self, kind: Kind) -> Result<(), Error> {
        match self.features().contains(&kind) {
            true => Ok(()),
            false => Err(Error::NotOffered { kind: kind.name() }),
        }
    }

    pub(crate) fn new_run(
        &self,
        org: &str,
        user: &str,
        (project, board): (&str, &str),
        kind: Kind,
        params: Map<String, Value>,
    ) -> Run {
        let now_ms = self.clock.now_ms();
        Run {
            id: id::ulid(&self.clock),
            org: org.to_owned(),
            project: project.to_owned(),
            board: board.to_owned(),
            kind,
            status: Status::New,
            params,
            attempts: 0,
            progress: Progress::default(),
            summary: None,
            error: None,
            artifacts: Vec::new(),
            created_by: user.to_owned(),
            created_ms: now_ms,
            started_ms: None,
            finished_ms: None,
            updated_ms: now_ms,
        }
    }

    /// Runs of a project, newest first.
    ///
    /// # Errors
    /// There is no such project, or the store failed.
    pub async fn runs(&self, org: &str, project: &str, page: Page) -> Result<Listed<Run>, Error> {
        let (org, project) = (org.to_owned(), project.to_owned());
        let read = self.store.read(move |s| {
            if projects::by_id(s, &org, &project)?.is_none() {
                return Ok(None);
            }
            let mut filling = Filling::new(&page);
            runs::newest_first(s, &org, page.cursor.as_deref(), |run| {
                match run.project == project {
                    true => filling.take(run),
                    false => ControlFlow::Continue(()),
                }
            })?;
            Ok::<_, StoreError>(Some(filling.end(|run| run.id.clone())))
        });
        let mut listed = read.await?.ok_or(Error::NotFound)?;
        listed
            .items
            .iter_mut()
            .for_each(|run| self.attended.tell(run));
        Ok(listed)
    }

    /// One run of an organisation, as far as it is.
    ///
    /// # Errors
    /// There is no such run, or the store failed.
    pub async fn run(&self, org: &str, id: &str) -> Result<Run, Error> {
        let (org, id) = (org.to_owned(), id.to_owned());
        let read = self.store.read(move |s| runs::by_id(s, &org, &id));
        let mut run = read.await?.ok_or(Error::NotFound)?;
        self.attended.tell(&mut run);
        Ok(run)
    }

    /// Stop a run: one that waits has failed at once, another ends soon, which may be with what it has found: what has come to
    /// its end stays so. Once more changes nothing.
    ///
    /// # Errors
    /// It has ended, there is no such run, or the store failed.
    pub async fn stop_run(&self, org: &str, id: &str) -> Result<Run, Error> {
        let now_ms = self.clock.now_ms();
        // Meanwhile it gets no task, and nobody makes it wait again: the task that is stopped is the one that it had.
        let _tasks = self.tasks.lock().await;
        // If nobody attends to it, nobody would end it.
        let is_attended = self.attended.has(id);
        let changed = self.store.emi_run_change(org, id, move |run| {
            if run.status.is_final() {
                return Err(Error::Finished);
            }
            run.updated_ms = now_ms;
            if run.status.waits() || !is_attended {
                run.status = Status::Failed;
                run.error = Some(stopped());
                run.finished_ms = Some(now_ms);
            } else {
                run.status = Status::Stopping;
            }
            Ok(run.clone())
        });
        let run = changed.await?.ok_or(Error::NotFound)??;
        self.attended.stop(id);
        info!(run = id, "run stopped");
        Ok(run)
    }

    /// Queue a run once more that failed or timed out.
    ///
    /// # Errors
    /// It did not, its kind is not offered any more, there is no such run, too many wait, or the store failed.
    pub async fn retry_run(self: &Arc<Self>, org: &str, id: &str) -> Result<Run, Error> {
        self.check_running()?;
        let kind = self.run(org, id).await?.kind;
        self.counted(self.check_offered(kind))?;
        let now_ms = self.clock.now_ms();
        let mut tasks = self.tasks.lock().await;
        let again = self.store.emi_run_again(org, id, self.queue(), move |run| {
            matches!(run.status, Status::Failed | Status::TimedOut).then(|| Run {
                status: Status::RetryPending,
                attempts: 0,
                progress: Progress::default(),
                error: None,
                started_ms: None,
                finished_ms: None,
                updated_ms: now_ms,
                ..run
            })
        });
        let again = again.await.map_err(Error::from);
        let run = self.counted(again)?.ok_or(Error::NotRetryable)?;
        info!(run = run.id, "run queued once more");
        self.attend(&mut tasks, &run);
        Ok(run)
    }

    /// An artifact of a run, and what makes an address good for it.
    ///
    /// # Errors
    /// There is no such run or artifact, or the store failed.
    pub async fn artifact(
        &self,
        org: &str,
        run: &str,
        name: &str,
    ) -> Result<(Artifact, Signed), Error> {
        let artifact = self.kept_artifact(org, run, name).await?;
        let signed = self.signer.sign(For::Get { org, run, name });
        Ok((artifact, signed))
    }

    /// Stream an artifact to whoever shows the signature of its address.
    ///
    /// # Errors
    /// The signature is wrong, it is not kept any more, or disk or store fail.
    pub async fn fetch(
        &self,
        org: &str,
        run: &str,
        name: &str,
        signed: &Signed,
    ) -> Result<(Artifact, FileParts), Error> {
        let signed = self.signer.check(For::Get { org, run, name }, signed);
        self.counted(signed)?;
        let artifact = self.kept_artifact(org, run, name).await?;
        let sha256 = &artifact.file.sha256;
        let parts = self
            .blobs
            .read(sha256)
            .await
            .map_err(|source| Error::Blob {
                path: self.blobs.path(sha256),
                source,
            })?;
        Ok((artifact, parts))
    }

    pub(crate) async fn kept_artifact(
        &self,
        org: &str,
        run: &str,
        name: &str,
    ) -> Result<Artifact, Error> {
        let run = self.run(org, run).await?;
        let mut artifacts = run.artifacts.into_iter();
        artifacts
            .find(|artifact| artifact.name == name)
            .ok_or(Error::NotFound)
    }
}

pub(crate) fn stopped() -> runs::Failure {
    failure("stopped", "Somebody stopped it.")
}
