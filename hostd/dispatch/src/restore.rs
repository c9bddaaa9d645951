//! The queue after a restart, orderly or not: what was stored, what is wrong with it, and who still holds a device.

use std::collections::HashMap;
use std::sync::Arc;

use lab::leases::{Leases, Shown};
use scheduler::{Decision, EndedBecause, Ending, Limits, Quarantine, Scheduler, State, Stored};
use store::jobs::{Changes, Job};
use store::{Store, StoreError};
use tracing::{info, warn};

use crate::board::Board;
use crate::driver::lease_owner;
use crate::error::OpenError;
use crate::facts::Wants;
use crate::files::Files;
use crate::intake::Intake;
use crate::log;
use crate::record::{self, Entry};

/// What a driver begins with.
pub(crate) struct Restored {
    pub(crate) scheduler: Scheduler<Wants>,
    pub(crate) entries: HashMap<String, Entry>,
    pub(crate) decisions: Vec<Decision>,
    /// Leases of attempts that died with the server: device, lease, owner.
    pub(crate) leases: Vec<(String, String, String)>,
}

/// What of the stored jobs can go on.
struct Readable {
    entries: HashMap<String, Entry>,
    queue: Vec<Stored<Wants>>,
    leases: Vec<(String, String, String)>,
    /// Those that cannot, as they ended.
    broken: Changes,
}

/// Reads what was stored.
pub(crate) async fn restore(
    store: &Store,
    intake: &Intake,
    limits: Limits,
    board: &Board,
    now_ms: u64,
) -> Result<Restored, OpenError> {
    let (jobs, quarantines, epoch) = store.read(store::jobs::unfinished).await?;
    let intake = intake.clone();
    let read = tokio::task::spawn_blocking(move || read(&intake, jobs, now_ms)).await;
    let Readable {
        mut entries,
        queue,
        leases,
        broken,
    } = read.map_err(|_| StoreError::Panicked)??;
    if !broken.jobs.is_empty() {
        store.jobs_change(broken).await?;
    }
    let count = queue.len();
    let (scheduler, decisions, refused) = Scheduler::restore(limits, epoch, queue, now_ms);
    for job in refused {
        warn!(%job, "a stored job contradicts itself; it is left as it is");
        entries.remove(&*job.0);
    }
    // The scheduler is told of each once it knows the device.
    for quarantine in quarantines {
        let jobs = quarantine.jobs.iter().map(|job| job.as_str().into());
        let stored = Quarantine {
            reason: quarantine.reason,
            jobs: jobs.collect(),
        };
        board.quarantine(&quarantine.device, stored);
    }
    if count > 0 {
        info!(count, "unfinished jobs go on");
    }
    Ok(Restored {
        scheduler,
        entries,
        decisions,
        leases,
    })
}

/// Reads the files of unfinished jobs. Blocks on the disk.
fn read(intake: &Intake, jobs: Vec<Job>, now_ms: u64) -> Result<Readable, OpenError> {
    let mut readable = Readable {
        entries: HashMap::new(),
        queue: Vec::new(),
        leases: Vec::new(),
        broken: Changes::default(),
    };
    for mut job in jobs {
        note_logs(&intake.files, &mut job);
        readable.leases.extend(leases_of(&job));
        let definition = intake.files.definition(&job.id);
        let plan = definition.ok().and_then(|text| intake.plan(&text).ok());
        let Some(plan) = plan.filter(|plan| plan.runs.len() == job.runs.len()) else {
            warn!(
                job = job.id,
                "a queued job's pipeline is gone, or not valid any more; the job ends"
            );
            readable.broken.jobs.push(ended(job, now_ms));
            continue;
        };
        if let Err(error) = intake.mend_sources(&job) {
            warn!(job = job.id, %error, "failed to unpack the sources of a queued job again");
        }
        let stored = record::queue(&job);
        let stored = stored.map_err(|error| OpenError::Record(job.id.clone(), error))?;
        readable.queue.push(stored);
        let entry = Entry {
            job: Arc::new(job),
            plan: Arc::new(plan),
        };
        readable.entries.insert(entry.job.id.clone(), entry);
    }
    Ok(readable)
}

/// A job that cannot go on.
fn ended(mut job: Job, now_ms: u64) -> Job {
    let mut axes = record::axes(&job);
    axes.end(EndedBecause::DefinitionError);
    axes.advance(State::Finished);
    for place in 0..job.runs.len() {
        if job.runs[place].end.is_none() {
            record::end_run(&mut job, place, None, Ending::DefinitionError);
        }
    }
    record::finish(&mut job, axes, Ending::DefinitionError, &[], now_ms);
    job
}

/// How far the logs got of attempts that died with the server.
fn note_logs(files: &Files, job: &mut Job) {
    let id = job.id.clone();
    for attempt in job
        .attempts
        .iter_mut()
        .filter(|attempt| attempt.end.is_none())
    {
        match log::length(files, &id, attempt.number) {
            Ok(bytes) => attempt.log_bytes = bytes,
            Err(error) => warn!(job = id, attempt = attempt.number, %error, "failed to read a log"),
        }
    }
}

/// The leases under which a job's attempts had devices when the server ended.
fn leases_of(job: &Job) -> Vec<(String, String, String)> {
    let open = job
        .attempts
        .iter()
        .filter(|attempt| attempt.ended_ms.is_none());
    let lease = |attempt: &store::jobs::Attempt| {
        let (device, lease) = attempt.device.clone().zip(attempt.lease_id.clone())?;
        Some((device, lease, lease_owner(job)))
    };
    open.filter_map(lease).collect()
}

/// Gives back what dead attempts held, so that each device is made safe and is free for others.
pub(crate) fn release(leases: &Arc<Leases>, held: Vec<(String, String, String)>) {
    for (device, lease_id, owner) in held {
        let leases = leases.clone();
        // Each waits for its own device alone.
        tokio::spawn(async move {
            let shown = Shown {
                lease_id: Some(&lease_id),
                owner: &owner,
            };
            if let Err(error) = leases.release(&device, shown).await {
                warn!(device, %error, "failed to give a device back that a job held before the restart");
            }
        });
    }
}
