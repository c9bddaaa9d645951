//! The queue after a restart, orderly or not: what was stored, what is wrong with it, and who still holds a device.

use std::collections::HashMap;
use std::sync::Arc;

use base::clock::Clock;
use lab::leases::{Leases, Shown};
use scheduler::{Before, Decision, Ending, Limits, Quarantine, Scheduler, State, Stored};
use store::commit_statuses::Audience;
use store::jobs::{Changes, Found, Job};
use store::{Store, StoreError};
use tokio::runtime::Handle;
use tracing::{error, info, warn};

use crate::aside;
use crate::board::Board;
use crate::driver::is_lease_owner;
use crate::error::OpenError;
use crate::facts::Wants;
use crate::files::Files;
use crate::intake::Intake;
use crate::log;
use crate::notice;
use crate::quota::Ledger;
use crate::record::{self, Entry};
use crate::submission;

/// Why no job gets a device whose quarantine cannot be read.
const QUARANTINE_UNREADABLE: &str =
    "why it is kept from jobs cannot be read any more; look at it, then admit it";

/// What a driver begins with.
pub(crate) struct Restored {
    pub(crate) scheduler: Scheduler<Wants>,
    pub(crate) entries: HashMap<String, Entry>,
    pub(crate) decisions: Vec<Decision>,
    /// Jobs that are left as they are stored, since they cannot be read.
    pub(crate) unreadable: Vec<String>,
}

/// What of the stored jobs can go on.
#[derive(Default)]
struct Readable {
    entries: HashMap<String, Entry>,
    queue: Vec<Stored<Wants>>,
    /// Those that cannot, as they ended.
    broken: Vec<Job>,
    unreadable: Vec<String>,
}

/// Reads what was stored of the jobs `open`.
pub(crate) async fn restore(
    store: &Store,
    intake: &Intake,
    open: Vec<(String, String)>,
    (limits, before): (Limits, Before),
    (board, ledger, repositories): (&Board, &Ledger, &Arc<[Audience]>),
    clock: &Clock,
) -> Result<Restored, OpenError> {
    let now_ms = clock.now_ms();
    let remembered = store.read(|s| {
        let quarantines = store::jobs::quarantines(s)?;
        let orgs = store::orgs::all(s)?;
        Ok::<_, StoreError>((store::jobs::epoch(s)?, quarantines, orgs))
    });
    let (epoch, quarantines, orgs) = remembered.await?;
    let orgs: Vec<_> = orgs.iter().map(|org| org.id.as_str().into()).collect();
    let epoch = epoch.unwrap_or_else(|| {
        error!("the number of the last attempt cannot be read; it goes on from a greater one");
        // Numbers count from 1, so none has come this far.
        now_ms
    });
    let (own, from) = (intake.clone(), store.clone());
    let runtime = Handle::current();
    let read = tokio::task::spawn_blocking(move || {
        // One after the other: their records together may be more than the memory has room for.
        let found = open.into_iter().filter_map(|(org, id)| {
            let read = from.read(move |s| store::jobs::by_id(s, &org, &id));
            runtime.block_on(read).transpose()
        });
        read(&own, found, now_ms)
    });
    let read = read.await.map_err(|_| StoreError::Panicked)??;
    let Readable {
        mut entries,
        queue,
        mut broken,
        unreadable,
    } = read;
    let (scheduler, decisions, refused) =
        Scheduler::restore(limits, epoch, &orgs, queue, before, now_ms);
    for job in refused {
        if let Some(entry) = entries.remove(&*job.0) {
            error!(%job, "a stored job contradicts itself; the job ends");
            let job = Arc::unwrap_or_clone(entry.job);
            broken.push(ended(job, aside::ENDING, now_ms));
        }
    }
    let jobs = entries.values().map(|entry| &*entry.job);
    for job in jobs.chain(&broken) {
        ledger.record(job);
    }
    if !broken.is_empty() {
        let changes = Changes {
            notices: broken.iter().map(|job| notice::of(job, clock)).collect(),
            jobs: broken,
            repositories: repositories.clone(),
            ..Changes::default()
        };
        store.jobs_change(changes).await?;
    }
    // The scheduler is told of each once it knows the device.
    for (device, quarantine) in quarantines {
        let stored = quarantine_of(&device, quarantine);
        board.quarantine(&device, stored);
    }
    if !entries.is_empty() {
        info!(count = entries.len(), "unfinished jobs go on");
    }
    Ok(Restored {
        scheduler,
        entries,
        decisions,
        unreadable,
    })
}

/// The quarantine of a device as it was stored; one that cannot be read stays.
fn quarantine_of(device: &str, stored: Option<store::jobs::Quarantine>) -> Quarantine {
    let Some(stored) = stored else {
        error!(
            device,
            "the quarantine of a device cannot be read; it stays"
        );
        return Quarantine {
            reason: QUARANTINE_UNREADABLE.to_owned(),
            jobs: Vec::new(),
        };
    };
    Quarantine {
        reason: stored.reason,
        jobs: stored.jobs.iter().map(|job| job.as_str().into()).collect(),
    }
}

/// Reads the files of unfinished jobs. Blocks on the disk.
fn read(
    intake: &Intake,
    jobs: impl Iterator<Item = Result<Found, StoreError>>,
    now_ms: u64,
) -> Result<Readable, StoreError> {
    let mut readable = Readable::default();
    for found in jobs {
        let mut job = match found? {
            Found::Job(job) => *job,
            Found::Unreadable(job) => {
                error!(
                    job = job.id,
                    error = %job.error,
                    "what is stored of a job cannot be read; it is left as it is"
                );
                readable.unreadable.push(job.id);
                continue;
            }
        };
        note_logs(&intake.files, &mut job);
        let stored = match queue(&job) {
            Ok(stored) => stored,
            Err(why) => {
                error!(job = job.id, why, "a stored job cannot go on; the job ends");
                readable.broken.push(ended(job, aside::ENDING, now_ms));
                continue;
            }
        };
        // What it says is read when an attempt begins.
        if !intake.files.has_definition(&job.id) {
            warn!(
                job = job.id,
                "a queued job's pipeline is gone; the job ends"
            );
            let over = ended(job, Ending::DefinitionError, now_ms);
            readable.broken.push(over);
            continue;
        }
        if let Err(error) = intake.mend_sources(&job) {
            warn!(job = job.id, %error, "failed to unpack the sources of a queued job again");
        }
        let told = notice::standing(&job);
        let held = intake.hold_again(&job, &stored);
        let job_ms = submission::job_ms(&stored.submission);
        let mut entry = Entry::new(job, job_ms, held, Some(told));
        entry.goes_on(&stored);
        readable.queue.push(stored);
        readable.entries.insert(entry.job.id.clone(), entry);
    }
    Ok(readable)
}

/// The job's place in the queue, or why it has none.
fn queue(job: &Job) -> Result<Stored<Wants>, String> {
    let stored = record::queue(job).map_err(|error| error.to_string())?;
    let of = &stored.submission;
    if *of.job.0 != *job.id || stored.tasks.len() != job.runs.len() {
        return Err("its place in the queue is another job's".to_owned());
    }
    Ok(stored)
}

/// A job that cannot go on.
fn ended(mut job: Job, ending: Ending, now_ms: u64) -> Job {
    let mut axes = record::axes(&job);
    axes.end(ending.ended_because());
    axes.advance(State::Finished);
    record::end_what_is_open(&mut job, ending, now_ms);
    record::finish(&mut job, axes, ending, &[], now_ms);
    job
}

/// How far the logs got of attempts that died with the server. What they had made is removed: it may be half of it.
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
        if let Err(error) = files.drop_artifacts(&id, attempt.number) {
            warn!(job = id, attempt = attempt.number, %error, "failed to remove what an attempt made");
        }
    }
}

/// Gives back what dead attempts held, so that each device is made safe and is free for others. No attempt outlives
/// the server, so this is whatever any job holds, whether or not its record tells.
pub(crate) fn release(leases: &Arc<Leases>) {
    for (device, lease_id, owner) in leases.held_by(is_lease_owner) {
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

#[cfg(test)]
mod tests;
