//! Tests of jails on a kernel with control groups of version 2, delegated as systemd does it, in a virtual
//! machine: the kernel that CI runs on may have version 1, or delegate nothing.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::machine::{self, Kernel, Machine};
use crate::tool;

/// Programs that the tests start, and that the shell does not have or has with fewer options.
const PROGRAMS: [&str; 2] = ["nice", "setsid"];

/// The test program of jails.
const TESTS: &str = "jail";

/// The name of the machine.
const NAME: &str = "cgroup2";

/// The machine's users (passwd(5)).
const USERS: &str = "root:x:0:0::/:/usr/bin/sh\nuser:x:1000:1000::/:/usr/bin/sh\n";

/// How long all tests may take. They take one or two minutes where the processor is emulated.
const TESTED_WITHIN: Duration = Duration::from_secs(600);

/// What the first process writes for each user whose tests passed.
const PASSED: [&str; 2] = ["cgroup2: root ended with 0", "cgroup2: user ended with 0"];

/// What the machine is made of.
pub(crate) struct Parts(machine::Parts);

/// Runs the tests, and fails where that is not possible.
pub(crate) fn run() -> Result<()> {
    Parts::find()?.prepare()?.run()
}

impl Parts {
    /// Finds what is needed, and fetches what is missing. The error says why it cannot be had.
    pub(crate) fn find() -> Result<Self> {
        machine::Parts::find(&Kernel::SMALL).map(Self)
    }

    /// Builds the tests, and the machine around them.
    pub(crate) fn prepare(&self) -> Result<Prepared> {
        let mut programs = vec![("jail-tests", machine::test_program(TESTS)?)];
        for name in PROGRAMS {
            let program =
                tool::find(name).with_context(|| format!("there is no program {name}"))?;
            programs.push((name, program));
        }
        let programs: Vec<_> = programs
            .iter()
            .map(|(name, path): &(&str, PathBuf)| (*name, path.as_path()))
            .collect();
        let mut initrd = self.0.initrd(include_bytes!("cgroup2/init"), &programs)?;
        initrd.file("etc/passwd", USERS.as_bytes())?;
        Machine::new(&self.0, NAME, initrd).map(Prepared)
    }
}

/// A machine with the tests in it.
pub(crate) struct Prepared(Machine);

impl Prepared {
    /// Starts the machine and expects that all tests pass.
    pub(crate) fn run(&self) -> Result<()> {
        let told = self.0.run("", TESTED_WITHIN)?;
        match have_passed(&told) {
            true => Ok(()),
            false => bail!(
                "not all tests passed on control groups of version 2; the lines above name them"
            ),
        }
    }
}

/// Whether the tests of each user passed, and there were some.
fn have_passed(told: &str) -> bool {
    let has = |wanted: &str| told.lines().any(|line| line == wanted);
    let are_none = |line: &str| line.starts_with("test result: ok. 0 passed");
    PASSED.into_iter().all(has) && !told.lines().any(are_none)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_have_passed_when_there_were_some_of_each_user() {
        let [root, user] = PASSED;
        let told = |tests: u32| {
            let result = format!("test result: ok. {tests} passed; 0 failed");
            format!("{NAME}: started\n{result}\n{root}\n{result}\n{user}\n")
        };
        assert!(have_passed(&told(14)));
        assert!(!have_passed(&told(0)));
        assert!(!have_passed(
            &told(14).replace(root, "cgroup2: root ended with 1")
        ));
        assert!(!have_passed(""));
    }

    #[test]
    fn the_first_process_says_what_is_looked_for() {
        let init = include_str!("cgroup2/init");
        assert!(init.contains(&format!("echo \"{NAME}: started\"")));
        for passed in PASSED {
            let user = passed.strip_suffix(" ended with 0").unwrap();
            let user = user.strip_prefix("cgroup2: ").unwrap();
            assert!(init.contains(&format!("\nas {user} {user}::\n")), "{user}");
        }
    }
}
