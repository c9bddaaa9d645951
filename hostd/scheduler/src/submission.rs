//! A submission: a job, its tasks, what they need, and how long each part may take.

use std::fmt::Debug;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use crate::names::{JobId, OrgId, UserId};

/// What a task requires of a device. Tasks with equal requirements share one check of each device, so
/// 10,000 equal tasks cost one check.
pub trait Requirement: Clone + Eq + Hash + Debug {
    /// What is known about a device.
    type Device: Debug + PartialEq;

    /// What the device lacks, as a fragment such as "has 2 logic channels, 4 are needed"; `None` if
    /// it fits. The answer depends only on the arguments.
    fn misfit(&self, device: &Self::Device) -> Option<String>;

    /// Whether the device will not fit whatever it turns out to be able to do, once it is there for the first
    /// time. The answer depends only on the arguments.
    fn excludes(&self, device: &Self::Device) -> bool;

    /// How much the device can do: of two that fit, the lower one is taken, so that the more capable
    /// one stays free for tasks that need it.
    fn rank(device: &Self::Device) -> u32;
}

/// How urgent a job is. Each further step of waiting raises it by one.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// For times when nobody else needs the bench.
    Low,
    /// For most jobs.
    #[default]
    Normal,
    /// Ahead of the others.
    High,
}

/// How long a job's parts may take, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    /// A task that could run waits for its place.
    pub queue_ms: u64,
    /// From the assignment to the first step.
    pub start_ms: u64,
    /// From being told to stop until it has stopped. After this time it is told to stop hard, and
    /// after the same time again the attempt is given up.
    pub stop_ms: u64,
    /// The whole job, from its first assignment.
    pub job_ms: u64,
}

/// Where a task runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work<R> {
    /// In a slot of this machine.
    Build,
    /// On a device that fits.
    Bench(R),
}

/// A part of a job that is scheduled as a unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task<R> {
    /// Where it runs.
    pub work: Work<R>,
    /// The tasks that must have passed before, by their indices in the submission. Each comes
    /// before this one.
    pub needs: Vec<u32>,
    /// All its steps together, in milliseconds.
    pub run_ms: u64,
}

/// A job as it is submitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission<R> {
    /// Its name, unique among unfinished jobs.
    pub job: JobId,
    /// The organisation whose devices it may use.
    pub org: OrgId,
    /// The user whose turn it takes.
    pub user: UserId,
    /// How urgent it is.
    pub class: Class,
    /// At least one; see [`crate::Limits::tasks_max`].
    pub tasks: Vec<Task<R>>,
    /// How often a task is tried again after the bench failed, `retry.infra`.
    pub retries_max: u32,
    /// How long its parts may take.
    pub clocks: Clocks,
}
