//! A quick look at work in progress: every check that needs no test run.

use anyhow::Result;

use crate::metadata::Metadata;
use crate::test::SetUp;
use crate::tool::Tool;
use crate::{handlers, progress, tidy};

/// Checks the whole workspace, or one package.
pub(crate) fn run(package: Option<&str>) -> Result<()> {
    let metadata = Metadata::load()?;
    if let Some(name) = package {
        metadata.member(name)?;
    }
    fmt(&metadata)?;
    tidy::run()?;
    progress::step("clippy");
    match package {
        Some(name) => clippy(&metadata, &["--package", name]),
        None => clippy(&metadata, &everything(&metadata)),
    }
}

/// Fails unless every file is formatted as rustfmt would format it.
pub(crate) fn fmt(metadata: &Metadata) -> Result<()> {
    Tool::cargo(&metadata.root)
        .args(["fmt", "--all", "--check"])
        .advice("run `cargo fmt --all`")
        .run()
}

/// Lints `packages` with all their tests and benches; a warning is a failure.
pub(crate) fn clippy(metadata: &Metadata, packages: &[&str]) -> Result<()> {
    Tool::cargo(&metadata.root)
        .args(["clippy", "--release", "--all-targets"])
        .args(packages)
        .args(["--", "--deny", "warnings"])
        .run()
}

/// Builds the documentation of our own packages; a warning, such as a dead link, is a failure.
pub(crate) fn doc(metadata: &Metadata) -> Result<()> {
    Tool::cargo(&metadata.root)
        // `--examples` makes cargo count test-only dependencies in, as for clippy, so that the dependencies
        // which clippy has checked are used again.
        .args(["doc", "--release", "--workspace", "--no-deps"])
        .args(["--lib", "--examples"])
        .env("RUSTDOCFLAGS", "--deny warnings")
        .run()
}

/// Every package that can be compiled now: packages that embed handlers cannot be until handlers
/// are built.
fn everything(metadata: &Metadata) -> Vec<&str> {
    let mut selected = vec!["--workspace"];
    if !handlers::output_folder(&metadata.root).exists() {
        for package in metadata
            .members()
            .filter(|p| SetUp::of(p) != SetUp::Nothing)
        {
            progress::detail(&format!(
                "{} is left out until `cargo xtask build` has built the handlers",
                package.name
            ));
            selected.extend(["--exclude", &package.name]);
        }
    }
    selected
}
