//! Jobs that are set aside: this version cannot read what is stored of them. They cost nobody else anything, and who
//! asks for one is told so; what is stored stays as it is, for a version that can read it.

use scheduler::{Axes, EndedBecause, Ending, Infra, State};
use serde::de::DeserializeOwned;
use serde_json::Value;
use store::jobs::{Found, Job};

use crate::ending::Told;
use crate::record;

/// How such a job ended.
pub(crate) const ENDING: Ending = Ending::Infra(Infra::Unreadable);

/// A job as it is told: one that cannot be read as one that the server failed, with what can be made out of it.
pub(crate) fn told(found: Found) -> Job {
    let unreadable = match found {
        Found::Job(job) => return *job,
        Found::Unreadable(unreadable) => unreadable,
    };
    let stored = &unreadable.stored;
    let mut axes = Axes::default();
    axes.end(EndedBecause::InfraError);
    axes.advance(State::Finished);
    let created_ms = member(stored, "created_ms").unwrap_or_default();
    let finished_ms = member(stored, "finished_ms").unwrap_or(created_ms);
    let mut job = Job {
        id: unreadable.id,
        org: unreadable.org,
        user: member(stored, "user").unwrap_or_default(),
        name: member(stored, "name"),
        r#ref: member(stored, "ref"),
        commit: member(stored, "commit"),
        retry_of: member(stored, "retry_of"),
        archive: member(stored, "archive"),
        axes: record::axes_value(axes),
        other_bytes: member(stored, "other_bytes").unwrap_or_default(),
        memory_bytes: member(stored, "memory_bytes").unwrap_or_default(),
        queue: None,
        end: Some(Told::of(ENDING).stored()),
        runs: member(stored, "runs").unwrap_or_default(),
        attempts: member(stored, "attempts").unwrap_or_default(),
        created_ms,
        started_ms: member(stored, "started_ms"),
        finished_ms: Some(finished_ms),
    };
    record::end_what_is_open(&mut job, ENDING, finished_ms);
    job
}

/// A member, if this version knows what it is.
fn member<T: DeserializeOwned>(stored: &Value, name: &str) -> Option<T> {
    T::deserialize(stored.get(name)?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use store::Store;
    use store::jobs::by_id;
    use store::testing::put_record;

    use super::*;
    use crate::record::{axes, outcome_of_run};
    use crate::{Outcome, Verdict};

    async fn job(stored: &[u8]) -> Job {
        let store = Store::in_memory().unwrap();
        put_record(&store, "jobs", "o/J", Some(stored))
            .await
            .unwrap();
        let found = store.read(|s| by_id(s, "o", "J")).await.unwrap();
        told(found.unwrap())
    }

    #[tokio::test]
    async fn what_can_be_made_out_is_told_and_the_job_is_over() {
        let stored = json!({
            "id": "J", "org": "o", "user": "ann", "name": "blinky", "ref": "main", "commit": 7,
            "axes": {"later": true}, "queue": {}, "created_ms": 5,
            "runs": [{"id": "fw", "is_bench": false, "needs": [], "targets": [], "end": null}],
            "attempts": [{
                "number": 1, "run": 0, "epoch": 1, "device": null, "lease_id": null, "assigned_ms": 6,
                "started_ms": null, "ended_ms": null, "end": null, "log_bytes": 3, "files": [],
            }],
        });
        let job = job(stored.to_string().as_bytes()).await;
        assert_eq!((&*job.user, job.name.as_deref()), ("ann", Some("blinky")));
        let labels = (job.r#ref.as_deref(), job.commit.as_deref());
        assert_eq!(labels, (Some("main"), None));
        let axes = axes(&job);
        assert_eq!(axes.state(), State::Finished);
        assert_eq!(axes.ended_because(), Some(EndedBecause::InfraError));
        assert_eq!(axes.verdict(), Verdict::Pending);
        let end = job.end.clone().unwrap();
        assert_eq!(end.code, "infra.unreadable");
        assert!(
            end.message.contains("cannot be read by this version"),
            "{}",
            end.message
        );
        assert_eq!(job.attempts[0].log_bytes, 3);
        assert!(job.attempts[0].ended_ms.is_some());
        assert_eq!(outcome_of_run(&job, 0), Outcome::Broken);
    }

    #[tokio::test]
    async fn of_what_is_no_json_only_the_key_is_known() {
        let job = job(b"\xFF{").await;
        assert_eq!((&*job.org, &*job.id, &*job.user), ("o", "J", ""));
        assert!(job.queue.is_none() && job.runs.is_empty());
        assert_eq!(job.end.unwrap().code, "infra.unreadable");
    }
}
