//! Compiles a plugin in a worker, a child process, since a small component can be made to need more memory and time than a
//! server has: what the compiler may take is bounded, and when it goes wrong, only the child ends. One runs at a time.

use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

pub use jail::{LimitHit, WorkerLimits};
use jail::{Worker, WorkerError};
use tokio::sync::{Semaphore, oneshot};

use crate::cache::CODE_BYTES_MAX;

/// Most compilations that wait for the one that runs.
pub const WAITING_MAX: usize = 8;

/// What a child may take.
pub const LIMITS: WorkerLimits = WorkerLimits {
    cpu_s: 60,
    memory_bytes: 1536 << 20,
    wall: Duration::from_secs(120),
    output_bytes: CODE_BYTES_MAX,
    file_bytes: 0,
    folder_bytes: 0,
    open_files: 32,
    nice: 10,
};

/// Starts children.
#[derive(Debug)]
pub struct Compiler {
    worker: Worker,
    turn: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// Why there is no code.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The queue is full.
    #[error("compile the plugin: {WAITING_MAX} others are waiting already; try again later")]
    Busy,
    /// The child was not started.
    #[error("start the compiler")]
    Start(#[source] io::Error),
    /// What goes in or comes out was not moved.
    #[error("talk to the compiler")]
    Pipe(#[source] io::Error),
    /// A limit: it is not a matter of chance, and the plugin is to blame.
    #[error("compile the plugin: the compiler took more than its limit of {0}")]
    Limit(LimitHit),
    /// It says why not.
    #[error("compile the plugin: {0}")]
    Refused(String),
    /// It ended in another way.
    #[error("compile the plugin: the compiler was ended by signal {signal}: {reason}")]
    Killed {
        /// Which.
        signal: i32,
        /// What it said.
        reason: String,
    },
    /// Nobody waits any more.
    #[error("compile the plugin: it was cancelled")]
    Cancelled,
}

impl From<WorkerError> for CompileError {
    fn from(error: WorkerError) -> Self {
        match error {
            WorkerError::Start(source) => Self::Start(source),
            WorkerError::Pipe(source) => Self::Pipe(source),
            WorkerError::Limit(hit) => Self::Limit(hit),
            WorkerError::Refused(reason) => Self::Refused(reason),
            WorkerError::Killed { signal, reason } => Self::Killed { signal, reason },
            WorkerError::Cancelled => Self::Cancelled,
        }
    }
}

impl Compiler {
    /// One that runs a program, which reads a component from its standard input and writes code to its standard output,
    /// or says on standard error why not and ends with another code than 0.
    #[must_use]
    pub fn new(program: PathBuf, arguments: Vec<OsString>, limits: WorkerLimits) -> Self {
        Self {
            worker: Worker {
                program,
                arguments,
                folder: PathBuf::from("/"),
                limits,
            },
            turn: Arc::new(Semaphore::new(1)),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Compiles a component. Dropping the future ends the child.
    ///
    /// # Errors
    /// Why there is no code.
    pub async fn compile(&self, component: Arc<[u8]>) -> Result<Vec<u8>, CompileError> {
        let turn = self.turn().await?;
        let worker = self.worker.clone();
        let (cancel, cancelled) = io::pipe()
            .map_err(CompileError::Start)
            .map(|(read, write)| (write, read))?;
        let (done, result) = oneshot::channel();
        // A thread of its own, from the child's start to its end: the kernel ends a confined child with the thread that
        // started it. The turn is over when the child is gone, not when nobody waits.
        let work = move || {
            let mut code = Vec::new();
            let mut take = |piece: &[u8]| {
                code.extend_from_slice(piece);
                ControlFlow::Continue(())
            };
            let ended = worker.run(&mut &component[..], &mut take, &cancelled);
            let compiled = ended.map(|()| code).map_err(CompileError::from);
            drop(turn);
            let _ = done.send(compiled);
        };
        let thread = thread::Builder::new().name("compile".to_owned());
        thread.spawn(work).map_err(CompileError::Start)?;
        let compiled = result.await.map_err(|_| CompileError::Cancelled)?;
        drop(cancel);
        compiled
    }

    async fn turn(&self) -> Result<tokio::sync::OwnedSemaphorePermit, CompileError> {
        struct Waits<'a>(&'a AtomicUsize);
        impl Drop for Waits<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }
        if let Ok(turn) = self.turn.clone().try_acquire_owned() {
            return Ok(turn);
        }
        let before = self.waiting.fetch_add(1, Ordering::SeqCst);
        let _waits = Waits(&self.waiting);
        if before >= WAITING_MAX {
            return Err(CompileError::Busy);
        }
        let turn = self.turn.clone().acquire_owned().await;
        turn.map_err(|_| CompileError::Cancelled)
    }
}
