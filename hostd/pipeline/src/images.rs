//! Which images a pipeline names, and where: whether jobs may have them, only a server can tell.

use crate::definition::Sandbox;
use crate::path::Path;
use crate::problem::{Code, Finding, Report};
use crate::{Pipeline, yaml};

impl Pipeline {
    /// Every place that names an image for which `why` has a reason against it: what kind of problem it is, and a
    /// sentence. `text` is what the pipeline was read from.
    ///
    /// # Errors
    /// There are such places.
    pub fn check_images(
        &self,
        text: &str,
        why: impl Fn(&str) -> Option<(Code, String)>,
    ) -> Result<(), Box<Report>> {
        let finding = |(path, name): (Path, &str)| {
            let (code, message) = why(name)?;
            Some(Finding::new(path, code, message))
        };
        let findings: Vec<_> = self.images().filter_map(finding).collect();
        if findings.is_empty() {
            return Ok(());
        }
        // It was read before, so there is a document.
        let root = yaml::read(text).ok();
        Err(Box::new(Report::new(text, root.as_ref(), &findings)))
    }

    fn images(&self) -> impl Iterator<Item = (Path, &str)> {
        let builds = self.definition.builds.iter().map(|build| &build.sandbox);
        let benches = self.definition.benches.iter().map(|bench| &bench.sandbox);
        let builds = builds.enumerate().map(|place| ("builds", place));
        let benches = benches.enumerate().map(|place| ("benches", place));
        builds.chain(benches).filter_map(named)
    }
}

fn named<'p>((list, (index, sandbox)): (&str, (usize, &'p Sandbox))) -> Option<(Path, &'p str)> {
    let path = || Path::default().key(list).index(index);
    let name = sandbox.image.as_deref()?;
    Some((path().key("sandbox").key("image"), name))
}
