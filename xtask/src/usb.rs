//! Tests of pods on USB in a virtual machine, whose kernel has the virtual USB controller that few machines load, and
//! where nothing real is plugged in.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use crate::machine::{self, Initrd, Kernel, Machine};
use crate::metadata::Metadata;
use crate::progress;

mod changes;
mod udev;

use udev::Udev;

/// The test programs, by their names in the machine, where they have `-tests` behind them.
const TESTS: [&str; 4] = ["usb", "analyzer", "plugged", "flashing"];

/// The name of the machine.
const NAME: &str = "usb";

/// Modules of the kernel, in the order in which they need each other, by their places below `kernel/drivers/usb`.
const MODULES: [&str; 10] = [
    "common/usb-common",
    "core/usbcore",
    "usbip/usbip-core",
    "usbip/vhci-hcd",
    "class/cdc-acm",
    "serial/usbserial",
    "serial/cp210x",
    "../hid/hid",
    "../hid/usbhid/usbhid",
    "../hid/hid-generic",
];

/// How long all tests may take. They take five minutes where two idle processors are emulated.
const TESTED_WITHIN: Duration = Duration::from_secs(1_200);

/// The variable of the first process that has the text that names of tests contain.
const ONLY: &str = "only";

/// The variable of the first process by which the programs run their short sets.
const SHORT: &str = "short";

/// What the first process writes when the tests passed.
const PASSED: &str = "usb: tests ended with 0";

/// Which tests run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Set<'a> {
    Whole,
    /// Those that touch each kind of device once.
    Short,
    /// Those whose names contain a text.
    Named(&'a str),
}

impl Set<'static> {
    /// The short set, unless something that these tests are about has changed of late.
    pub(crate) fn due() -> Result<Self> {
        let root = Metadata::load()?.root;
        Ok(match changes::newest(&root)? {
            None => {
                progress::detail("nothing of USB has changed of late: the short set of its tests");
                Self::Short
            }
            Some(file) => {
                progress::detail(&format!("{file} has changed of late: all tests of USB"));
                Self::Whole
            }
        })
    }
}

impl Set<'_> {
    /// What the first process is given.
    fn variables(self) -> String {
        match self {
            Self::Whole => String::new(),
            Self::Short => format!("{SHORT}=1"),
            Self::Named(text) => format!("{ONLY}={text}"),
        }
    }
}

/// What the machine is made of.
pub(crate) struct Parts {
    machine: machine::Parts,
    udev: Udev,
}

/// Runs the tests, those whose names contain a text, or the short set, and fails where that is not possible.
pub(crate) fn run(filter: Option<&str>, short: bool) -> Result<()> {
    let is_name = |text: &str| {
        text.bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b':'))
    };
    if let Some(filter) = filter
        && !is_name(filter)
    {
        bail!(
            "no name of a test contains `{filter}`: they have small letters, digits, `_` and `::`"
        );
    }
    let set = match (filter, short) {
        (Some(_), true) => bail!("a filter and `--short` are two sets of tests: give one of them"),
        (Some(filter), false) => Set::Named(filter),
        (None, true) => Set::Short,
        (None, false) => Set::Whole,
    };
    Parts::find()?.prepare()?.run(set)
}

impl Parts {
    /// Finds what is needed, and fetches what is missing. The error says why it cannot be had.
    pub(crate) fn find() -> Result<Self> {
        Ok(Self {
            machine: machine::Parts::find(&Kernel::WITH_DRIVERS)?,
            udev: Udev::find()?,
        })
    }

    /// Builds the tests, and the machine around them.
    pub(crate) fn prepare(&self) -> Result<Prepared> {
        let names = TESTS.map(|test| format!("{test}-tests"));
        let files = TESTS.map(machine::test_program);
        let mut programs = Vec::new();
        for (name, file) in names.iter().zip(&files) {
            let file = file.as_ref().map_err(|error| anyhow!("{error:#}"))?;
            programs.push((name.as_str(), file.as_path()));
        }
        let mut initrd = self.machine.initrd(include_bytes!("usb/init"), &programs)?;
        self.add_modules(&mut initrd)?;
        self.udev.add_to(&mut initrd)?;
        Machine::new(&self.machine, NAME, initrd).map(Prepared)
    }

    /// The modules by their order, in which the first process loads them.
    fn add_modules(&self, initrd: &mut Initrd) -> Result<()> {
        let folder = drivers(&self.machine.tree)?;
        for (order, module) in MODULES.iter().enumerate() {
            let file = folder.join(format!("{module}.ko"));
            let content = machine::read(&file)?;
            let name = module.rsplit('/').next().unwrap_or(module);
            initrd.file(&format!("modules/{order}-{name}.ko"), &content)?;
        }
        Ok(())
    }
}

/// A machine with the tests in it.
pub(crate) struct Prepared(Machine);

impl Prepared {
    /// Starts the machine and expects that all tests of the set pass.
    pub(crate) fn run(&self, set: Set<'_>) -> Result<()> {
        let told = self.0.run(&set.variables(), TESTED_WITHIN)?;
        let passed = match set {
            Set::Whole | Set::Short => have_passed(&told),
            Set::Named(_) => have_some_passed(&told),
        };
        match passed {
            true => Ok(()),
            false => bail!("not all tests of devices on USB passed; the lines above name them"),
        }
    }
}

/// The folder of USB drivers among the unpacked packages.
fn drivers(tree: &Path) -> Result<PathBuf> {
    let modules = tree.join("lib/modules");
    let versions = fs::read_dir(&modules).or_else(|_| fs::read_dir(tree.join("usr/lib/modules")));
    let mut versions = versions.with_context(|| format!("failed to list {}", modules.display()))?;
    let version = versions
        .next()
        .context("the kernel's package has no modules")?;
    let version = version.context("failed to list the kernel's modules")?;
    Ok(version.path().join("kernel/drivers/usb"))
}

/// How a test program ends of whose tests none was run.
const NONE_RAN: &str = "test result: ok. 0 passed";

/// Whether the tests passed, and each program had some.
fn have_passed(told: &str) -> bool {
    have_some_passed(told) && !told.contains(NONE_RAN)
}

/// Whether the tests passed, and at least one program had some.
fn have_some_passed(told: &str) -> bool {
    let mut lines = told.lines();
    let has_ended = lines.any(|line| line == PASSED);
    let mut results = told
        .lines()
        .filter(|line| line.starts_with("test result: ok."));
    has_ended && results.any(|line| !line.starts_with(NONE_RAN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_have_passed_when_there_were_some() {
        let told = |tests: u32| format!("test result: ok. {tests} passed; 0 failed\n{PASSED}\n");
        assert!(have_passed(&told(9)));
        assert!(!have_passed(&told(0)));
        assert!(have_some_passed(&(told(0) + &told(1))));
        assert!(!have_passed(&(told(0) + &told(1))));
        assert!(!have_some_passed(&told(0)));
        assert!(!have_passed(
            &told(9).replace(PASSED, "usb: tests ended with 1")
        ));
    }

    #[test]
    fn the_first_process_says_what_is_looked_for() {
        let init = include_str!("usb/init");
        assert!(init.contains(&format!("[ -n \"${{{SHORT}-}}\" ]")));
        assert!(init.contains(&format!("echo \"{NAME}: started\"")));
        assert!(init.contains("echo \"usb: tests ended with $status\""));
        for test in TESTS {
            assert!(init.contains(&format!("{test}-tests ${{{ONLY}-}} --test-threads=1")));
        }
    }
}
