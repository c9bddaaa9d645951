//! Runs one benchmark by its name.

use anyhow::{Result, bail};

use crate::args::{Options, nearest};
use crate::metadata::Metadata;
use crate::tool::Tool;
use crate::{progress, server};

mod turnaround;

/// The benchmark of working on this source, rather than of the program that it builds.
const LOOP: &str = "loop";

/// Runs the bench target `name`, whichever package has it. The server is built first, with its
/// handlers: one bench starts it, and would otherwise measure an older build.
pub(crate) fn run(name: &str, options: &Options) -> Result<()> {
    if name == LOOP {
        return turnaround::run(&options.passed_on);
    }
    let metadata = Metadata::load()?;
    let mut benches: Vec<&str> = metadata
        .members()
        .flat_map(|package| &package.targets)
        .filter(|target| target.is("bench"))
        .map(|target| target.name.as_str())
        .collect();
    if !benches.contains(&name) {
        benches.push(LOOP);
        bail!("there is no benchmark `{name}`{}", nearest(name, &benches));
    }
    server::build(options)?;
    progress::step(&format!("building and running the benchmark {name}"));
    // The whole workspace is selected for the same reason as in `host::build`.
    let cargo = Tool::cargo(&metadata.root).args(["bench", "--workspace", "--bench", name]);
    cargo.arg("--").args(&options.passed_on).run()
}
