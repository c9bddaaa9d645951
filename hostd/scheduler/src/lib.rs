//! Which task of which job runs where and when. A state machine without clock, thread, store or async:
//! events go in with the time at which they happened, decisions come out, and its driver carries them
//! out.
//!
//! A *job* is what somebody submits; it has *tasks*. A task builds in a slot of this machine, or runs on
//! a device of its organisation once the tasks that it needs have passed. Each run of a task is an
//! *attempt*. Attempts are numbered within the job; after a failure of the bench a task may get another
//! one.
//!
//! ```text
//! submit, device, held, first_output, ended, cancel, tick …  ->  Scheduler  ->  Assign, Stop, Requeue, Finish …
//! ```
//!
//! Order: first the organisation that has used least of this machine, then its user who has used least;
//! among the tasks of one user the class, which rises while a job waits, then who came first. While there
//! are several organisations, none gets the last free place if it has others already. In this order tasks are matched with free devices so that a demanding task does not wait
//! for a device that an undemanding one took while another was free. A running attempt is never
//! displaced.
//!
//! Time is in milliseconds of the wall clock, since a job that is restored after a restart waited
//! before it, too. When the clock is set back, time stands still here.

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
mod waits;
mod why;

pub use axes::{Axes, EndedBecause, State, Status, Verdict};
pub use cause::{Clock, Ending, Failure, Infra};
pub use devices::Quarantine;
pub use limits::{Limits, Refused};
pub use names::{AttemptId, DeviceId, JobId, OrgId, TaskId, UserId};
pub use scheduler::{Before, Decision, Scheduler, Stored, StoredTask};
pub use submission::{Class, Clocks, Requirement, Submission, Task, Work};
pub use waits::{Wait, misfits, unmatched};
pub use why::{Blocked, Why, WhyTask};
