//! What a job left: the files that its runs made and the captures that they recorded, whether they passed or not.

use jobs::{Recorded, capture_files, encoded};
use lab::captures::label;
use store::captures::{CaptureRecord, Origin};
use store::jobs::{Attempt, End, File, Job};

/// A capture of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct JobCapture {
    /// Its record.
    pub record: CaptureRecord,
    /// What of the job recorded it.
    pub origin: Origin,
    /// What its file is called, which no other one of the run is.
    pub file: String,
}

/// Something that a run left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) run: String,
    pub(crate) name: String,
    pub(crate) address: String,
}

/// The captures of a job as its records in the store tell of them.
#[must_use]
pub fn job_captures(records: Vec<CaptureRecord>) -> Vec<JobCapture> {
    let records = records.into_iter();
    // Earlier versions did not store what of a job recorded them.
    let known: Vec<(CaptureRecord, Origin)> = records
        .filter_map(|record| {
            let origin = record.origin.clone()?;
            Some((record, origin))
        })
        .collect();
    let named = known.iter().map(|(record, origin)| Recorded {
        id: &record.id,
        run: &origin.run,
        attempt: origin.attempt,
        label: label(record),
    });
    let files = capture_files(&named.collect::<Vec<_>>());
    let known = known.into_iter().zip(files);
    known
        .map(|((record, origin), file)| JobCapture {
            record,
            origin,
            file,
        })
        .collect()
}

/// The files of a job and when they were made: of each run those of the attempt that passed, or else of the last one that
/// left any.
pub(crate) fn artifacts(job: &Job) -> Vec<(String, File, u64)> {
    let of = |(place, run): (usize, &store::jobs::Run)| {
        let id = run.id.clone();
        let attempt = telling(job, place);
        let at_ms = attempt.and_then(|attempt| attempt.ended_ms);
        let files = attempt.map_or(&[][..], |attempt| &attempt.files);
        let files = files.iter().cloned();
        files.map(move |file| (id.clone(), file, at_ms.unwrap_or_default()))
    };
    job.runs.iter().enumerate().flat_map(of).collect()
}

/// The attempt at a run whose files are the run's.
fn telling(job: &Job, place: usize) -> Option<&Attempt> {
    let of_run = |attempt: &&Attempt| attempt.run as usize == place;
    let attempts = || job.attempts.iter().rev().filter(of_run);
    let has_passed = |attempt: &&Attempt| attempt.end.as_ref().is_some_and(End::has_passed);
    let left_some = |attempt: &&Attempt| !attempt.files.is_empty();
    attempts()
        .find(has_passed)
        .or_else(|| attempts().find(left_some))
}

/// Where a job's files and captures are. Addresses begin with `base`.
pub(crate) fn links(job: &Job, captures: Vec<CaptureRecord>, base: &str) -> Vec<Link> {
    let above = format!("{base}/api/jobs/{}", job.id);
    let files = artifacts(job).into_iter().map(|(run, file, _)| Link {
        address: format!(
            "{above}/artifacts/{}/{}",
            encoded(&run),
            encoded(&file.name)
        ),
        run,
        name: file.name,
    });
    let captures = job_captures(captures).into_iter().map(|capture| Link {
        address: format!("{above}/captures/{}", capture.record.id),
        run: capture.origin.run,
        name: capture.file,
    });
    files.chain(captures).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use store::jobs::PASSED;

    use super::*;

    fn attempt(number: u32, run: u32, code: &str, files: &[&str]) -> Value {
        let file = |name: &&str| json!({"name": name, "size_bytes": 1, "sha256": ""});
        json!({
            "number": number, "run": run, "epoch": 1, "device": null, "lease_id": null, "assigned_ms": 0,
            "started_ms": null, "ended_ms": number, "end": {"ending": null, "code": code, "message": ""},
            "log_bytes": 0, "files": files.iter().map(file).collect::<Vec<_>>()
        })
    }

    fn job(attempts: &[Value]) -> Job {
        let run =
            |id: &str| json!({"id": id, "is_bench": true, "needs": [], "targets": [], "end": null});
        let job = json!({
            "id": "01J", "org": "o", "user": "u", "name": null, "ref": null, "commit": null, "retry_of": null,
            "archive": null, "axes": null, "queue": null, "end": null, "runs": [run("a"), run("b")],
            "attempts": attempts, "created_ms": 0, "started_ms": null, "finished_ms": null
        });
        serde_json::from_value(job).unwrap()
    }

    fn names(job: &Job) -> Vec<(String, String, u64)> {
        let files = artifacts(job).into_iter();
        files
            .map(|(run, file, at_ms)| (run, file.name, at_ms))
            .collect()
    }

    fn of(run: &str, name: &str, at_ms: u64) -> (String, String, u64) {
        (run.to_owned(), name.to_owned(), at_ms)
    }

    #[test]
    fn files_are_those_of_the_attempt_that_tells_most() {
        let lost = attempt(1, 0, "infra.device_lost", &["half"]);
        let failed = attempt(2, 1, "tests", &["log"]);
        let again = attempt(3, 0, PASSED, &["whole"]);
        let both = job(&[lost.clone(), failed.clone(), again]);
        assert_eq!(names(&both), [of("a", "whole", 3), of("b", "log", 2)]);
        let none = job(&[lost.clone(), attempt(3, 0, PASSED, &[])]);
        assert_eq!(names(&none), [], "what passed has no more");
        let lost_twice = job(&[lost, attempt(3, 0, "infra.device_lost", &[])]);
        assert_eq!(names(&lost_twice), [of("a", "half", 1)]);
    }

    fn capture(id: &str, origin: Option<Origin>) -> CaptureRecord {
        let record = json!({
            "id": id, "org": "o", "device": "d", "kind": "logic", "name": "01J b: logic", "status": "done",
            "error": null, "created_ms": 0, "finished_ms": null, "triggered": null, "channels": [], "i2c": null,
            "job": "01J"
        });
        CaptureRecord {
            origin,
            ..serde_json::from_value(record).unwrap()
        }
    }

    #[test]
    fn what_is_there_is_linked() {
        let job = job(&[attempt(1, 1, "tests", &["a b/ü"])]);
        let origin = |step: Option<&str>| {
            Some(Origin {
                run: "b".to_owned(),
                attempt: 1,
                step: step.map(str::to_owned),
            })
        };
        let captures = vec![
            capture("01A", origin(Some("boot"))),
            capture("01B", origin(None)),
            capture("01C", origin(Some("boot"))),
            capture("01D", None),
        ];
        let links = links(&job, captures, "https://x");
        assert!(links.iter().all(|link| link.run == "b"));
        let links: Vec<_> = links
            .iter()
            .map(|link| {
                (
                    &*link.name,
                    link.address.strip_prefix("https://x/api/jobs/01J/"),
                )
            })
            .collect();
        let expected = [
            ("a b/ü", Some("artifacts/b/a%20b/%C3%BC")),
            ("boot.sr", Some("captures/01A")),
            ("logic.sr", Some("captures/01B")),
            ("boot-01C.sr", Some("captures/01C")),
        ];
        assert_eq!(links, expected);
    }
}
