//! How firmly the limits of a jail hold on this machine.

use std::fmt;

use crate::wire::{Makeshift, ProcessBound};

/// What enforces a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hold {
    /// A control group of version 2, for the whole jail together.
    GroupV2,
    /// A control group of version 1, for the whole jail together.
    GroupV1,
    /// The number of process ids in its namespace: for the whole jail together, but never fewer than 301.
    PidMax,
    /// A limit for each process or user separately, so the jail as a whole may use a multiple.
    EachProcess,
    /// Nothing but a low priority and the wall time.
    Priority,
    /// What is counted while it runs: whoever is over the limit is ended, having taken more for a moment.
    Count,
}

impl Hold {
    /// True if a jail cannot exceed the limit whatever it does.
    #[must_use]
    pub fn is_hard(self) -> bool {
        matches!(self, Self::GroupV2 | Self::GroupV1 | Self::PidMax)
    }
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GroupV2 => "control group (version 2)",
            Self::GroupV1 => "control group (version 1)",
            Self::PidMax => "pid_max of the namespace",
            Self::EachProcess => "each process alone",
            Self::Priority => "priority and wall time",
            Self::Count => "what is counted while it runs",
        })
    }
}

/// What enforces each limit that depends on the machine. The others (`/tmp`, descriptors, file size, wall
/// time) are hard on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Enforces [`Limits::memory_bytes`](crate::Limits::memory_bytes).
    pub memory: Hold,
    /// Enforces [`Limits::processes`](crate::Limits::processes).
    pub processes: Hold,
    /// Enforces [`Limits::cpu_millis`](crate::Limits::cpu_millis).
    pub cpu: Hold,
}

impl Bounds {
    /// Bounds what a jail takes of the disk, on every machine: the server counts it by a [`Gauge`](crate::Gauge).
    pub const DISK: Hold = Hold::Count;

    /// The bounds with these groups, and the other limits enforced as well as this kernel can.
    pub(crate) fn new(
        memory: Option<Hold>,
        processes: Option<Hold>,
        cpu: Option<Hold>,
        kernel: Kernel,
    ) -> Self {
        let without_group = if kernel < Kernel::PID_MAX_OF_NAMESPACES {
            Hold::EachProcess
        } else {
            Hold::PidMax
        };
        Self {
            memory: memory.unwrap_or(Hold::EachProcess),
            processes: processes.unwrap_or(without_group),
            cpu: cpu.unwrap_or(Hold::Priority),
        }
    }

    /// What the stages do about the limits that no group enforces.
    pub(crate) fn makeshift(self) -> Makeshift {
        Makeshift {
            memory: self.memory == Hold::EachProcess,
            processes: match self.processes {
                Hold::PidMax => Some(ProcessBound::PidMax),
                Hold::EachProcess => Some(ProcessBound::PerUser),
                _ => None,
            },
            cpu: self.cpu == Hold::Priority,
        }
    }
}

/// A version of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kernel {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
}

impl Kernel {
    /// The first version in which `kernel.pid_max` belongs to a namespace.
    const PID_MAX_OF_NAMESPACES: Self = Self {
        major: 6,
        minor: 14,
    };

    /// The running version. 0.0 if its name has another form.
    pub(crate) fn running() -> Self {
        let name = rustix::system::uname();
        Self::parse(&name.release().to_string_lossy())
    }

    fn parse(release: &str) -> Self {
        let mut numbers = release
            .split(|c: char| !c.is_ascii_digit())
            .map(|number| number.parse().unwrap_or_default());
        let mut next = || numbers.next().unwrap_or_default();
        Self {
            major: next(),
            minor: next(),
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_read_up_to_the_second_number() {
        let kernel = |major, minor| Kernel { major, minor };
        assert_eq!(Kernel::parse("6.1.0-37-amd64"), kernel(6, 1));
        assert_eq!(Kernel::parse("6.14-rc3"), kernel(6, 14));
        assert_eq!(Kernel::parse("mine"), kernel(0, 0));
        assert!(kernel(6, 9) < kernel(6, 14));
    }

    #[test]
    fn what_no_group_holds_is_held_by_the_stages() {
        let old = Kernel { major: 6, minor: 1 };
        let new = Kernel {
            major: 6,
            minor: 14,
        };
        let group = Some(Hold::GroupV2);
        let all = Bounds::new(group, group, group, old).makeshift();
        assert!(!all.memory && all.processes.is_none() && !all.cpu);
        let none = Bounds::new(None, None, None, old).makeshift();
        assert!(none.memory && none.cpu);
        assert_eq!(none.processes, Some(ProcessBound::PerUser));
        let none = Bounds::new(None, None, None, new);
        assert_eq!(none.makeshift().processes, Some(ProcessBound::PidMax));
        assert!(none.processes.is_hard() && !none.memory.is_hard() && !none.cpu.is_hard());
    }
}
