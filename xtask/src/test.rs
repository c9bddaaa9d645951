//! Runs tests: all the default ones, which need no hardware, no network and no fixed port, or those
//! of one package with no more set-up than they need.

use std::ffi::OsStr;
use std::num::NonZero;

use anyhow::Result;

use crate::args::{Options, Tests};
use crate::metadata::{Metadata, Package};
use crate::times::shim;
use crate::tool::{self, Tool};
use crate::{handlers, progress, server};

/// The package whose tests start the server.
const END_TO_END: &str = "tests";

/// The package that loads components. Its tests read some, and packages that depend on it embed
/// them.
const RUNTIME: &str = "runtime";

const NEXTEST: &str = "cargo-nextest";

/// What cargo reads for tests beside the manifest: our own packages without optimisation, with checks.
const CONFIGURATION: [&str; 2] = ["--config", ".config/tests.toml"];

/// Environment variable that tells nextest how many slots there are for tests.
const PLACES: &str = "NEXTEST_TEST_THREADS";

/// Slots for each processor; `.config/nextest.toml` says how many of them a test takes.
const PLACES_EACH: usize = 3;

/// How tests are compiled and run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// For people: stops at the first failure.
    Default,
    /// For CI: runs everything, even after failures.
    Ci,
    /// As `Ci`, with overflow checks and debug assertions in our own packages.
    CiChecked,
}

impl Profile {
    /// The name of cargo's profile.
    pub(crate) fn of_cargo(self) -> &'static str {
        match self {
            Self::Default | Self::Ci => "release",
            Self::CiChecked => "ci-checked",
        }
    }

    /// What cargo is given beside its profile.
    fn configuration(self) -> &'static [&'static str] {
        match self {
            Self::Default | Self::Ci => &CONFIGURATION,
            Self::CiChecked => &[],
        }
    }

    /// The name of nextest's profile.
    fn of_nextest(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Ci | Self::CiChecked => "ci",
        }
    }
}

/// What must be built before the tests of a package can run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SetUp {
    Nothing,
    Handlers,
    Server,
}

impl SetUp {
    pub(crate) fn of(package: &Package) -> Self {
        if package.name == END_TO_END {
            Self::Server
        } else if package.name == RUNTIME || package.depends_on(RUNTIME) {
            Self::Handlers
        } else {
            Self::Nothing
        }
    }
}

/// Does all the set-up that the requested tests need, and runs them.
pub(crate) fn run(tests: &Tests, options: &Options) -> Result<()> {
    let metadata = Metadata::load()?;
    let Some(name) = &tests.package else {
        server::build(options)?;
        return run_prepared(Profile::Default, tests, options);
    };
    let package = metadata.member(name)?;
    match SetUp::of(package) {
        SetUp::Nothing => {}
        SetUp::Handlers => handlers::build(options)?,
        SetUp::Server => server::build(options).map(drop)?,
    }
    if package.has_doc_tests() && tests.filter.is_none() {
        run_examples(&metadata, &["--package", name], Profile::Default)?;
    }
    let profile = Profile::Default;
    run_tests(&metadata, &selection(package), profile, tests, options)
}

/// Arguments that select the tests of a package. Tests that use much of the workspace are picked out of
/// the whole of it: their dependencies are then those that the server was built with, whereas the package
/// alone would have wasmtime and more compiled again with fewer features.
fn selection(package: &Package) -> Vec<String> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    if package.name == END_TO_END {
        let programs = package.targets.iter().filter(|t| t.is("test"));
        let mut selection: Vec<String> = words(&["--workspace"]);
        selection.extend(programs.flat_map(|program| ["--test".to_owned(), program.name.clone()]));
        return selection;
    }
    // Only nextest can leave out the tests of other packages once they are compiled.
    if SetUp::of(package) == SetUp::Handlers && tool::is_installed(NEXTEST) {
        let only = format!("package(={})", package.name);
        return words(&["--workspace", "--filterset", &only]);
    }
    words(&["--package", &package.name])
}

/// Runs all tests once handlers and server are built.
pub(crate) fn run_prepared(profile: Profile, tests: &Tests, options: &Options) -> Result<()> {
    let metadata = Metadata::load()?;
    run_examples(&metadata, &["--workspace"], profile)?;
    run_tests(&metadata, &["--workspace"], profile, tests, options)
}

/// Compiles what `run_prepared` runs.
pub(crate) fn compile(profile: Profile) -> Result<()> {
    progress::step("compiling the tests");
    Tool::cargo(&Metadata::load()?.root)
        .args(["test", "--no-run", "--profile", profile.of_cargo()])
        .args(profile.configuration())
        .arg("--workspace")
        .run()
}

fn run_examples(metadata: &Metadata, packages: &[&str], profile: Profile) -> Result<()> {
    progress::step("running the examples in the documentation");
    cargo(metadata)
        .args(["test", "--quiet", "--doc", "--profile", profile.of_cargo()])
        .args(profile.configuration())
        .args(packages)
        .run()
}

fn run_tests(
    metadata: &Metadata,
    packages: &[impl AsRef<OsStr>],
    profile: Profile,
    tests: &Tests,
    options: &Options,
) -> Result<()> {
    progress::step("running the tests");
    let mut cargo = cargo(metadata);
    if tests.accept {
        // A variable of insta, which compares the snapshots.
        cargo = cargo.env("INSTA_UPDATE", "always");
    }
    if !tool::is_installed(NEXTEST) {
        progress::detail("cargo-nextest would be faster");
        let goes_on = (profile != Profile::Default).then_some("--no-fail-fast");
        return cargo
            .args(["test", "--profile", profile.of_cargo()])
            .args(profile.configuration())
            .args(packages)
            .args(goes_on)
            .arg("--")
            .args(&tests.filter)
            .args(&options.passed_on)
            .run();
    }
    if std::env::var_os(PLACES).is_none() {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        cargo = cargo.env(PLACES, (PLACES_EACH * processors).to_string());
    }
    for (name, value) in shim::of_tests() {
        cargo = cargo.env(&name, value);
    }
    cargo
        .args(["nextest", "run", "--cargo-profile", profile.of_cargo()])
        .args(profile.configuration())
        .args(["--profile", profile.of_nextest()])
        .args(packages)
        .args(&tests.filter)
        .args(&options.passed_on)
        .run()
}

fn cargo(metadata: &Metadata) -> Tool {
    Tool::cargo(&metadata.root).advice("the lines above name the test and its reason")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Packages whose tests are compiled as the product is.
    const OPTIMISED: [&str; 8] = [
        "decode",
        "emi",
        "evidence",
        "measure",
        "pod-protocol",
        "pod-sim",
        "scheduler",
        "target-sim",
    ];

    #[test]
    fn each_of_our_packages_is_optimised_for_tests_or_not() {
        let metadata = Metadata::load().unwrap();
        let file = metadata.root.join(CONFIGURATION[1]);
        let text = std::fs::read_to_string(file).unwrap();
        let settings: toml::Table = text.parse().unwrap();
        let packages = settings["profile"]["release"]["package"].as_table();
        let plain: BTreeSet<&str> = packages.unwrap().keys().map(String::as_str).collect();
        let members = metadata.members().map(|package| &*package.name);
        let expected: BTreeSet<&str> = members.filter(|name| !OPTIMISED.contains(name)).collect();
        assert_eq!(plain, expected);
    }

    #[test]
    fn end_to_end_tests_are_picked_by_their_programs() {
        let metadata = Metadata::load().unwrap();
        let select = |name| selection(metadata.member(name).unwrap());
        assert_eq!(select("decode"), ["--package", "decode"]);
        let words = select("tests");
        assert_eq!(words[0], "--workspace");
        let has = |name: &str| words.iter().any(|word| word == name);
        assert!(has("end-to-end") && has("contract") && !has("attack"));
    }

    #[test]
    fn a_package_gets_the_set_up_that_its_tests_need_and_no_more() {
        let metadata = Metadata::load().unwrap();
        let needs = |name| SetUp::of(metadata.member(name).unwrap());
        assert_eq!(needs("tests"), SetUp::Server);
        assert_eq!(needs("hostd"), SetUp::Handlers);
        assert_eq!(needs("runtime"), SetUp::Handlers);
        for name in ["decode", "handler-cloud", "pods", "xtask"] {
            assert_eq!(needs(name), SetUp::Nothing, "{name}");
        }
    }
}
