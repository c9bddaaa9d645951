//! Runs every default test: those that need no hardware, no network and no fixed port.

use anyhow::Result;

use crate::args::Options;
use crate::tool::{self, Tool};
use crate::{metadata::Metadata, progress, server};

/// Which of nextest's profiles applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// For people: stops at the first failure.
    Default,
    /// For CI: runs everything, whatever fails.
    Ci,
}

impl Profile {
    fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Ci => "ci",
        }
    }
}

/// Does all set-up and runs the tests.
pub(crate) fn run(options: &Options, profile: Profile) -> Result<()> {
    // The end-to-end tests start the real binary.
    server::build(options)?;
    run_prepared(options, profile)
}

/// Runs the tests when handlers and server are built.
pub(crate) fn run_prepared(options: &Options, profile: Profile) -> Result<()> {
    let root = Metadata::load()?.root;
    let cargo = || Tool::cargo(&root).advice("the lines above name the test and its reason");
    if !tool::is_installed("cargo-nextest") {
        progress::step("running the tests (cargo-nextest would be faster)");
        let cargo = cargo().args(["test", "--release", "--workspace"]);
        let cargo = if profile == Profile::Ci {
            cargo.arg("--no-fail-fast")
        } else {
            cargo
        };
        return cargo.arg("--").args(&options.passed_on).run();
    }
    progress::step("running the examples in the documentation");
    cargo()
        .args(["test", "--quiet", "--release", "--workspace", "--doc"])
        .run()?;
    progress::step("running the tests");
    cargo()
        .args([
            "nextest",
            "run",
            "--release",
            "--workspace",
            "--profile",
            profile.name(),
        ])
        .args(&options.passed_on)
        .run()
}
