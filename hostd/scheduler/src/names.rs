//! What jobs, devices and people are called. The texts are whoever drives the scheduler's; here they
//! are only compared.

use std::fmt;
use std::sync::Arc;

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Arc<str>);

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name!(
    /// A job.
    JobId
);
name!(
    /// A device.
    DeviceId
);
name!(
    /// An organisation: a wall that no job looks over.
    OrgId
);
name!(
    /// A user. Two organisations may have users of the same name.
    UserId
);

/// A task of a job.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId {
    /// The job.
    pub job: JobId,
    /// Place of the task in the submission, from 0.
    pub task: u32,
}

/// An attempt: one run of a task. Who reports about it names all of it, so that what an earlier
/// attempt says late is not taken for the present one's.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Run {
    /// What runs.
    pub task: TaskId,
    /// Number of the attempt within the job, from 1.
    pub attempt: u32,
    /// Grows with every assignment of this server, across restarts: of two the later has the greater.
    pub epoch: u64,
}
