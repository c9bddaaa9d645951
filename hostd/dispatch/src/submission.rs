//! A job as the scheduler takes it: tasks, what they need, and its clocks.

use jobs::IMAGE_MS_MAX;
use pipeline::limits::ALWAYS_MS_MAX;
use pipeline::plan::{Plan, Role};
use scheduler::{Class, Clocks, Submission, Task, Work};

use crate::facts::Wants;
use crate::service::Submitter;

/// From the assignment to the first step, without what an image takes.
const START_MS: u64 = 2 * 60 * 1000;

/// What the scheduler waits beyond the clocks of runs and jobs, which whoever carries them out keeps itself and can tell
/// more about.
const GRACE_MS: u64 = 20 * 1000;

/// From being told to stop to having stopped: what is done under `always`, and then the device is given back. Who takes
/// twice as long is given up.
const STOP_MS: u64 = ALWAYS_MS_MAX + 30 * 1000;

fn start_ms(plan: &Plan) -> u64 {
    match plan.runs.iter().any(|run| run.sandbox.image.is_some()) {
        true => START_MS + IMAGE_MS_MAX,
        false => START_MS,
    }
}

/// How long a job may take, in milliseconds, as its runs are told.
pub(crate) fn job_ms(submission: &Submission<Wants>) -> u64 {
    submission.clocks.job_ms.saturating_sub(GRACE_MS)
}

/// What is submitted of a job.
pub(crate) fn of(by: &Submitter, id: &str, plan: &Plan) -> Submission<Wants> {
    let place = |id: &String| {
        let place = plan.runs.iter().position(|run| run.id == *id)?;
        u32::try_from(place).ok()
    };
    let task = |run: &pipeline::plan::Run| Task {
        work: match &run.role {
            Role::Build { .. } => Work::Build,
            Role::Bench { device, .. } => Work::Bench(Wants(device.clone())),
        },
        needs: run.needs.iter().filter_map(place).collect(),
        run_ms: run.timeout_ms.saturating_add(GRACE_MS),
    };
    Submission {
        job: id.into(),
        org: by.org.as_str().into(),
        user: by.user.as_str().into(),
        class: Class::Normal,
        tasks: plan.runs.iter().map(task).collect(),
        retries_max: u32::try_from(plan.infra_retries).unwrap_or(u32::MAX),
        clocks: Clocks {
            queue_ms: plan.queue_ms,
            start_ms: start_ms(plan),
            stop_ms: STOP_MS,
            job_ms: plan.job_ms.saturating_add(GRACE_MS),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_has_time_to_be_unpacked() {
        let start_ms = |sandbox: &str| {
            let text = format!(
                "version: 1\nbuilds:\n  - {{ id: a, steps: [{{ run: x }}] }}\n  - {{ id: b, sandbox: {{ {sandbox} }}, steps: [{{ run: x }}] }}"
            );
            let caps = pipeline::Caps::default();
            start_ms(&pipeline::expand(
                &pipeline::parse(&text, &caps).unwrap(),
                &caps,
            ))
        };
        assert_eq!(start_ms("network: true"), START_MS);
        assert_eq!(start_ms("image: own"), START_MS + IMAGE_MS_MAX);
    }
}
