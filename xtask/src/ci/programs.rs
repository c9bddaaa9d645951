//! Programs that checks and tests want and that are small: a machine of CI gets those that it lacks.
//!
//! Others that tests use where they find them are large, or are of no use in most machines of CI: Podman, OpenEMS, GDB with
//! a compiler for ARM.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::{env, fs};

use crate::{apt, progress, tool};

/// A program and the package of Debian that has it.
struct Program {
    name: &'static str,
    package: &'static str,
}

const PROGRAMS: [Program; 3] = [
    // The checks cgroup2 and usb: 17 MB.
    Program {
        name: "qemu-system-x86_64",
        package: "qemu-system-x86",
    },
    // Tests of analyzers: 2 MB.
    Program {
        name: "sigrok-cli",
        package: "sigrok-cli",
    },
    // Tests of the web application: 90 MB.
    Program {
        name: "chromium",
        package: "chromium",
    },
];

/// Packages that may be removed for these. A newer one from a collection of backports excludes the QEMU of Debian itself.
const MAY_GO: [&str; 1] = ["qemu-utils"];

/// What apt says, below the folder of the run.
const LOG: &str = "apt.txt";

/// Environment variable that machines of CI set, and its values there.
const CI: (&str, [&str; 2]) = ("CI", ["true", "1"]);

/// Installs what is missing, if this is a machine of CI that allows it. Returns what is missing afterwards and what to do
/// about it. `folder` is for logs.
pub(super) fn provide(folder: &Path) -> Option<String> {
    let missing = missing(is_here)?;
    let advice = advice(&missing);
    let may_install = match env::var(CI.0) {
        Ok(value) => CI.1.contains(&&*value) && is_root(),
        Err(_) => false,
    };
    if !may_install {
        progress::detail(&advice);
        return Some(advice);
    }
    let packages: Vec<&str> = missing.iter().map(|program| program.package).collect();
    progress::step(&format!("installing {}", packages.join(", ")));
    let installed = apt::install(&packages, &MAY_GO, &folder.join(LOG));
    if let Err(error) = &installed {
        progress::detail(&format!("failed to install: {error:#}"));
    }
    let still_missing = self::missing(is_here)?;
    let advice = self::advice(&still_missing);
    Some(match installed {
        Ok(()) => advice,
        Err(error) => format!("{advice}, which failed here: {error:#}"),
    })
}

/// The programs that are missing, if any are.
fn missing(is_here: impl Fn(&Program) -> bool) -> Option<Vec<&'static Program>> {
    let missing: Vec<_> = PROGRAMS.iter().filter(|one| !is_here(one)).collect();
    (!missing.is_empty()).then_some(missing)
}

fn is_here(program: &Program) -> bool {
    tool::find(program.name).is_some()
}

fn advice(missing: &[&Program]) -> String {
    let names: Vec<&str> = missing.iter().map(|program| program.name).collect();
    let packages: Vec<&str> = missing.iter().map(|program| program.package).collect();
    let (names, command) = (names.join(", "), apt::install_command(&packages));
    format!("to check with {names}: `{command}`")
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_has_the_packages_of_what_is_missing() {
        assert!(missing(|_| true).is_none());
        let missing = missing(|program| program.name != "qemu-system-x86_64").unwrap();
        assert_eq!(
            advice(&missing),
            "to check with qemu-system-x86_64: \
             `apt-get update && apt-get install --yes --no-install-recommends qemu-system-x86`"
        );
    }

    #[test]
    fn each_program_is_one_that_checks_or_tests_look_for() {
        let machine = include_str!("../machine.rs");
        let analyzers = include_str!("../../../hostd/acquire/tests/sigrok.rs");
        let web = include_str!("../web.rs");
        for Program { name, .. } in PROGRAMS {
            let quoted = format!("\"{name}\"");
            let is_wanted = [machine, analyzers, web]
                .iter()
                .any(|text| text.contains(&quoted));
            assert!(is_wanted, "{name}");
        }
    }
}
