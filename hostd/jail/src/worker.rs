//! A process of ours that does one piece of work on a stranger's bytes, which can be made to need more memory and time than a
//! server has: what it may take is bounded, and when the work goes wrong, only the worker ends.
//!
//! ```text
//! server ── input ─> stdin │ worker: limits, low priority │ stdout ─ output ─> server
//!                          └─ stderr: why not
//! ```
//!
//! The limits are set from outside before the worker gets anything to read, so they hold whatever program it is; one of ours
//! calls [`confine`] first, and then [`only_compute`](crate::only_compute). It dies with its process group when its time is
//! up and when nobody waits for it any more, and itself with the thread that started it.

use std::ffi::OsString;
use std::io::{self, PipeReader, Read};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

mod bond;
mod child;
mod confine;
mod folder;

pub use child::lacks_memory;
pub use confine::confine;

/// Bytes of standard error that are kept.
pub const REASON_BYTES_MAX: usize = 4 << 10;

/// What a worker may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerLimits {
    /// Processor time of all its threads, in seconds.
    pub cpu_s: u64,
    /// Address space.
    pub memory_bytes: u64,
    /// Time from its start to its end.
    pub wall: Duration,
    /// Bytes that it may write to its standard output.
    pub output_bytes: usize,
    /// Bytes of any file that it may write; 0 = none.
    pub file_bytes: u64,
    /// Bytes of all files below its folder together, looked at every now and then; 0 = nobody looks.
    pub folder_bytes: u64,
    /// Files that it may have open.
    pub open_files: u64,
    /// Its priority, from 0 to 19, the lowest.
    pub nice: i32,
}

/// What to run: a program that reads its standard input and writes to its standard output, or says on standard error why not
/// and ends with another code than 0. It has no environment.
#[derive(Debug, Clone)]
pub struct Worker {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Where it runs: `/`, if it writes no files.
    pub folder: PathBuf,
    /// What it may take.
    pub limits: WorkerLimits,
}

/// Why a worker did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// It was not started.
    #[error("start a worker")]
    Start(#[source] io::Error),
    /// What goes in or comes out was not moved.
    #[error("talk to a worker")]
    Pipe(#[source] io::Error),
    /// A limit: it is not a matter of chance, and the input is to blame.
    #[error("work within {0}")]
    Limit(LimitHit),
    /// It says why not.
    #[error("work: {0}")]
    Refused(String),
    /// It ended in another way.
    #[error("work: it was ended by signal {signal}: {reason}")]
    Killed {
        /// Which.
        signal: i32,
        /// What it said.
        reason: String,
    },
    /// Nobody waits any more, or what it writes is not wanted.
    #[error("work: it was cancelled")]
    Cancelled,
}

/// A limit that a worker reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LimitHit {
    /// Processor time.
    #[error("{0} s of processor time")]
    Cpu(u64),
    /// Address space.
    #[error("{0} MiB of memory")]
    Memory(u64),
    /// Wall time.
    #[error("{0} s")]
    Wall(u64),
    /// Output.
    #[error("{0} MiB of output")]
    Output(usize),
    /// Files in its folder.
    #[error("{0} MiB of files")]
    Folder(u64),
}

impl Worker {
    /// Runs it until nothing of it is left; blocks the thread, which should be one of its own, since the kernel ends
    /// the worker with the thread that started it. `input` is what it reads. `output` gets each piece that it writes, as
    /// it comes, and may break off. The other end of `cancelled` is dropped, or written to, to end it.
    ///
    /// # Errors
    /// Why it did not come to its end.
    pub fn run(
        &self,
        input: &mut dyn Read,
        output: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
        cancelled: &PipeReader,
    ) -> Result<(), WorkerError> {
        child::run(self, input, output, cancelled)
    }
}
