//! Who carries jobs out: the jails, the folders and the bounds of this machine.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Instant;

use base::private;
use evidence::cases::TEXT_BYTES_MAX;
use evidence::redact::Unfit;
use jail::{Bind, Jail};

use crate::attempt::{Attempt, Grounds, Progress};
use crate::cancel::Cancel;
use crate::cases::{CaseFile, Desk, Kept};
use crate::disk::{Disk, Floor};
use crate::image::{ImageOptions, Images};
use crate::live::Live;
use crate::log::{Gate, RunLog};
use crate::outcome::Outcome;
use crate::place::Place;
use crate::results::RunEnd;
use crate::task::{self, Task};
use crate::{bench, build, toolchain};

/// What this machine gives to jobs.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder of places and cache, for this user alone. Made if it is not there.
    pub state: PathBuf,
    /// How jails are made.
    pub jail: jail::Options,
    /// Folders of tools that are shown inside.
    pub tools: Vec<Bind>,
    /// Images that jobs may name.
    pub images: ImageOptions,
    /// Bytes of all caches together.
    pub cache_bytes: u64,
    /// Bytes that jobs leave free on the disk, and with them a tenth of the files that it can have, at most 50,000. 0:
    /// neither.
    pub floor_bytes: u64,
    /// Processor time for each second of a job, in thousandths of a core.
    pub cpu_millis: u32,
}

impl Options {
    /// All processors, a cache of 4 GiB, and 256 MiB that stay free.
    pub fn new(state: impl Into<PathBuf>) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            state: state.into(),
            jail: jail::Options::default(),
            tools: Vec::new(),
            images: ImageOptions::default(),
            cache_bytes: 4 << 30,
            floor_bytes: 256 << 20,
            cpu_millis: u32::try_from(cores * 1000).unwrap_or(1000),
        }
    }
}

/// Why there is no runner.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder of places and cache.
    #[error("make the folder {}", .0.display())]
    State(PathBuf, #[source] io::Error),
    /// What makes jails could not be started.
    #[error("start what makes jails")]
    Jail(#[source] jail::Error),
}

/// Why a job was not begun.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A step needs a secret that there is none of.
    #[error("find the secret {0}, which {1} needs")]
    NoSecret(String, String),
    /// A secret cannot be kept out of the log.
    #[error(transparent)]
    Secret(#[from] Unfit),
    /// Every place is taken.
    #[error("find a free place: too many jobs run on this machine")]
    NoPlace,
    /// There is something that was not left by a job.
    #[error("write to {}: there is something that no job has left; name another folder", .0.display())]
    ForeignOut(PathBuf),
    /// A folder or file.
    #[error("use {}", .0.display())]
    Files(PathBuf, #[source] io::Error),
}

/// Carries jobs out. Dropping it ends all that still runs.
#[derive(Debug)]
pub struct Runner {
    jail: Jail,
    options: Options,
    disk: Disk,
    toolchain: OnceLock<[u8; 32]>,
    desk: Desk,
}

impl Runner {
    /// Makes ready for jobs.
    ///
    /// # Errors
    /// The folder cannot be made, or what makes jails cannot be started. Whether the machine lets jails be made is
    /// told by the first step.
    pub fn open(options: Options) -> Result<Self, OpenError> {
        private::make_folder(&options.state)
            .map_err(|error| OpenError::State(options.state.clone(), error))?;
        Ok(Self {
            jail: Jail::open(&options.jail).map_err(OpenError::Jail)?,
            disk: Disk::new(options.floor_bytes),
            options,
            toolchain: OnceLock::new(),
            desk: Desk::default(),
        })
    }

    /// From now on, jobs leave so many bytes free: see [`Options::floor_bytes`].
    pub fn leave_free(&mut self, bytes: u64) {
        self.options.floor_bytes = bytes;
        self.disk.floor = Floor::of(bytes);
    }

    /// Removes what jobs have left that died with a server or a machine: each place is emptied that nobody holds, and
    /// so is each image that nobody was done with, with Podman's container for it.
    ///
    /// # Errors
    /// A folder cannot be removed, or Podman does not remove a container.
    pub fn sweep(&self) -> io::Result<()> {
        Place::take(&self.options.state).map(drop)?;
        self.images().sweep().map_err(io::Error::other)
    }

    pub(crate) fn images(&self) -> Images<'_> {
        Images {
            options: &self.options.images,
            state: &self.options.state,
            jail: &self.jail,
            disk: &self.disk,
        }
    }

    pub(crate) fn jail(&self) -> &Jail {
        &self.jail
    }

    pub(crate) fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Where JUnit files are read.
    pub(crate) fn desk(&self) -> &Desk {
        &self.desk
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn toolchain(&self) -> &[u8; 32] {
        self.toolchain
            .get_or_init(|| toolchain::digest(&self.options.tools))
    }

    /// Carries one run out, once, and returns when nothing of it is left but what is in [`Task::out`]; of one that was
    /// cancelled, the files that are being removed may be left for a while. What it came to
    /// is no error, however bad; neither is it that it was not begun, for it was cancelled or its time is over.
    ///
    /// # Errors
    /// The attempt was not begun.
    pub fn attempt(
        &self,
        task: &Task<'_>,
        live: &Live,
        cancel: &Cancel,
    ) -> Result<RunEnd, StartError> {
        let (words, masks) = (task.words.clone(), task.masks.clone());
        let secrets = task::check_secrets([task.run], task.secrets, words, masks)?;
        private::make_folder(&task.out)
            .map_err(|error| StartError::Files(task.out.clone(), error))?;
        let own = [absolute(&task.out)?, absolute(&self.options.state)?];
        let leave_out = task.leave_out.iter().cloned().chain(own).collect();
        let place = self.take_place()?;
        let grounds = Grounds {
            place: &place,
            secrets: &secrets,
            source: absolute(&task.source)?,
            leave_out,
        };
        let ended = self.attempt_on(&grounds, task, live, cancel);
        if cancel.is_set() {
            place.give_back_later();
        }
        Ok(ended)
    }

    /// A free place.
    pub(crate) fn take_place(&self) -> Result<Place, StartError> {
        Place::take(&self.options.state)
            .map_err(|error| StartError::Files(self.options.state.clone(), error))?
            .ok_or(StartError::NoPlace)
    }

    /// As [`Runner::attempt`], where everything is ready for it.
    pub(crate) fn attempt_on(
        &self,
        grounds: &Grounds<'_>,
        task: &Task<'_>,
        live: &Live,
        cancel: &Cancel,
    ) -> RunEnd {
        let start = Instant::now();
        let run = task.run;
        let skipped = |outcome| RunEnd::skipped(run, outcome, task.begun.elapsed());
        if let Some(skip) = task.reason_to_skip(cancel) {
            return skipped(Outcome::Skipped(skip));
        }
        let watch = task.bench.map(|_| task.watch);
        let watch = watch.filter(|_| !task::is_build(run));
        let cap = task.plan.limits.log_bytes;
        let gate = Gate::new(watch, cancel);
        let secrets = grounds.secrets;
        let log = RunLog::create(&task.out, cap, task.begun, live.clone(), gate, secrets);
        let log = match log {
            Ok(log) => log,
            Err(error) => return skipped(Outcome::broken("make the log", &error)),
        };
        let cases = match CaseFile::create(&task.out) {
            Ok(cases) => cases,
            Err(error) => return skipped(Outcome::broken("make room for cases", &error)),
        };
        let tenant = self.disk.tenants.enter(&task.org);
        let attempt = Attempt {
            runner: self,
            task,
            grounds,
            log: &log,
            cases: &cases,
            live,
            cancel,
            image: None,
            tenant: &tenant,
        };
        let mut progress = Progress::new();
        let carried_out = attempt.hold_image(&mut progress).and_then(|image| {
            let attempt = Attempt {
                image: image.as_ref(),
                ..attempt
            };
            match task.bench.filter(|_| !task::is_build(run)) {
                Some(bench) => bench::carry_out(&attempt, bench, &mut progress),
                None => build::carry_out(&attempt, &mut progress),
            }
        });
        if let Err(outcome) = carried_out {
            progress.outcome = outcome.redacted(secrets);
        }
        attempt.leave();
        drop(tenant);
        let kept = cases.finish().unwrap_or_else(|error| {
            if progress.outcome.has_passed() {
                progress.outcome = Outcome::broken("keep the cases", &error);
            }
            Kept::default()
        });
        note_cut(&log, kept.cut_bytes);
        log.write_line(&format!("{}: {}", run.id, progress.outcome));
        let mut ended = progress.end(task, start);
        ended.has_test_output = log.gate().was_passed();
        ended.device = task
            .bench
            .filter(|_| ended.is_bench)
            .map(|bench| bench.name().to_owned());
        (ended.case_bytes, ended.cut_bytes) = (kept.bytes, kept.cut_bytes);
        (ended.log, ended.marks) = log.finish();
        ended
    }
}

/// Says how much of what test cases wrote is not kept, if some is not.
fn note_cut(log: &RunLog<'_>, bytes: u64) {
    if bytes > 0 {
        log.note(&format!(
            "{bytes} bytes that test cases wrote are left out: a run keeps {} MiB of that, and every outcome",
            TEXT_BYTES_MAX >> 20
        ));
    }
}

/// A path without links on the way.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, StartError> {
    path.canonicalize()
        .map_err(|error| StartError::Files(path.to_owned(), error))
}
