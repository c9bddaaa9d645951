//! One attempt: the lease, the thread that carries the run out, and what is left of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use admission::Memory;
use base::config::AtQuota;
use evidence::redact::{Masks, Words};
use jobs::{Bench, Cancel, Event as Told, Live, Runner, StartError, Task, Watch};
use lab::blobs::{Blobs, Staged};
use lab::leases::{Ask, Claim, HOLDER_CHARS_MAX, LeaseError, Leases, Released, Shown, TTL_S};
use pipeline::Caps;
use pipeline::plan::{Artifact, Plan, Role};
use scheduler::{AttemptId, Ending, Infra};
use store::Store;
use store::measurements::Measurement;
use tokio::sync::oneshot;
use tracing::warn;
use vault::Vault;

use crate::bench::{Benches, Grant};
use crate::driver::{Event, Events, MAKING_SAFE, Refusal};
use crate::ending;
use crate::files::Files;
use crate::meter::Meter;
use crate::network::Network;
use crate::quota::Ledger;
use crate::record::Left;
use crate::trust;

mod keep;

use keep::keep;

/// How long a lease of an attempt lasts unless it is renewed.
const LEASE_TTL_S: u32 = 60;
const LEASE_TTL_MS: u64 = LEASE_TTL_S as u64 * 1000;

/// Between two renewals of a lease.
const RENEW_EVERY: Duration = Duration::from_secs(20);

/// Pauses before a device is asked for again that nobody is known to hold.
const RETRY_MS_MIN: u64 = 500;
const RETRY_MS_MAX: u64 = 2_000;

/// Between two looks at how much an attempt has written.
const GROWTH_EVERY: Duration = Duration::from_secs(2);

const _: () = assert!(LEASE_TTL_S >= *TTL_S.start() && LEASE_TTL_S <= *TTL_S.end());

/// What every attempt needs of the server.
pub(crate) struct Tools {
    pub(crate) runner: Runner,
    pub(crate) files: Files,
    pub(crate) blobs: Arc<Blobs>,
    pub(crate) leases: Arc<Leases>,
    pub(crate) benches: Arc<dyn Benches>,
    pub(crate) ledger: Arc<Ledger>,
    /// What happens when an organisation's jobs keep as much as they may.
    pub(crate) at_quota: AtQuota,
    pub(crate) meter: Arc<Meter>,
    pub(crate) vault: Arc<Vault>,
    pub(crate) store: Store,
    /// As it is configured now, which it may not have been when a job was submitted.
    pub(crate) network: Network,
    pub(crate) caps: Caps,
    /// Shared by all that callers can make large.
    pub(crate) memory: Arc<Memory>,
    /// Held while a pipeline is read, so that no more than one takes memory.
    pub(crate) reading: Mutex<()>,
}

impl Tools {
    /// What the run of an attempt comes to, and those that it needs to know of. None if the pipeline cannot be read any
    /// more, or does not come to that run.
    fn plan(&self, job: &str, attempt: &Attempt) -> Option<Plan> {
        let _turn = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let definition = self.files.definition(job);
        let definition = definition
            .inspect_err(|error| warn!(job, %error, "the pipeline of a job cannot be read"))
            .ok()?;
        let pipeline = pipeline::parse(&definition, &self.caps).ok()?;
        let place = attempt.id.task.task as usize;
        let mut plan = pipeline::expand_one(&pipeline, &self.caps, place);
        let own = plan.runs.get(place)?;
        if own.id != attempt.run {
            return None;
        }
        let built_by = match &own.role {
            Role::Bench { build, .. } => build.clone(),
            Role::Build { .. } => None,
        };
        plan.runs
            .retain(|run| run.id == attempt.run || Some(&run.id) == built_by.as_ref());
        Some(plan)
    }
}

/// An attempt to carry out.
pub(crate) struct Attempt {
    pub(crate) id: AttemptId,
    /// The id of its run.
    pub(crate) run: String,
    /// Organisation, user, and branch or tag, whose secrets and caches it gets.
    pub(crate) org: String,
    pub(crate) user: String,
    pub(crate) reference: Option<String>,
    /// What programs of the job have asked to be kept from view.
    pub(crate) masks: Masks,
    /// Digests of the files that runs before it made, by run and name.
    pub(crate) made: BTreeMap<(String, String), String>,
    /// When the job was submitted: what the times of its report count from.
    pub(crate) begun: Instant,
    /// When the job must be done.
    pub(crate) job_deadline: Instant,
    pub(crate) grant: Option<Grant>,
    /// What the device is called, and what others see as the holder of its lease.
    pub(crate) device_name: String,
    pub(crate) label: String,
    pub(crate) cancel: Cancel,
}

/// What an attempt came to.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) told: ending::Told,
    pub(crate) left: Left,
    /// The files that it made, on their way to their place.
    pub(crate) staged: Vec<Staged>,
    /// The device that still has to be made safe.
    pub(crate) owes: Option<String>,
}

impl Ended {
    fn of(ending: Ending) -> Self {
        Self {
            told: ending::Told::of(ending),
            left: Left::default(),
            staged: Vec::new(),
            owes: None,
        }
    }
}

/// Carries an attempt out and reports what came of it.
pub(crate) async fn carry_out(tools: Arc<Tools>, attempt: Attempt, events: Events) {
    let id = attempt.id.clone();
    let Some(grant) = attempt.grant.clone() else {
        let ended = within_quota(tools, attempt, events.clone()).await;
        events.ended(id, ended).await;
        return;
    };
    let claim = Claim {
        lease_id: grant.lease_id.clone(),
        owner: grant.lease_owner.clone(),
        holder: attempt.label.chars().take(HOLDER_CHARS_MAX).collect(),
        device_name: attempt.device_name.clone(),
        ttl_ms: LEASE_TTL_MS,
    };
    let leases = tools.leases.clone();
    match leases.acquire(&grant.device, claim, Ask::ONCE).await {
        Ok(_) => {}
        Err(LeaseError::Busy(busy)) => {
            // The lease may be ours, while those let in before it are still inside.
            if let Err(error) = leases.release(&grant.device, shown(&grant)).await {
                warn!(job = grant.job, device = grant.device, %error, "failed to give a device back");
            }
            let refusal = Refusal {
                expires_ms: busy.expires_ms.map(|steady| leases.wall_ms(steady)),
                holder: busy.holder.unwrap_or_else(|| MAKING_SAFE.to_owned()),
                retry_ms: busy.retry_after_ms.clamp(RETRY_MS_MIN, RETRY_MS_MAX),
            };
            return events.give_back(id, refusal).await;
        }
        Err(error) => {
            warn!(job = grant.job, device = grant.device, %error, "failed to take a device for a job");
            let lost = Ended::of(Ending::Infra(Infra::DeviceLost));
            return events.ended(id, lost).await;
        }
    }
    let cancel = attempt.cancel.clone();
    let work = within_quota(tools, attempt, events.clone());
    let (mut ended, is_lost) = with_lease(&leases, &grant, &cancel, work).await;
    if is_lost && matches!(ended.told.ending, Ending::Cancelled | Ending::Infra(_)) {
        ended.told = ending::Told::of(Ending::Infra(Infra::LeaseLost));
    }
    let shown = shown(&grant);
    match leases.release(&grant.device, shown).await {
        Ok(Released::Over { safe: true }) => {}
        Ok(_) => ended.owes = Some(grant.device.clone()),
        Err(error) => {
            warn!(job = grant.job, device = grant.device, %error, "failed to give a device back");
            ended.owes = Some(grant.device.clone());
        }
    }
    events.ended(id, ended).await;
}

fn shown(grant: &Grant) -> Shown<'_> {
    Shown {
        lease_id: Some(&grant.lease_id),
        owner: &grant.lease_owner,
    }
}

/// Renews the lease while the attempt runs; ends the attempt if the lease is lost. Whether it was.
async fn with_lease(
    leases: &Arc<Leases>,
    grant: &Grant,
    cancel: &Cancel,
    work: impl Future<Output = Ended>,
) -> (Ended, bool) {
    let mut work = std::pin::pin!(work);
    let mut is_lost = false;
    loop {
        tokio::select! {
            ended = &mut work => return (ended, is_lost),
            () = tokio::time::sleep(RENEW_EVERY), if !is_lost => {
                match leases.renew(&grant.device, shown(grant), LEASE_TTL_MS).await {
                    Ok(_) => {}
                    Err(LeaseError::Busy(_)) => {
                        is_lost = true;
                        cancel.cancel();
                    }
                    // The lease stands until it expires; the next renewal may work.
                    Err(error) => warn!(job = grant.job, %error, "failed to renew a lease"),
                }
            }
        }
    }
}

/// Carries an attempt out for as long as there is room for what it writes.
async fn within_quota(tools: Arc<Tools>, attempt: Attempt, events: Events) -> Ended {
    let (job, number) = (attempt.id.task.job.to_string(), attempt.id.number);
    let cancel = attempt.cancel.clone();
    let log = tools.files.log(&job, number);
    let ledger = tools.ledger.clone();
    let mut work = std::pin::pin!(on_thread(tools, attempt, events));
    let mut is_over = false;
    let mut ended = loop {
        tokio::select! {
            ended = &mut work => break ended,
            () = tokio::time::sleep(GROWTH_EVERY), if !is_over => {
                let path = log.clone();
                let length = tokio::task::spawn_blocking(move || fs::metadata(path).map_or(0, |log| log.len()));
                let bytes = length.await.unwrap_or_default();
                if !ledger.grow(&job, number, bytes) {
                    is_over = true;
                    warn!(job, attempt = number, "an attempt ends, since the organisation's jobs keep as much as they may");
                    cancel.cancel();
                }
            }
        }
    };
    if is_over && matches!(ended.told.ending, Ending::Cancelled) {
        ended.told = ending::Told::of(Ending::Infra(Infra::OrgQuota));
    }
    ended
}

/// A thread of its own, since a run blocks for as long as it takes and the pool for short work must stay free.
async fn on_thread(tools: Arc<Tools>, attempt: Attempt, events: Events) -> Ended {
    let (sender, receiver) = oneshot::channel();
    let name = format!("attempt-{}", attempt.id.number);
    let spawned = std::thread::Builder::new().name(name).spawn(move || {
        // Requests come before what a job has written.
        jail::stand_back();
        // Nobody listens only when the server has stopped.
        let _ = sender.send(blocking(&tools, &attempt, events));
    });
    if let Err(error) = spawned {
        warn!(%error, "failed to start a thread for an attempt");
        return Ended::of(Ending::Infra(Infra::JailNotStarted));
    }
    // A panic in the attempt drops the sender.
    let broken = Ended::of(Ending::Infra(Infra::JailNotStarted));
    receiver.await.unwrap_or(broken)
}

fn blocking(tools: &Tools, attempt: &Attempt, events: Events) -> Ended {
    let job = attempt.id.task.job.to_string();
    let number = attempt.id.number;
    let Some(plan) = tools.plan(&job, attempt) else {
        return Ended::of(Ending::DefinitionError);
    };
    let Some(run) = plan.runs.iter().find(|run| run.id == attempt.run) else {
        return Ended::of(Ending::DefinitionError);
    };
    let mut secrets = match secrets_of(tools, attempt, run) {
        Ok(secrets) => secrets,
        Err(ended) => return *ended,
    };
    let bench = match attempt
        .grant
        .as_ref()
        .map(|grant| tools.benches.bench(grant))
    {
        None => None,
        Some(Ok(bench)) => Some(bench),
        Some(Err(error)) => {
            warn!(job, %error, "failed to make a bench for a job");
            return Ended::of(Ending::Infra(Infra::ProbeUnreachable));
        }
    };
    let mut words = Words::default();
    if let Some(opened) = &bench {
        secrets.extend(opened.secrets.clone());
        words = opened.words.clone();
    }
    let artifact = |wanted: &Artifact| -> Option<PathBuf> {
        let key = (wanted.run.clone(), wanted.name.clone());
        Some(tools.blobs.path(attempt.made.get(&key)?))
    };
    let reference = attempt.reference.as_deref();
    let watch = Watcher {
        attempt: &attempt.id,
        events: &events,
    };
    let task = Task {
        org: attempt.org.clone(),
        plan: &plan,
        run,
        source: tools.files.source(&job),
        leave_out: Vec::new(),
        out: tools.files.attempt(&job, number),
        artifact: &artifact,
        secrets: &secrets,
        words,
        masks: attempt.masks.clone(),
        cache: trust::owner_now(&tools.store, &attempt.org, &attempt.user, reference),
        begun: attempt.begun,
        job_deadline: Some(attempt.job_deadline),
        keep: None,
        bench: bench.as_ref().map(|opened| &*opened.bench as &dyn Bench),
        watch: &watch,
        network: tools.network.reach(&attempt.org).ok(),
    };
    let live = Live::listening(Arc::new(|_: &Told| {}));
    let end = match tools.runner.attempt(&task, &live, &attempt.cancel) {
        Ok(end) => end,
        Err(error) => return not_begun(&job, error),
    };
    drop(bench);
    kept(tools, (job.as_str(), number), &end)
}

/// How an attempt ended, once what it made is kept.
fn kept(tools: &Tools, (job, number): (&str, u32), end: &jobs::RunEnd) -> Ended {
    let mut ended = Ended::of(Ending::Passed);
    ended.told = ending::Told::of_run(end);
    ended.left.log_bytes = end.log.bytes;
    ended.left.measurements = measured(job, number, end);
    if let Err(error) = keep(tools, (job, number), end, &mut ended) {
        warn!(job, %error, "failed to keep what an attempt made");
        let infra = if base::space::is_full(&error) {
            Infra::DiskFull
        } else {
            Infra::JailNotStarted
        };
        ended.told = ending::Told::of(Ending::Infra(infra));
    }
    ended
}

/// What an attempt measured, as it is stored.
fn measured(job: &str, number: u32, end: &jobs::RunEnd) -> Vec<Measurement> {
    let all = (0..).zip(end.measurements());
    let stored = all.map(|(place, (step, measured))| Measurement {
        job: job.to_owned(),
        attempt: number,
        number: place,
        run: end.id.clone(),
        step: step.to_owned(),
        r#ref: None,
        device: None,
        device_name: end.device.clone(),
        serial: measured.serial.clone(),
        name: measured.name.clone(),
        value: measured.value,
        unit: measured.unit.clone(),
        low: measured.low,
        high: measured.high,
        at_ms: 0,
    });
    stored.collect()
}

/// The values of the secrets that a run names, as they are now: what was changed or removed since the job was submitted
/// is.
fn secrets_of(
    tools: &Tools,
    attempt: &Attempt,
    run: &pipeline::plan::Run,
) -> Result<BTreeMap<String, String>, Box<Ended>> {
    let names = jobs::secrets_of(run);
    let reference = attempt.reference.as_deref();
    let opened = tools.vault.open(&attempt.org, &names, reference);
    opened.map_err(|unavailable| {
        warn!(job = %attempt.id.task.job, error = %unavailable, "a secret of a job cannot be had");
        let mut ended = Ended::of(Ending::Infra(Infra::SecretUnavailable));
        ended.told.message = unavailable.to_string();
        Box::new(ended)
    })
}

fn not_begun(job: &str, error: StartError) -> Ended {
    warn!(job, %error, "an attempt was not begun");
    let ending = match &error {
        StartError::NoSecret(..) | StartError::Secret(_) | StartError::ForeignOut(_) => {
            Ending::DefinitionError
        }
        StartError::NoPlace => Ending::Infra(Infra::JailNotStarted),
        StartError::Files(_, source) if base::space::is_full(source) => {
            Ending::Infra(Infra::DiskFull)
        }
        StartError::Files(..) => Ending::Infra(Infra::JailNotStarted),
    };
    let mut ended = Ended::of(ending);
    if ending == Ending::DefinitionError {
        ended.told.message = format!("The job could not begin: failed to {error}.");
    }
    ended
}

/// Tells the driver how far the attempt is.
struct Watcher<'w> {
    attempt: &'w AttemptId,
    events: &'w Events,
}

impl Watch for Watcher<'_> {
    fn started(&self) {
        self.events.blocking(Event::Started(self.attempt.clone()));
    }

    fn first_output(&self) -> bool {
        let (answer, answered) = oneshot::channel();
        self.events
            .blocking(Event::FirstOutput(self.attempt.clone(), answer));
        answered.blocking_recv().unwrap_or(false)
    }
}
