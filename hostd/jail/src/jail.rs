//! The part of jails that lives in the server: starts the nursery and asks it for jails.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use crate::bounds::{Bounds, Kernel};
use crate::child::Child;
use crate::doctor;
use crate::error::Error;
use crate::gauge::Gauge;
use crate::groups::Groups;
use crate::lack::Lack;
use crate::slot::Slot;
use crate::spec::{Spec, Stream, Streams};
use crate::stage::NURSERY;
use crate::wire::{self, BLUEPRINT_BYTES_MAX, Blueprint, Network};

/// How long the nursery may take to accept a blueprint. Usually it takes a thousandth of that.
const REQUEST_WITHIN: Duration = Duration::from_secs(5);

/// How long after the end of a nursery the next one is started: only a person or a machine out of memory ends
/// it.
const RESTART_AFTER: Duration = Duration::from_millis(200);

/// The host's side of a jail's network.
pub(crate) const SLIRP4NETNS: &str = "slirp4netns";

/// The processes of the host's side: one, and one that starts it.
const NETWORK_PROCESSES: u32 = 2;

/// How jails are made on this machine.
#[derive(Clone, Debug)]
pub struct Options {
    /// A program whose `main` begins with [`entry`](crate::entry). By default the running program.
    pub program: PathBuf,
    /// Whether control groups are used where possible. By default they are.
    pub groups: bool,
    /// The program slirp4netns, which jails with a network need. By default the one that is found by `PATH`.
    pub slirp4netns: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            program: "/proc/self/exe".into(),
            groups: true,
            slirp4netns: doctor::installed(SLIRP4NETNS),
        }
    }
}

/// Makes jails. Dropping it ends all jails that are still running.
#[derive(Debug)]
pub struct Jail {
    nursery: Arc<Nursery>,
    groups: Groups,
    bounds: Bounds,
    /// Whether slots are separate users.
    has_users: bool,
    slirp4netns: Option<PathBuf>,
    /// Number of jails so far, from which groups get their names.
    count: AtomicU64,
}

/// The server's end of the nursery's socket.
#[derive(Debug, Default)]
struct Nursery {
    socket: Mutex<Option<OwnedFd>>,
    is_closed: AtomicBool,
}

impl Jail {
    /// Starts the process that makes jails, and removes what an earlier server left behind. Whether the
    /// machine allows jails shows with the first one, or with [`probe`](crate::probe).
    ///
    /// # Errors
    ///
    /// If the program cannot be started.
    pub fn open(options: &Options) -> Result<Self, Error> {
        let groups = if options.groups {
            Groups::open()
        } else {
            Groups::None
        };
        let nursery = Arc::new(Nursery::default());
        let (started, is_started) = mpsc::sync_channel(1);
        let (keeper, program) = (Arc::clone(&nursery), options.program.clone());
        // Parent-death signals are tied to the thread, so this one lives as long as the nursery.
        std::thread::Builder::new()
            .name("jail-nursery".to_owned())
            .spawn(move || keeper.keep(&program, &started))
            .map_err(|error| Error::start("start the thread", error))?;
        let started = is_started
            .recv()
            .unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()));
        started.map_err(|error| {
            nursery.is_closed.store(true, Ordering::Release);
            Error::start("start the nursery", error)
        })?;
        let bounds = groups.bounds(Kernel::running());
        Ok(Self {
            nursery,
            groups,
            bounds,
            has_users: Slot::are_users(),
            slirp4netns: options.slirp4netns.clone(),
            count: AtomicU64::new(0),
        })
    }

    /// What enforces the limits of jails.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Starts a program in its own jail. [`Child::wait`] reports whether it could be executed.
    ///
    /// # Errors
    ///
    /// If the description is wrong, or if the machine has no groups, descriptors or memory left.
    pub fn spawn(&self, spec: &Spec, streams: Streams) -> Result<Child, Error> {
        spec.check()?;
        let network = self.network(spec)?;
        let name = self.count.fetch_add(1, Ordering::Relaxed).to_string();
        let mut together = spec.limits.clone();
        if network.is_some() {
            together.processes += NETWORK_PROCESSES;
        }
        let group = self.groups.make(&name, &together);
        let group = group.map_err(|error| Error::start("make a group", error))?;
        let blueprint = Blueprint {
            program: spec.program.clone(),
            arguments: spec.arguments.clone(),
            environment: spec.environment.clone(),
            job: spec.job.clone(),
            folder: spec.folder.clone(),
            binds: spec.binds.clone(),
            root: spec.root.clone(),
            uid: self.has_users.then(|| spec.slot.uid()),
            relay: spec.relay.clone(),
            network,
            limits: spec.limits.clone(),
            groups: group.joins(),
            makeshift: self.bounds.makeshift(),
        };
        let blueprint = serde_json::to_vec(&blueprint)
            .map_err(|_| Error::Spec("a path is not UTF-8; name folders in UTF-8"))?;
        if BLUEPRINT_BYTES_MAX < blueprint.len() {
            return Err(Error::TooLong {
                bytes: blueprint.len(),
                most: BLUEPRINT_BYTES_MAX,
            });
        }
        let (control, ends, inner) =
            connect(streams).map_err(|error| Error::start("make the streams", error))?;
        let (theirs, [stdin, stdout, stderr]) = inner;
        let gauge = packet_sockets().map_err(|error| Error::start("make the gauge", error))?;
        let descriptors = [&theirs, &gauge.1, &stdin, &stdout, &stderr].map(AsFd::as_fd);
        self.nursery.ask(&blueprint, descriptors)?;
        Ok(Child::new(control, Gauge::new(gauge.0), group, ends))
    }

    fn network(&self, spec: &Spec) -> Result<Option<Network>, Error> {
        let Some(reach) = spec.network else {
            return Ok(None);
        };
        let slirp4netns = self.slirp4netns.clone().ok_or_else(|| Error::NoIsolation {
            lack: Lack::NoSlirp4netns,
            source: io::ErrorKind::NotFound.into(),
        })?;
        Ok(Some(Network { slirp4netns, reach }))
    }
}

impl Drop for Jail {
    fn drop(&mut self) {
        self.nursery.is_closed.store(true, Ordering::Release);
        *self.nursery.lock() = None;
    }
}

impl Nursery {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<OwnedFd>> {
        self.socket.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a nursery, and the next one whenever one has ended.
    fn keep(&self, program: &PathBuf, started: &mpsc::SyncSender<io::Result<()>>) {
        loop {
            let child = self.start(program);
            let (child, outcome) = match child {
                Ok(child) => (Some(child), Ok(())),
                Err(error) => (None, Err(error)),
            };
            // Only the first start has a waiting receiver.
            let _ = started.try_send(outcome);
            if let Some(mut child) = child {
                let _ = child.wait();
            }
            let mut socket = self.lock();
            *socket = None;
            if self.is_closed.load(Ordering::Acquire) {
                return;
            }
            drop(socket);
            std::thread::sleep(RESTART_AFTER);
        }
    }

    fn start(&self, program: &PathBuf) -> io::Result<std::process::Child> {
        let (ours, theirs) = packet_sockets()?;
        set_socket_timeout(&ours, Timeout::Send, Some(REQUEST_WITHIN))?;
        let child = Command::new(program)
            .arg(NURSERY)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()?;
        let mut socket = self.lock();
        if !self.is_closed.load(Ordering::Acquire) {
            *socket = Some(ours);
        }
        Ok(child)
    }

    fn ask(
        &self,
        blueprint: &[u8],
        descriptors: [std::os::fd::BorrowedFd<'_>; 5],
    ) -> Result<(), Error> {
        let socket = self.lock();
        let nursery = socket.as_ref().ok_or(Error::Lost)?;
        wire::send_request(nursery.as_fd(), blueprint, descriptors).map_err(|error| {
            match error.kind() {
                io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => Error::Lost,
                _ => Error::start("ask the nursery", error),
            }
        })
    }
}

fn packet_sockets() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )?)
}

type OurEnds = (Option<PipeWriter>, Option<PipeReader>, Option<PipeReader>);
type TheirEnds = (OwnedFd, [OwnedFd; 3]);

/// Makes the control socket and the standard streams.
fn connect(streams: Streams) -> io::Result<(OwnedFd, OurEnds, TheirEnds)> {
    let (control, theirs) = packet_sockets()?;
    let (stdin, to_stdin) = match streams.stdin {
        Stream::Null => (null()?, None),
        Stream::Descriptor(descriptor) => (descriptor, None),
        Stream::Pipe => {
            let (reads, writes) = io::pipe()?;
            (reads.into(), Some(writes))
        }
    };
    let (stdout, from_stdout) = output(streams.stdout)?;
    let (stderr, from_stderr) = output(streams.stderr)?;
    let ours = (to_stdin, from_stdout, from_stderr);
    Ok((control, ours, (theirs, [stdin, stdout, stderr])))
}

fn output(stream: Stream) -> io::Result<(OwnedFd, Option<PipeReader>)> {
    Ok(match stream {
        Stream::Null => (null()?, None),
        Stream::Descriptor(descriptor) => (descriptor, None),
        Stream::Pipe => {
            let (reads, writes) = io::pipe()?;
            (writes.into(), Some(reads))
        }
    })
}

fn null() -> io::Result<OwnedFd> {
    let options = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/null")?;
    Ok(options.into())
}
