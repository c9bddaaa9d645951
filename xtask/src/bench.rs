//! Runs one benchmark by its name.

use anyhow::{Result, bail};

use crate::args::{Options, nearest};
use crate::metadata::Metadata;
use crate::tool::Tool;
use crate::{progress, server};

mod turnaround;

/// The benchmark of working on this source, rather than of the program that it builds.
const LOOP: &str = "loop";

/// Benchmarks of packages that stand alone: they need no server, and nothing of the workspace but these packages and what
/// those use.
const ALONE: [(&str, &[&str]); 2] = [("emi", &["emi"]), ("fields", &["emi"])];

/// Benchmarks that run without a server, and yet use much of the workspace.
const SERVERLESS: [&str; 1] = ["captures"];

/// Features of benchmarks, which only they need.
const FEATURES: [(&str, &str); 1] = [("captures", "decode/rivals")];

/// Runs the bench target `name`, whichever package has it. The server is built first, with its
/// handlers, unless the benchmark needs none: one bench starts it, and would otherwise measure an older build.
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
    let cargo = Tool::cargo(&metadata.root).arg("bench");
    let cargo = match ALONE.iter().find(|(alone, _)| *alone == name) {
        Some((_, packages)) => packages
            .iter()
            .fold(cargo, |cargo, package| cargo.args(["--package", package])),
        None => {
            if !SERVERLESS.contains(&name) {
                server::build(options)?;
            }
            // The whole workspace is selected for the same reason as in `host::build`.
            cargo.arg("--workspace")
        }
    };
    progress::step(&format!("building and running the benchmark {name}"));
    let features = FEATURES.iter().filter(|(of, _)| *of == name);
    let cargo = features.fold(cargo, |cargo, (_, feature)| {
        cargo.args(["--features", feature])
    });
    let cargo = cargo.args(["--bench", name]);
    cargo.arg("--").args(&options.passed_on).run()
}
