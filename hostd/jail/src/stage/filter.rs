//! The system calls that are refused to a command, with "operation not permitted".
//!
//! They are useless for building or testing firmware, and attacks on the kernel are made of them: other
//! namespaces, mounts, other processes' memory, programs in the kernel, keyrings, request rings that no
//! filter sees, clocks, modules. The kernel refuses most of them to a user without capabilities anyway; this
//! is a second lock. Four families of sockets are allowed: others, such as those to the host of a virtual
//! machine, belong to no network namespace.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// A compiled filter.
pub(super) type Filter = BpfProgram;

/// Refused whatever the arguments, on every processor architecture.
const REFUSED: &[i64] = &[
    // Namespaces and mounts.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Programs, faults and counters in the kernel.
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    libc::SYS_perf_event_open,
    // Rings: no filter sees the requests in them.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Keyrings belong to the user, not to a namespace.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // The machine.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    // Files, bypassing the permissions of the folders that contain them.
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_lookup_dcookie,
];

/// Refused where they exist.
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[i64] = &[
    libc::SYS_kexec_file_load,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_uselib,
    libc::SYS__sysctl,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[i64] = &[libc::SYS_kexec_file_load];

/// `open_tree_attr(2)`, Linux 6.15, with the same number on every architecture.
const OPEN_TREE_ATTR: i64 = 467;

/// Families of sockets that network namespaces contain: UNIX, IPv4, IPv6, and netlink, by which a program
/// lists its addresses. Without capabilities it changes nothing by that, also where there is a network.
const FAMILIES: [i32; 4] = [
    libc::AF_UNIX,
    libc::AF_INET,
    libc::AF_INET6,
    libc::AF_NETLINK,
];

/// On x86-64 the same calls have a second set of numbers, those of the x32 ABI: with this bit, and a few with
/// separate numbers (`ptrace`, `kexec_load`, `process_vm_readv`, `process_vm_writev`).
#[cfg(target_arch = "x86_64")]
const X32: (i64, [i64; 4]) = (0x4000_0000, [521, 528, 539, 540]);

/// Compiles the filter for this architecture. A program for another one (32-bit x86 on x86-64) is killed at
/// its first call, since the numbers above have other meanings there.
pub(super) fn compile() -> io::Result<Filter> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = REFUSED
        .iter()
        .chain(REFUSED_HERE)
        .map(|&call| (call, Vec::new()))
        .collect();
    for call in [libc::SYS_socket, libc::SYS_socketpair] {
        rules.insert(call, vec![other_family()?]);
    }
    #[cfg(target_arch = "x86_64")]
    {
        let (bit, own) = X32;
        let twins: Vec<_> = rules
            .iter()
            .map(|(call, rules)| (call | bit, rules.clone()))
            .collect();
        rules.extend(twins);
        rules.extend(own.map(|call| (call | bit, Vec::new())));
    }
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch)
        .and_then(BpfProgram::try_from)
        .map_err(io::Error::other)
}

/// Matches a socket whose family is none of the four.
fn other_family() -> io::Result<SeccompRule> {
    let conditions = FAMILIES.map(|family| {
        let family = u64::from(family.unsigned_abs());
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family)
    });
    let conditions: Result<Vec<_>, _> = conditions.into_iter().collect();
    conditions
        .and_then(SeccompRule::new)
        .map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::compile;

    #[test]
    fn the_filter_compiles_within_the_kernel_s_bound() {
        let instructions = compile().unwrap().len();
        assert!(100 < instructions && instructions < 4096, "{instructions}");
    }
}
