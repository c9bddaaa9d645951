//! What a machine may lack, and how to cure that.

use std::fmt;
use std::io;

use serde::{Deserialize, Serialize};

use crate::wire::Step;

/// Something that this machine does not offer this user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lack {
    /// The kernel is too old for the calls that make a jail.
    OldKernel,
    /// User namespaces are disabled for everybody, or for everybody but root.
    UserNamespacesOff,
    /// AppArmor allows user namespaces only to programs with a profile.
    AppArmor,
    /// Something around the server, usually a container's filter, refuses namespaces.
    NamespacesRefused,
    /// Parts of `/proc` are covered, so the kernel refuses a fresh one.
    ProcMasked,
    /// No groups can be made: memory and processors are bounded only for each process.
    NoGroups,
    /// A group here cannot bound memory.
    NoMemoryGroup,
    /// A group here cannot bound processes, and the kernel has no `pid_max` for each namespace.
    NoProcessBound,
    /// Podman is not installed.
    NoPodman,
    /// slirp4netns is not installed.
    NoSlirp4netns,
    /// slirp4netns lacks what jails need.
    OldSlirp4netns,
    /// Users cannot make network interfaces.
    NoTun,
}

impl Lack {
    /// What to do about it: a sentence for the machine's administrator.
    #[must_use]
    pub fn cure(self) -> &'static str {
        match self {
            Self::OldKernel => "run Linux 5.12 or newer",
            Self::UserNamespacesOff => {
                "set the sysctl user.max_user_namespaces to 10000 and, where it exists, kernel.unprivileged_userns_clone to 1"
            }
            Self::AppArmor => {
                "load the AppArmor profile of docs/jail.md for the server's program, or set the sysctl kernel.apparmor_restrict_unprivileged_userns to 0"
            }
            Self::NamespacesRefused => {
                "run the server outside of a container, or in one whose filter of system calls permits unshare and mount (docs/jail.md)"
            }
            Self::ProcMasked => {
                "run the server where nothing covers parts of /proc: without ProtectKernelTunables=, or in a container with unmasked /proc (docs/jail.md)"
            }
            Self::NoGroups => "start the server by a systemd unit with Delegate=yes (docs/jail.md)",
            Self::NoMemoryGroup => {
                "let the server's control group have the memory controller: Delegate=yes in its systemd unit (docs/jail.md)"
            }
            Self::NoProcessBound => {
                "start the server by a systemd unit with Delegate=yes, or run Linux 6.14 or newer"
            }
            Self::NoPodman => {
                "install Podman for jobs that name an image (`sandbox.image`, docs/pipelines.md); other jobs need none"
            }
            Self::NoSlirp4netns => {
                "install slirp4netns 1.2.0 or newer for jobs with a network, as by apt install slirp4netns"
            }
            Self::OldSlirp4netns => {
                "install slirp4netns 1.2.0 or newer for jobs with a network: this one has no socket for the frames of a jail"
            }
            Self::NoTun => {
                "load the kernel's module tun, and let every user read and write /dev/net/tun (mode 0666, as udev makes it)"
            }
        }
    }

    /// What an error at a step of a jail's start means for this machine. None if it says nothing about
    /// the machine.
    pub(crate) fn behind(step: &Step, error: &io::Error) -> Option<Self> {
        use rustix::io::Errno;
        let errno = Errno::from_io_error(error)?;
        let is_refusal = matches!(errno, Errno::PERM | Errno::ACCESS);
        match step {
            _ if errno == Errno::NOSYS => Some(Self::OldKernel),
            // The sysctl is zero, or the kernel was built without user namespaces.
            Step::Namespaces if matches!(errno, Errno::NOSPC | Errno::INVAL) => {
                Some(Self::UserNamespacesOff)
            }
            Step::Proc if is_refusal => Some(if restricts_by_apparmor() {
                Self::AppArmor
            } else {
                Self::ProcMasked
            }),
            Step::Tap
                if is_refusal || matches!(errno, Errno::NOENT | Errno::NODEV | Errno::NXIO) =>
            {
                Some(Self::NoTun)
            }
            Step::Namespaces
            | Step::Maps
            | Step::JobFolder
            | Step::Root
            | Step::Bounds
            | Step::Loopback
                if is_refusal =>
            {
                Some(refused())
            }
            _ => None,
        }
    }
}

/// What refuses namespaces to this user.
fn refused() -> Lack {
    if is_zero("kernel/unprivileged_userns_clone") || is_zero("user/max_user_namespaces") {
        Lack::UserNamespacesOff
    } else if restricts_by_apparmor() {
        Lack::AppArmor
    } else {
        Lack::NamespacesRefused
    }
}

fn restricts_by_apparmor() -> bool {
    sysctl("kernel/apparmor_restrict_unprivileged_userns").is_some_and(|value| value.trim() != "0")
}

fn is_zero(name: &str) -> bool {
    sysctl(name).is_some_and(|value| value.trim() == "0")
}

fn sysctl(name: &str) -> Option<String> {
    std::fs::read_to_string(format!("/proc/sys/{name}")).ok()
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OldKernel => "the kernel is too old",
            Self::UserNamespacesOff => "user namespaces are switched off",
            Self::AppArmor => "AppArmor refuses user namespaces to this program",
            Self::NamespacesRefused => "namespaces are refused to this program",
            Self::ProcMasked => "parts of /proc are covered here",
            Self::NoGroups => "no control groups can be made",
            Self::NoMemoryGroup => "no control group bounds memory",
            Self::NoProcessBound => "nothing bounds the processes of a jail together",
            Self::NoPodman => "Podman is not installed",
            Self::NoSlirp4netns => "slirp4netns is not installed",
            Self::OldSlirp4netns => "slirp4netns is too old",
            Self::NoTun => "/dev/net/tun is not there for every user",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_what_the_machine_lacks() {
        let of = |step: Step, errno: i32| Lack::behind(&step, &io::Error::from_raw_os_error(errno));
        assert_eq!(
            of(Step::Namespaces, libc::ENOSPC),
            Some(Lack::UserNamespacesOff)
        );
        assert_eq!(
            of(Step::Bind("/usr".into()), libc::ENOSYS),
            Some(Lack::OldKernel)
        );
        assert!(of(Step::Namespaces, libc::EPERM).is_some());
        assert!(of(Step::Proc, libc::EPERM).is_some());
        assert_eq!(of(Step::Bind("/opt".into()), libc::ENOENT), None);
        assert_eq!(of(Step::Fork, libc::EAGAIN), None);
        assert_eq!(of(Step::Tap, libc::ENOENT), Some(Lack::NoTun));
        assert_eq!(of(Step::Tap, libc::EACCES), Some(Lack::NoTun));
        assert_eq!(of(Step::Tap, libc::EMFILE), None);
    }
}
