//! A run of a build: sources, cache, steps, artifacts, in this order, in a place that is empty before and after.

use std::time::Duration;

use pipeline::plan::{Cache as CachePlan, Role};

use crate::artifacts::{self, Artifact};
use crate::attempt::{Attempt, Progress, Stop};
use crate::cache::{Cache, Key};
use crate::judge::{Judge, reason_to_skip};
use crate::outcome::{Breakage, Clock, Outcome, chain};
use crate::step::Deadline;
use crate::tree::{self, CopyError};

/// Carries the run out.
pub(crate) fn carry_out(attempt: &Attempt<'_>, progress: &mut Progress) -> Stop<()> {
    let Role::Build {
        artifacts, cache, ..
    } = &attempt.task.run.role
    else {
        let what = "the steps of a bench, as a build";
        return Err(Outcome::Broken(Breakage::Unsupported(what.to_owned())));
    };
    let build = Build(attempt);
    attempt.refuse_unsupported()?;
    let deadline = attempt.task.deadline();
    attempt.timed(progress, "sources", |_| attempt.prepare())?;
    let key = match cache {
        Some(cache) => attempt.timed(progress, "restore cache", |progress| {
            build.restore(cache, &mut progress.cache_hit)
        })?,
        None => None,
    };
    attempt.task.watch.started();
    let built = build.steps(deadline, progress).and_then(|()| {
        attempt.timed(progress, "artifacts", |progress| {
            progress.artifacts = build.collect(artifacts)?;
            Ok(())
        })
    });
    if let Err(Outcome::Failed(_)) = built {
        progress.artifacts = build.collect_what_is_there(artifacts);
    }
    built?;
    if let (Some(cache), Some(key), Some(false)) = (cache, &key, progress.cache_hit) {
        attempt.timed(progress, "keep cache", |_| build.save(cache, key))?;
    }
    Ok(())
}

struct Build<'b>(&'b Attempt<'b>);

impl Build<'_> {
    /// Fetches what was kept, and tells by what key it would be.
    fn restore(&self, plan: &CachePlan, hit: &mut Option<bool>) -> Stop<Option<Key>> {
        let log = self.0.log;
        let job = self.0.place().job();
        let found = Key::of(plan, &self.0.toolchain(), &job).and_then(|key| {
            let cache = self.open_cache()?;
            let layer = cache.restore(&key, &job, &self.0.rules(&[]))?.cloned();
            Ok((key, layer))
        });
        match found {
            Ok((key, layer)) => {
                *hit = Some(layer.is_some());
                let told = match layer {
                    Some(layer) => format!("restored from the layer {layer}"),
                    None => "nothing kept yet".to_owned(),
                };
                log.note(&format!("cache {}: {told}", key.short()));
                Ok(Some(key))
            }
            Err(CopyError::Cancelled) => Err(Outcome::Cancelled),
            Err(error) => {
                log.note(&format!("no cache: failed to {}", chain(&error)));
                Ok(None)
            }
        }
    }

    fn save(&self, plan: &CachePlan, key: &Key) -> Stop<()> {
        let log = self.0.log;
        let kept = self.open_cache().and_then(|cache| {
            let job = self.0.place().job();
            cache.save(key, &job, &plan.paths, &self.0.rules(&[]))
        });
        match kept {
            Ok(Some(bytes)) => {
                let layer = self.0.task.cache.written();
                let told = format!("kept {bytes} bytes in the layer {layer}");
                log.note(&format!("cache {}: {told}", key.short()));
            }
            Ok(None) => log.note("cache: none of its paths is there; nothing is kept"),
            Err(CopyError::Cancelled) => return Err(Outcome::Cancelled),
            Err(error) => log.note(&format!("cache: failed to {}", chain(&error))),
        }
        Ok(())
    }

    fn open_cache(&self) -> Result<Cache, CopyError> {
        let options = self.0.runner.options();
        let owner = &self.0.task.cache;
        Cache::open(&options.state, owner, options.cache_bytes, self.0.cancel)
    }

    fn collect(&self, names: &[String]) -> Stop<Vec<Artifact>> {
        if self.0.cancel.is_set() {
            return Err(Outcome::Cancelled);
        }
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let to = self.0.task.artifacts();
        tree::remove(&to).map_err(|error| Outcome::broken("keep an artifact", &error))?;
        let (job, most) = (self.0.place().job(), self.0.limits().disk_bytes);
        let floor = self.0.runner.disk().floor;
        let collected = artifacts::collect(&job, names, &to, most, floor);
        if collected.is_err() {
            // What was kept of them until then is removed later if it cannot be now.
            let _ = tree::remove(&to);
        }
        collected
    }

    /// Those artifacts that a run that failed has left all the same: they may show why.
    fn collect_what_is_there(&self, names: &[String]) -> Vec<Artifact> {
        let to = self.0.task.artifacts();
        if names.is_empty() || self.0.cancel.is_set() || tree::remove(&to).is_err() {
            return Vec::new();
        }
        let (job, most) = (self.0.place().job(), self.0.limits().disk_bytes);
        let floor = self.0.runner.disk().floor;
        let found = artifacts::collect_what_is_there(&job, names, &to, most, floor);
        let (kept, all) = (found.len(), names.len());
        let told = format!("kept {kept} of {all} artifacts, though the run failed");
        self.0.log.note(&told);
        found
    }

    /// Does the steps in their order. Ends with the first outcome that is not as it should be.
    fn steps(&self, deadline: Deadline, progress: &mut Progress) -> Stop<()> {
        let attempt = self.0;
        let run = attempt.task.run;
        let scene = attempt.scene(None);
        let mut judge = Judge::new(&run.steps);
        let mut first = None;
        for (index, step) in run.steps.iter().enumerate() {
            let end = match reason_to_skip(step, first.as_ref()) {
                Some(skip) => attempt.skipped(step, skip),
                None => attempt.step(index, step, |end| {
                    if !attempt.cancel.is_set() {
                        let own = Deadline::of(Clock::Step, Duration::from_millis(step.timeout_ms));
                        judge.step(attempt, &scene, index, own.min(deadline), end);
                    }
                }),
            };
            let is_bad = !matches!(end.outcome, Outcome::Passed | Outcome::Skipped(_));
            if is_bad && first.is_none() {
                first = Some(end.outcome.clone());
            }
            progress.steps.push(end);
        }
        first.map_or(Ok(()), Err)
    }
}
