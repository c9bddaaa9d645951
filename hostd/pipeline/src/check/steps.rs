//! Steps: one action each, keys that go with it, and references to steps before.

mod actions;

use super::Check;
use crate::condition::{Axis, Condition};
use crate::definition::{ACTIONS, Bench, Build, Step};
use crate::path::Path;
use crate::problem::{Code, did_you_mean};

/// Actions that go on while later steps run.
const BACKGROUND: &[&str] = &["capture", "uart"];

/// Actions that start programs, and so have an environment and may write JUnit files.
const PROGRAMS: &[&str] = &["run", "pytest"];

/// Actions of a build, which has no device.
const OF_BUILDS: &[&str] = &["run", "pytest", "assert"];

/// What steps of one list may do.
#[derive(Clone, Copy)]
pub(super) struct Rules<'d> {
    actions: &'static [&'static str],
    place: &'static str,
    may_be_background: bool,
    /// Steps that ran before the list.
    before: &'d [Step],
    /// Whose cells a condition compares.
    build: Option<&'d str>,
    own: Option<&'d Build>,
}

impl<'d> Rules<'d> {
    pub(super) fn build(build: &'d Build) -> Self {
        Self {
            actions: OF_BUILDS,
            place: "in a build, which has no device: move it to a bench",
            may_be_background: false,
            before: &[],
            build: None,
            own: Some(build),
        }
    }

    pub(super) fn bench(bench: &'d Bench) -> Self {
        Self {
            actions: &ACTIONS,
            place: "in a bench",
            may_be_background: true,
            before: &[],
            build: bench.for_each.as_deref(),
            own: None,
        }
    }

    pub(super) fn always(self, before: &'d [Step]) -> Self {
        Self {
            before,
            may_be_background: false,
            place: "under `always`",
            ..self
        }
    }
}

impl<'d> Check<'d> {
    pub(super) fn steps(&mut self, path: &Path, steps: &'d [Step], rules: &Rules<'d>) {
        for (index, step) in steps.iter().enumerate() {
            let path = path.index(index);
            self.one_action(&path, step);
            self.keys(&path, step, rules);
            self.condition(&path, step, rules);
            let before: Vec<&Step> = rules.before.iter().chain(&steps[..index]).collect();
            actions::check(self, &path, step, &before);
        }
    }

    fn one_action(&mut self, path: &Path, step: &Step) {
        match step.actions()[..] {
            [_] => {}
            [] => {
                let message = format!(
                    "a step does one thing: give it one of {}",
                    ACTIONS.join(", ")
                );
                self.find(path.clone(), Code::OneAction, message);
            }
            [first, second, ..] => {
                let message = format!(
                    "this step has `{first}` and `{second}`: a step does one thing, make two of it"
                );
                self.find(path.key(second), Code::OneAction, message);
            }
        }
    }

    fn keys(&mut self, path: &Path, step: &Step, rules: &Rules<'_>) {
        let Some(action) = step.action() else {
            return;
        };
        if !rules.actions.contains(&action) {
            let message = format!("`{action}` has no meaning {}", rules.place);
            self.find(path.key(action), Code::NotHere, message);
        }
        let is_program = PROGRAMS.contains(&action);
        let programs = PROGRAMS.join(" and ");
        if !step.env.is_empty() && !is_program {
            let message = format!("`env` goes with {programs}, not with `{action}`: take it away");
            self.find(path.key("env"), Code::NotHere, message);
        }
        if step.junit.is_some() && !is_program {
            let message =
                format!("`junit` goes with {programs}, not with `{action}`: take it away");
            self.find(path.key("junit"), Code::NotHere, message);
        }
        if step.background && !(rules.may_be_background && BACKGROUND.contains(&action)) {
            let kinds = BACKGROUND.join(" and ");
            let message =
                format!("`background` goes with {kinds} in the steps of a bench: take it away");
            self.find(path.key("background"), Code::NotHere, message);
        }
    }

    /// A condition names an id that the build has.
    fn condition(&mut self, path: &Path, step: &Step, rules: &Rules<'d>) {
        let Some(Condition::Cell { axis, id, .. }) = &step.condition else {
            return;
        };
        let build = rules
            .own
            .or_else(|| super::build(self.definition, rules.build?));
        let ids: Vec<&str> = match (axis, build) {
            // An unknown build has been told.
            (_, None) if rules.build.is_some() => return,
            (_, None) => Vec::new(),
            (Axis::Pack, Some(build)) => build.packs.iter().map(|pack| &*pack.id).collect(),
            (Axis::Variant, Some(build)) => {
                let matrix = build.matrix.as_ref();
                matrix.map_or_else(Vec::new, |matrix| {
                    matrix.variant.keys().map(|id| &**id).collect()
                })
            }
        };
        let axis = axis.name();
        if ids.is_empty() {
            let message =
                format!("there is no {axis} here to compare: use success, failure or always");
            self.find(path.key("if"), Code::UnknownReference, message);
        } else if !ids.contains(&id.as_str()) {
            let hint = match did_you_mean(id, ids.iter().copied()) {
                hint if hint.is_empty() => format!("; there is {}", ids.join(", ")),
                hint => hint,
            };
            let message = format!("no {axis} is called `{id}`{hint}");
            self.find(path.key("if"), Code::UnknownReference, message);
        }
    }
}
