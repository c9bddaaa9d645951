//! Runs in children of their own: this program, started once more, which can only compute.
//!
//! A run `solve` takes two of them, before and after the field solver, which is a program of others:
//!
//! ```text
//! board ─ child ─> model ─ solver ─> what its probes wrote, and the board again ─ child ─> results
//! ```

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, PipeReader, Read};
use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use base::config::EmiConfig;
use emi::solve::PROBES;
use jail::{LimitHit, Worker, WorkerError, WorkerLimits};
use store::emi::runs::{Kind, Progress};
use tracing::warn;

use crate::compute::MODEL;
use crate::runner::{Event, Product, Runner, Unfinished, Unwanted, Work};
use crate::solver::Solver;
use crate::wire::{self, Listener, Request, Said};

/// The verb of the program that [`serve`](crate::serve)s a run.
pub const VERB: &str = "board-analyze";

/// Files that a child may have open: its streams, and what its libraries try.
const OPEN_FILES: u64 = 32;

/// Its priority: whoever waits for the bench goes first.
const NICE: i32 = 10;

/// Starts a child for each run.
#[derive(Debug)]
pub struct Children {
    worker: Worker,
    solver: Option<Solver>,
    file_bytes_max: usize,
    unpacked_bytes_max: u64,
    entries_max: usize,
}

impl Children {
    /// Children that run `program` with `arguments`, which must end up in [`serve`](crate::serve). A field solver, if the
    /// configuration names one, works below the folder `work`, which is nobody else's.
    ///
    /// # Errors
    /// That folder cannot be cleared.
    pub fn open(
        program: PathBuf,
        arguments: Vec<OsString>,
        config: &EmiConfig,
        work: &Path,
    ) -> io::Result<Self> {
        let seconds = u64::from(config.run_s_max);
        let threads = thread::available_parallelism().map_or(1, NonZero::get) as u64;
        let limits = WorkerLimits {
            // The wall is nearer unless its threads do not sleep.
            cpu_s: seconds.saturating_mul(threads),
            memory_bytes: u64::from(config.memory_mib_max) << 20,
            wall: Duration::from_secs(seconds),
            output_bytes: wire::OUTPUT_BYTES_MAX,
            file_bytes: 0,
            folder_bytes: 0,
            open_files: OPEN_FILES,
            nice: NICE,
        };
        Ok(Self {
            worker: Worker {
                program,
                arguments,
                folder: PathBuf::from("/"),
                limits,
            },
            solver: Solver::open(config, work)?,
            file_bytes_max: (config.upload_mib_max as usize) << 20,
            unpacked_bytes_max: u64::from(config.unpacked_mib_max) << 20,
            entries_max: config.entries_max as usize,
        })
    }

    fn request(&self, work: &Work, probes: &[Vec<u8>]) -> Request {
        Request {
            kind: work.kind,
            params: work.params.clone(),
            filename: work.filename.clone(),
            file_bytes_max: self.file_bytes_max,
            unpacked_bytes_max: self.unpacked_bytes_max,
            entries_max: self.entries_max,
            probes: probes.iter().map(Vec::len).collect(),
        }
    }
}

impl Runner for Children {
    fn kinds(&self) -> Vec<Kind> {
        let always = [Kind::Ingest, Kind::Compliance, Kind::Cable];
        let solve = self.solver.as_ref().map(|_| Kind::Solve);
        always.into_iter().chain(solve).collect()
    }

    fn run(
        &self,
        work: &Work,
        tell: &mut dyn FnMut(Event) -> Result<(), Unwanted>,
        stopped: &PipeReader,
    ) -> Result<Product, Unfinished> {
        if work.kind != Kind::Solve {
            return self.compute(work, &[], tell, stopped);
        }
        let not_offered = || Unfinished::failed("not_offered", "No field solver is installed.");
        let solver = self.solver.as_ref().ok_or_else(not_offered)?;
        let mut model = Vec::new();
        let mut keep = |event| {
            if let Event::Made(made) = &event
                && made.name == MODEL
            {
                model.clone_from(&made.bytes);
            }
            tell(event)
        };
        self.compute(work, &[], &mut keep, stopped)?;
        let stage = Progress {
            stage: "solve".to_owned(),
            pct: 10,
            message: "openEMS is running".to_owned(),
        };
        tell(Event::Progress(stage)).map_err(|Unwanted| Unfinished::Stopped)?;
        let probes = solver.solve(&model, &PROBES, stopped)?;
        self.compute(work, &probes, tell, stopped)
    }
}

impl Children {
    /// Has one child compute.
    fn compute(
        &self,
        work: &Work,
        probes: &[Vec<u8>],
        tell: &mut dyn FnMut(Event) -> Result<(), Unwanted>,
        stopped: &PipeReader,
    ) -> Result<Product, Unfinished> {
        let request = wire::request_bytes(&self.request(work, probes));
        let request = request.map_err(|error| internal(&error))?;
        let board = File::open(&work.file).map_err(|error| internal(&error))?;
        let probes = probes.concat();
        let mut input = (&request[..]).chain(&probes[..]).chain(board);
        let mut listener = Listener::default();
        let mut trouble = None;
        let mut output = |piece: &[u8]| {
            let mut is_wanted = Ok(());
            let pushed = listener.push(piece, &mut |event| {
                if is_wanted.is_ok() {
                    is_wanted = tell(event);
                }
            });
            trouble = pushed.err();
            match trouble.is_none() && is_wanted.is_ok() {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        };
        let ended = self.worker.run(&mut input, &mut output, stopped);
        if let Some(malformed) = trouble {
            warn!(%malformed, "a child that looks at a board misbehaved");
            return Err(crashed());
        }
        match (ended, listener.end()) {
            (Ok(()), Some(Said::Done(product))) => Ok(product),
            (Ok(()), Some(Said::Refused(failure))) => Err(Unfinished::Failed(failure)),
            (Ok(()), None) => Err(crashed()),
            (Err(error), _) => Err(self.judge(&error)),
        }
    }

    fn judge(&self, error: &WorkerError) -> Unfinished {
        match error {
            WorkerError::Cancelled => Unfinished::Stopped,
            WorkerError::Limit(LimitHit::Wall(_) | LimitHit::Cpu(_)) => {
                Unfinished::TimedOut(self.worker.limits.wall.as_secs())
            }
            WorkerError::Limit(LimitHit::Memory(mib)) => Unfinished::failed(
                "memory",
                format!("The board takes more than {mib} MiB of memory (emi.memory_mib_max)."),
            ),
            WorkerError::Limit(LimitHit::Output(mib)) => {
                Unfinished::failed("size", format!("The results take more than {mib} MiB."))
            }
            WorkerError::Start(source) | WorkerError::Pipe(source) => internal(source),
            // It writes no files.
            WorkerError::Limit(LimitHit::Folder(_))
            | WorkerError::Refused(_)
            | WorkerError::Killed { .. } => {
                warn!(%error, "a child that looks at a board has ended early");
                crashed()
            }
        }
    }
}

fn crashed() -> Unfinished {
    Unfinished::failed(
        "crashed",
        "What reads the board has ended early. Try again; if it happens again, the board is at fault, and we want to know.",
    )
}

fn internal(error: &io::Error) -> Unfinished {
    warn!(%error, "failed to run a child that looks at a board");
    Unfinished::failed(
        "internal",
        "The server failed to look at the board; its log says why. Try again.",
    )
}
