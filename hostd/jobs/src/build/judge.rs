//! Whether a step is run, and what it and the assertions about it come to.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use evidence::junit;
use evidence::redact::Secrets;
use evidence::result::{Case, Fault, Outcome as CaseOutcome};
use pipeline::When;
use pipeline::plan::{Action, Assertion, Step};

use super::Build;
use crate::outcome::{Breakage, Clock, Failure, Outcome, Skip};
use crate::patterns;
use crate::results::StepEnd;
use crate::script::Command;
use crate::step::{Deadline, Ended, Scene};

/// JUnit files of one step that are read.
const JUNIT_FILES_MAX: usize = 256;

/// Why a step is not run after what came before; none if it is.
pub(super) fn reason_to_skip(step: &Step, first: Option<&Outcome>) -> Option<Skip> {
    let is_over = match first {
        None => return (step.when == When::Failure).then_some(Skip::NothingFailed),
        Some(Outcome::Failed(Failure::Timeout(Clock::Run | Clock::Job, _))) => true,
        Some(Outcome::Failed(_)) => false,
        Some(_) => true,
    };
    (is_over || step.when == When::Success).then_some(Skip::StepFailed)
}

/// What is known about steps with an id, for assertions.
pub(super) struct Judge<'j> {
    steps: &'j [Step],
    seen: BTreeMap<&'j str, Seen<'j>>,
}

struct Seen<'j> {
    exit_code: Option<i32>,
    /// Texts that are asserted of it, and whether they came.
    texts: Vec<(&'j str, bool)>,
}

impl<'j> Judge<'j> {
    pub(super) fn new(steps: &'j [Step]) -> Self {
        Self {
            steps,
            seen: BTreeMap::new(),
        }
    }

    /// Does a step and says how it went in `end`.
    #[expect(
        clippy::too_many_arguments,
        reason = "all of them are the step's and used once"
    )]
    pub(super) fn step(
        &mut self,
        build: &Build<'_>,
        index: usize,
        step: &Step,
        scene: &Scene<'_>,
        environment: &BTreeMap<String, String>,
        deadline: Deadline,
        end: &mut StepEnd,
    ) {
        let Some(command) = Command::of(index, step) else {
            end.outcome = self.assertion(&step.action);
            return;
        };
        let id = self.steps[index].id.as_deref();
        let texts = id.map_or_else(Vec::new, |id| self.texts_about(id));
        let (ended, found) = scene.execute(&command, environment, deadline, &texts);
        let Ended { outcome, exit_code } = ended;
        end.outcome = outcome;
        end.exit_code = exit_code;
        if let Some(id) = id {
            let texts = texts.into_iter().zip(found).collect();
            self.seen.insert(id, Seen { exit_code, texts });
        }
        // What ended by itself has written its files, whatever its exit code.
        if let (Some(pattern), Some(_)) = (&command.junit, exit_code) {
            let failed = read_cases(build, pattern, end);
            let is_own_word = matches!(end.outcome, Outcome::Failed(Failure::Exit(_)));
            if failed > 0 && (is_own_word || end.outcome.has_passed() && !command.any_exit_code) {
                end.outcome = Outcome::Failed(Failure::Tests(failed));
            }
        }
    }

    /// Texts that later steps assert of the step with this id.
    fn texts_about(&self, id: &str) -> Vec<&'j str> {
        let texts = self.steps.iter().filter_map(|step| match &step.action {
            Action::Assert {
                on,
                that: Assertion::Text(text),
            } if on == id => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    fn assertion(&self, action: &Action) -> Outcome {
        let Action::Assert { on, that } = action else {
            let why = "a step that needs a device, in a build";
            return Outcome::Broken(Breakage::Unsupported(why));
        };
        let failed =
            |wanted: String, seen: String| Outcome::Failed(Failure::Assertion(wanted, seen));
        let seen = self.seen.get(on.as_str());
        match that {
            Assertion::ExitCode(code) => match seen.and_then(|seen| seen.exit_code) {
                Some(seen) if seen == i32::from(*code) => Outcome::Passed,
                Some(seen) => failed(
                    format!("exit code {code} of {on}"),
                    format!("it was {seen}"),
                ),
                None => failed(
                    format!("exit code {code} of {on}"),
                    "it did not end by itself".to_owned(),
                ),
            },
            Assertion::Text(text) => {
                let wanted = format!("{text:?} in the output of {on}");
                let texts = seen.map_or(&[][..], |seen| &seen.texts);
                match texts.iter().any(|(of, is_found)| of == text && *is_found) {
                    true => Outcome::Passed,
                    false => failed(wanted, "it did not come".to_owned()),
                }
            }
            _ => Outcome::Broken(Breakage::Unsupported(
                "an assertion about a capture, in a build",
            )),
        }
    }
}

/// Takes the cases of the JUnit files that a step wrote, and tells how many failed. A file that is none fails the step.
fn read_cases(build: &Build<'_>, pattern: &str, end: &mut StepEnd) -> usize {
    let job = build.place.job();
    let fail = |end: &mut StepEnd, failure| {
        if end.outcome.has_passed() {
            end.outcome = Outcome::Failed(failure);
        }
        0
    };
    let files = match patterns::matching(&job, [pattern]) {
        Ok(files) => files,
        Err(error) => {
            return fail(
                end,
                Failure::BadJunit(pattern.to_owned(), error.to_string()),
            );
        }
    };
    if files.is_empty() {
        build
            .log
            .note(&format!("no file is at {pattern}: no cases"));
    }
    for file in files.into_iter().take(JUNIT_FILES_MAX) {
        match read_file(&job.join(&file)) {
            Ok(cases) => end.cases.extend(
                cases
                    .into_iter()
                    .map(|case| without_secrets(case, build.secrets)),
            ),
            Err(why) => return fail(end, Failure::BadJunit(file.display().to_string(), why)),
        }
    }
    let failed = |case: &&Case| matches!(case.outcome, CaseOutcome::Failed(_));
    end.cases.iter().filter(failed).count()
}

fn read_file(path: &Path) -> Result<Vec<Case>, String> {
    let bounds = junit::Bounds::default();
    let most = bounds.bytes_max as u64 + 1;
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(most).read_to_end(&mut bytes))
        .map_err(|error| format!("read it: {error}"))?;
    junit::read(&bytes, &bounds).map_err(|error| error.to_string())
}

fn without_secrets(mut case: Case, secrets: &Secrets) -> Case {
    let clean = |text: &mut String| {
        *text = String::from_utf8_lossy(&secrets.redacted(text.as_bytes())).into_owned();
    };
    clean(&mut case.name);
    clean(&mut case.output);
    match &mut case.outcome {
        CaseOutcome::Failed(Fault {
            message, detail, ..
        })
        | CaseOutcome::BenchFailed(Fault {
            message, detail, ..
        }) => {
            clean(message);
            clean(detail);
        }
        CaseOutcome::Skipped(why) => clean(why),
        CaseOutcome::Passed => {}
    }
    case
}
