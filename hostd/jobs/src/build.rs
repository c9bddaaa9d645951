//! A run of a build: sources, cache, steps, artifacts, in this order, in a place that is empty before and after.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base::space;
use evidence::redact::Secrets;
use pipeline::plan::{Cache as CachePlan, EnvValue, Limits, Role, Run, Step};

use crate::artifacts::{self, Artifact};
use crate::cache::{Cache, Key};
use crate::log::RunLog;
use crate::outcome::{Breakage, Clock, Failure, Outcome, chain};
use crate::place::Place;
use crate::results::{RunEnd, Span, StepEnd};
use crate::runner::{Request, Runner};
use crate::script::{self, JUNIT, OUT, OWN};
use crate::step::{Deadline, Scene};
use crate::tree::{self, CopyError, Rules};

mod judge;

use judge::Judge;

/// A run that is being carried out.
pub(crate) struct Build<'b> {
    pub(crate) runner: &'b Runner,
    pub(crate) request: &'b Request<'b>,
    pub(crate) place: &'b Place,
    pub(crate) run: &'b Run,
    pub(crate) secrets: &'b Secrets,
    pub(crate) log: &'b RunLog,
    /// When the job began, and when it must be done.
    pub(crate) begun: Instant,
    pub(crate) job_deadline: Deadline,
    pub(crate) cancel: &'b crate::cancel::Cancel,
}

/// What one attempt came to.
pub(crate) struct Attempt {
    pub(crate) outcome: Outcome,
    pub(crate) steps: Vec<StepEnd>,
    pub(crate) spans: Vec<(String, Span)>,
    pub(crate) artifacts: Vec<Artifact>,
    pub(crate) cache_hit: Option<bool>,
}

/// The run is over before its steps are: why.
type Stop<T> = Result<T, Outcome>;

impl Build<'_> {
    /// Carries the run out once.
    pub(crate) fn attempt(&self) -> Attempt {
        let mut attempt = Attempt {
            outcome: Outcome::Passed,
            steps: Vec::new(),
            spans: Vec::new(),
            artifacts: Vec::new(),
            cache_hit: None,
        };
        if let Err(outcome) = self.carry_out(&mut attempt) {
            attempt.outcome = outcome;
        }
        attempt
    }

    fn carry_out(&self, attempt: &mut Attempt) -> Stop<()> {
        let Role::Build {
            artifacts, cache, ..
        } = &self.run.role
        else {
            return Err(Outcome::Skipped(crate::outcome::Skip::NoBench));
        };
        self.refuse_unsupported()?;
        let deadline = self.run_deadline();
        self.timed(attempt, "sources", |_| self.prepare())?;
        let key = match cache {
            Some(cache) => self.timed(attempt, "restore cache", |attempt| {
                self.restore(cache, &mut attempt.cache_hit)
            })?,
            None => None,
        };
        self.steps(deadline, attempt)?;
        self.timed(attempt, "artifacts", |attempt| {
            attempt.artifacts = self.collect(artifacts)?;
            Ok(())
        })?;
        if let (Some(cache), Some(key), Some(false)) = (cache, &key, attempt.cache_hit) {
            self.timed(attempt, "keep cache", |_| self.save(cache, key))?;
        }
        Ok(())
    }

    fn refuse_unsupported(&self) -> Stop<()> {
        let sandbox = &self.run.sandbox;
        let unsupported = |what| Err(Outcome::Broken(Breakage::Unsupported(what)));
        if sandbox.image.is_some() {
            return unsupported(
                "`sandbox.image`; leave it out to use the programs of this machine",
            );
        }
        if sandbox.network {
            return unsupported("`sandbox.network`; put what the build fetches into the sources");
        }
        Ok(())
    }

    fn run_deadline(&self) -> Deadline {
        let time = Duration::from_millis(self.run.timeout_ms);
        Deadline {
            at: Instant::now() + time,
            clock: Clock::Run,
            time,
        }
        .min(self.job_deadline)
    }

    fn timed<T>(
        &self,
        attempt: &mut Attempt,
        name: &str,
        work: impl FnOnce(&mut Attempt) -> Stop<T>,
    ) -> Stop<T> {
        let start = self.begun.elapsed();
        let done = work(attempt);
        let end = self.begun.elapsed();
        attempt.spans.push((name.to_owned(), Span { start, end }));
        done
    }

    /// Makes the job's folder: the sources, and what the runner needs in it.
    fn prepare(&self) -> Stop<()> {
        let failed = |error: std::io::Error| Outcome::broken("make the job's folder", &error);
        self.place.clear().map_err(failed)?;
        let own = self.request.source.join(OWN);
        let leave_out: Vec<PathBuf> = self
            .request
            .leave_out
            .iter()
            .cloned()
            .chain([own])
            .collect();
        let rules = self.rules(&leave_out);
        let bytes = tree::copy(&self.request.source, &self.place.job(), &rules)
            .map_err(|error| copy_failed(&error))?;
        for folder in [OWN, OUT, JUNIT] {
            self.place.make(folder).map_err(failed)?;
        }
        self.log.write_line(&format!("{bytes} bytes of sources"));
        Ok(())
    }

    fn rules<'r>(&'r self, leave_out: &'r [PathBuf]) -> Rules<'r> {
        Rules {
            owner: self.place.owner(),
            bytes_max: self.limits().disk_bytes,
            leave_out,
            cancel: self.cancel,
        }
    }

    fn limits(&self) -> &Limits {
        &self.request.plan.limits
    }

    /// Fetches what was kept, and tells by what key it would be.
    fn restore(&self, plan: &CachePlan, hit: &mut Option<bool>) -> Stop<Option<Key>> {
        let job = self.place.job();
        let found = Key::of(plan, self.runner.toolchain(), &job).and_then(|key| {
            let cache = self.open_cache()?;
            let is_there = cache.restore(&key, &job, &self.rules(&[]))?;
            Ok((key, is_there))
        });
        match found {
            Ok((key, is_there)) => {
                let word = if is_there {
                    "restored"
                } else {
                    "nothing kept yet"
                };
                self.log.note(&format!("cache {}: {word}", key.short()));
                *hit = Some(is_there);
                Ok(Some(key))
            }
            Err(CopyError::Cancelled) => Err(Outcome::Cancelled),
            Err(error) => {
                self.log
                    .note(&format!("no cache: failed to {}", chain(&error)));
                Ok(None)
            }
        }
    }

    fn save(&self, plan: &CachePlan, key: &Key) -> Stop<()> {
        if !self.request.keeps_cache {
            return Ok(());
        }
        let kept = self
            .open_cache()
            .and_then(|cache| cache.save(key, &self.place.job(), &plan.paths, &self.rules(&[])));
        match kept {
            Ok(Some(bytes)) => self
                .log
                .note(&format!("cache {}: kept {bytes} bytes", key.short())),
            Ok(None) => self
                .log
                .note("cache: none of its paths is there; nothing is kept"),
            Err(CopyError::Cancelled) => return Err(Outcome::Cancelled),
            Err(error) => self
                .log
                .note(&format!("cache: failed to {}", chain(&error))),
        }
        Ok(())
    }

    fn open_cache(&self) -> Result<Cache, CopyError> {
        let options = self.runner.options();
        Cache::open(&options.state, options.cache_bytes, self.cancel)
    }

    fn collect(&self, names: &[String]) -> Stop<Vec<Artifact>> {
        if self.cancel.is_set() {
            return Err(Outcome::Cancelled);
        }
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let to = self.request.artifacts().join(&self.run.id);
        tree::remove(&to).map_err(|error| Outcome::broken("keep an artifact", &error))?;
        let out = self.place.job().join(OUT);
        artifacts::collect(&out, names, &to, self.limits().disk_bytes)
    }

    /// Does the steps in their order. Ends with the first outcome that is not as it should be.
    fn steps(&self, deadline: Deadline, attempt: &mut Attempt) -> Stop<()> {
        let scene = Scene {
            jail: self.runner.jail(),
            tools: &self.runner.options().tools,
            place: self.place,
            limits: self.limits(),
            floor_bytes: self.runner.options().floor_bytes,
            cpu_millis: self.runner.options().cpu_millis,
            log: self.log,
            secrets: self.secrets,
            cancel: self.cancel,
        };
        let mut judge = Judge::new(&self.run.steps);
        let mut first = None;
        for (index, step) in self.run.steps.iter().enumerate() {
            let end = match judge::reason_to_skip(step, first.as_ref()) {
                Some(skip) => self.skipped(step, Outcome::Skipped(skip)),
                None => self.step(index, step, &scene, deadline, &mut judge),
            };
            let is_bad = !matches!(end.outcome, Outcome::Passed | Outcome::Skipped(_));
            if is_bad && first.is_none() {
                first = Some(end.outcome.clone());
            }
            attempt.steps.push(end);
        }
        first.map_or(Ok(()), Err)
    }

    fn skipped(&self, step: &Step, outcome: Outcome) -> StepEnd {
        let now = self.begun.elapsed();
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
            cases: Vec::new(),
        }
    }

    fn step(
        &self,
        index: usize,
        step: &Step,
        scene: &Scene<'_>,
        deadline: Deadline,
        judge: &mut Judge<'_>,
    ) -> StepEnd {
        let name = script::name(step);
        self.log.begin_step(index, &name);
        let mut end = self.skipped(step, Outcome::Cancelled);
        if !self.cancel.is_set() {
            let time = Duration::from_millis(step.timeout_ms);
            let own = Deadline {
                at: Instant::now() + time,
                clock: Clock::Step,
                time,
            };
            let environment = self.environment(step);
            judge.step(
                self,
                index,
                step,
                scene,
                &environment,
                own.min(deadline),
                &mut end,
            );
        }
        end.time.end = self.begun.elapsed();
        end.tail = self.log.tail();
        let sentence = end.outcome.to_string();
        self.log.write_line(&format!("{name}: {sentence}"));
        self.request.tell_step_end(&name, &end.outcome, sentence);
        end
    }

    fn environment(&self, step: &Step) -> BTreeMap<String, String> {
        let mut environment = self.run.env.clone();
        for (name, value) in &step.env {
            let value = match value {
                EnvValue::Plain(text) => text.clone(),
                // A job with one that is not there was not begun.
                EnvValue::Secret(name) => {
                    self.request.secrets.get(name).cloned().unwrap_or_default()
                }
            };
            environment.insert(name.clone(), value);
        }
        environment
    }
}

fn copy_failed(error: &CopyError) -> Outcome {
    match error {
        CopyError::Cancelled => Outcome::Cancelled,
        CopyError::Large { bytes, .. } => Outcome::Failed(Failure::Disk(*bytes)),
        error if space::is_full(error) => Outcome::Broken(Breakage::DiskFull),
        error => Outcome::Broken(Breakage::Files(chain(error))),
    }
}

impl Attempt {
    /// What is known about the run, when this was its last attempt.
    pub(crate) fn end(self, run: &Run, attempts: u32, start: Duration, end: Duration) -> RunEnd {
        let mut ended = RunEnd::skipped(run, self.outcome, start);
        ended.attempts = attempts;
        ended.time.end = end;
        ended.spans = self.spans;
        let steps = self.steps.iter().filter(|step| !step.time.is_empty());
        let steps: Vec<_> = steps.map(|step| (step.name.clone(), step.time)).collect();
        ended.spans.extend(steps);
        ended.steps = self.steps;
        ended.artifacts = self.artifacts;
        ended.cache_hit = self.cache_hit;
        ended
    }
}

/// The folder of a run's log.
pub(crate) fn log_folder(logs: &Path, run: &str) -> PathBuf {
    logs.join(run)
}
