//! How a job holds a device: who the lease belongs to, its id, and what others see.

use base::id;
use scheduler::AttemptId;
use store::jobs::Job;

/// Random letters of a lease's id, which nobody can guess.
const LEASE_CHARS: usize = 22;

/// What the owner of a job's lease begins with. Owners that are no jobs begin with an organisation's id.
const LEASE_OWNER: &str = "job/";

/// Who the leases of a job's attempts belong to: the job alone, so that its user cannot drive the device meanwhile.
pub(crate) fn lease_owner(job: &Job) -> String {
    format!("{LEASE_OWNER}{}", job.id)
}

/// Whether a lease belongs to a job.
pub(crate) fn is_lease_owner(owner: &str) -> bool {
    owner.starts_with(LEASE_OWNER)
}

pub(super) fn lease_id(attempt: &AttemptId) -> String {
    format!(
        "job-{}-{}-{}",
        attempt.task.job,
        attempt.number,
        id::base62(LEASE_CHARS)
    )
}

/// What others see as the holder of a job's device.
pub(super) fn label(job: &Job) -> String {
    let name = job.name.as_deref().unwrap_or_default();
    let plain: String = name
        .chars()
        .filter(|c| c.is_ascii_graphic() || *c == ' ')
        .collect();
    format!("job {} {plain}", job.id).trim_end().to_owned()
}
