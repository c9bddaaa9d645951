//! Which task of which job runs where and when. A state machine without clock, thread, store or async:
//! events go in with the time they happened, decisions come out, and whoever drives it carries them out.
//!
//! A *job* is what somebody submits; it has *tasks*. A task builds in a slot of this machine, or runs on
//! a device of its organisation once the tasks it needs have passed. Each run of a task is an *attempt*.
//! Attempts are numbered within the job; a task that the bench failed may get another one.
//!
//! ```text
//! submit, device, held, first_output, ended, cancel, tick …  ->  Scheduler  ->  Assign, Stop, Requeue, Finish …
//! ```
//!
//! Order: class, which waiting raises; then who has used least; then who came first. In this order
//! tasks are matched with free devices so that a picky task does not wait for a device that an
//! undemanding one took while another was free. What runs is never displaced.
//!
//! Time is in milliseconds of the wall clock, since what is restored after a restart has waited before
//! it. A clock that is set back stands still here.

mod accounts;
mod axes;
mod cause;
mod devices;
mod groups;
mod limits;
mod matching;
mod names;
mod order;
mod scheduler;
mod submission;
mod task;
mod why;

pub use axes::{Axes, EndedBecause, State, Status, Verdict};
pub use cause::{Clock, Ending, Failure, Infra};
pub use devices::Quarantine;
pub use limits::{Limits, Refused};
pub use names::{DeviceId, JobId, OrgId, Run, TaskId, UserId};
pub use scheduler::{Decision, Scheduler, Stored, StoredTask};
pub use submission::{Class, Clocks, Requirement, Submission, Task, Work};
pub use why::{Blocked, Why, WhyTask};
