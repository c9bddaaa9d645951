//! Control groups of version 2, in the part of the tree that systemd delegated to the server.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Base, CPU_PERIOD_US, Group, mounted_at, own_path, write};
use crate::bounds::{Bounds, Hold, Kernel};
use crate::spec::{Limits, OWN_PROCESSES};

/// The group to which the server itself moves: a group that contains groups must not have processes of its
/// own.
const SERVER: &str = "hostd-server";

/// The file with a group's weight, and that of one of which nothing is said.
pub(super) const CPU_WEIGHT: (&str, u64) = ("cpu.weight", 100);

/// The controllers that are needed.
const CONTROLLERS: [&str; 3] = ["memory", "pids", "cpu"];

/// A delegated part of the tree.
#[derive(Debug)]
pub(crate) struct Hierarchy {
    base: Arc<Base>,
    /// The [`CONTROLLERS`] that groups below the base have.
    controllers: Vec<&'static str>,
}

impl Hierarchy {
    /// None if nothing is delegated to this server.
    pub(super) fn open() -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
        let root = mounted_at(&mounts, "cgroup2", |_| true)?;
        let text = fs::read_to_string("/proc/self/cgroup").ok()?;
        let path = own_path(&text, str::is_empty)?;
        Self::open_at(&root.join(path.trim_start_matches('/'))).ok()?
    }

    /// Uses the part of the tree below a folder. None if that does not belong to this server, or
    /// can bound nothing.
    pub(super) fn open_at(own: &Path) -> io::Result<Option<Self>> {
        let delegated = match own.file_name() {
            Some(name) if name == SERVER => own.parent().unwrap_or(own),
            _ => own,
        };
        let offered = words(&delegated.join("cgroup.controllers"));
        let controllers: Vec<&str> = CONTROLLERS
            .into_iter()
            .filter(|name| offered.iter().any(|word| word == name))
            .collect();
        if controllers.is_empty() || !leave(delegated)? {
            return Ok(None);
        }
        pass_on(delegated, &controllers)?;
        let base = Base::make(delegated)?;
        pass_on(&base.folder, &controllers)?;
        if controllers.contains(&"cpu") {
            base.share(CPU_WEIGHT.0, CPU_WEIGHT.1);
        }
        Ok(Some(Self { base, controllers }))
    }

    /// Uses a folder as it is, with whatever controllers it has, perhaps none: enough for a test of joining
    /// and killing.
    #[cfg(test)]
    pub(super) fn below(parent: &Path, controllers: &[&'static str]) -> io::Result<Self> {
        Ok(Self {
            base: Base::make(parent)?,
            controllers: controllers.to_vec(),
        })
    }

    fn has(&self, controller: &str) -> bool {
        self.controllers.contains(&controller)
    }

    pub(super) fn bounds(&self, kernel: Kernel) -> Bounds {
        let hold = |controller| self.has(controller).then_some(Hold::GroupV2);
        Bounds::new(hold("memory"), hold("pids"), hold("cpu"), kernel)
    }

    pub(super) fn make(&self, name: &str, limits: &Limits) -> io::Result<Group> {
        let folder = self.base.folder.join(name);
        fs::create_dir(&folder)?;
        // If one of the limits is refused, dropping this removes the group.
        let group = Group {
            oom: self.has("memory").then(|| folder.join("memory.events")),
            pids: self.has("pids").then(|| folder.join("pids.events")),
            kill: Some(folder.join("cgroup.kill")),
            folders: vec![folder.clone()],
            bases: vec![Arc::clone(&self.base)],
        };
        for (file, value) in self.settings(limits) {
            write(&folder.join(file), &value)?;
        }
        if self.has("memory") {
            // A kernel without swap does not have the file.
            match write(&folder.join("memory.swap.max"), "0") {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                written => written?,
            }
        }
        Ok(group)
    }

    /// What to write to which file of a group.
    pub(super) fn settings(&self, limits: &Limits) -> Vec<(&'static str, String)> {
        let mut settings = Vec::new();
        if self.has("memory") {
            settings.push(("memory.max", limits.memory_bytes.to_string()));
            // The whole jail ends at once, rather than continuing with half a build.
            settings.push(("memory.oom.group", "1".to_owned()));
        }
        if self.has("pids") {
            let most = limits.processes + OWN_PROCESSES;
            settings.push(("pids.max", most.to_string()));
        }
        if self.has("cpu") {
            let quota = u64::from(limits.cpu_millis) * CPU_PERIOD_US / 1000;
            settings.push(("cpu.max", format!("{quota} {CPU_PERIOD_US}")));
        }
        settings
    }
}

/// Moves this process out of the delegated group itself. False if there are others in it: then it belongs to
/// somebody else, for example to a login session.
fn leave(delegated: &Path) -> io::Result<bool> {
    let this = std::process::id().to_string();
    let inside = words(&delegated.join("cgroup.procs"));
    if inside.iter().any(|process| *process != this) {
        return Ok(false);
    }
    if inside.is_empty() {
        return Ok(true);
    }
    let server = delegated.join(SERVER);
    match fs::create_dir(&server) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => write(&server.join("cgroup.procs"), &this).map(|()| true),
    }
}

/// Lets the groups below a folder use these controllers.
fn pass_on(folder: &Path, controllers: &[&str]) -> io::Result<()> {
    let wanted: Vec<String> = controllers.iter().map(|name| format!("+{name}")).collect();
    write(&folder.join("cgroup.subtree_control"), &wanted.join(" "))
}

fn words(file: &PathBuf) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split_ascii_whitespace().map(str::to_owned).collect()
}
