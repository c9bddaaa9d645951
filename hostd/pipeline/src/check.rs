//! What must hold beyond the types: ids, references, circles, one action a step, caps. Everything that is wrong
//! is found, not the first thing alone.

mod caps;
mod steps;

use std::collections::{BTreeMap, BTreeSet};

use crate::caps::Caps;
use crate::definition::{Bench, Build, Definition, Step};
use crate::limits::{CELLS_MAX, RUNS_MAX};
use crate::path::Path;
use crate::problem::{Code, Finding, did_you_mean};
use crate::scalars::Id;

/// What is wrong with a definition.
pub(crate) fn check(definition: &Definition, caps: &Caps) -> Vec<Finding> {
    let mut check = Check {
        definition,
        findings: Vec::new(),
    };
    check.ids();
    check.references();
    check.counts();
    check.circles();
    caps::check(&mut check, caps);
    for (index, build) in definition.builds.iter().enumerate() {
        check.build(&Path::default().key("builds").index(index), build);
    }
    for (index, bench) in definition.benches.iter().enumerate() {
        check.bench(&Path::default().key("benches").index(index), bench);
    }
    check.findings
}

struct Check<'d> {
    definition: &'d Definition,
    findings: Vec<Finding>,
}

impl<'d> Check<'d> {
    fn find(&mut self, path: Path, code: Code, message: impl Into<String>) {
        self.findings.push(Finding::new(path, code, message));
    }

    /// Builds and benches with their paths.
    fn parts(&self) -> Vec<Part<'d>> {
        let path = |list: &str, index| Path::default().key(list).index(index);
        let builds = self.definition.builds.iter().enumerate();
        let builds = builds.map(|(index, build)| Part {
            path: path("builds", index),
            id: &build.id,
            needs: &build.needs,
            for_each: None,
        });
        let benches = self.definition.benches.iter().enumerate();
        let benches = benches.map(|(index, bench)| Part {
            path: path("benches", index),
            id: &bench.id,
            needs: &bench.needs,
            for_each: bench.for_each.as_ref(),
        });
        builds.chain(benches).collect()
    }

    fn ids(&mut self) {
        let parts = self.parts();
        let ids = parts.iter().map(|part| (part.path.key("id"), &**part.id));
        self.unique(ids, "build or bench");
        for (index, build) in self.definition.builds.iter().enumerate() {
            let path = Path::default().key("builds").index(index).key("packs");
            let ids = build.packs.iter().enumerate();
            let ids = ids.map(|(at, pack)| (path.index(at).key("id"), &*pack.id));
            self.unique(ids, "pack of this build");
        }
    }

    /// Each id stands once.
    fn unique<'i>(&mut self, ids: impl Iterator<Item = (Path, &'i str)>, what: &str) {
        let mut seen = BTreeMap::new();
        for (path, id) in ids {
            if let Some(first) = seen.get(id) {
                let message =
                    format!("another {what} is called `{id}` already ({first}): take another id");
                self.find(path, Code::DuplicateId, message);
            } else {
                seen.insert(id, path);
            }
        }
    }

    fn references(&mut self) {
        let parts = self.parts();
        let known = || parts.iter().map(|part| &**part.id);
        let builds = || self.definition.builds.iter().map(|build| &*build.id);
        let mut found = Vec::new();
        for part in &parts {
            for (index, need) in part.needs.iter().enumerate() {
                let path = part.path.key("needs").index(index);
                if !known().any(|id| id == &**need) {
                    let hint = did_you_mean(need, known());
                    let message = format!("no build or bench is called `{}`{hint}", need.0);
                    found.push(Finding::new(path, Code::UnknownReference, message));
                }
            }
            if let Some(build) = part
                .for_each
                .filter(|build| !builds().any(|id| id == &***build))
            {
                let hint = did_you_mean(build, builds());
                let message = format!("no build is called `{}`{hint}", build.0);
                found.push(Finding::new(
                    part.path.key("for_each"),
                    Code::UnknownReference,
                    message,
                ));
            }
        }
        self.findings.extend(found);
    }

    fn counts(&mut self) {
        let definition = self.definition;
        if definition.builds.is_empty() && definition.benches.is_empty() {
            let message = "there is nothing to do: write `builds`, `benches` or both";
            self.find(Path::default(), Code::MissingKey, message);
        }
        let mut runs = 0;
        for (index, build) in definition.builds.iter().enumerate() {
            let cells = cells(build);
            runs += cells;
            let path = Path::default().key("builds").index(index);
            if cells > CELLS_MAX {
                let message = format!(
                    "variants times packs are {cells} runs, more than {CELLS_MAX}: split the build"
                );
                self.find(path.clone(), Code::TooManyRuns, message);
            }
            if build
                .matrix
                .as_ref()
                .is_some_and(|matrix| matrix.variant.is_empty())
            {
                let message = "a matrix has at least one variant: name one, or leave `matrix` out";
                self.find(
                    path.key("matrix").key("variant"),
                    Code::InvalidValue,
                    message,
                );
            }
        }
        for bench in definition.benches.iter() {
            let build = bench.for_each.as_ref().and_then(|id| build(definition, id));
            runs += build.map_or(1, cells);
        }
        if runs > RUNS_MAX {
            let message =
                format!("this comes to {runs} runs, more than {RUNS_MAX}: split the pipeline");
            self.find(Path::default(), Code::TooManyRuns, message);
        }
    }

    /// What is left when everything is taken away, again and again, that needs nothing that is left.
    fn circles(&mut self) {
        let mut left = self.parts();
        let known: BTreeSet<&str> = left.iter().map(|part| &**part.id).collect();
        loop {
            let ids: BTreeSet<&str> = left.iter().map(|part| &**part.id).collect();
            let before = left.len();
            left.retain(|part| {
                part.all_needs()
                    .any(|need| ids.contains(need) && known.contains(need))
            });
            if left.len() == before {
                break;
            }
        }
        // Parts behind a circle are left too; those in it are needed by another that is left.
        let needed: BTreeSet<&str> = left.iter().flat_map(Part::all_needs).collect();
        let members: Vec<&str> = left
            .iter()
            .map(|part| &**part.id)
            .filter(|id| needed.contains(id))
            .collect();
        if let Some(first) = left.iter().find(|part| needed.contains(&**part.id)) {
            let message = format!(
                "these need each other in a circle: {}; take one `needs` away",
                members.join(", ")
            );
            let key = if first.needs.is_empty() {
                "for_each"
            } else {
                "needs"
            };
            self.find(first.path.key(key), Code::Cycle, message);
        }
    }

    fn build(&mut self, path: &Path, build: &'d Build) {
        let rules = steps::Rules::build(build);
        self.steps(&path.key("steps"), &build.steps, &rules);
        self.step_ids(&[(path.key("steps"), &build.steps)]);
        if build.steps.is_empty() {
            let message = "a build has at least one step";
            self.find(path.key("steps"), Code::InvalidValue, message);
        }
    }

    fn step_ids(&mut self, lists: &[(Path, &[Step])]) {
        let ids = lists.iter().flat_map(|(path, steps)| {
            let steps = steps.iter().enumerate();
            steps.filter_map(|(at, step)| Some((path.index(at).key("id"), step.id.as_deref()?)))
        });
        self.unique(ids, "step");
    }

    fn bench(&mut self, path: &Path, bench: &'d Bench) {
        let rules = steps::Rules::bench(bench);
        self.steps(&path.key("steps"), &bench.steps, &rules);
        self.steps(
            &path.key("always"),
            &bench.always,
            &rules.always(&bench.steps),
        );
        self.step_ids(&[
            (path.key("steps"), &bench.steps),
            (path.key("always"), &bench.always),
        ]);
        let device = &bench.device;
        if device.name.is_some() == device.select.is_some() {
            let message =
                "a device is chosen either by `name` or by `select`: write one of the two";
            self.find(path.key("device"), Code::MissingKey, message);
        }
    }
}

/// A build or bench, as far as others refer to it.
struct Part<'d> {
    path: Path,
    id: &'d Id,
    needs: &'d [Id],
    for_each: Option<&'d Id>,
}

impl<'d> Part<'d> {
    fn all_needs(&self) -> impl Iterator<Item = &'d str> + use<'d> {
        self.needs.iter().chain(self.for_each).map(|id| &**id)
    }
}

/// Runs of a build.
pub(crate) fn cells(build: &Build) -> usize {
    let variants = build
        .matrix
        .as_ref()
        .map_or(1, |matrix| matrix.variant.len());
    variants.max(1) * build.packs.len().max(1)
}

/// The build of that id.
pub(crate) fn build<'d>(definition: &'d Definition, id: &str) -> Option<&'d Build> {
    definition.builds.iter().find(|build| &*build.id == id)
}
