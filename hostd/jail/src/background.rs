//! Threads of a server that work through what a job brought, which may be much, behind those that answer.

use rustix::process::{getpriority_process, setpriority_process};

/// How far below other threads they are: what they get of a processor that others want, too, is about a tenth.
const BELOW: i32 = 10;

/// The lowest priority.
const NICE_MAX: i32 = 19;

/// Has the calling thread, and those that it starts from now on, stand back behind the other threads of this process. It
/// does not come forward again, so it should end with its work.
pub fn stand_back() {
    // A thread that cannot be lowered works all the same. Elsewhere, no number stands for the whole process.
    if cfg!(target_os = "linux")
        && let Ok(nice) = getpriority_process(None)
    {
        let _ = setpriority_process(None, NICE_MAX.min(nice + BELOW));
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn nice() -> i32 {
        getpriority_process(None).unwrap()
    }

    #[test]
    fn a_thread_and_those_that_it_starts_stand_back() {
        let before = nice();
        let work = thread::spawn(|| {
            stand_back();
            (nice(), thread::spawn(nice).join().unwrap())
        });
        let (own, inherited) = work.join().unwrap();
        let lower = NICE_MAX.min(before + BELOW);
        assert_eq!((own, inherited, nice()), (lower, lower, before));
    }
}
