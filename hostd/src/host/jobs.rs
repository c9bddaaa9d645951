//! `hostd:host/jobs`: jobs of the caller's organisation.

use std::io;
use std::sync::Arc;

use admission::Requester;
use bytes::Bytes;
use dispatch::{Filter, JobError, Jobs, NewJob, Page, Source, Submitter, job_captures};
use runtime::{BodyStream, Upgrade};
use tokio::sync::mpsc;
use wasmtime::component::{HasData, Resource, ResourceTable};

use super::bindings::hostd::host::jobs as w;
use super::uploads::given;
use super::{CallLinker, Context, cursor_rule, internal, measurements, recordings, wit};
use identity::Verified;
use lab::captures::export::{Asked, Export, ExportError, Format};
use lab::captures::{CaptureError, Captures};
use lab::devices::Devices;
use store::jobs::Job;

mod cases;
mod checked;
mod told;

use told::{artifact, captured, head, news, state_of, to_wit, verdict_of, why_run};

/// Most jobs of one list.
const LIST_MAX: u32 = 200;

/// Most cases of one history.
const CASES_MAX: u32 = 100;

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    table: &'a mut ResourceTable,
    requester: Option<&'a Requester>,
    jobs: &'a Jobs,
    captures: &'a Arc<Captures>,
    devices: &'a Devices,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::jobs::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        table: &mut state.data.table,
        requester: state.data.requester.as_ref(),
        jobs: &state.data.services.jobs,
        captures: &state.data.services.captures,
        devices: &state.data.services.devices,
    })
}

fn filter_of(filter: w::Filter) -> Filter {
    Filter {
        state: filter.state.map(state_of),
        verdict: filter.verdict.map(verdict_of),
        name: filter.name,
        r#ref: filter.ref_,
        text: filter.text,
        since: filter.since,
    }
}

impl w::Host for View<'_> {
    async fn room(&mut self) -> Result<u64, w::Error> {
        self.job_caller()?;
        Ok(self.jobs.archive_bytes_max())
    }

    async fn submit(&mut self, new: w::NewJob) -> Result<w::Submitted, w::Error> {
        let source = match new.source {
            w::Source::Definition(text) => Source::Definition(text),
            w::Source::Archive((upload, path)) => {
                let staged = given(self.context, self.table, upload).map_err(w::Error::Other)?;
                Source::Archive(staged, path)
            }
        };
        let new = NewJob {
            name: new.name,
            r#ref: new.ref_,
            commit: new.commit,
            idempotency_key: new.idempotency_key,
            source,
        };
        let submitted = self.jobs.submit(self.submitter()?, new).await;
        let submitted = submitted.map_err(|e| self.job_error(e))?;
        Ok(w::Submitted {
            job: self.told(&submitted.job).await?,
            is_replay: submitted.is_replay,
        })
    }

    async fn check(
        &mut self,
        definition: String,
        reference: Option<String>,
    ) -> Result<w::Checked, w::Error> {
        let checked = self.jobs.check(self.submitter()?, definition, reference);
        let checked = checked.await.map_err(|e| self.job_error(e))?;
        Ok(checked::to_wit(checked))
    }

    async fn get(&mut self, id: String) -> Result<w::Job, w::Error> {
        let found = self.jobs.get(self.job_caller()?.org(), &id).await;
        let found = found.map_err(|e| self.job_error(e))?;
        self.told(&found).await
    }

    async fn list(
        &mut self,
        filter: w::Filter,
        limit: u32,
        cursor: Option<String>,
    ) -> Result<(Vec<w::Job>, Option<String>), w::Error> {
        if let Some(rule) = cursor.as_deref().and_then(cursor_rule) {
            return Err(w::Error::Invalid(("cursor".to_owned(), rule.to_owned())));
        }
        let filter = filter_of(filter);
        let limit = limit.clamp(1, LIST_MAX) as usize;
        let by = self.submitter()?;
        let listed = self.jobs.list(&by, filter, limit, cursor);
        let (jobs, has_more) = listed.await.map_err(|e| self.job_error(e))?;
        let next = jobs.last().filter(|_| has_more).map(|job| job.id.clone());
        let told = jobs.iter().map(|job| self.told_in_short(job));
        Ok((told.collect(), next))
    }

    async fn cases(
        &mut self,
        filter: w::Filter,
        text: Option<String>,
        limit: u32,
    ) -> Result<w::History, w::Error> {
        let by = self.submitter()?;
        let limit = limit.clamp(1, CASES_MAX) as usize;
        let found = self.jobs.history(&by, filter_of(filter), text, limit);
        let found = found.await.map_err(|e| self.job_error(e))?;
        Ok(cases::to_wit(found, |device| {
            let device = self.devices.get(&by.org, device)?;
            Some(device.record.name)
        }))
    }

    async fn cancel(&mut self, id: String) -> Result<w::Job, w::Error> {
        let ended = self.jobs.cancel(self.job_caller()?.org(), &id).await;
        let ended = ended.map_err(|e| self.job_error(e))?;
        self.told(&ended).await
    }

    async fn retry(&mut self, id: String) -> Result<w::Job, w::Error> {
        let queued = self.jobs.retry(self.submitter()?, &id).await;
        let queued = queued.map_err(|e| self.job_error(e))?;
        self.told(&queued.job).await
    }

    async fn explain(&mut self, id: String) -> Result<w::Why, w::Error> {
        let why = self.jobs.why(self.job_caller()?.org(), &id).await;
        let why = why.map_err(|e| self.job_error(e))?;
        Ok(w::Why {
            job: self.told_in_short(&why.job),
            runs: why.runs.into_iter().map(why_run).collect(),
        })
    }

    async fn artifacts(&mut self, id: String) -> Result<Vec<w::Artifact>, w::Error> {
        let found = self.jobs.artifacts(self.job_caller()?.org(), &id).await;
        let found = found.map_err(|e| self.job_error(e))?;
        Ok(found.into_iter().map(artifact).collect())
    }

    async fn read_artifact(
        &mut self,
        id: String,
        run: String,
        name: String,
    ) -> Result<(w::Artifact, Resource<BodyStream>), w::Error> {
        let found = self
            .jobs
            .artifact(self.job_caller()?.org(), &id, &run, &name)
            .await;
        let (found, parts) = found.map_err(|e| self.job_error(e))?;
        Ok((artifact(found), self.stream(parts)?))
    }

    async fn read_capture(
        &mut self,
        id: String,
        capture: String,
    ) -> Result<(String, Resource<BodyStream>), w::Error> {
        let org = self.job_caller()?.org();
        // A program of a job has nothing to do with other jobs.
        if self.context.job().is_some_and(|own| own.job != id) {
            return Err(w::Error::NotFound);
        }
        let job = self.jobs.get(org, &id).await;
        let job = job.map_err(|e| self.job_error(e))?;
        let made = self.captures.of_job(org, &job.id).await;
        let made = made.map_err(|e| self.capture_error(e))?;
        let mut made = job_captures(made).into_iter();
        let found = made.find(|made| made.record.id == capture);
        let found = found.ok_or(w::Error::NotFound)?;
        let reader = self.captures.read(org, &capture).await;
        let reader = reader.map_err(|e| self.capture_error(e))?;
        let export =
            Export::plan(&reader, Format::Sr, &Asked::default()).map_err(|error| match error {
                ExportError::Lacks(_) | ExportError::TooLong { .. } => {
                    w::Error::WrongState(error.to_string())
                }
                other => w::Error::Other(internal(self.context, "jobs", &other)),
            })?;
        let sent = recordings::send(self.captures, self.requester, reader, export);
        let parts = sent.await.map_err(|e| self.capture_error(e))?;
        Ok((found.file, self.stream(parts)?))
    }

    async fn log(
        &mut self,
        id: String,
        attempt: Option<u32>,
        offset: u64,
    ) -> Result<(Resource<BodyStream>, u64, bool), w::Error> {
        let log = self
            .jobs
            .log(&self.submitter()?, &id, attempt, offset)
            .await;
        let log = log.map_err(|e| self.job_error(e))?;
        Ok((self.stream(log.parts)?, log.bytes, log.is_complete))
    }

    async fn read_page(
        &mut self,
        id: String,
        page: w::Page,
    ) -> Result<Resource<BodyStream>, w::Error> {
        let page = match page {
            w::Page::Junit => Page::Junit,
            w::Page::Report => Page::Report,
            w::Page::Trace => Page::Trace,
        };
        let made = self.jobs.page(&self.submitter()?, &id, page).await;
        let parts = made.map_err(|e| self.job_error(e))?;
        self.stream(parts)
    }

    async fn follow(&mut self, id: String) -> Result<Resource<Upgrade>, w::Error> {
        let live = self.jobs.follow(self.job_caller()?.org(), &id, news).await;
        let live = live.map_err(|e| self.job_error(e))?;
        let pushed = self.table.push(Upgrade::new(live));
        pushed.map_err(|e| w::Error::Other(internal(self.context, "jobs", &e)))
    }

    async fn trusted_refs(&mut self) -> Result<Vec<String>, w::Error> {
        let found = self.jobs.trusted_refs(self.job_caller()?.org()).await;
        found.map_err(|e| self.job_error(e))
    }

    async fn trust_refs(&mut self, refs: Vec<String>) -> Result<Vec<String>, w::Error> {
        let caller = self.job_caller()?;
        // A program of a job is nobody's administrator, whoever its user is.
        if !caller.is_admin() || caller.job().is_some() {
            let message = "only administrators of the organisation say which refs are trusted";
            return Err(w::Error::Forbidden(message.to_owned()));
        }
        let changed = self.jobs.trust_refs(&self.submitter()?, refs).await;
        changed.map_err(|e| self.job_error(e))
    }

    async fn schema(&mut self) -> String {
        Jobs::schema()
    }
}

impl View<'_> {
    /// A job, what it waits for if it does, and what it recorded and measured.
    async fn told(&mut self, job: &Job) -> Result<w::Job, w::Error> {
        let recorded = match job.attempts.iter().any(|attempt| attempt.device.is_some()) {
            true => self.captures.of_job(&job.org, &job.id).await,
            // What had no device recorded nothing.
            false => Ok(Vec::new()),
        };
        let recorded = recorded.map_err(|e| self.capture_error(e))?;
        let measured = self.jobs.measured(job).await;
        let measured = measured.map_err(|e| self.job_error(e))?.into_iter();
        Ok(w::Job {
            message: self.jobs.message(job),
            captures: job_captures(recorded).into_iter().map(captured).collect(),
            measurements: measured.map(measurements::to_wit).collect(),
            ..to_wit(job)
        })
    }

    /// As lists have it: without its runs, attempts and captures.
    fn told_in_short(&self, job: &Job) -> w::Job {
        w::Job {
            message: self.jobs.message(job),
            ..head(job)
        }
    }

    fn job_caller(&self) -> Result<&Verified, w::Error> {
        self.context.caller.as_ref().ok_or(w::Error::NotFound)
    }

    fn submitter(&self) -> Result<Submitter, w::Error> {
        let caller = self.job_caller()?;
        Ok(Submitter {
            org: caller.org().to_owned(),
            user: caller.user().to_owned(),
        })
    }

    fn stream(
        &mut self,
        parts: mpsc::Receiver<io::Result<Bytes>>,
    ) -> Result<Resource<BodyStream>, w::Error> {
        let pushed = self.table.push(BodyStream::new(None, parts));
        pushed.map_err(|e| w::Error::Other(internal(self.context, "jobs", &e)))
    }

    fn capture_error(&self, error: CaptureError) -> w::Error {
        match error {
            // It gave way to newer ones, or somebody deleted it.
            CaptureError::NotFound => w::Error::NotFound,
            error @ CaptureError::State(_) => w::Error::WrongState(error.to_string()),
            error => w::Error::Other(internal(self.context, "jobs", &error)),
        }
    }

    fn job_error(&self, error: JobError) -> w::Error {
        match error {
            JobError::NotFound => w::Error::NotFound,
            JobError::Finished => w::Error::Finished,
            JobError::Unfinished => w::Error::Unfinished,
            JobError::Definition(problems) => {
                let problems = problems.into_iter().map(|problem| w::Problem {
                    line: problem.line,
                    column: problem.column,
                    code: problem.code.as_str().to_owned(),
                    path: problem.path,
                    message: problem.message,
                });
                w::Error::Definition(problems.collect())
            }
            JobError::Archive(error) => {
                let told = (error.code().to_owned(), error.to_string());
                match error.is_too_large() {
                    true => w::Error::ArchiveTooLarge(told),
                    false => w::Error::Archive(told),
                }
            }
            JobError::Invalid { field, message } => w::Error::Invalid((field.to_owned(), message)),
            JobError::KeyReused => w::Error::KeyReused,
            JobError::Full(sentence) => w::Error::Full(sentence),
            JobError::Quota(sentence) => w::Error::Quota(sentence),
            JobError::NoIsolation(sentence) => w::Error::NoIsolation(sentence),
            JobError::Stopping => w::Error::Stopping,
            error @ (JobError::Files(..) | JobError::Store(_)) => {
                w::Error::Other(internal(self.context, "jobs", &error))
            }
        }
    }
}
