//! Runs: one analysis of a board each. What the endpoints about them share.

use guest::emi::{Kind, Run, Status};
use guest::{ApiError, Request, Time, words};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

pub(crate) mod create;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod retry;
pub(crate) mod stop;

/// The placeholder of the path, and what it is.
pub(crate) const ID: (&str, &str) = ("id", "Run id.");

/// Run id that the path names.
pub(crate) fn id(request: &Request) -> &str {
    request.param(0)
}

words! {
    pub(crate) const KINDS: Kind = {
        Ingest = "ingest",
        Compliance = "compliance",
        Cable = "cable",
        Solve = "solve",
    };
}

words! {
    pub(crate) const STATUSES: Status = {
        New = "new",
        RetryPending = "retry_pending",
        InProgress = "in_progress",
        Stopping = "stopping",
        Done = "done",
        Failed = "failed",
        TimedOut = "timed_out",
    };
}

/// A run.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Run")]
pub(crate) struct Record<'a> {
    /// ULID.
    id: &'a str,
    project_id: &'a str,
    board_id: &'a str,
    /// `ingest` reads the board and looks through it by all rules, `compliance` compares emission with limits, `cable` says
    /// what cables may carry, `solve` has a field solver.
    #[schemars(extend("enum" = KINDS.all()))]
    kind: &'static str,
    /// `retry_pending`: it waits once more, since the server was restarted meanwhile.
    #[schemars(extend("enum" = STATUSES.all()))]
    status: &'static str,
    /// What was asked beyond the defaults, with the keys of `emi.rules.yaml`.
    #[schemars(with = "Params")]
    params: Value,
    progress: Progress<'a>,
    /// What it says in short; null until it is done.
    #[schemars(with = "Option<Summary>")]
    summary: Option<Value>,
    /// Why it failed and what to do, with line and column where a file is wrong; null if it did not.
    error: Option<&'a str>,
    #[schemars(with = "Time")]
    created_at: &'a str,
    #[schemars(with = "Option<Time>")]
    started_at: Option<&'a str>,
    #[schemars(with = "Option<Time>")]
    finished_at: Option<&'a str>,
    #[schemars(with = "Time")]
    updated_at: &'a str,
}

/// How far it is.
#[derive(Serialize, JsonSchema)]
struct Progress<'a> {
    /// Stable word.
    stage: &'a str,
    #[schemars(range(min = 0, max = 100))]
    pct: u8,
    /// What happens, for people.
    message: &'a str,
}

/// An object with keys of `emi.rules.yaml`.
#[derive(JsonSchema)]
struct Params {}

/// Findings by severity, with those that are not listed; a run that compares with limits adds what it knows of them.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only what the document says of it is used")]
struct Summary {
    /// These three are of runs that look for findings.
    #[serde(skip_serializing_if = "Option::is_none")]
    critical: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    info: Option<u64>,
    /// The highest frequency that was reckoned with, in Hz.
    #[serde(skip_serializing_if = "Option::is_none")]
    assumed_max_frequency_hz: Option<f64>,
    /// Whether all is known that limits need; otherwise there is no margin. Of `compliance` and `cable`.
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
}

impl<'a> Record<'a> {
    pub(crate) fn of(run: &'a Run) -> Result<Self, ApiError> {
        let summary = run.summary.as_deref().map(crate::parsed).transpose()?;
        Ok(Self {
            id: &run.id,
            project_id: &run.project_id,
            board_id: &run.board_id,
            kind: KINDS.word(run.kind),
            status: STATUSES.word(run.status),
            params: crate::parsed(&run.params)?,
            progress: Progress {
                stage: &run.progress.stage,
                pct: run.progress.pct,
                message: &run.progress.message,
            },
            summary,
            error: run.error.as_deref(),
            created_at: &run.created_at,
            started_at: run.started_at.as_deref(),
            finished_at: run.finished_at.as_deref(),
            updated_at: &run.updated_at,
        })
    }

    pub(crate) fn example(run: &'a Run) -> Self {
        Self::of(run).expect("the example's JSON is JSON")
    }
}

#[cfg(test)]
mod tests {
    use guest::emi::Status;
    use serde_json::json;

    use super::Record;
    use crate::example;

    #[test]
    fn everything_known_is_told() {
        assert_eq!(
            json!(Record::example(&example::run())),
            json!({
                "id": example::RUN, "project_id": example::PROJECT, "board_id": example::BOARD,
                "kind": "ingest", "status": "done", "params": {},
                "progress": {"stage": "report", "pct": 100, "message": "done"},
                "summary": {
                    "critical": 1, "warning": 3, "info": 12,
                    "assumed_max_frequency_hz": 1_000_000_000.0
                },
                "error": null,
                "created_at": "2026-01-02T03:04:07Z", "started_at": "2026-01-02T03:04:07Z",
                "finished_at": "2026-01-02T03:04:08Z", "updated_at": "2026-01-02T03:04:08Z"
            })
        );
    }

    #[test]
    fn a_run_that_failed_says_why() {
        let mut run = example::queued();
        run.status = Status::Failed;
        run.error = Some("line 3, column 14: a coordinate is no number".into());
        let told = json!(Record::example(&run));
        assert_eq!(
            (&told["status"], &told["summary"]),
            (&json!("failed"), &json!(null))
        );
        assert_eq!(
            told["error"],
            "line 3, column 14: a coordinate is no number"
        );
        assert_eq!(told["started_at"], json!(null));
    }
}
