//! Who carries jobs out: the jails, the folders and the bounds of this machine.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use base::private;
use evidence::redact::{Secrets, Unfit};
use jail::{Bind, Jail};
use pipeline::plan::{EnvValue, Plan, Role, Run, Step};

use crate::build::{self, Build};
use crate::cancel::Cancel;
use crate::job::Job;
use crate::live::{Event, Live};
use crate::log::RunLog;
use crate::outcome::{Clock, Outcome, Skip};
use crate::place::Place;
use crate::results::RunEnd;
use crate::step::Deadline;
use crate::{toolchain, tree};

/// What this machine gives to jobs.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder of places and cache, for this user alone. Made if it is not there.
    pub state: PathBuf,
    /// How jails are made.
    pub jail: jail::Options,
    /// Folders of tools that are shown inside.
    pub tools: Vec<Bind>,
    /// Bytes of all caches together.
    pub cache_bytes: u64,
    /// Bytes that jobs leave free on the disk.
    pub floor_bytes: u64,
    /// Processor time for each second of a job, in thousandths of a core.
    pub cpu_millis: u32,
}

impl Options {
    /// All processors, a cache of 4 GiB, and 256 MiB that stay free.
    pub fn new(state: impl Into<PathBuf>) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            state: state.into(),
            jail: jail::Options::default(),
            tools: Vec::new(),
            cache_bytes: 4 << 30,
            floor_bytes: 256 << 20,
            cpu_millis: u32::try_from(cores * 1000).unwrap_or(1000),
        }
    }
}

/// Why there is no runner.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder of places and cache.
    #[error("make the folder {}", .0.display())]
    State(PathBuf, #[source] io::Error),
    /// What makes jails could not be started.
    #[error("start what makes jails")]
    Jail(#[source] jail::Error),
}

/// Why a job was not begun.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A step needs a secret that there is none of.
    #[error("find the secret {0}, which {1} needs")]
    NoSecret(String, String),
    /// A secret cannot be kept out of the log.
    #[error(transparent)]
    Secret(#[from] Unfit),
    /// Every place is taken.
    #[error("find a free place: too many jobs run on this machine")]
    NoPlace,
    /// There is something that was not left by a job.
    #[error("write to {}: there is something that no job has left; name another folder", .0.display())]
    ForeignOut(PathBuf),
    /// A folder or file.
    #[error("use {}", .0.display())]
    Files(PathBuf, #[source] io::Error),
}

/// A job to carry out.
#[derive(Clone, Debug)]
pub struct Request<'r> {
    /// What is to be done.
    pub plan: &'r Plan,
    /// The sources, which are copied for each run.
    pub source: PathBuf,
    /// Folders and files of the sources, absolute, that are not copied.
    pub leave_out: Vec<PathBuf>,
    /// Where artifacts and logs go.
    pub out: PathBuf,
    /// By name.
    pub secrets: BTreeMap<String, String>,
    /// Whether what a build keeps is kept for later jobs. It is restored in either case.
    pub keeps_cache: bool,
    /// Runs of benches are left out on purpose.
    pub builds_only: bool,
    /// A folder that the folders of runs are moved to, to be looked at. It must be on the disk of [`Options::state`].
    pub keep: Option<PathBuf>,
    live: Option<Live>,
}

/// Left in the folder for results, so that only such a folder is ever cleared.
const MARK: &str = ".hostd-results";

impl<'r> Request<'r> {
    /// A job without secrets, whose results go to `out`.
    pub fn new(plan: &'r Plan, source: impl Into<PathBuf>, out: impl Into<PathBuf>) -> Self {
        Self {
            plan,
            source: source.into(),
            leave_out: Vec::new(),
            out: out.into(),
            secrets: BTreeMap::new(),
            keeps_cache: true,
            builds_only: false,
            keep: None,
            live: None,
        }
    }

    /// Where artifacts go: `artifacts/<run>/<name>` below the folder for results.
    pub(crate) fn artifacts(&self) -> PathBuf {
        self.out.join("artifacts")
    }

    /// Where logs go while they are written: `logs/<run>/log` and `index`.
    pub(crate) fn logs(&self) -> PathBuf {
        self.out.join("logs")
    }

    pub(crate) fn tell_step_end(&self, name: &str, outcome: &Outcome, sentence: String) {
        self.tell(Event::StepEnded(name.to_owned(), outcome.word(), sentence));
    }

    fn tell(&self, event: Event) {
        if let Some(live) = &self.live {
            live.tell(event);
        }
    }

    /// Makes the folder for results, without those of an earlier job.
    fn prepare_out(&self) -> Result<(), StartError> {
        let files = |source| StartError::Files(self.out.clone(), source);
        private::make_folder(&self.out).map_err(files)?;
        let mark = self.out.join(MARK);
        for folder in [self.artifacts(), self.logs()] {
            if folder.symlink_metadata().is_ok() && !mark.exists() {
                return Err(StartError::ForeignOut(folder));
            }
            tree::remove(&folder).map_err(files)?;
        }
        std::fs::write(mark, "").map_err(files)
    }

    /// The secrets that steps of builds name, all of which must be there.
    fn check_secrets(&self) -> Result<Secrets, StartError> {
        let builds = self.plan.runs.iter().filter(|run| is_build(run));
        for step in builds.flat_map(|run| &run.steps) {
            let lacks = named_secrets(step).find(|name| !self.secrets.contains_key(*name));
            if let Some(name) = lacks {
                return Err(StartError::NoSecret(name.to_owned(), step.at.clone()));
            }
        }
        let secrets = self.secrets.iter();
        Ok(Secrets::new(
            secrets.map(|(name, value)| (name.as_str(), value.as_bytes())),
        )?)
    }
}

fn named_secrets(step: &Step) -> impl Iterator<Item = &str> {
    step.env.values().filter_map(|value| match value {
        EnvValue::Secret(name) => Some(name.as_str()),
        EnvValue::Plain(_) => None,
    })
}

fn is_build(run: &Run) -> bool {
    matches!(run.role, Role::Build { .. })
}

/// Carries jobs out. Dropping it ends all that still runs.
#[derive(Debug)]
pub struct Runner {
    jail: Jail,
    options: Options,
    toolchain: OnceLock<[u8; 32]>,
}

impl Runner {
    /// Makes ready for jobs.
    ///
    /// # Errors
    /// The folder cannot be made, or what makes jails cannot be started. Whether the machine lets jails be made is
    /// told by the first step.
    pub fn open(options: Options) -> Result<Self, OpenError> {
        private::make_folder(&options.state)
            .map_err(|error| OpenError::State(options.state.clone(), error))?;
        Ok(Self {
            jail: Jail::open(&options.jail).map_err(OpenError::Jail)?,
            options,
            toolchain: OnceLock::new(),
        })
    }

    pub(crate) fn jail(&self) -> &Jail {
        &self.jail
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn toolchain(&self) -> &[u8; 32] {
        self.toolchain
            .get_or_init(|| toolchain::digest(&self.options.tools))
    }

    /// Carries a job out, run after run, and returns when nothing of it is left but its results. What a job came to
    /// is no error, however bad.
    ///
    /// # Errors
    /// The job was not begun.
    pub fn run(
        &self,
        request: &Request<'_>,
        live: &Live,
        cancel: &Cancel,
    ) -> Result<Job, StartError> {
        let begun = Instant::now();
        let secrets = request.check_secrets()?;
        request.prepare_out()?;
        let absolute = |path: &Path| {
            path.canonicalize()
                .map_err(|error| StartError::Files(path.to_owned(), error))
        };
        let mut request = request.clone();
        request.source = absolute(&request.source)?;
        request.out = absolute(&request.out)?;
        let own = [request.out.clone(), absolute(&self.options.state)?];
        request.leave_out.extend(own);
        request.live = Some(live.clone());
        let place = Place::take(&self.options.state)
            .map_err(|error| StartError::Files(self.options.state.clone(), error))?
            .ok_or(StartError::NoPlace)?;
        let time = Duration::from_millis(request.plan.job_ms);
        let course = Course {
            runner: self,
            request: &request,
            place: &place,
            secrets: &secrets,
            begun,
            deadline: Deadline {
                at: begun + time,
                clock: Clock::Job,
                time,
            },
            live,
            cancel,
        };
        let mut runs: Vec<RunEnd> = Vec::new();
        for run in &request.plan.runs {
            let ended = course.run(run, &runs);
            runs.push(ended);
        }
        drop(place);
        Ok(Job {
            runs,
            duration: begun.elapsed(),
            builds_only: request.builds_only,
        })
    }
}

/// A job on its way.
struct Course<'c> {
    runner: &'c Runner,
    request: &'c Request<'c>,
    place: &'c Place,
    secrets: &'c Secrets,
    begun: Instant,
    deadline: Deadline,
    live: &'c Live,
    cancel: &'c Cancel,
}

impl Course<'_> {
    fn run(&self, run: &Run, before: &[RunEnd]) -> RunEnd {
        if let Some(skip) = self.reason_to_skip(run, before) {
            return RunEnd::skipped(run, Outcome::Skipped(skip), self.begun.elapsed());
        }
        self.live.tell(Event::RunStarted(run.id.clone()));
        let ended = self.carry_out(run);
        let sentence = ended.outcome.to_string();
        let told = Event::RunEnded(run.id.clone(), ended.outcome.word(), sentence);
        self.live.tell(told);
        ended
    }

    fn reason_to_skip(&self, run: &Run, before: &[RunEnd]) -> Option<Skip> {
        if self.cancel.is_set() {
            return Some(Skip::Cancelled);
        }
        if self.deadline.at <= Instant::now() {
            return Some(Skip::JobTimeout);
        }
        if !is_build(run) {
            return Some(Skip::NoBench);
        }
        let has_passed = |id: &&String| {
            before
                .iter()
                .any(|run| run.id == **id && run.outcome.has_passed())
        };
        let lacking = run.needs.iter().find(|id| !has_passed(id))?;
        Some(Skip::NeedFailed(lacking.clone()))
    }

    fn carry_out(&self, run: &Run) -> RunEnd {
        let start = self.begun.elapsed();
        let folder = build::log_folder(&self.request.logs(), &run.id);
        let cap = self.request.plan.limits.log_bytes;
        let log = match RunLog::create(&folder, cap, self.begun, self.live.clone()) {
            Ok(log) => log,
            Err(error) => {
                return RunEnd::skipped(run, Outcome::broken("make the log", &error), start);
            }
        };
        let build = Build {
            runner: self.runner,
            request: self.request,
            place: self.place,
            run,
            secrets: self.secrets,
            log: &log,
            begun: self.begun,
            job_deadline: self.deadline,
            cancel: self.cancel,
        };
        let mut attempts = 1;
        let attempt = loop {
            let attempt = build.attempt();
            let may_pass =
                matches!(&attempt.outcome, Outcome::Broken(breakage) if breakage.may_pass());
            if !may_pass || self.request.plan.infra_retries < u64::from(attempts) {
                break attempt;
            }
            attempts += 1;
            log.note(&format!("{}; attempt {attempts}", attempt.outcome));
        };
        self.leave(run, &log);
        log.write_line(&format!("{}: {}", run.id, attempt.outcome));
        let mut ended = attempt.end(run, attempts, start, self.begun.elapsed());
        ended.log = log.finish();
        ended
    }

    /// Removes what a run left in its place, or keeps it.
    fn leave(&self, run: &Run, log: &RunLog) {
        let left = match &self.request.keep {
            Some(folder) => {
                let kept = folder.join(&run.id);
                self.place.keep(&kept).map(|()| {
                    log.note(&format!("kept as {}", kept.display()));
                })
            }
            None => self.place.clear(),
        };
        if let Err(error) = left {
            log.note(&format!("failed to clear the job's folder: {error}"));
        }
    }
}
