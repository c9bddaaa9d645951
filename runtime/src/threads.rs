//! Threads for calls of guests that others wrote: the system shares the processors between these and the server's own, which
//! come first, while tasks of one thread wait for each other from tick to tick.
//!
//! A call that computes for longer than a tick lowers its thread once more, so that short calls of other guests do not
//! wait for it. Nobody but an administrator may raise a thread again: it ends with its call.

use std::cell::Cell;
use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Priority of a call's thread, from 0, the server's, to 19.
const NICE: i32 = 5;

/// The same, of a call that has computed for more than a tick.
const NICE_LONG: i32 = 15;

/// How long a thread without work stays.
const REST: Duration = Duration::from_secs(10);

type Job = Box<dyn FnOnce() + Send>;

/// Started as they are needed, one for each call: callers hold places, so their number is bounded.
#[derive(Default)]
pub(crate) struct Threads(Arc<Shared>);

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    work: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    /// Threads that wait for work.
    idle: usize,
}

thread_local! {
    static RANK: Cell<Rank> = const { Cell::new(Rank::Foreign) };
}

/// What a thread is to a call that it polls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rank {
    /// Not one of these.
    Foreign,
    /// Nothing it ran has computed for long.
    Short,
    Long,
}

impl Threads {
    /// Drive `work` to its end on a thread of its own, within the caller's runtime; none if there is no thread to be had, or
    /// the work panics. Dropping the future drops the work soon after.
    pub(crate) async fn run<O: Send + 'static>(
        &self,
        work: impl Future<Output = O> + Send + 'static,
    ) -> Option<O> {
        let (runtime, (stop, stopped)) = (Handle::current(), oneshot::channel::<()>());
        let (done, result) = oneshot::channel();
        let job = move || {
            let ended = runtime.block_on(async {
                let work = pin!(work);
                tokio::select! {
                    biased;
                    outcome = work => Some(outcome),
                    _ = stopped => None,
                }
            });
            if let Some(outcome) = ended {
                let _ = done.send(outcome);
            }
        };
        self.start(Box::new(job));
        let outcome = result.await;
        drop(stop);
        outcome.ok()
    }

    fn start(&self, job: Job) {
        let mut queue = self.0.lock();
        queue.jobs.push_back(job);
        if queue.idle >= queue.jobs.len() {
            self.0.work.notify_one();
            return;
        }
        drop(queue);
        let shared = self.0.clone();
        let thread = thread::Builder::new().name("plugin".to_owned());
        if let Err(error) = thread.spawn(move || shared.work()) {
            tracing::error!(%error, "failed to start a thread for a plugin");
            drop(self.0.lock().jobs.pop_back());
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a thread does, until it has rested or must not go on.
    fn work(&self) {
        lower(NICE);
        RANK.set(Rank::Short);
        while let Some(job) = self.next() {
            job();
            if RANK.get() == Rank::Long {
                return;
            }
        }
    }

    fn next(&self) -> Option<Job> {
        let mut queue = self.lock();
        if let Some(job) = queue.jobs.pop_front() {
            return Some(job);
        }
        queue.idle += 1;
        let waited = self
            .work
            .wait_timeout_while(queue, REST, |queue| queue.jobs.is_empty());
        let (mut queue, _) = waited.unwrap_or_else(PoisonError::into_inner);
        queue.idle -= 1;
        queue.jobs.pop_front()
    }
}

/// Called by a guest that has computed for another tick.
pub(crate) fn computes() {
    if RANK.get() == Rank::Short {
        RANK.set(Rank::Long);
        lower(NICE_LONG);
    }
}

/// Give this thread a lower priority. One that cannot be lowered works all the same.
fn lower(nice: i32) {
    // Elsewhere, the number 0 stands for the whole process.
    if cfg!(target_os = "linux") {
        let _ = rustix::process::setpriority_process(None, nice);
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    fn nice() -> i32 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let fields = stat.rsplit(')').next().unwrap();
        fields.split(' ').nth(17).unwrap().parse().unwrap()
    }

    #[tokio::test]
    async fn work_runs_beside_the_caller_and_at_a_lower_priority() {
        let threads = Threads::default();
        let own = thread::current().id();
        let (other, lowered) = threads
            .run(async {
                tokio::time::sleep(Duration::from_millis(1)).await;
                (thread::current().id(), nice())
            })
            .await
            .unwrap();
        assert!(own != other && lowered > nice(), "{lowered}");
    }

    #[tokio::test]
    async fn a_thread_is_used_again_unless_it_has_computed_for_long() {
        let threads = Threads::default();
        let id = || async { (thread::current().id(), nice()) };
        let first = threads.run(id()).await.unwrap();
        // It takes a moment until it waits again.
        while threads.0.lock().idle == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(threads.run(id()).await, Some(first));
        let long = async {
            computes();
            computes();
            nice()
        };
        assert_eq!(threads.run(long).await, Some(first.1 + NICE_LONG - NICE));
        assert_eq!(threads.run(id()).await.unwrap().1, first.1);
    }

    #[tokio::test]
    async fn many_run_at_once_and_one_that_nobody_waits_for_ends() {
        let threads = Arc::new(Threads::default());
        let barrier = Arc::new(std::sync::Barrier::new(8));
        let mut all = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let (threads, barrier) = (threads.clone(), barrier.clone());
            all.spawn(async move {
                threads
                    .run(async move {
                        let _ = barrier.wait();
                    })
                    .await
            });
        }
        all.join_all().await;
        let held = Arc::new(());
        let inside = held.clone();
        let waits = threads.run(async move {
            let _inside = inside;
            std::future::pending::<()>().await;
        });
        let given_up = tokio::time::timeout(Duration::from_millis(20), waits).await;
        assert!(given_up.is_err());
        while Arc::strong_count(&held) > 1 {
            tokio::task::yield_now().await;
        }
    }
}
