//! The threads that hash passwords. They start when there is work, and end and free their memory
//! when there is none.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::turns::{Turn, Turns};
use super::{Memory, PasswordError};

/// Hashes computed at once on a machine with enough cores: enough for a whole team signing in in
/// the morning.
const AT_ONCE_MAX: usize = 2;

/// Longest wait for a hash, including those before it.
pub(super) const WAIT_MAX: Duration = Duration::from_secs(5);

/// How long a thread stays without work.
const IDLE_MAX: Duration = Duration::from_secs(3);

/// The threads' `nice` value: requests go first, and an otherwise idle machine loses nothing.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// A hash that somebody asked for.
pub(super) trait Job: Send {
    /// Whether its caller has stopped waiting.
    fn is_given_up(&self) -> bool;
    fn run(self: Box<Self>, memory: &mut Memory);
    fn turn_away(self: Box<Self>, why: PasswordError);
}

pub(super) struct Pool {
    state: Mutex<State>,
    wake: Condvar,
    threads_max: usize,
    idle_max: Duration,
}

struct State {
    turns: Turns<Box<dyn Job>>,
    threads: usize,
    /// Those of the threads that wait for work.
    idle: usize,
    closed: bool,
}

impl Pool {
    pub(super) fn new() -> Arc<Self> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Self::with((cores / 2).clamp(1, AT_ONCE_MAX), IDLE_MAX)
    }

    pub(super) fn with(threads_max: usize, idle_max: Duration) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                turns: Turns::new(),
                threads: 0,
                idle: 0,
                closed: false,
            }),
            wake: Condvar::new(),
            threads_max,
            idle_max,
        })
    }

    /// Queue `job`, or turn it away.
    pub(super) fn enter(self: &Arc<Self>, turn: Turn, job: Box<dyn Job>) {
        let mut state = self.lock();
        state.turns.retain(|job| !job.is_given_up());
        let away = state.turns.enter(turn, job);
        let wanting = state.turns.len() > state.idle && state.threads < self.threads_max;
        let mut orphans = Vec::new();
        let mut failure = None;
        if wanting && let Err(e) = self.start() {
            // If there is another thread, they only wait longer.
            if state.threads == 0 {
                orphans.extend(std::iter::from_fn(|| state.turns.next()));
                failure = Some(e);
            }
        } else if wanting {
            state.threads += 1;
        }
        drop(state);
        self.wake.notify_one();
        if let Some(away) = away {
            away.turn_away(PasswordError::Busy);
        }
        for orphan in orphans {
            let why = failure
                .take()
                .map_or(PasswordError::Busy, PasswordError::Thread);
            orphan.turn_away(why);
        }
    }

    /// Let the threads end. Waiting jobs are not run any more.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.turns.retain(|_| false);
        drop(state);
        self.wake.notify_all();
    }

    /// Number of threads.
    #[cfg(test)]
    pub(super) fn threads(&self) -> usize {
        self.lock().threads
    }

    fn start(self: &Arc<Self>) -> std::io::Result<()> {
        let pool = self.clone();
        let thread = thread::Builder::new().name("password".to_owned());
        thread.spawn(move || pool.work()).map(drop)
    }

    fn work(&self) {
        stand_back();
        let mut memory = Memory::default();
        while let Some(job) = self.next() {
            if job.is_given_up() {
                continue;
            }
            // A panic drops the reply, which tells the caller; the content of the memory does not
            // matter to the next hash.
            let _ = catch_unwind(AssertUnwindSafe(|| job.run(&mut memory)));
        }
    }

    /// The next job. None: this thread is no longer counted and must end.
    fn next(&self) -> Option<Box<dyn Job>> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.turns.next() {
                return Some(job);
            }
            if state.closed {
                break;
            }
            state.idle += 1;
            let waited = self.wake.wait_timeout(state, self.idle_max);
            let (woken, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.idle -= 1;
            if timeout.timed_out() && state.turns.len() == 0 {
                break;
            }
        }
        state.threads -= 1;
        None
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing done under the lock can panic halfway.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lower this thread's priority below all others.
fn stand_back() {
    // Linux has a priority for each thread, whatever the name says.
    #[cfg(target_os = "linux")]
    if let Err(e) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::debug!(error = %e, "failed to lower the priority of a thread");
    }
}
