//! Why a job does not run yet, in terms of its runs and of devices' names.

use std::sync::Arc;

use scheduler::Blocked;
use store::jobs::Job;

use crate::record::Entry;

/// A job, explained.
#[derive(Debug, Clone, PartialEq)]
pub struct Why {
    /// As it is now.
    pub job: Arc<Job>,
    /// Its runs, in the order of the plan.
    pub runs: Vec<WhyRun>,
}

/// A run, explained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WhyRun {
    /// Its id.
    pub run: String,
    /// Tasks whose turn comes before its own; none unless it waits.
    pub ahead: Option<usize>,
    /// Each device of the organisation, while it waits for one.
    pub devices: Vec<BlockedDevice>,
    /// When it gives up or is ended.
    pub until_ms: Option<u64>,
    /// What has to happen next, or what to do.
    pub message: String,
}

/// The kinds of things that are in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// The device lacks something.
    Misfit,
    /// A person has to re-admit it.
    Quarantined,
    /// It cannot be reached.
    Offline,
    /// A job runs on it.
    Busy,
    /// Somebody else has it.
    Held,
    /// Nothing; a limit is in the way.
    Free,
}

/// What is in the way on a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockedDevice {
    /// Its name.
    pub device: String,
    /// What kind of thing it is.
    pub obstacle: Obstacle,
    /// What it lacks, who has it, why it is in quarantine.
    pub detail: Option<String>,
    /// When that ends at the latest.
    pub until_ms: Option<u64>,
}

/// What the scheduler says, with names that people know.
pub(crate) fn of(entry: &Entry, why: scheduler::Why, name: impl Fn(&str) -> Option<String>) -> Why {
    let name = |id: &str| name(id).unwrap_or_else(|| id.to_owned());
    let tasks = entry.job.runs.iter().zip(why.tasks);
    let runs = tasks.map(|(run, task)| {
        let mut message = task.next;
        for (id, _) in &task.devices {
            message = message.replace(&*id.0, &name(&id.0));
        }
        let devices = task.devices.into_iter();
        WhyRun {
            run: run.id.clone(),
            ahead: task.ahead,
            devices: devices
                .map(|(id, blocked)| device(name(&id.0), blocked))
                .collect(),
            until_ms: task.until_ms,
            message,
        }
    });
    Why {
        runs: runs.collect(),
        job: entry.job.clone(),
    }
}

/// A job that is over: how each run ended.
pub(crate) fn of_finished(job: Arc<Job>) -> Why {
    let runs = job.runs.iter().map(|run| WhyRun {
        run: run.id.clone(),
        ahead: None,
        devices: Vec::new(),
        until_ms: None,
        message: run
            .end
            .as_ref()
            .map(|end| end.message.clone())
            .unwrap_or_default(),
    });
    Why {
        runs: runs.collect(),
        job,
    }
}

fn device(name: String, blocked: Blocked) -> BlockedDevice {
    let (obstacle, detail, until_ms) = match blocked {
        Blocked::Misfit(lack) => (Obstacle::Misfit, Some(lack), None),
        Blocked::Quarantined(quarantine) => (Obstacle::Quarantined, Some(quarantine.reason), None),
        Blocked::Offline => (Obstacle::Offline, None, None),
        Blocked::Busy { job, .. } => (Obstacle::Busy, Some(format!("job {job}")), None),
        Blocked::Held { holder, expires_ms } => (Obstacle::Held, Some(holder), expires_ms),
        Blocked::Free => (Obstacle::Free, None, None),
    };
    BlockedDevice {
        device: name,
        obstacle,
        detail,
        until_ms,
    }
}
