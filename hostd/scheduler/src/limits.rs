//! How much may wait and run at once, and why a submission is refused.

use thiserror::Error;

use crate::names::JobId;

/// Waiting time that raises a job by one class, among the jobs of its user.
pub(crate) const AGE_STEP_MS: u64 = 10 * 60 * 1000;

/// Time that a task waits while no device that is known can ever fit: somebody may plug one in, or correct its
/// wiring.
pub(crate) const UNMATCHED_MS: u64 = 60 * 1000;

/// Infrastructure failures in a row that put a device under quarantine.
pub(crate) const FAILURES_MAX: usize = 3;

/// Users whose jobs must have failed before a quarantine: one user's jobs may all be wrong in the
/// same way.
pub(crate) const FAILED_USERS_MIN: usize = 2;

/// Failures in a row that are remembered for each device.
pub(crate) const FAILURES_KEPT: usize = 8;

/// Devices on which a task must fail before the task itself is blamed.
pub(crate) const BLAME_DEVICES: usize = 2;

/// Places that an organisation may hold for each free one, while there are others.
const ORG_SHARE: u32 = 3;

/// Whether an organisation that holds `held` places of a kind may have one of the `free` ones, while there are
/// other organisations: the last is left to them, unless it has none itself.
pub(crate) fn is_within_share(held: u32, free: u32) -> bool {
    held == 0 || (free > 1 && held < free.saturating_mul(ORG_SHARE))
}

/// Restarts of the server that a task survives: a task that crashes the server is not run for ever.
pub(crate) const RESTARTS_MAX: u32 = 10;

/// Deaths of the server that a job survives while it runs: with one more it is suspected to be what the server dies of.
pub(crate) const DEATHS_MAX: u32 = 1;

/// How much may wait and run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Jobs with a waiting task, of all organisations.
    pub queued_max: usize,
    /// As `queued_max`, for one organisation.
    pub queued_per_org_max: usize,
    /// As `queued_max`, for one user.
    pub queued_per_user_max: usize,
    /// Attempts that run at once on this machine, builds included.
    pub running_max: u32,
    /// As `running_max`, for one organisation.
    pub running_per_org_max: u32,
    /// As `running_max`, for one user.
    pub running_per_user_max: u32,
    /// Builds that run at once. While there are several organisations, none gets the last free slot if it
    /// has one already.
    pub build_slots: u32,
    /// Tasks of a job.
    pub tasks_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            queued_max: 10_000,
            queued_per_org_max: 5_000,
            queued_per_user_max: 2_000,
            running_max: 64,
            running_per_org_max: 64,
            running_per_user_max: 32,
            build_slots: 2,
            tasks_max: 256,
        }
    }
}

/// Why a submission is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refused {
    /// The server is about to stop.
    #[error("queue the job: the server is about to stop")]
    Draining,
    /// The queue is full.
    #[error("queue the job: {0} jobs wait already, no more may")]
    Full(usize),
    /// The organisation has as many waiting jobs as it may have.
    #[error("queue the job: {0} jobs of the organisation wait already, no more may")]
    OrgFull(usize),
    /// The user has as many waiting jobs as they may have.
    #[error("queue the job: {0} jobs of the user wait already, no more may")]
    UserFull(usize),
    /// There is an unfinished job with this name.
    #[error("queue the job: {0} is queued already")]
    Known(JobId),
    /// No tasks, or too many.
    #[error("queue the job: it has {count} tasks, 1 to {max} are possible")]
    Tasks {
        /// Number of tasks.
        count: usize,
        /// Most tasks that a job may have.
        max: usize,
    },
    /// A task needs one that does not come before it.
    #[error("queue the job: task {task} needs task {needs}, which does not stand before it")]
    Needs {
        /// The task.
        task: u32,
        /// The task that it needs.
        needs: u32,
    },
}
