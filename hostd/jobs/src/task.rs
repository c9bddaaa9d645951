//! What is carried out at once: one attempt at one run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use evidence::redact::{Masks, Secrets, Words};
use jail::Reach;
use pipeline::plan::{Artifact, EnvValue, Plan, Role, Run, Step};

use crate::bench::Bench;
use crate::cache::CacheOwner;
use crate::cancel::Cancel;
use crate::outcome::{Clock, Skip};
use crate::runner::StartError;
use crate::step::Deadline;

/// One attempt at one run of a plan.
#[derive(Clone)]
pub struct Task<'t> {
    /// Whose it is. When the disk is nearly full, attempts of one organisation count together.
    pub org: String,
    /// What the run belongs to.
    pub plan: &'t Plan,
    /// The run.
    pub run: &'t Run,
    /// The sources, which are copied.
    pub source: PathBuf,
    /// Folders and files of the sources, absolute, that are not copied.
    pub leave_out: Vec<PathBuf>,
    /// The attempt's own folder, where `log`, `index` and `artifacts/<name>` go. Made if it is not there.
    pub out: PathBuf,
    /// Where the artifact of another run is; none if it is not there.
    pub artifact: &'t (dyn Fn(&Artifact) -> Option<PathBuf> + Sync),
    /// By name. All that the run's steps name must be there.
    pub secrets: &'t BTreeMap<String, String>,
    /// What must not be seen in the log either, and comes up while the run goes on.
    pub words: Words,
    /// What programs of the job ask to be kept from view, which all its attempts share.
    pub masks: Masks,
    /// For whom a build keeps what it keeps for later jobs, and whose it restores.
    pub cache: CacheOwner,
    /// What times are counted from.
    pub begun: Instant,
    /// When the whole job must be done.
    pub job_deadline: Option<Instant>,
    /// A folder that the job's folder is moved to, to be looked at. It must be on the disk of
    /// [`Options::state`](crate::Options::state).
    pub keep: Option<PathBuf>,
    /// The device that a run of a bench has for itself. Without one it is skipped.
    pub bench: Option<&'t dyn Bench>,
    /// Told how far it is.
    pub watch: &'t dyn Watch,
    /// How far commands reach into the network that ask for one. Without it, a run that asks is not carried out.
    pub network: Option<Reach>,
}

/// Is told how far an attempt is, on the threads that carry it out, which wait for it.
pub trait Watch: Sync {
    /// Its first step begins.
    fn started(&self) {}

    /// In a run of a bench, before the first output of its target, its programs or its tests is shown or logged: from
    /// here on the run must not be repeated. False: it may not go on, and is cancelled. Asked once at most.
    fn first_output(&self) -> bool {
        true
    }
}

/// Nobody who is told.
struct Nobody;

impl Watch for Nobody {}

fn no_artifact(_: &Artifact) -> Option<PathBuf> {
    None
}

static NO_SECRETS: BTreeMap<String, String> = BTreeMap::new();

impl<'t> Task<'t> {
    /// An attempt that begins now, without secrets, artifacts of others, bench, and anybody to tell.
    pub fn new(
        plan: &'t Plan,
        run: &'t Run,
        source: impl Into<PathBuf>,
        out: impl Into<PathBuf>,
    ) -> Self {
        Self {
            org: String::new(),
            plan,
            run,
            source: source.into(),
            leave_out: Vec::new(),
            out: out.into(),
            artifact: &no_artifact,
            secrets: &NO_SECRETS,
            words: Words::default(),
            masks: Masks::default(),
            cache: CacheOwner::local(),
            begun: Instant::now(),
            job_deadline: None,
            keep: None,
            bench: None,
            watch: &Nobody,
            network: None,
        }
    }

    /// Where its artifacts go.
    pub(crate) fn artifacts(&self) -> PathBuf {
        artifacts_in(&self.out)
    }

    /// Why it is not begun; none if it is.
    pub(crate) fn reason_to_skip(&self, cancel: &Cancel) -> Option<Skip> {
        if cancel.is_set() {
            return Some(Skip::Cancelled);
        }
        if self.job_deadline.is_some_and(|at| at <= Instant::now()) {
            return Some(Skip::JobTimeout);
        }
        (!is_build(self.run) && self.bench.is_none()).then_some(Skip::NoBench)
    }

    /// When all steps must be done, from now.
    pub(crate) fn deadline(&self) -> Deadline {
        let clock = match is_build(self.run) {
            true => Clock::Run,
            false => Clock::Test,
        };
        let run = Deadline::of(clock, Duration::from_millis(self.run.timeout_ms));
        let job = self.job_deadline.map(|at| Deadline {
            at,
            clock: Clock::Job,
            time: Duration::from_millis(self.plan.job_ms),
        });
        job.map_or(run, |job| run.min(job))
    }
}

/// Where the artifacts of an attempt are.
pub(crate) fn artifacts_in(out: &Path) -> PathBuf {
    out.join("artifacts")
}

pub(crate) fn is_build(run: &Run) -> bool {
    matches!(run.role, Role::Build { .. })
}

/// All steps of a run, those under `always` behind the others.
pub(crate) fn steps_of(run: &Run) -> impl Iterator<Item = &Step> {
    let always = match &run.role {
        Role::Bench { always, .. } => always.as_slice(),
        Role::Build { .. } => &[],
    };
    run.steps.iter().chain(always)
}

/// The secrets that must not be seen, like the words that come up and what programs ask for, once all that the runs name are
/// there.
///
/// # Errors
/// A step names one that is not there, or one cannot be kept out of logs.
pub(crate) fn check_secrets<'r>(
    runs: impl IntoIterator<Item = &'r Run>,
    secrets: &BTreeMap<String, String>,
    words: Words,
    masks: Masks,
) -> Result<Secrets, StartError> {
    for step in runs.into_iter().flat_map(steps_of) {
        let lacks = named_secrets(step).find(|name| !secrets.contains_key(*name));
        if let Some(name) = lacks {
            return Err(StartError::NoSecret(name.to_owned(), step.at.clone()));
        }
    }
    let secrets = secrets.iter();
    let secrets = secrets.map(|(name, value)| (name.as_str(), value.as_bytes()));
    Ok(Secrets::new(secrets)?.and(words, masks))
}

/// Names of the secrets that the steps of a run ask for.
#[must_use]
pub fn secrets_of(run: &Run) -> BTreeSet<&str> {
    steps_of(run).flat_map(named_secrets).collect()
}

fn named_secrets(step: &Step) -> impl Iterator<Item = &str> {
    step.env.values().filter_map(|value| match value {
        EnvValue::Secret(name) => Some(name.as_str()),
        EnvValue::Plain(_) => None,
    })
}
