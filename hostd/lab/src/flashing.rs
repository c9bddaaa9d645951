//! Programming targets through their pods: at most one flash for each device, each a task of its own
//! with a thread for the part that blocks.
//!
//! A flash belongs to the device, not to the request that started it: a half-programmed chip helps
//! nobody, so it goes on when its client is gone. It ends early when somebody cancels it, when the
//! lease that let it in is over, at its deadline, and when the server stops. The outcomes of the
//! last ones are remembered until the server stops.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use ::flash::chip_refusal;
use ::flash::image::ImageError;
use ::flash::{FlashError, Image, Inspection};
use admission::Requester;
use pods::{Pod, PodError, Session, SessionKind};
use serde_json::json;
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;
use tracing::info;

use crate::devices::Devices;
use crate::leases;
use crate::uart::{Uarts, Work};
use base::clock::{self, Clock};
use base::{id, news};
use blobs::Staged;
use store::captures;

mod job;
mod link;
mod look;
mod outcome;
mod state;

#[cfg(test)]
mod tests;

pub use outcome::{Ended, Failure, Outcome};
pub use state::{Course, Phase, State};

use job::Job;
use look::Looks;

/// Flashes remembered per device, including the running one.
const REMEMBERED_MAX: usize = 16;

/// Flashes that run at once; each has a thread and its firmware in memory.
const RUNNING_MAX: usize = 16;

/// Largest firmware file, with the debug information that an ELF file may carry.
pub const FILE_BYTES_MAX: u64 = 64 << 20;

/// Suggested retry delay when all places are taken, in seconds.
pub const RETRY_AFTER_S: u32 = 10;

/// Time limit for a flash whose client waits; most clients do not wait longer.
const ATTENDED_WAIT: Duration = Duration::from_secs(120);

/// Time limit for a flash that nobody waits for.
const UNATTENDED_WAIT: Duration = Duration::from_secs(600);

/// Time for a running flash to stop when told to: one exchange with the pod, and closing.
const STOP_WAIT: Duration = Duration::from_secs(20);

/// What a flash needs besides the firmware.
#[derive(Debug, Clone)]
pub struct Request {
    /// Chip or OpenOCD target configuration.
    pub target: String,
    /// Where plain bytes go; none = the start of the flash.
    pub load_address: Option<u32>,
    /// Channels of the debug wires, 1..=14.
    pub swclk: u8,
    pub swdio: u8,
    /// Rail to switch on first; none leaves the power alone.
    pub efuse: Option<u8>,
    /// Level of the channels in mV if none has been selected.
    pub la_mv: u32,
    pub verify: bool,
    pub reset: bool,
    pub force: bool,
    pub connect_under_reset: bool,
    /// A client waits for the end.
    pub attended: bool,
}

/// The firmware file.
#[derive(Debug)]
pub struct Firmware {
    pub name: String,
    pub size_bytes: u64,
    pub sha256: String,
    /// The build that it belongs to, and the pack of it.
    pub build: Option<(String, String)>,
    pub path: PathBuf,
    /// Keeps the file until it has been read, if it came with the request.
    pub staged: Option<Staged>,
}

/// Why a flash does not begin, or cannot be found.
#[derive(Debug, thiserror::Error)]
pub enum FlashingError {
    #[error("there is no such flash")]
    NotFound,
    #[error("the device is being flashed already")]
    Running,
    #[error("{RUNNING_MAX} flashes run already")]
    Full,
    #[error("the flash has ended")]
    Ended,
    #[error("{field}: {message}")]
    Invalid {
        field: &'static str,
        message: String,
    },
    #[error("read the firmware from {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error(transparent)]
    Pod(#[from] PodError),
}

/// All flashes.
#[derive(Debug)]
pub struct Flashing {
    devices: Mutex<HashMap<String, VecDeque<Arc<Job>>>>,
    permits: Arc<Semaphore>,
    looks: Looks,
    clock: Clock,
    uarts: Arc<Uarts>,
    registry: Arc<Devices>,
    stopping: watch::Sender<bool>,
}

impl Flashing {
    #[must_use]
    pub fn new(clock: Clock, uarts: Arc<Uarts>, registry: Arc<Devices>) -> Arc<Self> {
        Arc::new(Self {
            devices: Mutex::default(),
            permits: Arc::new(Semaphore::new(RUNNING_MAX)),
            looks: Looks::new(),
            clock,
            uarts,
            registry,
            stopping: watch::Sender::new(false),
        })
    }

    /// Looks at a firmware file, and at what it would do to a chip if one is named.
    ///
    /// # Errors
    /// The file makes no sense, the name means no chip or several, the file is not for it, or as many files are looked at
    /// as may be, in all or by the organisation, for as long as this may wait.
    pub async fn inspect(
        &self,
        requester: Option<&Requester>,
        firmware: Firmware,
        target: Option<String>,
        load_address: Option<u32>,
    ) -> Result<Inspection, FlashingError> {
        self.looks
            .at(requester, firmware, target, load_address)
            .await
    }

    /// Check a request and start the flash.
    ///
    /// # Errors
    /// The request or the firmware makes no sense, the device is in use, or its pod is away.
    pub async fn start(
        self: &Arc<Self>,
        entered: leases::Entered,
        request: Request,
        firmware: Firmware,
    ) -> Result<State, FlashingError> {
        let leases::Entered { device, pod, visit } = entered;
        let device = device.record.id.as_str();
        let permit = self.permits.clone().try_acquire_owned();
        let permit = permit.map_err(|_| FlashingError::Full)?;
        // First, so that only one of two prepares a flash.
        let entered = self.enter(device, &request, &firmware)?;
        let (image, session) = begin(&pod, &request, firmware).await?;
        let job = entered.begun();
        info!(
            flash = job.id(),
            device,
            target = request.target,
            bytes = image.data_bytes(),
            "flash begins"
        );
        let task = job::Task {
            job: job.clone(),
            pod,
            visit,
            request,
            clock: self.clock.clone(),
            during: self.uarts.during(device, Work::Flash, job.id()),
            stopping: self.stopping.subscribe(),
        };
        self.tell(&job.state());
        let (flashing, begun) = (self.clone(), job.clone());
        tokio::spawn(async move {
            task.run(session, image).await;
            flashing.tell(&begun.state());
            drop(permit);
        });
        Ok(job.state())
    }

    /// Tell who listens that a flash begins, or how it ended.
    fn tell(&self, state: &State) {
        let kind = match state.course.phase {
            Phase::Done => news::Kind::FlashDone,
            _ if state.course.finished_ms.is_none() => news::Kind::FlashStarted,
            _ => news::Kind::FlashFailed,
        };
        let outcome = state.course.outcome.as_ref();
        let failure = outcome.and_then(|outcome| outcome.failure.as_ref());
        let told = json!({"flash": {
            "id": state.id,
            "target": state.target,
            "name": state.name,
            "size_bytes": state.size_bytes,
            "sha256": state.sha256,
            "phase": state.course.phase.name(),
            "chip": outcome.and_then(|outcome| outcome.chip.as_ref()),
            "code": failure.map(|failure| failure.code),
            "error": failure.map(|failure| &failure.sentence),
            "created_at": clock::text(state.created_ms),
            "finished_at": state.course.finished_ms.map(clock::text),
        }});
        self.registry.tell(kind, &state.device, &state.id, told);
    }

    /// One flash of a device.
    ///
    /// # Errors
    /// It is not remembered.
    pub fn get(&self, device: &str, id: &str) -> Result<State, FlashingError> {
        self.job(device, id).map(|job| job.state())
    }

    /// The flashes of a device, newest first.
    #[must_use]
    pub fn list(&self, device: &str) -> Vec<State> {
        let devices = self.devices();
        let jobs = devices.get(device).into_iter().flatten();
        jobs.map(|job| job.state()).collect()
    }

    /// What was flashed last through a device, as far as that is remembered; none when the last flash failed.
    #[must_use]
    pub fn firmware(&self, device: &str) -> Option<captures::Firmware> {
        let ended = |job: &Arc<Job>| !job.is_running();
        let last = self
            .devices()
            .get(device)?
            .iter()
            .find(|job| ended(job))?
            .state();
        (last.course.phase == Phase::Done).then(|| captures::Firmware {
            name: last.name,
            sha256: last.sha256,
            build: last.build.map(|(build, _)| build),
        })
    }

    /// How far a flash is, as it goes on.
    ///
    /// # Errors
    /// It is not remembered.
    pub fn watch(&self, device: &str, id: &str) -> Result<watch::Receiver<Course>, FlashingError> {
        self.job(device, id).map(|job| job.watch())
    }

    /// Wait until a flash has ended, at most until `until`; it may still be running then.
    ///
    /// # Errors
    /// It is not remembered.
    pub async fn wait(
        &self,
        device: &str,
        id: &str,
        until: Instant,
    ) -> Result<State, FlashingError> {
        let job = self.job(device, id)?;
        let ended = tokio::time::timeout_at(until, job.ended()).await;
        Ok(ended.unwrap_or_else(|_| job.state()))
    }

    /// End a running flash, and wait until it has ended.
    ///
    /// # Errors
    /// It has ended already, or is not remembered.
    pub async fn cancel(&self, device: &str, id: &str) -> Result<State, FlashingError> {
        let job = self.job(device, id)?;
        if !job.is_running() {
            return Err(FlashingError::Ended);
        }
        job.cancel();
        Ok(job.ended().await)
    }

    /// End all running flashes, and wait until they have ended.
    pub async fn stop(&self) {
        self.stopping.send_replace(true);
        let running: Vec<Arc<Job>> = self.devices().values().flatten().cloned().collect();
        let all = async {
            for job in running {
                job.ended().await;
            }
        };
        if tokio::time::timeout(STOP_WAIT, all).await.is_err() {
            tracing::warn!("a flash did not end in time");
        }
    }

    fn enter(
        &self,
        device: &str,
        request: &Request,
        firmware: &Firmware,
    ) -> Result<Entered<'_>, FlashingError> {
        let mut devices = self.devices();
        let jobs = devices.entry(device.to_owned()).or_default();
        if jobs.front().is_some_and(|job| job.is_running()) {
            return Err(FlashingError::Running);
        }
        let id = id::ulid(&self.clock);
        let job = Arc::new(Job::new(id, device, request, firmware, self.clock.now_ms()));
        jobs.truncate(REMEMBERED_MAX - 1);
        jobs.push_front(job.clone());
        Ok(Entered {
            flashing: self,
            job,
            is_begun: false,
        })
    }

    fn forget(&self, job: &Arc<Job>) {
        if let Some(jobs) = self.devices().get_mut(job.device()) {
            jobs.retain(|other| !Arc::ptr_eq(other, job));
        }
    }

    fn job(&self, device: &str, id: &str) -> Result<Arc<Job>, FlashingError> {
        let devices = self.devices();
        let mut jobs = devices.get(device).into_iter().flatten();
        let job = jobs.find(|job| job.id() == id);
        job.cloned().ok_or(FlashingError::NotFound)
    }

    fn devices(&self) -> MutexGuard<'_, HashMap<String, VecDeque<Arc<Job>>>> {
        // Each change is a single call, so a panic elsewhere leaves a valid map.
        self.devices.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of a flash that has not begun; released if it never does, or nobody waits for it.
struct Entered<'f> {
    flashing: &'f Flashing,
    job: Arc<Job>,
    is_begun: bool,
}

impl Entered<'_> {
    fn begun(mut self) -> Arc<Job> {
        self.is_begun = true;
        self.job.clone()
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        if !self.is_begun {
            self.flashing.forget(&self.job);
        }
    }
}

/// Everything that can be checked and acquired before the job has a task of its own.
async fn begin(
    pod: &Pod,
    request: &Request,
    firmware: Firmware,
) -> Result<(Image, Session), FlashingError> {
    let (target, load_address) = (request.target.clone(), request.load_address);
    let read = tokio::task::spawn_blocking(move || {
        ::flash::check_chip(&target).map_err(|error| invalid("target", &error))?;
        let image = read(&firmware, load_address)?;
        check_address(&image, &target, load_address)?;
        Ok(image)
    });
    let image = read.await.unwrap_or_else(panicked)?;
    let session = pod.begin(SessionKind::Flash).await?;
    Ok((image, session))
}

fn panicked<T>(panic: tokio::task::JoinError) -> Result<T, FlashingError> {
    Err(FlashingError::Read {
        path: PathBuf::new(),
        source: std::io::Error::other(panic),
    })
}

/// The field that must change when a file and a chip do not fit.
fn blamed(error: &FlashError) -> &'static str {
    match error {
        FlashError::AmbiguousChip { .. } | FlashError::UnsupportedChip { .. } => "target",
        _ => "firmware",
    }
}

/// A file with its own addresses goes nowhere else. Clients that always send an address must send
/// the same one.
fn check_address(image: &Image, target: &str, asked: Option<u32>) -> Result<(), FlashingError> {
    let start = match image.start(target) {
        Ok(start) => start,
        // The target itself says which chip it is.
        Err(ImageError::UnknownFamily { .. }) => None,
        Err(error) => return Err(invalid("firmware", &FlashError::Image(error))),
    };
    match (asked, start) {
        (Some(asked), Some(start)) if asked != start => {
            let format = image.format();
            Err(FlashingError::Invalid {
                field: "load_addr",
                message: format!(
                    "must be left out or {start:#010x}, since the {format} file says itself where its data goes"
                ),
            })
        }
        _ => Ok(()),
    }
}

fn read(firmware: &Firmware, load_address: Option<u32>) -> Result<Image, FlashingError> {
    if firmware.size_bytes > FILE_BYTES_MAX {
        return Err(FlashingError::Invalid {
            field: "firmware",
            message: format!("must not be over {FILE_BYTES_MAX} bytes"),
        });
    }
    let bytes = std::fs::read(&firmware.path).map_err(|source| FlashingError::Read {
        path: firmware.path.clone(),
        source,
    })?;
    let image = Image::parse(&bytes, &firmware.name, load_address);
    image.map_err(|error| invalid("firmware", &FlashError::Image(error)))
}

fn invalid(field: &'static str, error: &FlashError) -> FlashingError {
    FlashingError::Invalid {
        field,
        message: format!("cannot be used: {error}"),
    }
}
