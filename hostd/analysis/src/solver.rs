//! openEMS, a field solver of others: run on a model in a folder of its own, under limits, and ended with all that it started.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, PipeReader, Read, Write};
use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use base::config::EmiConfig;
use base::{id, private};
use jail::{LimitHit, Worker, WorkerError, WorkerLimits};
use tracing::warn;

use crate::runner::Unfinished;
use crate::wire::plain;

/// Name of the model in its folder.
const MODEL: &str = "model.xml";

/// Largest file that it may write, and of a probe that is read.
pub(crate) const FILE_BYTES_MAX: usize = 64 << 20;

/// All its files together: four probes and its model, and what it leaves beside them.
const FOLDER_BYTES_MAX: u64 = 512 << 20;

/// What it may say while it runs, none of which is kept.
const SAID_BYTES_MAX: usize = 64 << 20;

/// Files that it may have open.
const OPEN_FILES: u64 = 256;

/// The lowest priority.
const NICE: i32 = 19;

/// Runs the solver.
#[derive(Debug)]
pub(crate) struct Solver {
    program: PathBuf,
    limits: WorkerLimits,
    /// Folders of runs are made in it.
    work: PathBuf,
}

/// A folder of one run. Dropping it removes it.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            warn!(%error, "failed to remove the folder of a field solver");
        }
    }
}

impl Solver {
    /// The one that the configuration names, if it names one. What an earlier process has left in `work` is removed.
    ///
    /// # Errors
    /// The folder cannot be cleared or made.
    pub(crate) fn open(config: &EmiConfig, work: &Path) -> io::Result<Option<Self>> {
        match fs::remove_dir_all(work) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        if config.openems.as_os_str().is_empty() {
            return Ok(None);
        }
        private::make_folder(work)?;
        let seconds = u64::from(config.solve_s_max);
        let threads = thread::available_parallelism().map_or(1, NonZero::get) as u64;
        Ok(Some(Self {
            program: config.openems.clone(),
            limits: WorkerLimits {
                cpu_s: seconds.saturating_mul(threads),
                memory_bytes: u64::from(config.memory_mib_max) << 20,
                wall: Duration::from_secs(seconds),
                output_bytes: SAID_BYTES_MAX,
                file_bytes: FILE_BYTES_MAX as u64,
                folder_bytes: FOLDER_BYTES_MAX,
                open_files: OPEN_FILES,
                nice: NICE,
            },
            work: work.to_owned(),
        }))
    }

    /// Solves a model: what the probes with these names have written.
    ///
    /// # Errors
    /// Why it did not come to its end.
    pub(crate) fn solve(
        &self,
        model: &[u8],
        probes: &[&str],
        stopped: &PipeReader,
    ) -> Result<Vec<Vec<u8>>, Unfinished> {
        let folder = Folder(self.work.join(id::request_id()));
        private::make_folder(&folder.0)
            .and_then(|()| private::make_file(&folder.0.join(MODEL)))
            .and_then(|mut file| file.write_all(model))
            .map_err(|error| internal(&error))?;
        let worker = Worker {
            program: self.program.clone(),
            arguments: vec![OsString::from(MODEL)],
            folder: folder.0.clone(),
            limits: self.limits,
        };
        // It tells people how far it is, at length.
        let mut unheard = |_: &[u8]| ControlFlow::Continue(());
        worker
            .run(&mut io::empty(), &mut unheard, stopped)
            .map_err(|error| self.judge(&error))?;
        let probes = probes.iter().map(|name| read(&folder.0.join(name)));
        probes.collect()
    }

    fn judge(&self, error: &WorkerError) -> Unfinished {
        match error {
            WorkerError::Cancelled => Unfinished::Stopped,
            WorkerError::Limit(LimitHit::Wall(_) | LimitHit::Cpu(_)) => {
                Unfinished::TimedOut(self.limits.wall.as_secs())
            }
            WorkerError::Limit(LimitHit::Memory(mib)) => Unfinished::failed(
                "memory",
                format!(
                    "The field solver takes more than {mib} MiB of memory (emi.memory_mib_max)."
                ),
            ),
            WorkerError::Limit(LimitHit::Folder(mib)) => Unfinished::failed(
                "size",
                format!("The field solver wrote more than {mib} MiB of files; ask for less."),
            ),
            WorkerError::Start(source) | WorkerError::Pipe(source) => internal(source),
            WorkerError::Limit(LimitHit::Output(_))
            | WorkerError::Refused(_)
            | WorkerError::Killed { .. } => {
                warn!(%error, "the field solver has ended early");
                Unfinished::failed(
                    "solver",
                    plain(&format!("The field solver failed: {error}")),
                )
            }
        }
    }
}

/// The file of a probe.
fn read(path: &Path) -> Result<Vec<u8>, Unfinished> {
    let mut bytes = Vec::new();
    let most = FILE_BYTES_MAX as u64 + 1;
    match File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)) {
        Ok(_) if bytes.len() <= FILE_BYTES_MAX => Ok(bytes),
        Ok(_) => Err(Unfinished::failed(
            "solver",
            format!(
                "The field solver wrote more than {} MiB into one file.",
                FILE_BYTES_MAX >> 20
            ),
        )),
        Err(error) => {
            warn!(%error, path = %path.display(), "the field solver has left no result");
            Err(Unfinished::failed(
                "solver",
                "The field solver has left no result; see that emi.openems leads to openEMS.",
            ))
        }
    }
}

fn internal(error: &io::Error) -> Unfinished {
    warn!(%error, "failed to run the field solver");
    Unfinished::failed(
        "internal",
        "The server failed to run the field solver; its log says why.",
    )
}
