//! Which secrets a pipeline names, and where: whether there are any of these names, only a server can tell.

use std::collections::BTreeSet;

use crate::definition::{EnvValue, Step};
use crate::path::Path;
use crate::problem::{Code, Finding, Report};
use crate::{Pipeline, yaml};

impl Pipeline {
    /// Names of the secrets that its steps ask for.
    #[must_use]
    pub fn secrets(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        self.each_secret(&mut |_, name| {
            names.insert(name);
        });
        names
    }

    /// Every place that names a secret for which `why` has a reason against it: what kind of problem it is, and a
    /// sentence. `text` is what the pipeline was read from.
    ///
    /// # Errors
    /// There are such places.
    pub fn check_secrets(
        &self,
        text: &str,
        why: impl Fn(&str) -> Option<(Code, String)>,
    ) -> Result<(), Box<Report>> {
        let mut findings = Vec::new();
        self.each_secret(&mut |path, name| {
            if let Some((code, message)) = why(name) {
                findings.push(Finding::new(path, code, message));
            }
        });
        if findings.is_empty() {
            return Ok(());
        }
        // It was read before, so there is a document.
        let root = yaml::read(text).ok();
        Err(Box::new(Report::new(text, root.as_ref(), &findings)))
    }

    fn each_secret<'p>(&'p self, visit: &mut impl FnMut(Path, &'p str)) {
        let at = |list: &str, index| Path::default().key(list).index(index);
        for (index, build) in self.definition.builds.iter().enumerate() {
            of_steps(&at("builds", index).key("steps"), &build.steps, visit);
        }
        for (index, bench) in self.definition.benches.iter().enumerate() {
            let path = at("benches", index);
            of_steps(&path.key("steps"), &bench.steps, visit);
            of_steps(&path.key("always"), &bench.always, visit);
        }
    }
}

fn of_steps<'p>(path: &Path, steps: &'p [Step], visit: &mut impl FnMut(Path, &'p str)) {
    for (index, step) in steps.iter().enumerate() {
        for (variable, value) in step.env.iter() {
            if let EnvValue::Secret(name) = value {
                let path = path.index(index).key("env").key(variable).key("secret");
                visit(path, name);
            }
        }
    }
}
