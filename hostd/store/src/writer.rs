//! The one writer thread. It combines waiting writes into one transaction, so that many writers
//! share one fsync, and answers each when the commit is on disk.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tracing::{error, warn};

use super::database::Database;
use super::error::StoreError;
use super::writing::Writing;

/// Writes that may wait for the writer.
pub(super) const QUEUE_MAX: usize = 1024;

/// How long a write waits for a place in the queue.
pub(super) const QUEUE_WAIT_MS: u64 = 10_000;

/// Writes in one transaction: bounds how long the first one waits for the last.
const BATCH_MAX: usize = 256;

type Queue = mpsc::Sender<Box<dyn Job>>;

#[derive(Debug)]
pub(super) struct Writer {
    /// None once it is stopped.
    queue: Mutex<Option<Queue>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    pub(super) fn start(database: Arc<Database>) -> Result<Self, StoreError> {
        let (queue, jobs) = mpsc::channel(QUEUE_MAX);
        let thread = std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || run(&database, jobs))
            .map_err(|source| StoreError::Thread {
                source: source.into(),
            })?;
        Ok(Self {
            queue: Mutex::new(Some(queue)),
            thread: Mutex::new(Some(thread)),
        })
    }

    pub(super) async fn write<T, E, F>(&self, f: F) -> Result<T, E>
    where
        F: FnMut(&Writing<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Closure {
            f,
            result: None,
            reply: Some(reply),
        });
        let queue = self.queue().ok_or(StoreError::Closed)?;
        let wait = Duration::from_millis(QUEUE_WAIT_MS);
        match tokio::time::timeout(wait, queue.send(job)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Err(StoreError::Closed.into()),
            Err(_) => return Err(StoreError::Overloaded.into()),
        }
        // If held longer, it would keep the writer from stopping while this task waits.
        drop(queue);
        answer.await.unwrap_or(Err(StoreError::Closed.into()))
    }

    pub(super) fn write_later<F>(&self, f: F)
    where
        F: FnMut(&Writing<'_>) -> Result<(), StoreError> + Send + 'static,
    {
        let job = Box::new(Closure {
            f,
            result: None,
            reply: None,
        });
        if self
            .queue()
            .is_none_or(|queue| queue.try_send(job).is_err())
        {
            warn!("the store is busy; a write that may be lost was dropped");
        }
    }

    fn queue(&self) -> Option<Queue> {
        self.queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Finish what is queued and wait for the thread, which closes the database.
    pub(super) fn stop(&self) {
        let queue = &self.queue;
        drop(queue.lock().unwrap_or_else(PoisonError::into_inner).take());
        let thread = &self.thread;
        let thread = thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread
            && thread.thread().id() != std::thread::current().id()
            && thread.join().is_err()
        {
            error!("the store's writer thread panicked");
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// How a closure ended inside the transaction.
enum Applied {
    Done,
    /// It failed. If it had already written, the transaction must start over without it.
    Refused,
}

/// One closure and where to send its answer, with their types erased.
trait Job: Send {
    fn apply(&mut self, writing: &Writing<'_>) -> Applied;
    /// Answer: with the closure's own result, or with the failure of the whole commit.
    fn finish(self: Box<Self>, failure: Option<&StoreError>);
}

struct Closure<F, T, E> {
    f: F,
    result: Option<Result<T, E>>,
    reply: Option<oneshot::Sender<Result<T, E>>>,
}

impl<F, T, E> Job for Closure<F, T, E>
where
    F: FnMut(&Writing<'_>) -> Result<T, E> + Send,
    T: Send,
    E: From<StoreError> + Send,
{
    fn apply(&mut self, writing: &Writing<'_>) -> Applied {
        let run = catch_unwind(AssertUnwindSafe(|| (self.f)(writing)));
        let result = run.unwrap_or_else(|_| Err(StoreError::Panicked.into()));
        let applied = match result {
            Ok(_) => Applied::Done,
            Err(_) => Applied::Refused,
        };
        self.result = Some(result);
        applied
    }

    fn finish(self: Box<Self>, failure: Option<&StoreError>) {
        let result = match (failure, self.result) {
            (Some(failure), _) => Err(failure.clone().into()),
            (None, Some(result)) => result,
            (None, None) => Err(StoreError::Closed.into()),
        };
        if let Some(reply) = self.reply {
            // If the caller was cancelled, nobody listens; the write stands.
            let _ = reply.send(result);
        }
    }
}

fn run(database: &Database, mut jobs: mpsc::Receiver<Box<dyn Job>>) {
    let mut batch = Vec::with_capacity(BATCH_MAX);
    while let Some(job) = jobs.blocking_recv() {
        batch.push(job);
        while batch.len() < BATCH_MAX
            && let Ok(job) = jobs.try_recv()
        {
            batch.push(job);
        }
        commit(database, &mut batch);
    }
    database.close();
}

/// Commit the batch and answer everybody in it.
fn commit(database: &Database, batch: &mut Vec<Box<dyn Job>>) {
    if let Some(failure) = database.pause() {
        for job in batch.drain(..) {
            job.finish(Some(&failure));
        }
        return;
    }
    let mut refused = Vec::new();
    let failure = loop {
        match attempt(database, batch) {
            Ok(None) => break None,
            // Costs another round; closures that check before they write never get here.
            Ok(Some(index)) => refused.push(batch.remove(index)),
            // At most once: after that there is no reserve left to give up.
            Err(full @ StoreError::Full { .. }) if database.relieve(&full) => {}
            Err(failure) => break Some(failure),
        }
    };
    if let Some(failure) = &failure
        && failure.poisons()
    {
        database.recover(failure);
    }
    for job in batch.drain(..).chain(refused) {
        job.finish(failure.as_ref());
    }
}

/// Run the batch in one transaction. `Some(index)`: that closure wrote and then failed; nothing
/// was committed.
fn attempt(database: &Database, batch: &mut [Box<dyn Job>]) -> Result<Option<usize>, StoreError> {
    let txn = database.begin_write()?;
    let writing = Writing::new(&txn);
    let mut changed = false;
    for (index, job) in batch.iter_mut().enumerate() {
        let applied = job.apply(&writing);
        if let Some(failure) = writing.take_failure() {
            return Err(failure);
        }
        let dirty = writing.take_dirty();
        if dirty && matches!(applied, Applied::Refused) {
            txn.abort().map_err(StoreError::from_redb)?;
            return Ok(Some(index));
        }
        changed |= dirty;
    }
    if changed {
        writing.seal()?;
        txn.commit().map_err(StoreError::from_redb)?;
        database.wrote();
    } else {
        txn.abort().map_err(StoreError::from_redb)?;
    }
    Ok(None)
}
