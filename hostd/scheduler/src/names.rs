//! Names of jobs, devices and people. The driver of the scheduler chooses the texts; here they are
//! only compared.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub struct $name(pub Arc<str>);

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0.as_ref().to_owned()
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
    /// An organisation: a boundary across which no job sees anything.
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
    /// Index of the task in the submission, from 0.
    pub task: u32,
}

/// An attempt: one run of a task. Reports about it give all of its fields, so that a late report
/// from an earlier attempt is not taken for one from the current attempt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AttemptId {
    /// The task.
    pub task: TaskId,
    /// Number of the attempt within the job, from 1.
    pub number: u32,
    /// Grows with every assignment by this server, across restarts: the later of two has the greater
    /// one.
    pub epoch: u64,
}
