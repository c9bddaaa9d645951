//! Which captures and jobs a call may look at: those of its organisation that grant and caller have in common. Asked by
//! every function and every endpoint that tells anything of one.

use std::sync::Arc;

use dispatch::{JobCapture, JobError, job_captures};
use identity::Credential;
use lab::captures::CaptureError;
use plugins::interface::Interface;
use store::captures::CaptureRecord;
use store::jobs::Job;
use store::measurements::Measurement;

use super::bindings::imports::hostd::plugin::types::Error;
use super::call::Acting;
use super::host::refusal;
use crate::host::door::Door;
use crate::host::{Context, internal};
use crate::services::Services;

/// Scope that captures need.
pub(super) const CAPTURES: &str = "bench:control";

/// Scope that jobs need.
pub(super) const JOBS: &str = "jobs:submit";

/// What a call may look at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sight<'a> {
    pub(super) acting: Acting<'a>,
    pub(super) context: &'a Context,
    pub(super) services: &'a Services,
}

impl Sight<'_> {
    /// A capture, finished or not.
    pub(super) async fn capture(&self, id: &str) -> Result<CaptureRecord, Error> {
        self.acting.scope(CAPTURES)?;
        let found = self.services.captures.get(self.acting.org(), id).await;
        let record = found.map_err(|error| self.capture_error(id, error))?;
        if self.is_seen(&record) {
            return Ok(record);
        }
        Err(unknown("capture", id))
    }

    /// That a capture which the call has open is still for it.
    pub(super) fn still(&self, record: &CaptureRecord) -> Result<(), Error> {
        self.acting.interface(Interface::Captures)?;
        self.acting.scope(CAPTURES)?;
        match self.is_seen(record) {
            true => Ok(()),
            false => Err(unknown("capture", &record.id)),
        }
    }

    /// Whether the captures of its device are for this call. Those of a device that was removed are for whoever is not
    /// restricted to some devices.
    pub(super) fn is_seen(&self, record: &CaptureRecord) -> bool {
        let door = Door::new(self.context, self.services);
        // A plugin that acts for itself has no caller.
        let is_shown = self.context.caller.is_none() || door.shows(record);
        self.acting.may_device(&record.device) && is_shown
    }

    /// A job, finished or not.
    pub(super) async fn job(&self, id: &str) -> Result<Arc<Job>, Error> {
        self.acting.scope(JOBS)?;
        let caller = self.context.caller.as_ref();
        if caller.is_some_and(|caller| caller.credential() == Credential::CloudSession) {
            let sentence = "a cloud session opens no jobs; use an API key or a user session";
            return Err(refusal("forbidden", sentence));
        }
        let found = self.services.jobs.get(self.acting.org(), id).await;
        let job = found.map_err(|error| self.job_error(id, &error))?;
        let mut devices = job.attempts.iter().filter_map(|a| a.device.as_ref());
        if devices.all(|device| self.acting.may_device(device)) {
            return Ok(job);
        }
        Err(unknown("job", id))
    }

    /// What a job recorded.
    pub(super) async fn recorded(&self, job: &Job) -> Result<Vec<JobCapture>, Error> {
        let recorded = self.services.captures.of_job(&job.org, &job.id).await;
        let recorded = recorded.map_err(|error| self.capture_error(&job.id, error))?;
        Ok(job_captures(recorded))
    }

    /// What a job measured.
    pub(super) async fn measured(&self, job: &Job) -> Result<Vec<Measurement>, Error> {
        let measured = self.services.jobs.measured(job).await;
        measured.map_err(|error| self.job_error(&job.id, &error))
    }

    pub(super) fn capture_error(&self, id: &str, error: CaptureError) -> Error {
        match error {
            CaptureError::NotFound | CaptureError::NoDevice => unknown("capture", id),
            CaptureError::State(sentence) => refusal("wrong_state", sentence),
            other => refusal("internal", internal(self.context, "captures", &other)),
        }
    }

    pub(super) fn job_error(&self, id: &str, error: &JobError) -> Error {
        match error {
            JobError::NotFound => unknown("job", id),
            JobError::Full(sentence) => refusal("timeout", sentence.clone()),
            other => refusal("internal", internal(self.context, "jobs", other)),
        }
    }
}

fn unknown(what: &str, id: &str) -> Error {
    let shown: String = id.chars().take(64).collect();
    refusal(
        "not_found",
        format!("there is no {what} {shown:?} that both the plugin and its caller may see"),
    )
}
