//! A whole job, carried out run after run on this machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base::private;
use evidence::redact::{Masks, Words};
use jail::Reach;
use pipeline::plan::{Artifact, Plan, Run};

use crate::attempt::Grounds;
use crate::bench::Benches;
use crate::cache::CacheOwner;
use crate::cancel::Cancel;
use crate::job::Job;
use crate::live::{Event, Live};
use crate::outcome::{Breakage, Outcome, Skip};
use crate::results::RunEnd;
use crate::runner::{Runner, StartError, absolute};
use crate::task::{self, Task};
use crate::tree;

/// A job to carry out.
#[derive(Clone)]
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
    /// For whom builds keep what they keep for later jobs, and whose they restore.
    pub cache: CacheOwner,
    /// Runs of benches are left out on purpose.
    pub builds_only: bool,
    /// A folder that the folders of runs are moved to, to be looked at. It must be on the disk of
    /// [`Options::state`](crate::Options::state).
    pub keep: Option<PathBuf>,
    /// Where runs of benches have their devices from. Without it they are not run.
    pub benches: Option<&'r dyn Benches>,
    /// How far commands reach into the network that ask for one. Without it, runs that ask are not carried out.
    pub network: Option<Reach>,
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
            cache: CacheOwner::local(),
            builds_only: false,
            keep: None,
            benches: None,
            network: None,
        }
    }

    /// Runs that are carried out, if those before them succeed.
    fn runs(&self) -> impl Iterator<Item = &'r Run> {
        let with_benches = self.benches.is_some() && !self.builds_only;
        let runs = self.plan.runs.iter();
        runs.filter(move |run| with_benches || task::is_build(run))
    }

    /// Makes the folder for results, without those of an earlier job.
    fn prepare_out(&self) -> Result<(), StartError> {
        let files = |source| StartError::Files(self.out.clone(), source);
        private::make_folder(&self.out).map_err(files)?;
        let mark = self.out.join(MARK);
        for folder in [artifacts(&self.out), captures(&self.out), logs(&self.out)] {
            if folder.symlink_metadata().is_ok() && !mark.exists() {
                return Err(StartError::ForeignOut(folder));
            }
            tree::remove(&folder).map_err(files)?;
        }
        fs::write(mark, "").map_err(files)
    }
}

/// Where artifacts go: `artifacts/<run>/<name>` below the folder for results.
fn artifacts(out: &Path) -> PathBuf {
    out.join("artifacts")
}

/// Where whoever has the captures of a job may put them: `captures/<run>/` below the folder for results. What an
/// earlier job has left there is removed.
#[must_use]
pub fn captures(out: &Path) -> PathBuf {
    out.join("captures")
}

/// Where logs go while they are written: `logs/<run>/<attempt>/log` and `index`.
pub(crate) fn logs(out: &Path) -> PathBuf {
    out.join("logs")
}

/// The folder of an attempt, from 1, at a run.
pub(crate) fn attempt_folder(logs: &Path, run: &str, attempt: u32) -> PathBuf {
    logs.join(run).join(attempt.to_string())
}

impl Runner {
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
        let (words, masks) = (Words::default(), Masks::default());
        let secrets = task::check_secrets(request.runs(), &request.secrets, words, masks)?;
        request.prepare_out()?;
        let out = absolute(&request.out)?;
        let own = [out.clone(), absolute(&self.options().state)?];
        let place = self.take_place()?;
        let course = Course {
            runner: self,
            request,
            grounds: Grounds {
                place: &place,
                secrets: &secrets,
                source: absolute(&request.source)?,
                leave_out: request.leave_out.iter().cloned().chain(own).collect(),
            },
            out,
            begun,
            live,
            cancel,
        };
        let mut runs: Vec<RunEnd> = Vec::new();
        for run in &request.plan.runs {
            let ended = course.run(run, &runs);
            runs.push(ended);
        }
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
    grounds: Grounds<'c>,
    out: PathBuf,
    begun: Instant,
    live: &'c Live,
    cancel: &'c Cancel,
}

impl Course<'_> {
    fn run(&self, run: &Run, before: &[RunEnd]) -> RunEnd {
        let made_by = |artifact: &Artifact| self.made_by(artifact);
        let mut task = Task {
            artifact: &made_by,
            secrets: &self.request.secrets,
            cache: self.request.cache.clone(),
            begun: self.begun,
            job_deadline: Some(self.begun + Duration::from_millis(self.request.plan.job_ms)),
            keep: self.request.keep.clone(),
            network: self.request.network,
            ..Task::new(
                self.request.plan,
                run,
                self.grounds.source.clone(),
                self.out.clone(),
            )
        };
        let skip = task.reason_to_skip(self.cancel);
        let skip = skip.filter(|skip| *skip != Skip::NoBench || self.benches(run).is_none());
        if let Some(skip) = skip.or_else(|| lacks(run, before)) {
            return RunEnd::skipped(run, Outcome::Skipped(skip), self.begun.elapsed());
        }
        self.live.tell(Event::RunStarted(run.id.clone()));
        let ended = self.carry_out(&mut task);
        let told = Event::RunEnded(run.id.clone(), ended.outcome.word(), ended.sentence());
        self.live.tell(told);
        ended
    }

    /// Tries until the run has ended for reasons of its own, or as often as the plan allows.
    fn carry_out(&self, task: &mut Task<'_>) -> RunEnd {
        let start = self.begun.elapsed();
        let mut attempts = 1;
        loop {
            task.out = attempt_folder(&logs(&self.out), &task.run.id, attempts);
            let mut ended = match self.benches(task.run) {
                Some(benches) => self.attempt_on_bench(benches, task, attempts),
                None => self
                    .runner
                    .attempt_on(&self.grounds, task, self.live, self.cancel),
            };
            let may_repeat = ended.may_repeat() && !self.cancel.is_set();
            if !may_repeat || self.request.plan.infra_retries < u64::from(attempts) {
                self.hand_over(task, &mut ended);
                ended.attempts = attempts;
                ended.time.start = start;
                return ended;
            }
            attempts += 1;
            let note = format!("{}; attempt {attempts}", ended.outcome);
            self.live.tell(Event::Note(note));
        }
    }

    /// Where a run has its device from, if it needs one.
    fn benches(&self, run: &Run) -> Option<&dyn Benches> {
        let benches = self.request.benches.filter(|_| !self.request.builds_only);
        benches.filter(|_| !task::is_build(run))
    }

    /// Takes a device for an attempt, and gives it back.
    fn attempt_on_bench(&self, benches: &dyn Benches, task: &Task<'_>, number: u32) -> RunEnd {
        let skipped = |outcome| RunEnd::skipped(task.run, outcome, self.begun.elapsed());
        let loan = match benches.take(task.run, number, self.cancel) {
            Ok(loan) => loan,
            Err(outcome) => return skipped(outcome),
        };
        self.live.tell(Event::Note(format!("on {}", loan.what())));
        let mut known = self.request.secrets.clone();
        known.extend(loan.secrets().clone());
        // What builds have asked for counts here, and the other way round.
        let masks = self.grounds.secrets.masks().clone();
        let words = loan.words().clone();
        let secrets = match task::check_secrets([task.run], &known, words, masks) {
            Ok(secrets) => secrets,
            Err(error) => return skipped(Outcome::Broken(Breakage::Files(error.to_string()))),
        };
        let grounds = Grounds {
            place: self.grounds.place,
            secrets: &secrets,
            source: self.grounds.source.clone(),
            leave_out: self.grounds.leave_out.clone(),
        };
        let with_bench = Task {
            bench: Some(loan.bench()),
            ..task.clone()
        };
        let mut ended = self
            .runner
            .attempt_on(&grounds, &with_bench, self.live, self.cancel);
        drop(with_bench);
        if let Err(breakage) = loan.give_back() {
            let outcome = Outcome::Broken(breakage);
            self.live.tell(Event::Note(outcome.to_string()));
            // That something else had failed stays.
            if ended.outcome.has_passed() {
                ended.outcome = outcome;
            }
        }
        ended
    }

    /// Moves the artifacts of the last attempt to those of the job.
    fn hand_over(&self, task: &Task<'_>, ended: &mut RunEnd) {
        if ended.artifacts.is_empty() {
            return;
        }
        let folder = artifacts(&self.out);
        let to = folder.join(&ended.id);
        let moved = private::make_folder(&folder).and_then(|()| fs::rename(task.artifacts(), &to));
        match moved {
            Ok(()) => {
                for artifact in &mut ended.artifacts {
                    artifact.path = to.join(&artifact.name);
                }
            }
            Err(error) => {
                ended.artifacts.clear();
                // That something else had failed stays.
                if ended.outcome.has_passed() {
                    ended.outcome = Outcome::broken("keep the artifacts", &error);
                }
            }
        }
    }

    fn made_by(&self, artifact: &Artifact) -> Option<PathBuf> {
        let path = artifacts(&self.out)
            .join(&artifact.run)
            .join(&artifact.name);
        path.is_file().then_some(path)
    }
}

/// What a run needs that did not succeed.
fn lacks(run: &Run, before: &[RunEnd]) -> Option<Skip> {
    let has_passed = |id: &&String| {
        before
            .iter()
            .any(|run| run.id == **id && run.outcome.has_passed())
    };
    let lacking = run.needs.iter().find(|id| !has_passed(id))?;
    Some(Skip::NeedFailed(lacking.clone()))
}
