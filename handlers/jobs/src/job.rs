//! What the endpoints about jobs share: who may use them, and the record.

use guest::jobs::{EndedBecause, Job, Outcome, State, Status, Verdict};
use guest::{Credential, Request, Response, Time, jobs, words};
use schemars::JsonSchema;
use serde::Serialize;

use crate::measurement;

/// Jobs take whole benches, so a session that may be restricted to devices is not enough.
pub(crate) const CREDENTIALS: &[Credential] = &[Credential::ApiKey, Credential::UserSession];

/// All that there is about jobs.
pub(crate) const SCOPE: Option<&str> = Some("jobs:submit");

/// The placeholder of the path, and what it is.
pub(crate) const ID: (&str, &str) = ("id", "Job id.");

/// Job id that the path names.
pub(crate) fn id(request: &Request) -> &str {
    request.param(0)
}

words! {
    pub(crate) const STATES: State = {
        Queued = "queued",
        Assigned = "assigned",
        Running = "running",
        Stopping = "stopping",
        Finished = "finished",
    };
}

words! {
    const REASONS: EndedBecause = {
        Completed = "completed",
        Cancelled = "cancelled",
        QueueTimeout = "queue_timeout",
        Timeout = "timeout",
        DeviceLost = "device_lost",
        NoMatchingDevice = "no_matching_device",
        DefinitionError = "definition_error",
        InfraError = "infra_error",
    };
}

words! {
    pub(crate) const VERDICTS: Verdict = {
        Pending = "pending",
        Success = "success",
        Failure = "failure",
    };
}

words! {
    pub(crate) const STATUSES: Status = {
        New = "new",
        InProgress = "in_progress",
        Stopping = "stopping",
        Done = "done",
        Failed = "failed",
        TimedOut = "timed_out",
    };
}

words! {
    pub(crate) const OUTCOMES: Outcome = {
        Waiting = "waiting",
        Running = "running",
        Passed = "passed",
        Failed = "failed",
        Broken = "broken",
        Cancelled = "cancelled",
        TimedOut = "timed_out",
        Skipped = "skipped",
    };
}

/// A job.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Job")]
pub(crate) struct Record<'a> {
    /// ULID.
    id: &'a str,
    name: Option<&'a str>,
    /// Branch or tag.
    r#ref: Option<&'a str>,
    commit: Option<&'a str>,
    /// How far it is. It only moves forward.
    #[schemars(extend("enum" = STATES.all()))]
    state: &'static str,
    /// Why it ended; null until that is decided.
    #[schemars(extend("enum" = or_null(REASONS.all())))]
    ended_because: Option<&'static str>,
    /// What it says about the firmware. It stays `pending` when the bench, the server or the pipeline is at fault.
    #[schemars(extend("enum" = VERDICTS.all()))]
    verdict: &'static str,
    /// The three before in one word.
    #[schemars(extend("enum" = STATUSES.all()))]
    status: &'static str,
    /// What happens, what the job waits for, or what happened and what to do.
    message: &'a str,
    /// Id of the user who submitted it.
    user: &'a str,
    /// Id of the job that this one repeats.
    retry_of: Option<&'a str>,
    archive: Option<Archive<'a>>,
    #[schemars(with = "Time")]
    created_at: &'a str,
    #[schemars(with = "Option<Time>")]
    started_at: Option<&'a str>,
    #[schemars(with = "Option<Time>")]
    finished_at: Option<&'a str>,
    /// Absent in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<Vec<Run<'a>>>,
    /// Absent in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<Vec<Attempt<'a>>>,
    /// What steps and programs of its benches recorded and is still kept, oldest first; of hundreds the first ones. Absent in
    /// lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    captures: Option<Vec<Captured<'a>>>,
    /// What its steps measured; of hundreds the first ones: `GET /measurements` has all. Absent in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    measurements: Option<Vec<measurement::Record<'a>>>,
}

/// A capture that a job made.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "JobCapture")]
struct Captured<'a> {
    /// Capture id.
    id: &'a str,
    /// Id of the run.
    run: &'a str,
    /// Number of the attempt.
    attempt: u32,
    /// Name of the step; null if a program of the run recorded it.
    step: Option<&'a str>,
    /// What it is called among the captures of the organisation.
    name: &'a str,
    /// What its file is called, which no other one of the run is.
    file: &'a str,
    /// Whether there is a file: it is done, and did not fail.
    is_done: bool,
}

/// The sources that came with a job.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Archive<'a> {
    size_bytes: u64,
    /// Lower-case hexadecimal.
    sha256: &'a str,
    /// Files, folders and links in it.
    entries: u64,
    unpacked_bytes: u64,
    /// Path of the pipeline in it.
    ci_yaml: &'a str,
}

/// One run of a build or of a bench.
#[derive(Serialize, JsonSchema)]
struct Run<'a> {
    /// `build.variant.pack`, without what there is not.
    id: &'a str,
    is_bench: bool,
    /// Ids of the runs that must have passed before.
    needs: &'a [String],
    /// Chips that a build is for.
    targets: &'a [String],
    /// `failed` blames the code or its test, `broken` the bench, the server or the pipeline.
    #[schemars(extend("enum" = OUTCOMES.all()))]
    outcome: &'static str,
    /// Stable word for how it ended, as `infra.device_lost`; null while it has not.
    code: Option<&'a str>,
    /// What happened and what to do.
    message: &'a str,
    /// Attempts so far.
    attempts: u32,
}

/// One attempt at a run.
#[derive(Serialize, JsonSchema)]
struct Attempt<'a> {
    /// From 1, within the job.
    number: u32,
    /// Id of the run.
    run: &'a str,
    /// Id of the device; null for a build.
    device: Option<&'a str>,
    #[schemars(extend("enum" = OUTCOMES.all()))]
    outcome: &'static str,
    /// Stable word for how it ended; null while it has not.
    code: Option<&'a str>,
    /// What happened and what to do.
    message: &'a str,
    #[schemars(with = "Time")]
    assigned_at: &'a str,
    #[schemars(with = "Option<Time>")]
    started_at: Option<&'a str>,
    #[schemars(with = "Option<Time>")]
    ended_at: Option<&'a str>,
    /// Bytes of log so far.
    log_bytes: u64,
}

/// Words of a member that may be null.
fn or_null(words: Vec<&'static str>) -> Vec<Option<&'static str>> {
    words.into_iter().map(Some).chain([None]).collect()
}

impl<'a> Record<'a> {
    /// All that is known.
    pub(crate) fn whole(job: &'a Job) -> Self {
        Self {
            runs: Some(job.runs.iter().map(Into::into).collect()),
            attempts: Some(job.attempts.iter().map(Into::into).collect()),
            captures: Some(job.captures.iter().map(Into::into).collect()),
            measurements: Some(job.measurements.iter().map(Into::into).collect()),
            ..Self::head(job)
        }
    }

    /// Without runs and attempts.
    pub(crate) fn head(job: &'a Job) -> Self {
        Self {
            id: &job.id,
            name: job.name.as_deref(),
            r#ref: job.ref_.as_deref(),
            commit: job.commit.as_deref(),
            state: STATES.word(job.state),
            ended_because: job.ended_because.map(|reason| REASONS.word(reason)),
            verdict: VERDICTS.word(job.verdict),
            status: STATUSES.word(job.status),
            message: &job.message,
            user: &job.user,
            retry_of: job.retry_of.as_deref(),
            archive: job.archive.as_ref().map(Into::into),
            created_at: &job.created_at,
            started_at: job.started_at.as_deref(),
            finished_at: job.finished_at.as_deref(),
            runs: None,
            attempts: None,
            captures: None,
            measurements: None,
        }
    }
}

impl<'a> From<&'a jobs::Archive> for Archive<'a> {
    fn from(archive: &'a jobs::Archive) -> Self {
        Self {
            size_bytes: archive.size_bytes,
            sha256: &archive.sha256,
            entries: archive.entries,
            unpacked_bytes: archive.unpacked_bytes,
            ci_yaml: &archive.ci_yaml,
        }
    }
}

impl<'a> From<&'a jobs::Run> for Run<'a> {
    fn from(run: &'a jobs::Run) -> Self {
        Self {
            id: &run.id,
            is_bench: run.is_bench,
            needs: &run.needs,
            targets: &run.targets,
            outcome: OUTCOMES.word(run.outcome),
            code: run.code.as_deref(),
            message: &run.message,
            attempts: run.attempts,
        }
    }
}

impl<'a> From<&'a jobs::Attempt> for Attempt<'a> {
    fn from(attempt: &'a jobs::Attempt) -> Self {
        Self {
            number: attempt.number,
            run: &attempt.run,
            device: attempt.device.as_deref(),
            outcome: OUTCOMES.word(attempt.outcome),
            code: attempt.code.as_deref(),
            message: &attempt.message,
            assigned_at: &attempt.assigned_at,
            started_at: attempt.started_at.as_deref(),
            ended_at: attempt.ended_at.as_deref(),
            log_bytes: attempt.log_bytes,
        }
    }
}

impl<'a> From<&'a jobs::Captured> for Captured<'a> {
    fn from(capture: &'a jobs::Captured) -> Self {
        Self {
            id: &capture.id,
            run: &capture.run,
            attempt: capture.attempt,
            step: capture.step.as_deref(),
            name: &capture.name,
            file: &capture.file,
            is_done: capture.is_done,
        }
    }
}

/// The whole job as an answer.
pub(crate) fn reply(status: u16, job: &Job) -> Response {
    Response::json(status, &Record::whole(job))
}

/// The answer for a job that was made: itself, and where it is.
pub(crate) fn made<T: Serialize>(job: &Job, record: &T) -> Response {
    let mut response = Response::json(201, record);
    let location = format!("/api/jobs/{}", job.id);
    response.headers.push(("location".to_owned(), location));
    response
}

#[cfg(test)]
mod tests {
    use guest::jobs::{EndedBecause, Outcome, State, Status, Verdict};
    use serde_json::{Value, json};

    use super::Record;
    use crate::example;

    #[test]
    fn everything_known_is_told() {
        assert_eq!(
            json!(Record::whole(&example::job())),
            json!({
                "id": "01JGZ5V9T3N8W2K4Q7R6D1M0XJ",
                "name": "blinky",
                "ref": "main",
                "commit": "0a1b2c3",
                "state": "running",
                "ended_because": null,
                "verdict": "pending",
                "status": "in_progress",
                "message": "smoke.f0 runs on bench-1",
                "user": "01JGZ5V9T3N8W2K4Q7R6D1M0XB",
                "retry_of": null,
                "archive": {
                    "size_bytes": 4096,
                    "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                    "entries": 12,
                    "unpacked_bytes": 20480,
                    "ci_yaml": "pipeline.yml"
                },
                "created_at": "2026-01-02T03:04:05Z",
                "started_at": "2026-01-02T03:04:06Z",
                "finished_at": null,
                "runs": [
                    {
                        "id": "fw.f0", "is_bench": false, "needs": [], "targets": ["stm32f030f4"],
                        "outcome": "passed", "code": "passed", "message": "passed", "attempts": 1
                    },
                    {
                        "id": "smoke.f0", "is_bench": true, "needs": ["fw.f0"], "targets": [],
                        "outcome": "running", "code": null, "message": "it runs on bench-1",
                        "attempts": 1
                    }
                ],
                "attempts": [
                    {
                        "number": 1, "run": "fw.f0", "device": null, "outcome": "passed",
                        "code": "passed", "message": "passed",
                        "assigned_at": "2026-01-02T03:04:06Z", "started_at": "2026-01-02T03:04:06Z",
                        "ended_at": "2026-01-02T03:04:16Z", "log_bytes": 2048
                    },
                    {
                        "number": 2, "run": "smoke.f0", "device": "01JGZ5V9T3N8W2K4Q7R6D1M0XA",
                        "outcome": "running", "code": null, "message": "it runs on bench-1",
                        "assigned_at": "2026-01-02T03:04:17Z", "started_at": null, "ended_at": null,
                        "log_bytes": 0
                    }
                ],
                "captures": [
                    {
                        "id": "01JGZ5V9T3N8W2K4Q7R6D1M0XC", "run": "smoke.f0", "attempt": 2, "step": "boot",
                        "name": "01JGZ5V9T3N8W2K4Q7R6D1M0XJ smoke.f0: boot", "file": "boot.sr",
                        "is_done": true
                    }
                ],
                "measurements": [
                    {
                        "name": "3V3", "value": 3.312, "unit": "V", "low": 3.2, "high": 3.4, "is_within": true,
                        "serial": "B-0017", "job": "01JGZ5V9T3N8W2K4Q7R6D1M0XJ", "run": "smoke.f0", "attempt": 2,
                        "step": "rails", "ref": "main", "device": "01JGZ5V9T3N8W2K4Q7R6D1M0XA",
                        "device_name": "bench-1", "at": "2026-01-02T03:05:06Z"
                    }
                ]
            })
        );
    }

    #[test]
    fn a_head_has_neither_runs_nor_attempts_nor_captures() {
        let job = example::job();
        let mut whole = json!(Record::whole(&job));
        let members = whole.as_object_mut().unwrap();
        for member in ["runs", "attempts", "captures", "measurements"] {
            assert!(members.remove(member).is_some(), "{member}");
        }
        assert_eq!(json!(Record::head(&job)), whole);
    }

    #[test]
    fn what_is_not_known_is_null() {
        let mut job = example::job();
        (job.name, job.ref_, job.commit, job.archive) = (None, None, None, None);
        let record = json!(Record::head(&job));
        for member in ["name", "ref", "commit", "archive"] {
            assert_eq!(record.get(member), Some(&Value::Null), "{member}");
        }
    }

    #[test]
    fn words_of_the_axes() {
        let mut job = example::job();
        for (reason, word) in [
            (EndedBecause::QueueTimeout, "queue_timeout"),
            (EndedBecause::NoMatchingDevice, "no_matching_device"),
            (EndedBecause::InfraError, "infra_error"),
        ] {
            (job.state, job.ended_because) = (State::Finished, Some(reason));
            (job.verdict, job.status) = (Verdict::Failure, Status::TimedOut);
            job.runs[0].outcome = Outcome::TimedOut;
            let record = json!(Record::whole(&job));
            assert_eq!(record["ended_because"], word);
            assert_eq!(record["state"], "finished");
            assert_eq!(record["verdict"], "failure");
            assert_eq!(record["status"], "timed_out");
            assert_eq!(record["runs"][0]["outcome"], "timed_out");
        }
    }
}
