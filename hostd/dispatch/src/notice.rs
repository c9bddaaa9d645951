//! What others are told of a job: how it stands, each time that changes, and the whole record once it is over.

use std::collections::BTreeSet;

use base::clock::{self, Clock};
use base::id;
use base::news::{Happening, Kind};
use scheduler::{EndedBecause, State, Verdict};
use serde_json::{Value, json};
use store::jobs::{End, Job};
use store::notices::{Notice, Standing};

use crate::record::{axes, outcome_of_run};

/// How a job stands.
#[must_use]
pub fn standing(job: &Job) -> Standing {
    let axes = axes(job);
    match (axes.state(), axes.ended_because(), axes.verdict()) {
        (State::Queued, ..) => Standing::Queued,
        (State::Assigned | State::Running | State::Stopping, ..) => Standing::Running,
        (State::Finished, _, Verdict::Success) => Standing::Passed,
        (State::Finished, _, Verdict::Failure) => Standing::Failed,
        (State::Finished, because, Verdict::Pending) => match because {
            Some(EndedBecause::Cancelled) => Standing::Cancelled,
            Some(EndedBecause::Timeout | EndedBecause::DefinitionError) => Standing::Failed,
            _ => Standing::Broken,
        },
    }
}

/// What happens to an unfinished job, or what happened and what to do.
#[must_use]
pub fn message(job: &Job) -> String {
    if let Some(end) = &job.end {
        return end.message.clone();
    }
    let sentence = match axes(job).state() {
        State::Queued => "It waits for its turn; `hostd why` says for what.",
        State::Assigned => "It is being set up.",
        State::Running => "It runs.",
        State::Stopping => "It is being stopped.",
        State::Finished => "It has ended.",
    };
    sentence.to_owned()
}

/// The notice of how a job stands now.
pub(crate) fn of(job: &Job, clock: &Clock) -> Notice {
    let standing = standing(job);
    Notice {
        id: id::ulid(clock),
        org: job.org.clone(),
        job: job.id.clone(),
        name: job.name.clone(),
        r#ref: job.r#ref.clone(),
        commit: job.commit.clone(),
        standing,
        message: message(job),
        told: standing.has_ended().then(|| told(job)),
        at_ms: clock.now_ms(),
        devices: devices(job),
    }
}

/// The same for who listens in this process: a job without its runs.
pub(crate) fn happening(job: &Job, standing: Standing, clock: &Clock) -> Happening {
    let kind = match standing {
        Standing::Queued => Kind::JobQueued,
        Standing::Running => Kind::JobStarted,
        Standing::Passed | Standing::Failed | Standing::Broken | Standing::Cancelled => {
            Kind::JobFinished
        }
    };
    Happening {
        kind,
        at_ms: clock.now_ms(),
        org: job.org.clone(),
        devices: devices(job),
        subject: job.id.clone(),
        told: json!({"job": head(job)}),
    }
}

/// The devices that a job had, each once.
fn devices(job: &Job) -> Vec<String> {
    let attempts = job.attempts.iter();
    let had: BTreeSet<_> = attempts
        .filter_map(|attempt| attempt.device.clone())
        .collect();
    had.into_iter().collect()
}

/// A job in the words of the API, without its attempts.
fn told(job: &Job) -> Value {
    let runs = job.runs.iter().enumerate().map(|(place, run)| {
        let end = run.end.as_ref();
        json!({
            "id": run.id,
            "outcome": outcome_of_run(job, place),
            "code": end.map(|end: &End| &end.code),
            "message": end.map_or("", |end| &end.message),
        })
    });
    let mut told = head(job);
    told["runs"] = runs.collect();
    told
}

/// The same without its runs, too.
fn head(job: &Job) -> Value {
    let axes = axes(job);
    json!({
        "id": job.id,
        "name": job.name,
        "ref": job.r#ref,
        "commit": job.commit,
        "state": axes.state(),
        "ended_because": axes.ended_because(),
        "verdict": axes.verdict(),
        "status": axes.status(),
        "message": message(job),
        "user": job.user,
        "retry_of": job.retry_of,
        "created_at": clock::text(job.created_ms),
        "started_at": job.started_ms.map(clock::text),
        "finished_at": job.finished_ms.map(clock::text),
    })
}

#[cfg(test)]
mod tests {
    use scheduler::Axes;

    use super::*;

    fn job(because: EndedBecause, verdict: Option<Verdict>) -> Job {
        let mut axes = Axes::default();
        axes.end(because);
        if let Some(verdict) = verdict {
            axes.judge(verdict);
        }
        axes.advance(State::Finished);
        Job {
            id: "j".into(),
            other_bytes: 0,
            memory_bytes: 0,
            org: "o".into(),
            user: "u".into(),
            name: Some("blinky".into()),
            r#ref: None,
            commit: None,
            retry_of: None,
            archive: None,
            axes: crate::record::axes_value(axes),
            queue: None,
            end: Some(End {
                ending: Value::Null,
                code: "x".into(),
                message: "It said so.".into(),
            }),
            runs: vec![store::jobs::Run {
                id: "fw".into(),
                is_bench: false,
                needs: Vec::new(),
                targets: Vec::new(),
                end: None,
            }],
            attempts: Vec::new(),
            created_ms: 1000,
            started_ms: None,
            finished_ms: Some(2000),
        }
    }

    #[test]
    fn what_failed_is_told_apart_from_what_broke() {
        for (because, verdict, expected) in [
            (
                EndedBecause::Completed,
                Some(Verdict::Success),
                Standing::Passed,
            ),
            (
                EndedBecause::Completed,
                Some(Verdict::Failure),
                Standing::Failed,
            ),
            (
                EndedBecause::DeviceLost,
                Some(Verdict::Failure),
                Standing::Failed,
            ),
            (EndedBecause::DeviceLost, None, Standing::Broken),
            (EndedBecause::InfraError, None, Standing::Broken),
            (EndedBecause::NoMatchingDevice, None, Standing::Broken),
            (EndedBecause::QueueTimeout, None, Standing::Broken),
            (EndedBecause::Timeout, None, Standing::Failed),
            (EndedBecause::DefinitionError, None, Standing::Failed),
            (EndedBecause::Cancelled, None, Standing::Cancelled),
        ] {
            assert_eq!(standing(&job(because, verdict)), expected, "{because:?}");
        }
    }

    #[test]
    fn an_ended_job_is_told_in_the_words_of_the_api() {
        let (clock, _) = Clock::manual(2000);
        let notice = of(&job(EndedBecause::InfraError, None), &clock);
        let told = notice.told.unwrap();
        assert_eq!(told["ended_because"], "infra_error");
        assert_eq!(told["verdict"], "pending");
        assert_eq!(told["status"], "failed");
        assert_eq!(told["finished_at"], "1970-01-01T00:00:02Z");
        assert_eq!(told["runs"][0]["outcome"], "waiting");
        assert_eq!(
            (&*notice.message, notice.standing),
            ("It said so.", Standing::Broken)
        );
    }
}
