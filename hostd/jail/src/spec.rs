//! Describes a jail.

use std::fmt;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::reach::Reach;
use crate::slot::Slot;

/// The port on the jail's loopback interface where the relay listens.
pub const RELAY_PORT: u16 = 8099;

/// Connections that the relay of one jail serves at once. Further ones wait.
pub const RELAY_CONNECTIONS_MAX: usize = 64;

/// Most processes of a jail that do not belong to the command: init, and also outer where processes are
/// counted by user.
pub(crate) const OWN_PROCESSES: u32 = 2;

/// The smallest `kernel.pid_max`: Linux does not reuse the first 300 ids.
pub(crate) const PID_MAX_MIN: u32 = 301;

/// Folders and files shown to one jail in addition to the host's `/usr`.
pub const BINDS_MAX: usize = 64;

/// Folders that a tree must have to be the [root](Spec::root): a jail has its own there.
pub const TREE_FOLDERS: [&str; 4] = ["dev", "job", "proc", "tmp"];

/// The least memory with which the stages of a jail can work.
pub const MEMORY_BYTES_MIN: u64 = 16 << 20;

/// A folder or file of the host that can be read inside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bind {
    /// Its path on the host: absolute, and reachable for the slot's user.
    pub host: PathBuf,
    /// Its path inside: absolute, without `..`, not in a folder that each jail has for itself. Below `/usr`
    /// only where the host has something already.
    pub inside: PathBuf,
}

impl Bind {
    /// Shows a folder at the same path as on the host.
    pub fn same(path: impl Into<PathBuf>) -> Self {
        let host = path.into();
        Self {
            inside: host.clone(),
            host,
        }
    }
}

/// The most that a jail may use. [`Bounds`](crate::Bounds) says how firmly each limit holds on this
/// machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Memory of all processes together, including what they write to `/tmp`. At least
    /// [`MEMORY_BYTES_MIN`].
    pub memory_bytes: u64,
    /// Processes and threads together, at least 1.
    pub processes: u32,
    /// Processor time for each second, in thousandths of a core, at least 10.
    pub cpu_millis: u32,
    /// Bytes in `/tmp`, at least a page.
    pub tmp_bytes: u64,
    /// Files and folders in `/tmp`.
    pub tmp_inodes: u64,
    /// Open descriptors of each process.
    pub open_files: u64,
    /// Bytes in each file that is written.
    pub file_bytes: u64,
    /// Time from the start until everything is ended.
    pub wall: Duration,
}

impl Default for Limits {
    /// A gigabyte, 256 processes, two cores and ten minutes.
    fn default() -> Self {
        Self {
            memory_bytes: 1 << 30,
            processes: 256,
            cpu_millis: 2000,
            tmp_bytes: 256 << 20,
            tmp_inodes: 20_000,
            open_files: 1024,
            file_bytes: 1 << 30,
            wall: Duration::from_secs(600),
        }
    }
}

/// A program to run in a jail, and what it may see and use.
#[derive(Clone)]
pub struct Spec {
    /// The program: a path inside, or a name that is found by `PATH` in [`Spec::environment`].
    pub program: String,
    /// Its arguments, not including its name.
    pub arguments: Vec<String>,
    /// Its complete environment: nothing is inherited.
    pub environment: Vec<(String, String)>,
    /// The one folder of the host to which the program can write, as `/job`. If [slots are
    /// users](Slot::are_users) it must belong to the slot's user, who need not have access to the folders
    /// above it.
    pub job: PathBuf,
    /// Where the program starts, relative to `/job`.
    pub folder: PathBuf,
    /// Folders and files shown inside in addition to the host's `/usr`, at most [`BINDS_MAX`].
    pub binds: Vec<Bind>,
    /// A folder of the host that is the root inside, read-only, in place of the host's `/usr` and of
    /// [`Spec::binds`]. It has the [`TREE_FOLDERS`], none of which is a link, and nobody writes to it meanwhile. If
    /// [slots are users](Slot::are_users), these need not have access to the folders above it.
    pub root: Option<PathBuf>,
    /// The slot that it runs in.
    pub slot: Slot,
    /// What it may use.
    pub limits: Limits,
    /// The UNIX socket to which connections to 127.0.0.1:[`RELAY_PORT`] inside are forwarded. The slot's user
    /// must be able to write to it. Without a relay there is nothing to connect to.
    pub relay: Option<PathBuf>,
    /// How far into the network the program reaches, which takes [slirp4netns](crate::Report::slirp4netns). None: not at all.
    pub network: Option<Reach>,
}

/// Without values of the environment, which may be secret.
impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spec")
            .field("program", &self.program)
            .field("arguments", &self.arguments)
            .field("job", &self.job)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Spec {
    /// A program with an environment of `PATH`, `HOME` and `TMPDIR`, default limits and nothing else.
    pub fn new(program: impl Into<String>, job: impl Into<PathBuf>, slot: Slot) -> Self {
        let environment = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("HOME", "/job"),
            ("TMPDIR", "/tmp"),
        ];
        Self {
            program: program.into(),
            arguments: Vec::new(),
            environment: environment
                .map(|(name, value)| (name.into(), value.into()))
                .into(),
            job: job.into(),
            folder: PathBuf::new(),
            binds: Vec::new(),
            root: None,
            slot,
            limits: Limits::default(),
            relay: None,
            network: None,
        }
    }

    /// Appends arguments.
    #[must_use]
    pub fn arguments<A: Into<String>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Refuses descriptions from which no jail can be built, before anything is started.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let limits = &self.limits;
        let refused = [
            (
                self.program.is_empty(),
                "the program is empty; name one that is inside",
            ),
            (
                !self.job.is_absolute(),
                "the job's folder is not an absolute path",
            ),
            (
                !is_plain(&self.folder) || self.folder.is_absolute(),
                "the folder to start in must be relative to /job, without `..`",
            ),
            (
                BINDS_MAX < self.binds.len(),
                "more than 64 folders are to be shown",
            ),
            (
                self.binds
                    .iter()
                    .any(|bind| !bind.host.is_absolute() || !may_show_at(&bind.inside)),
                "a folder can be shown at an absolute path without `..`, not in /job, /tmp, /proc, /dev or /etc",
            ),
            (
                self.root.as_ref().is_some_and(|root| !root.is_absolute()),
                "the root is not an absolute path",
            ),
            (
                self.root.is_some() && !self.binds.is_empty(),
                "with a root of its own, nothing else of the host is shown",
            ),
            (
                self.has_nul(),
                "a program, argument or variable contains a zero byte",
            ),
            (
                limits.memory_bytes < MEMORY_BYTES_MIN,
                "less than 16 MiB of memory",
            ),
            (
                limits.processes < 1 || 1 << 20 < limits.processes,
                "processes must be 1 to 1048576",
            ),
            (
                limits.cpu_millis < 10 || 1_000_000 < limits.cpu_millis,
                "a processor share must be 10 to 1000000 thousandths of a core",
            ),
            // For tmpfs, zero means no bound.
            (
                limits.tmp_bytes < 4096 || limits.tmp_inodes < 1,
                "/tmp needs a page and a file at least",
            ),
        ];
        match refused.iter().find(|(is_so, _)| *is_so) {
            Some((_, reason)) => Err(Error::Spec(reason)),
            None => Ok(()),
        }
    }

    fn has_nul(&self) -> bool {
        let variables = self
            .environment
            .iter()
            .flat_map(|(name, value)| [name, value]);
        std::iter::once(&self.program)
            .chain(&self.arguments)
            .chain(variables)
            .any(|text| text.contains('\0'))
    }
}

/// Folders that every jail has for itself.
const OWN_FOLDERS: [&str; 6] = ["/job", "/tmp", "/proc", "/dev", "/etc", "/"];

fn may_show_at(inside: &Path) -> bool {
    let is_own = OWN_FOLDERS.iter().any(|own| {
        if *own == "/" {
            inside == Path::new(own)
        } else {
            inside.starts_with(own)
        }
    });
    inside.is_absolute() && is_plain(inside) && !is_own
}

fn is_plain(path: &Path) -> bool {
    path.components()
        .all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
}

/// What one of the standard streams of a command is connected to.
#[derive(Debug, Default)]
pub enum Stream {
    /// Nothing: reading ends at once, and what is written is lost.
    #[default]
    Null,
    /// A pipe, whose other end comes with the [`Child`](crate::Child).
    Pipe,
    /// This descriptor.
    Descriptor(OwnedFd),
}

/// The standard streams of a command.
#[derive(Debug, Default)]
pub struct Streams {
    /// Standard input.
    pub stdin: Stream,
    /// Standard output.
    pub stdout: Stream,
    /// Standard error.
    pub stderr: Stream,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> Spec {
        Spec::new("true", "/srv/job", Slot::new(0).unwrap())
    }

    #[test]
    fn what_cannot_be_built_is_refused() {
        let refused = |change: fn(&mut Spec)| {
            let mut spec = spec();
            change(&mut spec);
            matches!(spec.check(), Err(Error::Spec(_)))
        };
        assert!(!refused(|_| {}));
        assert!(refused(|spec| spec.program.clear()));
        assert!(refused(|spec| spec.arguments.push("a\0b".into())));
        assert!(refused(|spec| spec.job = "job".into()));
        assert!(refused(|spec| spec.folder = "../..".into()));
        assert!(refused(|spec| spec.folder = "/etc".into()));
        assert!(!refused(|spec| spec.root = Some("/srv/root".into())));
        assert!(refused(|spec| spec.root = Some("root".into())));
        assert!(refused(|spec| {
            spec.root = Some("/srv/root".into());
            spec.binds = vec![Bind::same("/opt")];
        }));
        assert!(refused(|spec| spec.limits.memory_bytes = 1 << 20));
        assert!(refused(|spec| spec.limits.processes = 0));
        assert!(refused(|spec| spec.limits.cpu_millis = 0));
        assert!(refused(|spec| spec.limits.tmp_bytes = 0));
        assert!(refused(|spec| spec.limits.tmp_inodes = 0));
        assert!(refused(
            |spec| spec.binds = vec![Bind::same("/opt"); BINDS_MAX + 1]
        ));
    }

    #[test]
    fn a_bind_does_not_cover_what_a_jail_has_of_its_own() {
        for inside in ["/opt/arm", "/usr/local/arm", "/jobs", "/srv"] {
            assert!(may_show_at(Path::new(inside)), "{inside}");
        }
        for inside in [
            "/",
            "/job",
            "/job/tools",
            "/tmp/x",
            "/proc",
            "/dev/kvm",
            "/etc/passwd",
            "/opt/../etc",
            "opt",
        ] {
            assert!(!may_show_at(Path::new(inside)), "{inside}");
        }
    }
}
