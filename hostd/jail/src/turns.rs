//! How long a thread may compute before one that wakes up gets its turn, which the system decides by the *slice* of each.
//!
//! ```text
//! equal slices    build computes ───────────────┐ next tick: up to 4 ms
//!                        server wakes up ......└─ answers
//! short slice     build computes ──┐
//!                     server wakes └─ answers
//! ```
//!
//! A thread that wakes up goes at once before one with a longer slice, whatever the priority of either; otherwise that one
//! finishes its slice, and is looked at with the next tick of the clock. A server answers in a fraction of a tick, so its
//! threads have the shortest slice that there is, and what jobs compute has the usual one. Neither gets more of the
//! processors by it.
//!
//! Linux 6.12 and later. Earlier ones take a slice and make nothing of it.
#![allow(
    unsafe_code,
    reason = "no library has a safe function for slices; each use says why it is sound"
)]

use std::io;

use rustix::process::Pid;

/// The shortest slice that Linux allows, in nanoseconds.
const SHORT_NS: u64 = 100_000;

/// Stands for the slice that the kernel gives everybody.
const USUAL: u64 = 0;

/// How far below other threads of a server those are that work for jobs.
const WORK_NICE: i32 = 5;

/// The lowest priority.
const NICE_MAX: i32 = 19;

/// Bytes of the kernel's first `struct sched_attr`.
const ATTR_BYTES: u32 = 48;

/// Policies that have slices: `SCHED_OTHER` and `SCHED_BATCH`.
const WITH_SLICES: [u32; 2] = [0, 3];

/// Has the calling thread, and those that it starts from now on, go before what computes whenever they wake up. A kernel
/// that cannot do it leaves them as they are.
pub fn first() {
    // Somebody may forbid it: then answers take a few milliseconds longer while builds run.
    let _ = change(None, |attr| attr.sched_runtime = SHORT_NS);
}

/// Has the calling thread, and those that it starts from now on, stand back behind other threads of the same server: it
/// works through what a job wrote, which may be much.
pub fn stand_back() {
    // As above.
    let _ = change(None, |attr| {
        attr.sched_runtime = USUAL;
        attr.sched_nice = NICE_MAX.min(attr.sched_nice + WORK_NICE);
    });
}

/// Gives a process, or the calling thread, the slice that everybody has.
pub(crate) fn usual(process: Option<Pid>) {
    // Where it is forbidden, nobody has another one.
    let _ = change(process, |attr| attr.sched_runtime = USUAL);
}

/// Changes how a thread is scheduled, unless it has no slices.
fn change(process: Option<Pid>, to: impl FnOnce(&mut libc::sched_attr)) -> io::Result<()> {
    let mut attr = get(process)?;
    if !WITH_SLICES.contains(&attr.sched_policy) {
        return Ok(());
    }
    to(&mut attr);
    let pid = Pid::as_raw(process);
    // SAFETY: the kernel reads the structure, whose first member is its length, and keeps no pointer to it.
    let set = unsafe { libc::syscall(libc::SYS_sched_setattr, pid, &raw const attr, 0) };
    if set == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// How a thread is scheduled.
fn get(process: Option<Pid>) -> io::Result<libc::sched_attr> {
    let mut attr = libc::sched_attr {
        size: ATTR_BYTES,
        sched_policy: 0,
        sched_flags: 0,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: 0,
        sched_deadline: 0,
        sched_period: 0,
    };
    let pid = Pid::as_raw(process);
    // SAFETY: the kernel writes at most this many bytes, which the structure has.
    let got = unsafe { libc::syscall(libc::SYS_sched_getattr, pid, &raw mut attr, ATTR_BYTES, 0) };
    if got == 0 {
        Ok(attr)
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::{ATTR_BYTES, NICE_MAX, SHORT_NS, first, get, stand_back};

    fn slice_ns() -> u64 {
        get(None).unwrap().sched_runtime
    }

    #[test]
    fn threads_go_first_with_those_that_they_start_until_they_stand_back() {
        assert_eq!(
            size_of::<libc::sched_attr>(),
            usize::try_from(ATTR_BYTES).unwrap()
        );
        let usual = slice_ns();
        let tried = thread::spawn(|| {
            let before = get(None).unwrap().sched_nice;
            first();
            let own = slice_ns();
            thread::spawn(move || {
                let inherited = slice_ns();
                stand_back();
                let after = get(None).unwrap();
                let lower = after.sched_nice > before || before == NICE_MAX;
                (own, inherited, after.sched_runtime, lower)
            })
            .join()
            .unwrap()
        });
        let (own, inherited, back, lower) = tried.join().unwrap();
        // Kernels before 6.12 report no slice of any thread.
        let short = if usual == 0 { 0 } else { SHORT_NS };
        assert_eq!((own, inherited, back), (short, short, usual));
        assert!(lower);
        // Only the threads above were changed.
        assert_eq!(slice_ns(), usual);
    }
}
