//! A job for the documentation and the tests: its build has passed, its bench runs.

use guest::jobs::{
    Archive, Artifact, Attempt, Captured, Job, Outcome, Run, State, Status, Verdict,
};
use guest::measurements::{Measurement, Named, Page};

pub(crate) fn job() -> Job {
    Job {
        id: "01JGZ5V9T3N8W2K4Q7R6D1M0XJ".into(),
        name: Some("blinky".into()),
        ref_: Some("main".into()),
        commit: Some("0a1b2c3".into()),
        state: State::Running,
        ended_because: None,
        verdict: Verdict::Pending,
        status: Status::InProgress,
        message: "smoke.f0 runs on bench-1".into(),
        user: "01JGZ5V9T3N8W2K4Q7R6D1M0XB".into(),
        retry_of: None,
        archive: Some(Archive {
            size_bytes: 4096,
            sha256: artifact().sha256,
            entries: 12,
            unpacked_bytes: 20480,
            ci_yaml: "pipeline.yml".into(),
        }),
        created_at: "2026-01-02T03:04:05Z".into(),
        started_at: Some("2026-01-02T03:04:06Z".into()),
        finished_at: None,
        runs: runs(),
        attempts: attempts(),
        captures: vec![Captured {
            id: "01JGZ5V9T3N8W2K4Q7R6D1M0XC".into(),
            run: "smoke.f0".into(),
            attempt: 2,
            step: Some("boot".into()),
            name: "01JGZ5V9T3N8W2K4Q7R6D1M0XJ smoke.f0: boot".into(),
            file: "boot.sr".into(),
            is_done: true,
        }],
        measurements: measurements().measurements,
    }
}

/// A page of what jobs measured.
pub(crate) fn measurements() -> Page {
    let place = "01JGZ5V9T3N8W2K4Q7R6D1M0XJ-00002-00000";
    Page {
        measurements: vec![Measurement {
            id: place.into(),
            name: "3V3".into(),
            value: 3.312,
            unit: "V".into(),
            low: Some(3.2),
            high: Some(3.4),
            is_within: true,
            serial: Some("B-0017".into()),
            job: "01JGZ5V9T3N8W2K4Q7R6D1M0XJ".into(),
            run: "smoke.f0".into(),
            attempt: 2,
            step: "rails".into(),
            ref_: Some("main".into()),
            device: Some("01JGZ5V9T3N8W2K4Q7R6D1M0XA".into()),
            device_name: Some("bench-1".into()),
            at: "2026-01-02T03:05:06Z".into(),
        }],
        names: vec![Named {
            name: "3V3".into(),
            unit: "V".into(),
            count: 250,
            min: 3.27,
            max: 3.35,
            mean: 3.316,
            deviation: Some(0.02),
            low: Some(3.2),
            high: Some(3.4),
            cp: Some(1.6667),
            cpk: Some(1.4),
            trend: Some(-0.0004),
        }],
        has_more_names: false,
        forgotten: 0,
        next: Some(place.into()),
    }
}

fn runs() -> Vec<Run> {
    vec![
        Run {
            id: "fw.f0".into(),
            is_bench: false,
            needs: Vec::new(),
            targets: vec!["stm32f030f4".into()],
            outcome: Outcome::Passed,
            code: Some("passed".into()),
            message: "passed".into(),
            attempts: 1,
        },
        Run {
            id: "smoke.f0".into(),
            is_bench: true,
            needs: vec!["fw.f0".into()],
            targets: Vec::new(),
            outcome: Outcome::Running,
            code: None,
            message: "it runs on bench-1".into(),
            attempts: 1,
        },
    ]
}

fn attempts() -> Vec<Attempt> {
    vec![
        Attempt {
            number: 1,
            run: "fw.f0".into(),
            device: None,
            outcome: Outcome::Passed,
            code: Some("passed".into()),
            message: "passed".into(),
            assigned_at: "2026-01-02T03:04:06Z".into(),
            started_at: Some("2026-01-02T03:04:06Z".into()),
            ended_at: Some("2026-01-02T03:04:16Z".into()),
            log_bytes: 2048,
        },
        Attempt {
            number: 2,
            run: "smoke.f0".into(),
            device: Some("01JGZ5V9T3N8W2K4Q7R6D1M0XA".into()),
            outcome: Outcome::Running,
            code: None,
            message: "it runs on bench-1".into(),
            assigned_at: "2026-01-02T03:04:17Z".into(),
            started_at: None,
            ended_at: None,
            log_bytes: 0,
        },
    ]
}

/// The same job as it was submitted.
pub(crate) fn queued() -> Job {
    let mut job = job();
    (job.state, job.status) = (State::Queued, Status::New);
    job.message = "one task is before it".into();
    job.started_at = None;
    job.attempts.clear();
    for run in &mut job.runs {
        run.outcome = Outcome::Waiting;
        (run.code, run.attempts) = (None, 0);
        run.message.clear();
    }
    job
}

pub(crate) fn artifact() -> Artifact {
    Artifact {
        run: "fw.f0".into(),
        name: "fw.elf".into(),
        size_bytes: 3,
        sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".into(),
        created_at: "2026-01-02T03:04:16Z".into(),
    }
}
