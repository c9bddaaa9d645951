//! A process that only computes on what it was given: bytes in, bytes out, threads and memory, and nothing else.
//!
//! What the kernel offers beyond that is not there for it: a call that is on no list here ends the process. Opening files
//! is refused instead, since libraries look at a few to count processors, and go on without.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// What computing takes.
const ALLOWED: &[i64] = &[
    // Bytes, through what is open.
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_close,
    libc::SYS_fstat,
    // Memory; see `without_new_code` for more.
    libc::SYS_brk,
    libc::SYS_madvise,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_membarrier,
    // Threads; see `threads_alone` for their start, and `to_itself` for signals.
    libc::SYS_futex,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_rseq,
    libc::SYS_set_robust_list,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_exit,
    libc::SYS_exit_group,
    // What it is told of the machine.
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_getcpu,
    libc::SYS_getrandom,
    libc::SYS_sysinfo,
];

/// Refused with "permission denied", and survived: what looks for a file.
const NO_FILES: &[i64] = &[
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_newfstatat,
    libc::SYS_readlinkat,
    libc::SYS_statx,
];

/// The same where older numbers for them exist.
#[cfg(target_arch = "x86_64")]
const NO_FILES_HERE: &[i64] = &[
    libc::SYS_open,
    libc::SYS_access,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_readlink,
];
#[cfg(not(target_arch = "x86_64"))]
const NO_FILES_HERE: &[i64] = &[];

/// Confine this process, for good, to computing. Call it before any thread starts: what runs already stays free.
///
/// It can read and write what is open, and take memory that it does not execute; it can open nothing, start no program and
/// no process, and reach no other. A call beyond that ends it with the signal SIGSYS.
///
/// # Errors
/// The kernel filters no system calls.
pub fn only_compute() -> io::Result<()> {
    let errno = |number: i32| SeccompAction::Errno(number.unsigned_abs());
    let files = NO_FILES.iter().chain(NO_FILES_HERE);
    let no_files = files.map(|&call| (call, Vec::new())).collect();
    // A filter cannot see what it would start; the C library then uses the older call.
    let no_clone3 = [(libc::SYS_clone3, Vec::new())].into();
    let filters = [
        compiled(no_files, SeccompAction::Allow, errno(libc::EACCES))?,
        compiled(no_clone3, SeccompAction::Allow, errno(libc::ENOSYS))?,
        compiled(known()?, SeccompAction::KillProcess, SeccompAction::Allow)?,
    ];
    for filter in &filters {
        seccompiler::apply_filter(filter).map_err(io::Error::other)?;
    }
    Ok(())
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Everything that does not end the process.
fn known() -> io::Result<Rules> {
    let all = ALLOWED.iter().chain(NO_FILES).chain(NO_FILES_HERE);
    let mut rules: Rules = all.map(|&call| (call, Vec::new())).collect();
    rules.insert(libc::SYS_clone3, Vec::new());
    rules.insert(libc::SYS_clone, vec![threads_alone()?]);
    rules.insert(libc::SYS_tgkill, vec![to_itself()?]);
    rules.insert(libc::SYS_mmap, vec![without_new_code()?]);
    rules.insert(libc::SYS_mprotect, vec![without_new_code()?]);
    rules.insert(libc::SYS_prctl, vec![naming()?]);
    Ok(rules)
}

/// Matches what has all of these bits of its argument number `argument` set to those of `value`.
fn bits(argument: u8, mask: i32, value: i32) -> io::Result<SeccompRule> {
    let [mask, value] = [mask, value].map(|bits| u64::from(bits.unsigned_abs()));
    let wanted = SeccompCmpOp::MaskedEq(mask);
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, wanted, value)
        .and_then(|condition| SeccompRule::new(vec![condition]))
        .map_err(io::Error::other)
}

/// Matches the start of a thread, and of no process.
fn threads_alone() -> io::Result<SeccompRule> {
    bits(0, libc::CLONE_THREAD, libc::CLONE_THREAD)
}

/// Matches a signal to a thread of this process. The filter goes to no other one, since none can be started.
fn to_itself() -> io::Result<SeccompRule> {
    let own = u64::from(std::process::id());
    SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, own)
        .and_then(|condition| SeccompRule::new(vec![condition]))
        .map_err(io::Error::other)
}

/// Matches giving a thread a name.
fn naming() -> io::Result<SeccompRule> {
    bits(0, i32::MAX, libc::PR_SET_NAME)
}

/// Matches memory that cannot be executed.
fn without_new_code() -> io::Result<SeccompRule> {
    bits(2, libc::PROT_EXEC, 0)
}

fn compiled(
    rules: Rules,
    otherwise: SeccompAction,
    matched: SeccompAction,
) -> io::Result<BpfProgram> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    SeccompFilter::new(rules, otherwise, matched, arch)
        .and_then(BpfProgram::try_from)
        .map_err(io::Error::other)
}
