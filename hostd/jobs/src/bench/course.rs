//! A run of a bench from its first step to what is done after any ending.

use std::path::{Path, PathBuf};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use pipeline::When;
use pipeline::limits::ALWAYS_MS_MAX;
use pipeline::plan::{Action, Artifact as Source, Role, Run, Step, Uart};

use super::line::{Line, Setting};
use super::recordings::Recordings;
use super::{Bench, BenchError, Relay, Until};
use crate::artifacts::Artifact;
use crate::attempt::{Attempt, Progress, Stop, copy_failed};
use crate::cancel::Cancel;
use crate::judge::{Judge, reason_to_skip};
use crate::outcome::{Breakage, Clock, Outcome, Skip};
use crate::results::StepEnd;
use crate::script::{OUT, is_program};
use crate::step::Deadline;
use crate::task::steps_of;
use crate::timeline::Reading;
use crate::tree;

/// How long what still records is waited for when the run has failed: it may show why.
const LAST_WAIT: Duration = Duration::from_secs(10);

/// Time to open a line before the step that makes the target speak.
const AHEAD_WAIT: Duration = Duration::from_secs(5);

/// The longest that the rails are looked at between two steps.
const LOOK_WAIT: Duration = Duration::from_secs(1);

/// A run on its way.
pub(super) struct Course<'s, 'e: 's> {
    scope: &'s Scope<'s, 'e>,
    pub(super) attempt: Attempt<'s>,
    pub(super) bench: &'s dyn Bench,
    pub(super) relay: Option<&'s Relay>,
    /// Those under `always` behind the others.
    pub(super) steps: Vec<&'s Step>,
    pub(super) judge: Judge<'s>,
    pub(super) line: Option<Line<'s>>,
    /// Steps that read the line in the background.
    pub(super) beside: Vec<usize>,
    pub(super) recordings: Recordings<'s>,
    pub(super) artifacts: Vec<Artifact>,
    readings: Vec<Reading>,
    /// The rails could be measured so far.
    can_look: bool,
}

/// Carries a run of a bench out.
pub(crate) fn carry_out(
    attempt: &Attempt<'_>,
    bench: &dyn Bench,
    progress: &mut Progress,
) -> Stop<()> {
    let run = attempt.task.run;
    attempt.refuse_unsupported()?;
    let deadline = attempt.task.deadline();
    if steps_of(run).any(is_program) {
        attempt.timed(progress, "sources", |_| {
            attempt.prepare()?;
            fetch_build(attempt, run)
        })?;
    }
    let relay = bench.relay();
    // What is done after a cancel is not cancelled.
    let calm = Cancel::default();
    attempt.task.watch.started();
    thread::scope(|scope| {
        let mut course = Course {
            scope,
            attempt: *attempt,
            bench,
            relay: relay.as_ref(),
            steps: steps_of(run).collect(),
            judge: Judge::new(steps_of(run)),
            line: None,
            beside: Vec::new(),
            recordings: Recordings::default(),
            artifacts: Vec::new(),
            readings: Vec::new(),
            can_look: true,
        };
        course.look();
        let mut first = course.main(deadline, progress);
        course.finish(deadline, &mut first, progress);
        course.attempt.cancel = &calm;
        course.always(&mut first, progress);
        course.end(progress);
        match first {
            _ if attempt.log.gate().is_closed() => Err(Outcome::Cancelled),
            Some(outcome) => Err(outcome),
            None => Ok(()),
        }
    })
}

/// Puts what the build made where its own steps had it.
fn fetch_build(attempt: &Attempt<'_>, run: &Run) -> Stop<()> {
    let Role::Bench {
        build: Some(build), ..
    } = &run.role
    else {
        return Ok(());
    };
    let runs = &attempt.task.plan.runs;
    let made = runs.iter().find(|run| run.id == *build);
    let Some(Role::Build { artifacts, .. }) = made.map(|run| &run.role) else {
        return Ok(());
    };
    for name in artifacts {
        let from = find(attempt, build, name)?;
        let below = Path::new(OUT).join(name);
        let parents: Vec<&Path> = below.ancestors().skip(1).collect();
        // From the outermost, so that each is the job's.
        for parent in parents
            .iter()
            .rev()
            .filter(|parent| parent.starts_with(OUT))
        {
            let made = attempt.place().make(&parent.to_string_lossy());
            made.map_err(|error| Outcome::broken("make the job's folder", &error))?;
        }
        tree::copy(
            &from,
            &attempt.place().job().join(&below),
            &attempt.rules(&[]),
        )
        .map_err(|error| copy_failed(&error))?;
    }
    Ok(())
}

/// Where the artifact of another run is.
pub(super) fn find(attempt: &Attempt<'_>, run: &str, name: &str) -> Stop<PathBuf> {
    let wanted = Source {
        run: run.to_owned(),
        name: name.to_owned(),
    };
    (attempt.task.artifact)(&wanted).ok_or_else(|| {
        let why = format!("find the artifact {name} of {run}");
        Outcome::Broken(Breakage::Files(why))
    })
}

impl<'s> Course<'s, '_> {
    /// The steps, in their order. The first outcome that is not as it should be.
    fn main(&mut self, deadline: Deadline, progress: &mut Progress) -> Option<Outcome> {
        let mut first = None;
        for index in 0..self.attempt.task.run.steps.len() {
            let step = self.steps[index];
            let end = match reason_to_skip(step, first.as_ref()) {
                Some(skip) => self.attempt.skipped(step, skip),
                None => self.step(index, deadline),
            };
            note_bad(&end, &mut first);
            progress.steps.push(end);
        }
        first
    }

    /// Collects what went on in the background.
    fn finish(&mut self, deadline: Deadline, first: &mut Option<Outcome>, progress: &mut Progress) {
        for index in self.recordings.running() {
            let deadline = match first {
                None => deadline,
                Some(Outcome::Failed(_)) => Deadline::of(Clock::Step, LAST_WAIT),
                Some(_) => break,
            };
            if let Err(outcome) = self.collect(index, deadline) {
                self.spoil(index, outcome, first, progress);
            }
        }
        for index in std::mem::take(&mut self.beside) {
            if let Err(outcome) = self.finish_uart(index, first.is_none()) {
                self.spoil(index, outcome, first, progress);
            }
        }
        self.recordings.abandon();
        self.close_line();
    }

    /// A step that seemed to go well has not, unless another one has failed.
    fn spoil(
        &self,
        index: usize,
        outcome: Outcome,
        first: &mut Option<Outcome>,
        progress: &mut Progress,
    ) {
        let Some(end) = progress.steps.get_mut(index).filter(|_| first.is_none()) else {
            return;
        };
        let outcome = outcome.redacted(self.attempt.grounds.secrets);
        self.attempt.log.note(&format!("{}: {outcome}", end.name));
        end.outcome = outcome;
        end.time.end = self.attempt.task.begun.elapsed();
        note_bad(end, first);
    }

    /// What is done after any ending.
    fn always(&mut self, first: &mut Option<Outcome>, progress: &mut Progress) {
        let deadline = Deadline::of(Clock::Always, Duration::from_millis(ALWAYS_MS_MAX));
        for index in self.attempt.task.run.steps.len()..self.steps.len() {
            let step = self.steps[index];
            let end = match step.when {
                When::Failure if first.is_none() => self.attempt.skipped(step, Skip::NothingFailed),
                _ => self.step(index, deadline),
            };
            note_bad(&end, first);
            progress.steps.push(end);
        }
        self.recordings.abandon();
        self.close_line();
    }

    /// Tells of every step what it recorded.
    fn end(&mut self, progress: &mut Progress) {
        for (index, kept) in self.recordings.kept() {
            if let Some(end) = progress.steps.get_mut(index)
                && !end.captures.contains(kept)
            {
                end.captures.push(kept.clone());
            }
        }
        progress.artifacts.append(&mut self.artifacts);
        progress.readings.append(&mut self.readings);
    }

    fn step(&mut self, index: usize, deadline: Deadline) -> StepEnd {
        let attempt = self.attempt;
        let step = self.steps[index];
        let own = Deadline::of(Clock::Step, Duration::from_millis(step.timeout_ms)).min(deadline);
        let end = attempt.step(index, step, |end| {
            if attempt.cancel.is_set() {
                return;
            }
            end.outcome = Outcome::Passed;
            let acted = match own.until(attempt.cancel).left().is_zero() {
                true => Err(own.passed()),
                false => self.act(index, own, end),
            };
            if let Err(outcome) = acted {
                end.outcome = outcome;
            }
            // How a test went is output too.
            let judges = matches!(step.action, Action::Assert { .. } | Action::Measure(_));
            let tells = step.case.is_some() || judges;
            if tells && !attempt.log.gate().may_pass() {
                end.outcome = Outcome::Cancelled;
            }
        });
        let is_pure = matches!(
            step.action,
            Action::Assert { .. } | Action::Measure(_) | Action::Decode(_)
        );
        if !is_pure && matches!(end.outcome, Outcome::Passed | Outcome::Failed(_)) {
            self.look();
        }
        end
    }

    /// Notes for the timeline what the rails give. A device that cannot tell is not asked again.
    fn look(&mut self) {
        if !self.can_look {
            return;
        }
        let soon = Until {
            at: Instant::now() + LOOK_WAIT,
            cancel: self.attempt.cancel,
        };
        let looked = self.bench.supplies(&soon);
        self.can_look = match &looked {
            Ok(found) => !found.is_empty(),
            Err(error) => *error == BenchError::Cancelled,
        };
        let at = self.attempt.task.begun.elapsed();
        let readings = looked.unwrap_or_default().into_iter();
        self.readings.extend(readings.map(|supply| Reading {
            at,
            rail: supply.rail,
            mv: supply.mv,
            ua: supply.ua,
        }));
    }

    /// Opens the line that a later step reads, if no program comes before it, so that nothing is missed of what the
    /// target says when it begins. That step tells if it cannot be opened.
    pub(super) fn listen_ahead(&mut self, index: usize, until: &Until<'_>) {
        let main = self.attempt.task.run.steps.len();
        let ends = if index < main { main } else { self.steps.len() };
        let later = self.steps[index + 1..ends].iter();
        let next = later
            .take_while(|step| !is_program(step))
            .find_map(|step| match &step.action {
                Action::Uart(uart) => Some(uart),
                _ => None,
            });
        if let Some(uart) = next {
            let soon = Until {
                at: until.at.min(Instant::now() + AHEAD_WAIT),
                cancel: until.cancel,
            };
            let _ = self.open_line(uart, &soon);
        }
    }

    /// The line that a step wants, opened if it is not.
    pub(super) fn open_line(
        &mut self,
        uart: &Uart,
        until: &Until<'_>,
    ) -> Result<&Line<'s>, BenchError> {
        let line = match self.line.take() {
            Some(line) if line.error().is_none() && line.setting() == Setting::of(uart) => line,
            Some(line) if line.is_heard() => {
                let why = "a step in the background has the serial line open with other settings";
                let error = line.error();
                self.line = Some(line);
                return Err(error.unwrap_or_else(|| BenchError::Refused(why.to_owned())));
            }
            other => {
                if let Some(line) = other {
                    line.close();
                }
                let (log, secrets) = (self.attempt.log, self.attempt.grounds.secrets);
                Line::open(self.scope, self.bench, uart, until, log, secrets)?
            }
        };
        Ok(self.line.insert(line))
    }

    /// Ends the line, unless a step in the background reads it.
    pub(super) fn close_line(&mut self) {
        if let Some(line) = self.line.take_if(|line| !line.is_heard()) {
            line.close();
        }
    }
}

fn note_bad(end: &StepEnd, first: &mut Option<Outcome>) {
    let is_bad = !matches!(end.outcome, Outcome::Passed | Outcome::Skipped(_));
    if is_bad && first.is_none() {
        *first = Some(end.outcome.clone());
    }
}
