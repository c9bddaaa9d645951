//! What a step executes, and what people call it.

use std::time::Duration;

use pipeline::plan::{Action, Step};
use pipeline::{Pattern, Rail, Switch};

/// The folder below `/job` that belongs to the runner.
pub(crate) const OWN: &str = ".hostd";

/// `$HOSTD_OUT`, below `/job`.
pub(crate) const OUT: &str = ".hostd/out";

/// Where pytest writes its cases, below `/job`.
pub(crate) const JUNIT: &str = ".hostd/junit";

/// Characters of a script that name it.
const NAME_CHARS: usize = 60;

/// A program in the jail.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) program: &'static str,
    pub(crate) arguments: Vec<String>,
    /// JUnit files that it writes.
    pub(crate) junit: Option<Pattern>,
    /// No exit code is a failure.
    pub(crate) any_exit_code: bool,
    /// pytest, and where it writes its cases, below `/job`.
    pub(crate) pytest: Option<String>,
}

impl Command {
    /// What the step with this index executes; none if it executes nothing.
    pub(crate) fn of(index: usize, step: &Step) -> Option<Self> {
        match &step.action {
            Action::Run {
                script,
                any_exit_code,
            } => Some(Self {
                program: "/bin/sh",
                arguments: vec!["-e".to_owned(), "-c".to_owned(), script.clone()],
                junit: step.junit.clone(),
                any_exit_code: *any_exit_code,
                pytest: None,
            }),
            Action::Pytest {
                path,
                args,
                any_exit_code,
            } => {
                let file = format!("{JUNIT}/{index}.xml");
                let own = ["-m", "pytest", path].map(str::to_owned);
                let report = format!("--junitxml=/job/{file}");
                Some(Self {
                    program: "python3",
                    arguments: own
                        .into_iter()
                        .chain(args.clone())
                        .chain([report])
                        .collect(),
                    junit: Some(Pattern::parse(&file).expect("our own name has no signs")),
                    any_exit_code: *any_exit_code,
                    pytest: Some(file),
                })
            }
            _ => None,
        }
    }
}

/// Whether a step executes something.
pub(crate) fn is_program(step: &Step) -> bool {
    matches!(step.action, Action::Run { .. } | Action::Pytest { .. })
}

/// What people call a step: its case, its id, or how it begins.
pub(crate) fn name(step: &Step) -> String {
    if let Some(name) = step.case.as_ref().or(step.id.as_ref()) {
        return name.clone();
    }
    match &step.action {
        Action::Run { script, .. } => {
            let mut lines = script.lines().map(str::trim);
            let first = lines.find(|line| !line.is_empty()).unwrap_or("run");
            let mut name: String = first
                .chars()
                .filter(|c| !c.is_control())
                .take(NAME_CHARS)
                .collect();
            if name.len() < first.len() || lines.next().is_some() {
                name.push('…');
            }
            name
        }
        Action::Pytest { path, .. } => format!("pytest {path}"),
        Action::Assert { on, .. } => format!("assert {on}"),
        Action::Power(power) => {
            let rail = match power.rail {
                Rail::Internal => "internal",
                Rail::External => "external",
            };
            match power.state {
                Switch::On => format!("power {rail} on"),
                Switch::Off => format!("power {rail} off"),
            }
        }
        Action::Reset { .. } => "reset".to_owned(),
        Action::Flash(flash) => format!("flash {}", flash.artifact.name),
        Action::Uart(_) => "uart".to_owned(),
        Action::Capture(_) => "capture".to_owned(),
        Action::Measure(measure) => format!("measure {}", measure.name),
        Action::Decode(decode) => format!("decode {}", decode.on),
        Action::Replay(replay) => format!("replay {}", replay.waveform),
        Action::Wait { ms } => format!("wait {:?}", Duration::from_millis(*ms)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> Vec<Step> {
        let text = format!("version: 1\nbuilds:\n  - id: fw\n    steps:\n{text}");
        let caps = pipeline::Caps::default();
        let parsed = pipeline::parse(&text, &caps).unwrap();
        pipeline::expand(&parsed, &caps).runs.remove(0).steps
    }

    #[test]
    fn steps_of_benches_are_called_by_what_they_do() {
        let text = "version: 1
benches:
  - id: b
    device: { name: x }
    steps:
      - power: { rail: internal, state: on }
      - reset: {}
      - wait: 1500ms
      - uart: { expect: ready }
      - uart: { expect: ready }
        case: greets
";
        let caps = pipeline::Caps::default();
        let parsed = pipeline::parse(text, &caps).unwrap();
        let steps = pipeline::expand(&parsed, &caps).runs.remove(0).steps;
        let names: Vec<String> = steps.iter().map(name).collect();
        assert_eq!(
            names,
            ["power internal on", "reset", "wait 1.5s", "uart", "greets"]
        );
    }

    #[test]
    fn a_step_is_called_by_its_case_its_id_or_its_beginning() {
        let steps = steps(
            "      - run: |\n          make all\n          size fw\n      - { run: 'true', id: second }\n      - { run: 'true', id: third, case: works }\n      - pytest: { path: tests/, args: [-q] }\n",
        );
        let names: Vec<String> = steps.iter().map(name).collect();
        assert_eq!(names, ["make all…", "second", "works", "pytest tests/"]);
        let pytest = Command::of(3, &steps[3]).unwrap();
        assert_eq!(
            pytest.arguments,
            [
                "-m",
                "pytest",
                "tests/",
                "-q",
                "--junitxml=/job/.hostd/junit/3.xml"
            ]
        );
        let junit = pytest.junit.unwrap();
        assert!(junit.matches(".hostd/junit/3.xml") && !junit.matches(".hostd/junit/2.xml"));
    }
}
