//! Control groups: a folder of the kernel for each jail, whose files bound all processes in it together.
//!
//! A server has one *base* folder in each hierarchy it uses, which contains a group for each jail, and holds
//! a lock on it. The lock disappears with the server however that ends, so a base without a lock is left over
//! and the next server can remove it.

mod v1;
mod v2;

#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;

use crate::bounds::{Bounds, Kernel};
use crate::spec::Limits;

/// The folder names of servers begin with this.
const BASE_PREFIX: &str = "hostd-jails-";

/// How often a server that starts next to others may lose its folder to them.
const BASE_ATTEMPTS: usize = 8;

/// How long the kernel may take to empty a group whose processes have ended.
const EMPTY_WITHIN: Duration = Duration::from_secs(2);

/// How often that is checked.
const EMPTY_POLL: Duration = Duration::from_millis(2);

/// Length of the kernel's period for processor time, in microseconds.
const CPU_PERIOD_US: u64 = 100_000;

/// The share of all jails together of processors that the server wants, too, in hundredths of its own. With a tenth, a
/// thread of the server that wakes up goes first: the slowest hundredth of its waits took 0.07 ms beside builds on all
/// processors, with a quarter 0.5 ms, and with an equal share 2.5 ms. Jails share equally among each other.
const CPU_WEIGHT_PERCENT: u64 = 10;

/// Where this server can make groups.
#[derive(Debug)]
pub(crate) enum Groups {
    V2(v2::Hierarchy),
    V1(v1::Hierarchies),
    None,
}

impl Groups {
    /// Finds out where groups can be made, and removes what an earlier server left behind.
    pub(crate) fn open() -> Self {
        if let Some(hierarchy) = v2::Hierarchy::open() {
            return Self::V2(hierarchy);
        }
        match v1::Hierarchies::open() {
            Some(hierarchies) => Self::V1(hierarchies),
            None => Self::None,
        }
    }

    pub(crate) fn bounds(&self, kernel: Kernel) -> Bounds {
        match self {
            Self::V2(hierarchy) => hierarchy.bounds(kernel),
            Self::V1(hierarchies) => hierarchies.bounds(kernel),
            Self::None => Bounds::new(None, None, None, kernel),
        }
    }

    /// Makes the group of a jail.
    pub(crate) fn make(&self, name: &str, limits: &Limits) -> io::Result<Group> {
        match self {
            Self::V2(hierarchy) => hierarchy.make(name, limits),
            Self::V1(hierarchies) => hierarchies.make(name, limits),
            Self::None => Ok(Group::default()),
        }
    }
}

/// The group of one jail, a folder for each hierarchy. Removed when dropped.
#[derive(Debug, Default)]
pub(crate) struct Group {
    folders: Vec<PathBuf>,
    /// The file that says how often the group ran out of memory.
    oom: Option<PathBuf>,
    /// The file that says how often the group wanted more processes than it may have.
    pids: Option<PathBuf>,
    /// The file that ends all its processes.
    kill: Option<PathBuf>,
    /// The folders that contain the groups; removed after the last of them.
    bases: Vec<Arc<Base>>,
}

impl Group {
    /// The files by which a process joins.
    pub(crate) fn joins(&self) -> Vec<PathBuf> {
        let join = |folder: &PathBuf| folder.join("cgroup.procs");
        self.folders.iter().map(join).collect()
    }

    /// True if the kernel ended a process in it for lack of memory.
    pub(crate) fn ran_out_of_memory(&self) -> bool {
        self.oom
            .as_ref()
            .is_some_and(|file| 0 < counter(file, "oom_kill"))
    }

    /// How often a process was refused because there were too many.
    pub(crate) fn refused_processes(&self) -> u64 {
        self.pids.as_ref().map_or(0, |file| counter(file, "max"))
    }

    /// Ends all its processes at once, if the kernel supports that.
    pub(crate) fn kill(&self) {
        if let Some(file) = &self.kill {
            // Whatever this does not kill ends with init.
            let _ = write(file, "1");
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for folder in &self.folders {
            // If it stays, the next server removes it.
            let _ = remove_when_empty(folder);
        }
        self.bases.clear();
    }
}

/// Writes a file of the kernel, and never creates it: a missing file means that the kernel cannot
/// do it.
fn write(file: &Path, value: &str) -> io::Result<()> {
    use io::Write;
    let mut opened = fs::OpenOptions::new().write(true).open(file)?;
    opened.write_all(value.as_bytes())
}

/// The number after a name in a kernel file of one name a line. 0 if there is none.
fn counter(file: &Path, name: &str) -> u64 {
    let text = fs::read_to_string(file).unwrap_or_default();
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value
        .and_then(|value| value.trim().parse().ok())
        .unwrap_or_default()
}

/// Removes a group as soon as the kernel has removed its last process.
fn remove_when_empty(folder: &Path) -> io::Result<()> {
    let until = Instant::now() + EMPTY_WITHIN;
    loop {
        match fs::remove_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy && Instant::now() < until => {
                std::thread::sleep(EMPTY_POLL);
            }
            removed => return removed,
        }
    }
}

/// The folder of this server in one hierarchy. Removed when the server and all its groups have released it.
#[derive(Debug)]
struct Base {
    folder: PathBuf,
    /// Held as long as the server lives. Not inherited by programs that it executes.
    _lock: File,
}

impl Base {
    /// Makes the folder below `parent`, after removing folders of servers that are gone.
    fn make(parent: &Path) -> io::Result<Arc<Self>> {
        sweep(parent);
        for _ in 0..BASE_ATTEMPTS {
            let folder = parent.join(format!("{BASE_PREFIX}{}", unique()));
            fs::create_dir(&folder)?;
            // Until it is locked, another server that starts now considers it left over, and removes it.
            match lock(&folder) {
                Ok(lock) if folder.exists() => {
                    return Ok(Arc::new(Self {
                        folder,
                        _lock: lock,
                    }));
                }
                _ => drop(fs::remove_dir(&folder)),
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    /// Gives all its jails together their share by a file whose value is `whole` where nothing is said.
    fn share(&self, file: &str, whole: u64) {
        let share = whole * CPU_WEIGHT_PERCENT / 100;
        // Without it, jails are as important as the server, and bounded all the same.
        let _ = write(&self.folder.join(file), &share.to_string());
    }
}

impl Drop for Base {
    fn drop(&mut self) {
        let _ = remove_when_empty(&self.folder);
    }
}

/// A name that no other server on this machine has, whatever process id each sees for itself in its
/// namespace.
fn unique() -> String {
    use std::hash::{BuildHasher, RandomState};
    // Every `RandomState` differs, and the first of a process is random.
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
}

fn lock(folder: &Path) -> io::Result<File> {
    let lock = File::open(folder)?;
    rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
    Ok(lock)
}

/// Removes the folders below `parent` whose servers are gone, with their groups and everything that still
/// runs in them.
fn sweep(parent: &Path) {
    let is_base = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy());
        name.is_some_and(|name| name.starts_with(BASE_PREFIX))
    };
    for base in folders(parent).into_iter().filter(is_base) {
        let Ok(_lock) = lock(&base) else { continue };
        for group in folders(&base) {
            // This file exists in version 2. In version 1 the processes ended with their init.
            let _ = write(&group.join("cgroup.kill"), "1");
            let _ = remove_when_empty(&group);
        }
        let _ = remove_when_empty(&base);
    }
}

fn folders(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

/// The path in the line of `/proc/self/cgroup` that `is_meant` selects by its list of controllers, which is
/// empty for version 2.
fn own_path(text: &str, is_meant: impl Fn(&str) -> bool) -> Option<&str> {
    text.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        is_meant(controllers).then_some(path)
    })
}

/// The mount point of a kind of file system, selected by `is_meant` from its options.
fn mounted_at(mounts: &str, kind: &str, is_meant: impl Fn(&str) -> bool) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (place, found, options) = (fields.next()?, fields.next()?, fields.next()?);
        (found == kind && is_meant(options)).then(|| PathBuf::from(place))
    })
}

/// True if a comma-separated list contains a word.
fn lists(list: &str, word: &str) -> bool {
    list.split(',').any(|listed| listed == word)
}
