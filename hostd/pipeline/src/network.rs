//! Where a pipeline asks for a network: whether it may have one, only a server can tell.

use crate::definition::Sandbox;
use crate::path::Path;
use crate::problem::{Code, Finding, Report};
use crate::{Pipeline, yaml};

impl Pipeline {
    /// Whether any of its builds and benches asks for a network.
    #[must_use]
    pub fn asks_for_network(&self) -> bool {
        self.sandboxes().any(|(_, sandbox)| sandbox.network)
    }

    /// Every place that asks for a network, with a sentence on why there is none. `text` is what the pipeline was read
    /// from.
    #[must_use]
    pub fn refuse_network(&self, text: &str, why: &str) -> Box<Report> {
        let asking = self.sandboxes().filter(|(_, sandbox)| sandbox.network);
        let finding = |(path, _): (Path, &Sandbox)| {
            let path = path.key("sandbox").key("network");
            Finding::new(path, Code::NetworkRefused, why.to_owned())
        };
        let findings: Vec<Finding> = asking.map(finding).collect();
        // It was read before, so there is a document.
        let root = yaml::read(text).ok();
        Box::new(Report::new(text, root.as_ref(), &findings))
    }

    fn sandboxes(&self) -> impl Iterator<Item = (Path, &Sandbox)> {
        let at = |list: &str, index| Path::default().key(list).index(index);
        let builds = self.definition.builds.iter().enumerate();
        let benches = self.definition.benches.iter().enumerate();
        let builds = builds.map(move |(index, build)| (at("builds", index), &build.sandbox));
        builds.chain(benches.map(move |(index, bench)| (at("benches", index), &bench.sandbox)))
    }
}
