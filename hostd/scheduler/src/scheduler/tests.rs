//! The state machine, event by event, and under random interleavings.

mod bounds;
mod fairness;
mod health;
mod model;
mod places;
mod restart;
mod stops;
mod unmatched;
mod why;

use super::*;
use crate::submission::{Class, Clocks, Requirement, Submission, Task, Work};

/// Abilities as bits; a device fits if it has all of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Need(pub(super) u32);

impl Requirement for Need {
    type Device = u32;

    fn misfit(&self, device: &u32) -> Option<String> {
        let lacks = self.0 & !device;
        (lacks != 0).then(|| format!("lacks {lacks:#b}"))
    }

    fn excludes(&self, device: &u32) -> bool {
        *device == NOTHING
    }

    fn rank(device: &u32) -> u32 {
        device.count_ones()
    }
}

/// A device that nobody has to see to know that it fits nothing.
const NOTHING: u32 = 1 << 31;

const CLOCKS: Clocks = Clocks {
    queue_ms: 1_000_000,
    start_ms: 1000,
    stop_ms: 500,
    job_ms: 2_000_000,
};

fn task(work: Work<Need>, needs: &[u32]) -> Task<Need> {
    Task {
        work,
        needs: needs.to_vec(),
        run_ms: 50_000,
    }
}

/// A job with one task on a device with `caps`.
fn bench(job: &str, user: &str, caps: u32) -> Submission<Need> {
    Submission {
        job: job.into(),
        org: "org".into(),
        user: user.into(),
        class: Class::Normal,
        tasks: vec![task(Work::Bench(Need(caps)), &[])],
        retries_max: 1,
        clocks: CLOCKS,
    }
}

fn scheduler() -> Scheduler<Need> {
    Scheduler::new(Limits::default(), 0)
}

/// A scheduler with these devices of organisation `org`.
fn with_devices(devices: &[(&str, u32)]) -> Scheduler<Need> {
    let mut scheduler = scheduler();
    for (id, caps) in devices {
        let decisions = scheduler.device_seen(&(*id).into(), &"org".into(), *caps, 0);
        assert!(decisions.is_empty());
    }
    scheduler
}

/// What was assigned: job and device.
fn places(decisions: &[Decision]) -> Vec<(String, String)> {
    let places = decisions.iter().filter_map(|decision| match decision {
        Decision::Assign { attempt, device } => Some((
            attempt.task.job.to_string(),
            device
                .as_ref()
                .map_or("build".to_owned(), DeviceId::to_string),
        )),
        _ => None,
    });
    places.collect()
}

fn place(job: &str, device: &str) -> (String, String) {
    (job.to_owned(), device.to_owned())
}

/// The attempt of the only assignment.
fn assigned(decisions: &[Decision]) -> AttemptId {
    let mut attempts = decisions.iter().filter_map(|decision| match decision {
        Decision::Assign { attempt, .. } => Some(attempt.clone()),
        _ => None,
    });
    let attempt = attempts.next().expect("something was assigned");
    assert_eq!(attempts.next(), None);
    attempt
}

/// How the job ended.
fn finish(decisions: &[Decision], job: &str) -> (Axes, Ending) {
    let mut finished = decisions.iter().filter_map(|decision| match decision {
        Decision::Finish {
            job: id,
            axes,
            ending,
            ..
        } if *id.0 == *job => Some((*axes, *ending)),
        _ => None,
    });
    finished.next().expect("the job is finished")
}
