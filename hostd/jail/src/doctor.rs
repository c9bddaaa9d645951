//! Reports what this machine offers to jails.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::bounds::{Bounds, Hold, Kernel};
use crate::error::Error;
use crate::jail::{Jail, Options, SLIRP4NETNS};
use crate::lack::Lack;
use crate::slot::Slot;
use crate::spec::{Spec, Streams};
use crate::stage::TUN;

/// How long a program may take to tell its version.
const VERSION_WITHIN: Duration = Duration::from_secs(5);

/// The most of what it says that is read.
const VERSION_BYTES_MAX: u64 = 4 << 10;

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
    /// Its version; none if it does not tell.
    pub slirp4netns_version: Option<Version>,
    /// Whether programs of jails' users may make network interfaces.
    pub has_tun: bool,
}

/// The version of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// The oldest slirp4netns that speaks to a jail: it has `--target-type=bess`, and with that listens where it is told
    /// to; `--exit-fd`, `--cidr`, `--mtu`, `--disable-host-loopback` and `--enable-ipv6` are older.
    pub(crate) const SLIRP4NETNS_MIN: Self = Self(1, 2, 0);

    /// Of a line such as `slirp4netns version 1.2.0-beta.0+dev`.
    fn parse(line: &str) -> Option<Self> {
        let word = line.split_once("version ")?.1;
        let is_part = |c: char| c.is_ascii_digit() || c == '.';
        let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
        let mut parts = word[..end].split('.').map(str::parse);
        let mut part = || parts.next().unwrap_or(Ok(0)).ok();
        Some(Self(part()?, part()?, part()?))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(major, minor, patch) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

impl Report {
    /// Whether slirp4netns is known to be older than what jails need.
    fn has_old_slirp4netns(&self) -> bool {
        let version = self.slirp4netns_version;
        version.is_some_and(|version| version < Version::SLIRP4NETNS_MIN)
    }

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
            (self.has_old_slirp4netns(), Lack::OldSlirp4netns),
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
    let slirp4netns = installed(SLIRP4NETNS);
    Ok(Report {
        kernel: Kernel::running(),
        has_slot_users: Slot::are_users(),
        isolation,
        bounds: jail.bounds(),
        podman: installed("podman"),
        slirp4netns_version: slirp4netns
            .as_deref()
            .and_then(|program| version(Command::new(program))),
        slirp4netns,
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

/// What a program says of its version, unless it takes its time.
fn version(mut program: Command) -> Option<Version> {
    let mut child = program
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let out = child.stdout.take()?;
    let (told, said) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let read = out.take(VERSION_BYTES_MAX).read_to_end(&mut text);
        // Nobody waits any longer for what comes too late.
        let _ = told.send(read.map(|_| text));
    });
    let said = said.recv_timeout(VERSION_WITHIN);
    // It has ended, or must.
    let _ = child.kill();
    let _ = child.wait();
    let text = said.ok()?.ok()?;
    Version::parse(String::from_utf8_lossy(&text).lines().next()?)
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
            slirp4netns_version: Some(Version::SLIRP4NETNS_MIN),
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
    #[test]
    fn versions_are_compared_by_their_numbers() {
        for (line, version) in [
            ("slirp4netns version 1.2.0", Some(Version(1, 2, 0))),
            (
                "slirp4netns version 1.10.3-beta.1+dev",
                Some(Version(1, 10, 3)),
            ),
            ("slirp4netns version 2", Some(Version(2, 0, 0))),
            ("slirp4netns version unknown", None),
            ("slirp4netns version 99999999999.0", None),
            ("usage: slirp4netns", None),
        ] {
            assert_eq!(Version::parse(line), version, "{line}");
        }
        assert!(Version(1, 10, 0) > Version(1, 2, 9));
        assert_eq!(Version(1, 2, 0).to_string(), "1.2.0");
    }

    #[test]
    fn an_old_slirp4netns_is_named_and_one_that_says_nothing_is_not() {
        let group = Hold::GroupV2;
        let mut report = report(Bounds {
            memory: group,
            processes: group,
            cpu: group,
        });
        for (version, lacks) in [
            (Some(Version(1, 1, 12)), vec![Lack::OldSlirp4netns]),
            (Some(Version(1, 3, 0)), Vec::new()),
            (None, Vec::new()),
        ] {
            report.slirp4netns_version = version;
            assert_eq!(report.lacks(), lacks, "{version:?}");
        }
        let cure = Lack::OldSlirp4netns.cure();
        assert!(
            cure.contains(&Version::SLIRP4NETNS_MIN.to_string()),
            "{cure}"
        );
    }

    #[test]
    fn a_program_that_tells_nothing_in_time_is_ended() {
        let of = |script: &str| {
            let mut program = Command::new("sh");
            program.args(["-c", script]);
            version(program)
        };
        assert_eq!(
            of("echo program version 1.2.3; echo more"),
            Some(Version(1, 2, 3))
        );
        assert_eq!(of("exit 1"), None);
        assert_eq!(of("exec yes"), None);
        let begun = std::time::Instant::now();
        assert_eq!(of("exec sleep 1000.71"), None);
        assert!(begun.elapsed() < 2 * VERSION_WITHIN);
        assert_eq!(version(Command::new("/no/program")), None);
    }
}
