//! A quick look at what is being written: everything that can be said without running a test.

use anyhow::Result;

use crate::metadata::Metadata;
use crate::test::SetUp;
use crate::tool::Tool;
use crate::{handlers, progress, tidy};

/// Looks at the whole workspace, or at one package.
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

/// Whether every file is laid out as rustfmt has it.
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

/// Writes the documentation of our own packages; a warning, such as a link that leads nowhere, is a failure.
pub(crate) fn doc(metadata: &Metadata) -> Result<()> {
    Tool::cargo(&metadata.root)
        // With `--examples` cargo counts the test-only dependencies in, as for clippy: what that has checked of
        // the dependencies is used again.
        .args(["doc", "--release", "--workspace", "--no-deps"])
        .args(["--lib", "--examples"])
        .env("RUSTDOCFLAGS", "--deny warnings")
        .run()
}

/// Every package that can be compiled now: what embeds handlers cannot before there are any.
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
