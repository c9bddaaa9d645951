//! The program, and what it says of its decoders.

use crate::described::{self, Described};
use crate::error::SigrokError;
use crate::listed::{self, Listed};
use jail::{Worker, WorkerError, WorkerLimits};
use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::io::{self, PipeReader, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// Longest list or description.
const TEXT_BYTES_MAX: usize = 4 << 20;

/// Longest time for one of them.
const TEXT_WALL_MAX: Duration = Duration::from_secs(20);

/// Largest file that a child may write: what Python compiles of a decoder, where it may.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Files that it may have open.
const OPEN_FILES: u64 = 256;

/// Its priority: whoever waits for the bench goes first.
const NICE: i32 = 10;

/// Descriptions that are kept.
const KEPT_MAX: usize = 256;

/// What a decoding may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time from its start to its end, and as much of one processor.
    pub wall: Duration,
    /// Address space.
    pub memory_bytes: u64,
    /// What it may write.
    pub output_bytes: usize,
}

impl Default for Limits {
    /// Two minutes, a gigabyte, and 256 MiB of output.
    fn default() -> Self {
        Self {
            wall: Duration::from_secs(120),
            memory_bytes: 1 << 30,
            output_bytes: 256 << 20,
        }
    }
}

/// An installed `sigrok-cli`.
#[derive(Debug)]
pub struct Sigrok {
    /// A path, or a name on the search path.
    program: PathBuf,
    limits: Limits,
    known: Mutex<Known>,
}

/// What the program said, as long as it is the same.
#[derive(Debug, Default)]
struct Known {
    of: Option<Installed>,
    listed: Option<Vec<Listed>>,
    described: HashMap<String, Described>,
}

impl Known {
    /// Keeps what this program has said, unless there is another one by now.
    fn if_of(&mut self, program: &Installed, keep: impl FnOnce(&mut Self)) {
        if self.of.as_ref() == Some(program) {
            keep(self);
        }
    }
}

/// Where the program is, and since when.
type Installed = (PathBuf, SystemTime);

impl Sigrok {
    /// Under a path, or by a name on the search path. It need not be there.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>, limits: Limits) -> Self {
        Self {
            program: program.into(),
            limits,
            known: Mutex::default(),
        }
    }

    /// All decoders, in the program's order. Blocks until the program has said.
    ///
    /// # Errors
    /// It is not installed, or fails.
    pub fn list(&self) -> Result<Vec<Listed>, SigrokError> {
        let now = self.renewed()?;
        let listed = listed::read(&self.said(&["-L"])??);
        self.known()
            .if_of(&now, |known| known.listed = Some(listed.clone()));
        Ok(listed)
    }

    /// All decoders, if the program has said and is the same as then.
    #[must_use]
    pub fn kept_list(&self) -> Option<Vec<Listed>> {
        self.renewed().ok()?;
        self.known().listed.clone()
    }

    /// What a decoder has said of itself, if the program is the same as then.
    pub(crate) fn kept(&self, id: &str) -> Option<Described> {
        self.renewed().ok()?;
        self.known().described.get(id).cloned()
    }

    /// Forgets what another program said.
    fn renewed(&self) -> Result<Installed, SigrokError> {
        let now = self.installed()?;
        let mut known = self.known();
        if known.of.as_ref() != Some(&now) {
            *known = Known::default();
            known.of = Some(now.clone());
        }
        Ok(now)
    }

    /// What a decoder says of itself. `id` was checked.
    pub(crate) fn describe(&self, id: &str) -> Result<Described, SigrokError> {
        let now = self.renewed()?;
        if let Some(described) = self.known().described.get(id) {
            return Ok(described.clone());
        }
        let unknown = || SigrokError::Unknown(id.to_owned());
        let said = match self.said(&["-P", id, "--show"])? {
            // It says no more than that.
            Err(WorkerError::Refused(_)) => return Err(unknown()),
            other => other?,
        };
        let described = described::read(&said).filter(|described| described.id == id);
        let described = described.ok_or_else(unknown)?;
        self.known().if_of(&now, |known| {
            if known.described.len() < KEPT_MAX {
                known.described.insert(id.to_owned(), described.clone());
            }
        });
        Ok(described)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the program prints, or how it failed.
    fn said(&self, arguments: &[&str]) -> Result<Result<String, WorkerError>, SigrokError> {
        let limits = Limits {
            wall: TEXT_WALL_MAX.min(self.limits.wall),
            output_bytes: TEXT_BYTES_MAX,
            ..self.limits
        };
        let arguments = arguments.iter().map(OsString::from).collect();
        let worker = self.worker(arguments, limits)?;
        // It is short, so that it cannot be cancelled.
        let (reader, _writer) = io::pipe().map_err(WorkerError::Start)?;
        let mut said = Vec::new();
        let mut take = |piece: &[u8]| {
            said.extend_from_slice(piece);
            ControlFlow::Continue(())
        };
        let ran = worker.run(&mut io::empty(), &mut take, &reader);
        Ok(ran.map(|()| String::from_utf8_lossy(&said).into_owned()))
    }

    /// Runs a decoding until nothing of it is left. Blocks the thread.
    pub(crate) fn run(
        &self,
        arguments: Vec<OsString>,
        input: &mut dyn Read,
        output: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
        cancelled: &PipeReader,
    ) -> Result<(), SigrokError> {
        let worker = self.worker(arguments, self.limits)?;
        Ok(worker.run(input, output, cancelled)?)
    }

    fn worker(&self, arguments: Vec<OsString>, limits: Limits) -> Result<Worker, SigrokError> {
        let (program, _) = self.installed()?;
        Ok(Worker {
            program,
            arguments,
            folder: PathBuf::from("/"),
            limits: WorkerLimits {
                cpu_s: limits.wall.as_secs().max(1),
                memory_bytes: limits.memory_bytes,
                wall: limits.wall,
                output_bytes: limits.output_bytes,
                file_bytes: FILE_BYTES_MAX,
                folder_bytes: 0,
                open_files: OPEN_FILES,
                nice: NICE,
            },
        })
    }

    /// Where it is, and since when.
    fn installed(&self) -> Result<Installed, SigrokError> {
        let changed = |path: &Path| {
            let facts = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
            Some((path.to_owned(), facts.modified().ok()?))
        };
        if self.program.components().count() > 1 {
            return changed(&self.program).ok_or(SigrokError::NotInstalled);
        }
        let folders = env::var_os("PATH").unwrap_or_default();
        let mut folders = env::split_paths(&folders);
        let found = folders.find_map(|folder| changed(&folder.join(&self.program)));
        match self.program.as_os_str().is_empty() {
            true => None,
            false => found,
        }
        .ok_or(SigrokError::NotInstalled)
    }
}
