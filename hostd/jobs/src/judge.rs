//! Whether a step is run, and what it and the assertions about it come to.

use std::collections::BTreeMap;

use pipeline::plan::{Action, Assertion, Step};
use pipeline::{Pattern, When};

use crate::attempt::Attempt;
use crate::cases::Tally;
use crate::measured::Measured;
use crate::outcome::{Breakage, Clock, Failure, Outcome, Skip, chain};
use crate::pytest;
use crate::results::StepEnd;
use crate::script::{Command, is_program};
use crate::step::{Deadline, Ended, Scene};
use crate::tree::{self, CopyError};

/// JUnit files of one step. With more the step fails, since a test that failed may be in any of them.
const JUNIT_FILES_MAX: usize = 1000;

/// Why a step is not run after what came before; none if it is.
pub(crate) fn reason_to_skip(step: &Step, first: Option<&Outcome>) -> Option<Skip> {
    let is_over = match first {
        None => return (step.when == When::Failure).then_some(Skip::NothingFailed),
        Some(Outcome::Failed(Failure::Timeout(clock, _))) => *clock != Clock::Step,
        Some(Outcome::Failed(_)) => false,
        Some(_) => true,
    };
    (is_over || step.when == When::Success).then_some(Skip::StepFailed)
}

/// What is known about steps with an id, for assertions.
pub(crate) struct Judge<'j> {
    steps: Vec<&'j Step>,
    seen: BTreeMap<&'j str, Seen<'j>>,
    pub(crate) measured: Measured,
}

struct Seen<'j> {
    exit_code: Option<i32>,
    /// Texts that are asserted of it, and whether they came.
    texts: Vec<(&'j str, bool)>,
}

impl<'j> Judge<'j> {
    pub(crate) fn new(steps: impl IntoIterator<Item = &'j Step>) -> Self {
        Self {
            steps: steps.into_iter().collect(),
            seen: BTreeMap::new(),
            measured: Measured::default(),
        }
    }

    /// Does a step that needs no device, and says how it went in `end`.
    pub(crate) fn step(
        &mut self,
        attempt: &Attempt<'_>,
        scene: &Scene<'_>,
        index: usize,
        deadline: Deadline,
        end: &mut StepEnd,
    ) {
        self.execute(attempt, scene, index, deadline, end);
        if is_program(self.steps[index]) {
            self.measured.take(attempt, end);
        }
    }

    fn execute(
        &mut self,
        attempt: &Attempt<'_>,
        scene: &Scene<'_>,
        index: usize,
        deadline: Deadline,
        end: &mut StepEnd,
    ) {
        let step = self.steps[index];
        let Some(command) = Command::of(index, step) else {
            end.outcome = self.assertion(&step.action);
            return;
        };
        let texts = self.texts_about(step);
        let mut sought = texts.clone();
        sought.extend(command.pytest.iter().flat_map(|_| pytest::SIGNS));
        let environment = attempt.environment(step);
        let (ended, found) = scene.execute(&command, &environment, deadline, &sought);
        let Ended { outcome, exit_code } = ended;
        end.outcome = outcome;
        end.exit_code = exit_code;
        let signs = found[texts.len()..].to_vec();
        self.note(step, exit_code, texts.into_iter().zip(found).collect());
        let report = command.pytest.as_ref();
        let report = report.map(|file| attempt.place().job().join(file));
        // It counts whatever an assertion says of the exit code.
        if let Some(lack) = report.and_then(|report| pytest::lack(&signs, exit_code, &report)) {
            end.outcome = Outcome::Failed(lack);
            return;
        }
        // What ended by itself has written its files, whatever its exit code.
        if let (Some(pattern), Some(_)) = (&command.junit, exit_code) {
            let failed = read_cases(attempt, pattern, end);
            let is_own_word = matches!(end.outcome, Outcome::Failed(Failure::Exit(_)));
            let counts = is_own_word || end.outcome.has_passed() && !command.any_exit_code;
            if let Some(failure) = failed.filter(|_| counts) {
                end.outcome = Outcome::Failed(failure);
            }
        }
    }

    /// Remembers how a step ended, and which of the texts came that are asserted of it.
    pub(crate) fn note(
        &mut self,
        step: &'j Step,
        exit_code: Option<i32>,
        texts: Vec<(&'j str, bool)>,
    ) {
        if let Some(id) = &step.id {
            self.seen.insert(id, Seen { exit_code, texts });
        }
    }

    /// Texts that later steps assert of this one.
    pub(crate) fn texts_about(&self, of: &Step) -> Vec<&'j str> {
        let texts = self.steps.iter().filter_map(|step| match &step.action {
            Action::Assert {
                on,
                that: Assertion::Text(text),
            } if of.id.as_ref() == Some(on) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    pub(crate) fn assertion(&self, action: &Action) -> Outcome {
        let Action::Assert { on, that } = action else {
            return unsupported("a step that needs a device, in a build");
        };
        let seen = self.seen.get(on.as_str());
        match that {
            Assertion::ExitCode(code) => {
                let wanted = format!("exit code {code} of {on}");
                match seen.and_then(|seen| seen.exit_code) {
                    Some(seen) if seen == i32::from(*code) => Outcome::Passed,
                    Some(seen) => failed(wanted, format!("it was {seen}")),
                    None => failed(wanted, "it did not end by itself".to_owned()),
                }
            }
            Assertion::Text(text) => {
                let texts = seen.map_or(&[][..], |seen| &seen.texts);
                let has_come = texts.iter().any(|(of, is_found)| of == text && *is_found);
                text_judged(on, text, has_come)
            }
            _ => unsupported("an assertion about a capture, in a build"),
        }
    }
}

fn unsupported(what: &str) -> Outcome {
    Outcome::Broken(Breakage::Unsupported(what.to_owned()))
}

/// An assertion that does not hold.
pub(crate) fn failed(wanted: String, seen: String) -> Outcome {
    Outcome::Failed(Failure::Assertion(wanted, seen))
}

/// What an assertion of a text comes to.
pub(crate) fn text_judged(on: &str, text: &str, has_come: bool) -> Outcome {
    if has_come {
        return Outcome::Passed;
    }
    let wanted = format!("{text:?} in the output of {on}");
    failed(wanted, "it did not come".to_owned())
}

/// Takes the cases of the JUnit files that a step wrote, and says which failed. A file that is none fails the step, and so
/// does it if not all can be taken.
fn read_cases(attempt: &Attempt<'_>, pattern: &Pattern, end: &mut StepEnd) -> Option<Failure> {
    let job = attempt.place().job();
    let search = tree::Search {
        patterns: std::slice::from_ref(pattern),
        files_max: JUNIT_FILES_MAX,
        cancel: Some(attempt.cancel),
    };
    let bad = |name: String, why: String| Outcome::Failed(Failure::BadJunit(name, why));
    let found = tree::matching(&job, &search).map_err(|error| match error {
        CopyError::Cancelled => Outcome::Cancelled,
        error => bad(pattern.to_string(), chain(&error)),
    });
    if found.as_ref().is_ok_and(Vec::is_empty) {
        attempt
            .log
            .note(&format!("no file is at {pattern}: no cases"));
    }
    let (desk, secrets) = (attempt.runner.desk(), attempt.grounds.secrets);
    let mut tally = Tally::default();
    let taken = found.and_then(|files| {
        files.iter().try_for_each(|file| {
            if attempt.cancel.is_set() {
                return Err(Outcome::Cancelled);
            }
            let path = job.join(file);
            let taken = attempt.cases.take(&path, desk, secrets, &mut tally);
            taken.map_err(|why| bad(file.display().to_string(), why))
        })
    });
    let Tally { counts, first } = tally;
    end.counts += counts;
    match taken {
        Ok(()) => first.map(|first| Failure::Cases(counts.failed, first.name, first.message)),
        Err(outcome) => {
            if end.outcome.has_passed() {
                end.outcome = outcome;
            }
            None
        }
    }
}
