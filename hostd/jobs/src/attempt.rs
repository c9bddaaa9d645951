//! What attempts at builds and at benches have in common: the job's folder, the steps' environment, and the record of
//! what came of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use base::space;
use evidence::cases::Counts;
use evidence::redact::Secrets;
use jail::Reach;
use pipeline::plan::{EnvValue, Limits, Step};

use crate::artifacts::Artifact;
use crate::cancel::Cancel;
use crate::cases::CaseFile;
use crate::disk::Tenant;
use crate::image::{Image, Wanted};
use crate::live::{Event, Live};
use crate::log::RunLog;
use crate::outcome::{Breakage, Failure, Outcome, Skip, chain};
use crate::place::Place;
use crate::results::{RunEnd, Span, StepEnd};
use crate::runner::Runner;
use crate::script::{self, JUNIT, OUT, OWN, is_program};
use crate::step::{Relay, Scene};
use crate::task::{Task, steps_of};
use crate::timeline::Reading;
use crate::tree::{self, CopyError, Rules};

/// Where an attempt takes place.
pub(crate) struct Grounds<'g> {
    pub(crate) place: &'g Place,
    pub(crate) secrets: &'g Secrets,
    /// The sources and what of them is not copied, without links on the way.
    pub(crate) source: PathBuf,
    pub(crate) leave_out: Vec<PathBuf>,
}

/// An attempt on its way.
#[derive(Clone, Copy)]
pub(crate) struct Attempt<'a> {
    pub(crate) runner: &'a Runner,
    pub(crate) task: &'a Task<'a>,
    pub(crate) grounds: &'a Grounds<'a>,
    pub(crate) log: &'a RunLog<'a>,
    pub(crate) cases: &'a CaseFile,
    pub(crate) live: &'a Live,
    pub(crate) cancel: &'a Cancel,
    /// What its commands see in place of this machine's programs.
    pub(crate) image: Option<&'a Image>,
    /// What it holds of the disk.
    pub(crate) tenant: &'a Tenant<'a>,
}

/// What an attempt came to so far.
pub(crate) struct Progress {
    pub(crate) outcome: Outcome,
    pub(crate) steps: Vec<StepEnd>,
    pub(crate) spans: Vec<(String, Span)>,
    pub(crate) artifacts: Vec<Artifact>,
    pub(crate) cache_hit: Option<bool>,
    pub(crate) readings: Vec<Reading>,
}

/// The run is over before its end: why.
pub(crate) type Stop<T> = Result<T, Outcome>;

impl Attempt<'_> {
    pub(crate) fn limits(&self) -> &Limits {
        &self.task.plan.limits
    }

    pub(crate) fn place(&self) -> &Place {
        self.grounds.place
    }

    /// Refuses what the sandbox of this run would need.
    pub(crate) fn refuse_unsupported(&self) -> Stop<()> {
        let sandbox = &self.task.run.sandbox;
        let unsupported = |what: &str| Err(Outcome::Broken(Breakage::Unsupported(what.to_owned())));
        if sandbox.network && self.task.network.is_none() {
            return unsupported(
                "`sandbox.network`, for it was not permitted: `hostd run --network` does that, and on a server `jobs.network` and `jobs.network_orgs`; or put what is fetched into the sources",
            );
        }
        Ok(())
    }

    /// Makes the image ready that the run names, if it has commands.
    pub(crate) fn hold_image(&self, progress: &mut Progress) -> Stop<Option<Image>> {
        let run = self.task.run;
        let named = run.sandbox.image.as_deref();
        let Some(name) = named.filter(|_| steps_of(run).any(is_program)) else {
            return Ok(None);
        };
        self.timed(progress, "image", |_| {
            let wanted = Wanted {
                name,
                cancel: self.cancel,
                until: self.task.job_deadline,
                note: &|text| self.log.note(text),
            };
            let held = self.runner.images().hold(&wanted);
            held.map(Some).map_err(|error| error.outcome())
        })
    }

    /// What stands for the programs that its commands use.
    pub(crate) fn toolchain(&self) -> [u8; 32] {
        self.image
            .map_or_else(|| *self.runner.toolchain(), Image::toolchain)
    }

    /// How far its commands reach into the network; none if they do not ask for one.
    pub(crate) fn network(&self) -> Option<Reach> {
        self.task.network.filter(|_| self.task.run.sandbox.network)
    }

    /// Does something and notes how long it took.
    pub(crate) fn timed<T>(
        &self,
        progress: &mut Progress,
        name: &str,
        work: impl FnOnce(&mut Progress) -> Stop<T>,
    ) -> Stop<T> {
        let start = self.task.begun.elapsed();
        let done = work(progress);
        let end = self.task.begun.elapsed();
        progress.spans.push((name.to_owned(), Span { start, end }));
        done
    }

    /// Makes the job's folder: the sources, and what the runner needs in it.
    pub(crate) fn prepare(&self) -> Stop<()> {
        let failed = |error: std::io::Error| Outcome::broken("make the job's folder", &error);
        self.place().clear().map_err(failed)?;
        let own = self.grounds.source.join(OWN);
        let leave_out = self.grounds.leave_out.iter().cloned();
        let mut leave_out: Vec<PathBuf> = leave_out.chain([own]).collect();
        leave_out.sort();
        let rules = self.rules(&leave_out);
        let bytes = tree::copy(&self.grounds.source, &self.place().job(), &rules)
            .map_err(|error| copy_failed(&error))?;
        for folder in [OWN, OUT, JUNIT] {
            self.place().make(folder).map_err(failed)?;
        }
        if bytes > 0 {
            self.log.write_line(&format!("{bytes} bytes of sources"));
        }
        if let Some(reach) = self.network() {
            let word = reach.word();
            self.log
                .write_line(&format!("with a network: {word} addresses"));
        }
        Ok(())
    }

    pub(crate) fn rules<'r>(&'r self, leave_out: &'r [PathBuf]) -> Rules<'r> {
        Rules {
            owner: self.place().owner(),
            bytes_max: self.limits().disk_bytes,
            floor: self.runner.disk().floor,
            leave_out,
            cancel: self.cancel,
        }
    }

    /// Where commands run.
    pub(crate) fn scene<'s>(&'s self, relay: Option<&'s Relay>) -> Scene<'s> {
        let options = self.runner.options();
        Scene {
            jail: self.runner.jail(),
            tools: &options.tools,
            image: self.image,
            place: self.place(),
            limits: self.limits(),
            floor: self.runner.disk().floor,
            tenant: self.tenant,
            cpu_millis: options.cpu_millis,
            log: self.log,
            secrets: self.grounds.secrets,
            cancel: self.cancel,
            relay,
            network: self.network(),
        }
    }

    /// The environment of a step.
    pub(crate) fn environment(&self, step: &Step) -> BTreeMap<String, String> {
        let mut environment = self.task.run.env.clone();
        for (name, value) in &step.env {
            let value = match value {
                EnvValue::Plain(text) => text.clone(),
                // An attempt with one that is not there was not begun.
                EnvValue::Secret(name) => self.task.secrets.get(name).cloned().unwrap_or_default(),
            };
            environment.insert(name.clone(), value);
        }
        environment
    }

    /// A step that was not run, for this reason.
    pub(crate) fn skipped(&self, step: &Step, skip: Skip) -> StepEnd {
        self.step_end(step, Outcome::Skipped(skip))
    }

    fn step_end(&self, step: &Step, outcome: Outcome) -> StepEnd {
        let now = self.task.begun.elapsed();
        StepEnd {
            at: step.at.clone(),
            name: script::name(step),
            case: step.case.clone(),
            outcome,
            exit_code: None,
            time: Span {
                start: now,
                end: now,
            },
            tail: String::new(),
            counts: Counts::default(),
            cases: Vec::new(),
            captures: Vec::new(),
            measurements: Vec::new(),
        }
    }

    /// Does a step, with its heading and its end in the log. `work` says how it went, and may say what it wrote if that
    /// is not what came meanwhile.
    pub(crate) fn step(
        &self,
        index: usize,
        step: &Step,
        work: impl FnOnce(&mut StepEnd),
    ) -> StepEnd {
        let name = script::name(step);
        self.log.begin_step(index, &name);
        let mut end = self.step_end(step, Outcome::Cancelled);
        work(&mut end);
        end.outcome = end.outcome.redacted(self.grounds.secrets);
        end.time.end = self.task.begun.elapsed();
        if end.tail.is_empty() {
            end.tail = self.log.tail();
        }
        let sentence = end.outcome.to_string();
        self.log.write_line(&format!("{name}: {sentence}"));
        let told = Event::StepEnded(name, end.outcome.word(), sentence);
        self.live.tell(told);
        end
    }

    /// Removes what the run left in its place, or keeps it. What somebody cancelled is removed when the place is given
    /// back: it may be a million files, and whoever cancelled waits.
    pub(crate) fn leave(&self) {
        if self.cancel.is_set() && self.task.keep.is_none() {
            return;
        }
        let left = match &self.task.keep {
            Some(folder) => self.keep(&folder.join(&self.task.run.id)),
            None => self.place().clear(),
        };
        if let Err(error) = left {
            self.log
                .note(&format!("failed to clear the job's folder: {error}"));
        }
    }

    fn keep(&self, kept: &Path) -> std::io::Result<()> {
        self.place().keep(kept)?;
        self.log.note(&format!("kept as {}", kept.display()));
        Ok(())
    }
}

pub(crate) fn copy_failed(error: &CopyError) -> Outcome {
    match error {
        CopyError::Cancelled => Outcome::Cancelled,
        CopyError::Large { bytes, .. } => Outcome::Failed(Failure::Disk(*bytes)),
        error if space::is_full(error) => Outcome::Broken(Breakage::DiskFull),
        error => Outcome::Broken(Breakage::Files(chain(error))),
    }
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self {
            outcome: Outcome::Passed,
            steps: Vec::new(),
            spans: Vec::new(),
            artifacts: Vec::new(),
            cache_hit: None,
            readings: Vec::new(),
        }
    }

    /// What is known about the attempt that began at `start`.
    pub(crate) fn end(self, task: &Task<'_>, start: Instant) -> RunEnd {
        let start = start.saturating_duration_since(task.begun);
        let mut ended = RunEnd::skipped(task.run, self.outcome, start);
        ended.attempts = 1;
        ended.time.end = task.begun.elapsed();
        ended.spans = self.spans;
        let steps = self.steps.iter().filter(|step| !step.time.is_empty());
        let steps: Vec<_> = steps.map(|step| (step.name.clone(), step.time)).collect();
        ended.spans.extend(steps);
        ended.steps = self.steps;
        ended.artifacts = self.artifacts;
        ended.cache_hit = self.cache_hit;
        ended.readings = self.readings;
        ended.network = task.network.filter(|_| task.run.sandbox.network);
        ended
    }
}
