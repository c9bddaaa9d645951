//! One worker, from its start until nothing of it is left. Blocks the thread.

use std::io::{self, PipeReader, Read, Write};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, kill_process_group, pidfd_open, prlimit,
    setpriority_process,
};

use super::bond::end_with_parent;
use super::folder::{self, Watch};
use super::{LimitHit, REASON_BYTES_MAX, Worker, WorkerError, WorkerLimits};

/// Bytes moved at once.
const PIECE_BYTES: usize = 64 << 10;

/// After the first warning that its processor time is up, a child has this many seconds.
const CPU_GRACE_S: u64 = 1;

/// How long output is read that a child has left when it ended.
const REST: Duration = Duration::from_secs(1);

/// What Rust, C++ and the kernel say when there is no memory.
const NO_MEMORY: [&str; 4] = [
    "memory allocation of",
    "Cannot allocate memory",
    "out of memory",
    "bad_alloc",
];

/// A child that is ended with all of its group when this is dropped.
struct Running {
    child: Child,
    pid: Pid,
    /// It was waited for: its number may be another's by now.
    is_gone: bool,
}

/// What is moved.
struct Streams<'s> {
    input: &'s mut dyn Read,
    /// Of the input: what is read and not written yet.
    piece: Vec<u8>,
    output: &'s mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    output_bytes: usize,
    reason: Vec<u8>,
}

/// What became of a try to move something.
enum Moved {
    Some,
    /// There is no more.
    End,
}

/// What there is to do.
#[derive(Default)]
struct Ready {
    input: bool,
    output: bool,
    errors: bool,
    ended: bool,
    cancelled: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.is_gone {
            return;
        }
        // It was not waited for yet, so the number is still its own, and its group's.
        let _ = kill_process_group(self.pid, Signal::KILL);
        let _ = self.child.wait();
    }
}

/// Runs it; `cancelled` ends when nobody waits any more.
pub(super) fn run(
    worker: &Worker,
    input: &mut dyn Read,
    output: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    cancelled: &PipeReader,
) -> Result<(), WorkerError> {
    let mut running = start(worker)?;
    let mut streams = Streams {
        input,
        piece: Vec::new(),
        output,
        output_bytes: 0,
        reason: Vec::new(),
    };
    let talked = talk(worker, &mut running, cancelled, &mut streams);
    // What it started goes with it, before its own end is looked at.
    let _ = kill_process_group(running.pid, Signal::KILL);
    let status = running.child.wait();
    running.is_gone = true;
    talked?;
    folder::check(worker)?;
    judge(
        &worker.limits,
        status.map_err(WorkerError::Pipe)?,
        &streams.reason,
    )
}

fn start(worker: &Worker) -> Result<Running, WorkerError> {
    let mut command = Command::new(&worker.program);
    command
        .args(&worker.arguments)
        .env_clear()
        .current_dir(&worker.folder)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    end_with_parent(&mut command);
    let mut child = command.spawn().map_err(WorkerError::Start)?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let Some(pid) = pid else {
        let _ = child.kill();
        return Err(WorkerError::Start(io::ErrorKind::InvalidData.into()));
    };
    let running = Running {
        child,
        pid,
        is_gone: false,
    };
    // It has nothing to read yet.
    bound(pid, &worker.limits).map_err(WorkerError::Start)?;
    Ok(running)
}

fn bound(pid: Pid, limits: &WorkerLimits) -> io::Result<()> {
    let both = |current, maximum| Rlimit {
        current: Some(current),
        maximum: Some(maximum),
    };
    let bounds = [
        (
            Resource::Cpu,
            both(limits.cpu_s, limits.cpu_s + CPU_GRACE_S),
        ),
        (Resource::As, both(limits.memory_bytes, limits.memory_bytes)),
        (Resource::Fsize, both(limits.file_bytes, limits.file_bytes)),
        (Resource::Core, both(0, 0)),
        (Resource::Nofile, both(limits.open_files, limits.open_files)),
    ];
    for (resource, limit) in bounds {
        prlimit(Some(pid), resource, limit)?;
    }
    Ok(setpriority_process(Some(pid), limits.nice)?)
}

/// Moves bytes until the child has ended.
fn talk(
    worker: &Worker,
    running: &mut Running,
    cancelled: &PipeReader,
    streams: &mut Streams<'_>,
) -> Result<(), WorkerError> {
    let (limits, failed) = (&worker.limits, WorkerError::Pipe);
    let mut watch = Watch::new(worker);
    let end = pidfd_open(running.pid, PidfdFlags::empty()).map_err(|error| failed(error.into()))?;
    let mut input = running.child.stdin.take();
    let mut output = running.child.stdout.take();
    let mut errors = running.child.stderr.take();
    for pipe in [
        input.as_ref().map(AsFd::as_fd),
        output.as_ref().map(AsFd::as_fd),
        errors.as_ref().map(AsFd::as_fd),
    ] {
        let pipe = pipe.ok_or_else(|| failed(io::ErrorKind::BrokenPipe.into()))?;
        rustix::io::ioctl_fionbio(pipe, true).map_err(|error| failed(error.into()))?;
    }
    let mut deadline = Instant::now() + limits.wall;
    let mut has_ended = false;
    loop {
        if has_ended && output.is_none() {
            return Ok(());
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            // What it has started may hold the output open, and ends later.
            let wall = LimitHit::Wall(limits.wall.as_secs());
            return if has_ended {
                Ok(())
            } else {
                Err(WorkerError::Limit(wall))
            };
        }
        let fds = [
            (input.as_ref().map(AsFd::as_fd), PollFlags::OUT),
            (output.as_ref().map(AsFd::as_fd), PollFlags::IN),
            (errors.as_ref().map(AsFd::as_fd), PollFlags::IN),
            (Some(end.as_fd()).filter(|_| !has_ended), PollFlags::IN),
            (Some(cancelled.as_fd()), PollFlags::IN),
        ];
        let ready = wait(fds, left.min(watch.look()?)).map_err(failed)?;
        if ready.cancelled {
            return Err(WorkerError::Cancelled);
        }
        if ready.input && matches!(streams.feed(&mut input)?, Moved::End) {
            input = None;
        }
        if ready.output && matches!(streams.drain(&mut output, limits)?, Moved::End) {
            output = None;
        }
        if ready.errors && matches!(streams.listen(&mut errors)?, Moved::End) {
            errors = None;
        }
        if ready.ended {
            has_ended = true;
            input = None;
            deadline = deadline.min(Instant::now() + REST);
        }
    }
}

impl Streams<'_> {
    /// Writes what fits.
    fn feed(&mut self, to: &mut Option<impl Write>) -> Result<Moved, WorkerError> {
        let Some(to) = to else { return Ok(Moved::End) };
        if self.piece.is_empty() {
            let read = read_piece(&mut *self.input, &mut self.piece);
            let len = read.map_err(WorkerError::Pipe)?;
            if len == 0 {
                return Ok(Moved::End);
            }
        }
        match to.write(&self.piece) {
            Ok(len) => {
                self.piece.drain(..len);
                Ok(Moved::Some)
            }
            Err(error) if is_passing(&error) => Ok(Moved::Some),
            // Why it reads no more, it says itself.
            Err(_) => Ok(Moved::End),
        }
    }

    /// Hands on what is there.
    fn drain(
        &mut self,
        from: &mut Option<impl Read>,
        limits: &WorkerLimits,
    ) -> Result<Moved, WorkerError> {
        let mut piece = Vec::new();
        let moved = read_some(from, &mut piece).map_err(WorkerError::Pipe)?;
        self.output_bytes = self.output_bytes.saturating_add(piece.len());
        if self.output_bytes > limits.output_bytes {
            let most = limits.output_bytes >> 20;
            return Err(WorkerError::Limit(LimitHit::Output(most)));
        }
        if !piece.is_empty() && (self.output)(&piece).is_break() {
            return Err(WorkerError::Cancelled);
        }
        Ok(moved)
    }

    /// Keeps what it complains of.
    fn listen(&mut self, from: &mut Option<impl Read>) -> Result<Moved, WorkerError> {
        let moved = read_some(from, &mut self.reason).map_err(WorkerError::Pipe);
        self.reason.truncate(REASON_BYTES_MAX);
        moved
    }
}

fn wait(fds: [(Option<BorrowedFd<'_>>, PollFlags); 5], left: Duration) -> io::Result<Ready> {
    let open: Vec<_> = fds.iter().map(|(fd, _)| fd.is_some()).collect();
    let mut polled: Vec<_> = fds
        .iter()
        .filter_map(|(fd, flags)| fd.as_ref().map(|fd| PollFd::from_borrowed_fd(*fd, *flags)))
        .collect();
    let timeout = Timespec {
        tv_sec: left.as_secs().cast_signed(),
        tv_nsec: left.subsec_nanos().into(),
    };
    match poll(&mut polled, Some(&timeout)) {
        Ok(_) => {}
        Err(rustix::io::Errno::INTR) => return Ok(Ready::default()),
        Err(error) => return Err(error.into()),
    }
    let mut events = polled.iter().map(|fd| !fd.revents().is_empty());
    let mut next = |is_open: bool| is_open && events.next().unwrap_or_default();
    Ok(Ready {
        input: next(open[0]),
        output: next(open[1]),
        errors: next(open[2]),
        ended: next(open[3]),
        cancelled: next(open[4]),
    })
}

/// Reads a piece, waiting for it; its length.
fn read_piece(mut from: impl Read, into: &mut Vec<u8>) -> io::Result<usize> {
    into.resize(PIECE_BYTES, 0);
    let mut len = 0;
    while len < into.len() {
        match from.read(&mut into[len..]) {
            Ok(0) => break,
            Ok(more) => len += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    into.truncate(len);
    Ok(len)
}

/// Reads what is there, if anything is.
fn read_some(stream: &mut Option<impl Read>, into: &mut Vec<u8>) -> io::Result<Moved> {
    let Some(stream) = stream else {
        return Ok(Moved::End);
    };
    let mut piece = vec![0; PIECE_BYTES];
    match stream.read(&mut piece) {
        Ok(0) => Ok(Moved::End),
        Ok(len) => {
            into.extend_from_slice(&piece[..len]);
            Ok(Moved::Some)
        }
        Err(error) if is_passing(&error) => Ok(Moved::Some),
        Err(error) => Err(error),
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

/// Whether what a process said before it ended is that there is no memory.
#[must_use]
pub fn lacks_memory(reason: &str) -> bool {
    NO_MEMORY.iter().any(|words| reason.contains(words))
}

fn judge(limits: &WorkerLimits, status: ExitStatus, reason: &[u8]) -> Result<(), WorkerError> {
    if status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(reason);
    let is_shown = |c: &char| !c.is_control() || *c == '\n';
    let reason = text.trim().chars().filter(is_shown).collect::<String>();
    if status.signal() == Some(Signal::XCPU.as_raw()) {
        return Err(WorkerError::Limit(LimitHit::Cpu(limits.cpu_s)));
    }
    if lacks_memory(&reason) {
        let mib = limits.memory_bytes >> 20;
        return Err(WorkerError::Limit(LimitHit::Memory(mib)));
    }
    match (status.signal(), status.code()) {
        (Some(signal), _) => Err(WorkerError::Killed { signal, reason }),
        (None, code) if reason.is_empty() => {
            let code = code.unwrap_or_default();
            Err(WorkerError::Refused(format!(
                "it ended with code {code} and said nothing"
            )))
        }
        _ => Err(WorkerError::Refused(reason)),
    }
}
