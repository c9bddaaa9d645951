//! Control groups of version 1: a hierarchy for each controller, where only root can make groups.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Base, CPU_PERIOD_US, Group, lists, mounted_at, own_path, write};
use crate::bounds::{Bounds, Hold, Kernel};
use crate::spec::{Limits, OWN_PROCESSES};

/// The file with a group's shares, and those of one of which nothing is said, and of a thread of priority 0.
pub(super) const CPU_SHARES: (&str, u64) = ("cpu.shares", 1024);

/// The hierarchies in which groups can be made. Several controllers can share one.
#[derive(Debug)]
pub(crate) struct Hierarchies {
    bases: Vec<(Vec<Controller>, Arc<Base>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Controller {
    Memory,
    Processes,
    Cpu,
}

impl Controller {
    const ALL: [Self; 3] = [Self::Memory, Self::Processes, Self::Cpu];

    fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Processes => "pids",
            Self::Cpu => "cpu",
        }
    }

    /// What to write to which file of a group, in this order.
    fn settings(self, limits: &Limits) -> Vec<(&'static str, u64)> {
        match self {
            Self::Memory => vec![("memory.limit_in_bytes", limits.memory_bytes)],
            Self::Processes => {
                vec![("pids.max", u64::from(limits.processes + OWN_PROCESSES))]
            }
            Self::Cpu => {
                let quota = u64::from(limits.cpu_millis) * CPU_PERIOD_US / 1000;
                vec![
                    ("cpu.cfs_period_us", CPU_PERIOD_US),
                    ("cpu.cfs_quota_us", quota),
                ]
            }
        }
    }

    /// Written if the kernel has the file: memory and swap together.
    fn setting_if_there(self, limits: &Limits) -> Option<(&'static str, u64)> {
        let both = ("memory.memsw.limit_in_bytes", limits.memory_bytes);
        (self == Self::Memory).then_some(both)
    }
}

impl Hierarchies {
    /// None if groups can be made in no hierarchy.
    pub(super) fn open() -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
        let text = fs::read_to_string("/proc/self/cgroup").ok()?;
        let mut found: Vec<(Vec<Controller>, PathBuf)> = Vec::new();
        for controller in Controller::ALL {
            let has_it = |list: &str| lists(list, controller.name());
            let root = mounted_at(&mounts, "cgroup", has_it);
            let (Some(root), Some(path)) = (root, own_path(&text, has_it)) else {
                continue;
            };
            let own = root.join(path.trim_start_matches('/'));
            match found.iter_mut().find(|(_, folder)| *folder == own) {
                Some((controllers, _)) => controllers.push(controller),
                None => found.push((vec![controller], own)),
            }
        }
        let make = |(controllers, own): (Vec<Controller>, PathBuf)| {
            let base = Base::make(&own).ok()?;
            if controllers.contains(&Controller::Cpu) {
                base.share(CPU_SHARES.0, CPU_SHARES.1);
            }
            Some((controllers, base))
        };
        let bases: Vec<_> = found.into_iter().filter_map(make).collect();
        (!bases.is_empty()).then_some(Self { bases })
    }

    pub(super) fn bounds(&self, kernel: Kernel) -> Bounds {
        let hold = |controller| {
            let mut controllers = self.bases.iter().flat_map(|(controllers, _)| controllers);
            controllers
                .any(|held| *held == controller)
                .then_some(Hold::GroupV1)
        };
        Bounds::new(
            hold(Controller::Memory),
            hold(Controller::Processes),
            hold(Controller::Cpu),
            kernel,
        )
    }

    pub(super) fn make(&self, name: &str, limits: &Limits) -> io::Result<Group> {
        // If something is refused, dropping this removes what was made.
        let mut group = Group::default();
        for (controllers, base) in &self.bases {
            let folder = base.folder.join(name);
            fs::create_dir(&folder)?;
            group.folders.push(folder.clone());
            group.bases.push(Arc::clone(base));
            for controller in controllers {
                bound(&folder, *controller, limits)?;
                match controller {
                    Controller::Memory => group.oom = Some(folder.join("memory.oom_control")),
                    Controller::Processes => group.pids = Some(folder.join("pids.events")),
                    Controller::Cpu => {}
                }
            }
        }
        Ok(group)
    }
}

fn bound(folder: &Path, controller: Controller, limits: &Limits) -> io::Result<()> {
    for (file, value) in controller.settings(limits) {
        write(&folder.join(file), &value.to_string())?;
    }
    let Some((file, value)) = controller.setting_if_there(limits) else {
        return Ok(());
    };
    match write(&folder.join(file), &value.to_string()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        written => written,
    }
}
