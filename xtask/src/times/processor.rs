//! Processor time of programs, as Linux counts it in `/proc` (proc_pid_stat(5)). Other systems say nothing.
//!
//! A process knows what all its children took that it has waited for. When two threads run programs at the same time, one of
//! them counts its own apart.

use std::cell::Cell;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Ticks in a second: `USER_HZ` of the kernel, which is 100 on every machine but an Alpha (`include/uapi/asm-generic/param.h`).
const TICKS_PER_SECOND: u32 = 100;

/// The places of times behind the name of the program: in user mode, in the kernel, and the same of children that were
/// waited for.
const OWN: [usize; 2] = [11, 12];
const OF_CHILDREN: [usize; 2] = [13, 14];

thread_local! {
    /// Ticks of this thread's programs, if it counts them apart.
    static HERE: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Ticks of programs that threads counted apart.
static APART: AtomicU64 = AtomicU64::new(0);

/// What programs have taken so far that have ended: those of this thread where it counts apart, and all others elsewhere.
pub(crate) fn used() -> Option<Duration> {
    let ticks = match HERE.get() {
        Some(ticks) => ticks,
        None => {
            let all = sum(&stat("self")?, &OF_CHILDREN)?;
            all.saturating_sub(APART.load(Ordering::Relaxed))
        }
    };
    Some(duration(ticks))
}

/// Does `work`, during which this thread counts its programs apart: those that a `Tool` runs with the streams of this
/// process or into a file, not those whose output it reads.
pub(crate) fn apart<T>(work: impl FnOnce() -> T) -> T {
    HERE.set(Some(0));
    let result = work();
    HERE.set(None);
    result
}

/// Whether this thread counts its programs apart.
pub(crate) fn is_apart() -> bool {
    HERE.get().is_some()
}

/// Ticks that a program has taken, with its children that have ended. Its number must be known to be its own: it runs, or
/// has ended and was not waited for.
pub(crate) fn ticks_of(process: u32) -> Option<u64> {
    let [user, kernel] = OWN;
    let [children_user, children_kernel] = OF_CHILDREN;
    let places = [user, kernel, children_user, children_kernel];
    sum(&stat(&process.to_string())?, &places)
}

/// Counts a program that has ended, if this thread counts apart.
pub(crate) fn count(ticks: Option<u64>) {
    if let Some((counted, ticks)) = HERE.get().zip(ticks) {
        HERE.set(Some(counted + ticks));
        APART.fetch_add(ticks, Ordering::Relaxed);
    }
}

fn stat(process: &str) -> Option<String> {
    fs::read_to_string(format!("/proc/{process}/stat")).ok()
}

/// The sum of the numbers at `places` behind the program's name, which is in brackets and may contain any sign.
fn sum(stat: &str, places: &[usize]) -> Option<u64> {
    let (_, behind) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = behind.split_whitespace().collect();
    let numbers = places
        .iter()
        .map(|place| fields.get(*place)?.parse::<u64>().ok());
    numbers.sum::<Option<u64>>()
}

fn duration(ticks: u64) -> Duration {
    Duration::from_millis(ticks.saturating_mul(u64::from(1000 / TICKS_PER_SECOND)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Tool;

    const STAT: &str =
        "17 (a ) b) S 1 17 17 0 -1 4194304 900 80000 0 9 250 50 3000 700 20 0 4 0 123 1 1 1";

    #[test]
    fn times_are_found_behind_a_name_with_brackets() {
        assert_eq!(sum(STAT, &OWN), Some(300));
        assert_eq!(sum(STAT, &OF_CHILDREN), Some(3700));
        assert_eq!(duration(3700), Duration::from_secs(37));
        for broken in ["", "17 (a) S 1", "17 a S 1 2 3", &STAT.replace("3000", "x")] {
            assert_eq!(sum(broken, &OF_CHILDREN), None, "{broken}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_that_counts_apart_counts_its_own_programs() {
        let before = APART.load(Ordering::Relaxed);
        let busy = "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done";
        let (here, elsewhere) = apart(|| {
            let shell = Tool::new("sh").args(["-c", busy]);
            shell.run().unwrap();
            let other = std::thread::spawn(|| HERE.get());
            (used(), other.join().unwrap())
        });
        let apart = duration(APART.load(Ordering::Relaxed) - before);
        assert!(here.unwrap() >= Duration::from_millis(20), "{here:?}");
        assert!(apart >= here.unwrap());
        assert_eq!(elsewhere, None);
        assert!(!is_apart());
    }
}
