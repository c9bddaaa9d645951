//! Reports what this machine offers to jails.

use std::path::{Path, PathBuf};

use crate::bounds::{Bounds, Hold, Kernel};
use crate::error::Error;
use crate::jail::{Jail, Options, SLIRP4NETNS};
use crate::lack::Lack;
use crate::slot::Slot;
use crate::spec::{Spec, Streams};
use crate::stage::TUN;

/// What this machine offers to this user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The kernel's version.
    pub kernel: Kernel,
    /// Whether each slot is a separate user: see [`Slot::are_users`].
    pub has_slot_users: bool,
    /// Whether a jail could be made, found by making one.
    pub isolation: Result<(), Lack>,
    /// What enforces the limits.
    pub bounds: Bounds,
    /// Podman's program, if it is installed.
    pub podman: Option<PathBuf>,
    /// The program slirp4netns, which jails with a network need, if it is installed.
    pub slirp4netns: Option<PathBuf>,
    /// Whether programs of jails' users may make network interfaces.
    pub has_tun: bool,
}

impl Report {
    /// What is missing, the worst first. For each there is a [cure](Lack::cure).
    #[must_use]
    pub fn lacks(&self) -> Vec<Lack> {
        let is_group = |hold| matches!(hold, Hold::GroupV2 | Hold::GroupV1);
        let Bounds {
            memory,
            processes,
            cpu,
        } = self.bounds;
        let has_groups = [memory, processes, cpu].into_iter().any(is_group);
        let lacks = [
            (!has_groups, Lack::NoGroups),
            (has_groups && !memory.is_hard(), Lack::NoMemoryGroup),
            (!processes.is_hard(), Lack::NoProcessBound),
            (self.podman.is_none(), Lack::NoPodman),
            (self.slirp4netns.is_none(), Lack::NoSlirp4netns),
            (!self.has_tun, Lack::NoTun),
        ];
        let missing = lacks
            .into_iter()
            .filter_map(|(is_so, lack)| is_so.then_some(lack));
        self.isolation.err().into_iter().chain(missing).collect()
    }
}

/// Tries to make a jail, and checks everything else.
///
/// # Errors
///
/// If a jail cannot be made for a reason that is not about the machine.
pub fn probe(options: &Options) -> Result<Report, Error> {
    let jail = Jail::open(options)?;
    let isolation = match attempt(&jail) {
        Err(Error::NoIsolation { lack, .. }) => Err(lack),
        // If this program is missing, the machine has others, and the jail was made.
        Ok(()) | Err(Error::Command { .. }) => Ok(()),
        Err(error) => return Err(error),
    };
    Ok(Report {
        kernel: Kernel::running(),
        has_slot_users: Slot::are_users(),
        isolation,
        bounds: jail.bounds(),
        podman: installed("podman"),
        slirp4netns: installed(SLIRP4NETNS),
        has_tun: has_tun(),
    })
}

fn attempt(jail: &Jail) -> Result<(), Error> {
    let slot = Slot::new(Slot::COUNT - 1).ok_or(Error::Lost)?;
    // Any folder does: nothing is written.
    let spec = Spec::new("true", "/usr", slot);
    jail.spawn(&spec, Streams::default())?.wait().map(drop)
}

pub(crate) fn installed(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

/// Whether the users of slots may make network interfaces.
fn has_tun() -> bool {
    use std::os::unix::fs::PermissionsExt;
    /// Read and write for others.
    const FOR_ALL: u32 = 0o006;
    let tun = Path::new(TUN);
    if Slot::are_users() {
        let mode = tun.metadata().map(|tun| tun.permissions().mode());
        return mode.is_ok_and(|mode| mode & FOR_ALL == FOR_ALL);
    }
    let mut options = std::fs::OpenOptions::new();
    options.read(true).write(true).open(tun).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(bounds: Bounds) -> Report {
        Report {
            kernel: Kernel { major: 6, minor: 1 },
            has_slot_users: false,
            isolation: Ok(()),
            bounds,
            podman: Some("/usr/bin/podman".into()),
            slirp4netns: Some("/usr/bin/slirp4netns".into()),
            has_tun: true,
        }
    }

    #[test]
    fn a_machine_with_everything_lacks_nothing() {
        let group = Hold::GroupV2;
        let all = Bounds {
            memory: group,
            processes: group,
            cpu: group,
        };
        assert_eq!(report(all).lacks(), []);
    }

    #[test]
    fn what_is_missing_is_named_the_worst_first() {
        let none = Bounds {
            memory: Hold::EachProcess,
            processes: Hold::EachProcess,
            cpu: Hold::Priority,
        };
        let mut report = report(none);
        report.isolation = Err(Lack::ProcMasked);
        report.podman = None;
        report.slirp4netns = None;
        report.has_tun = false;
        let lacks = [
            Lack::ProcMasked,
            Lack::NoGroups,
            Lack::NoProcessBound,
            Lack::NoPodman,
            Lack::NoSlirp4netns,
            Lack::NoTun,
        ];
        assert_eq!(report.lacks(), lacks);
        let part = Bounds {
            processes: Hold::GroupV2,
            ..none
        };
        report.bounds = part;
        assert!(report.lacks().contains(&Lack::NoMemoryGroup));
    }
}
