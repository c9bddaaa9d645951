//! One child, from its start until nothing of it is left. Blocks the thread.

use std::ffi::OsString;
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, kill_process_group, pidfd_open, prlimit,
    setpriority_process,
};

use super::{CompileError, LimitHit, Limits, REASON_BYTES_MAX};

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

/// What to run.
pub(super) struct Task {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<OsString>,
    pub(super) limits: Limits,
    pub(super) component: Arc<[u8]>,
}

/// A child that is ended with all of its group when this is dropped.
struct Running {
    child: Child,
    pid: Pid,
}

/// What came out so far.
#[derive(Default)]
struct Streams {
    /// Bytes of the component that are written.
    written: usize,
    code: Vec<u8>,
    reason: Vec<u8>,
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
        // It was not waited for yet, so the number is still its own, and its group's.
        let _ = kill_process_group(self.pid, Signal::KILL);
        let _ = self.child.wait();
    }
}

/// Runs a child; `cancelled` ends when nobody waits any more.
pub(super) fn run(order: &Task, cancelled: &PipeReader) -> Result<Vec<u8>, CompileError> {
    let mut child = start(order)?;
    let mut streams = Streams::default();
    let talked = talk(order, &mut child, cancelled, &mut streams);
    // What it started goes with it, before its own end is looked at.
    let _ = kill_process_group(child.pid, Signal::KILL);
    let status = child.child.wait();
    talked?;
    judge(order, status.map_err(CompileError::Pipe)?, streams)
}

fn start(order: &Task) -> Result<Running, CompileError> {
    let mut command = Command::new(&order.program);
    command
        .args(&order.arguments)
        .env_clear()
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(CompileError::Start)?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let Some(pid) = pid else {
        let _ = child.kill();
        return Err(CompileError::Start(io::ErrorKind::InvalidData.into()));
    };
    let running = Running { child, pid };
    // It has nothing to read yet.
    bound(pid, &order.limits).map_err(CompileError::Start)?;
    Ok(running)
}

fn bound(pid: Pid, limits: &Limits) -> io::Result<()> {
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
    order: &Task,
    running: &mut Running,
    cancelled: &PipeReader,
    streams: &mut Streams,
) -> Result<(), CompileError> {
    let failed = CompileError::Pipe;
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
    let mut deadline = Instant::now() + order.limits.wall;
    let mut has_ended = false;
    loop {
        if has_ended && output.is_none() {
            return Ok(());
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            // What it has started may hold the output open, and ends later.
            let wall = LimitHit::Wall(order.limits.wall.as_secs());
            return if has_ended {
                Ok(())
            } else {
                Err(CompileError::Limit(wall))
            };
        }
        let fds = [
            (input.as_ref().map(AsFd::as_fd), PollFlags::OUT),
            (output.as_ref().map(AsFd::as_fd), PollFlags::IN),
            (errors.as_ref().map(AsFd::as_fd), PollFlags::IN),
            (Some(end.as_fd()).filter(|_| !has_ended), PollFlags::IN),
            (Some(cancelled.as_fd()), PollFlags::IN),
        ];
        let ready = wait(fds, left).map_err(failed)?;
        if ready.cancelled {
            return Err(CompileError::Cancelled);
        }
        if ready.input && !write_some(&mut input, &order.component, &mut streams.written) {
            input = None;
        }
        if ready.output && !read_some(&mut output, &mut streams.code).map_err(failed)? {
            output = None;
        }
        if ready.errors && !read_some(&mut errors, &mut streams.reason).map_err(failed)? {
            errors = None;
        }
        streams.reason.truncate(REASON_BYTES_MAX);
        if streams.code.len() > order.limits.output_bytes {
            let most = order.limits.output_bytes >> 20;
            return Err(CompileError::Limit(LimitHit::Output(most)));
        }
        if ready.ended {
            has_ended = true;
            input = None;
            deadline = deadline.min(Instant::now() + REST);
        }
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

/// Writes what fits; false when all is written, or the child reads no more.
fn write_some(input: &mut Option<impl Write>, bytes: &[u8], written: &mut usize) -> bool {
    let Some(input) = input else { return false };
    let rest = &bytes[*written..];
    match input.write(&rest[..rest.len().min(PIECE_BYTES)]) {
        Ok(len) => *written += len,
        Err(error) if is_passing(&error) => {}
        // Why it reads no more, it says itself.
        Err(_) => return false,
    }
    *written < bytes.len()
}

/// Reads a piece; false at the end.
fn read_some(stream: &mut Option<impl Read>, into: &mut Vec<u8>) -> io::Result<bool> {
    let Some(stream) = stream else {
        return Ok(false);
    };
    let mut piece = vec![0; PIECE_BYTES];
    match stream.read(&mut piece) {
        Ok(len) => {
            into.extend_from_slice(&piece[..len]);
            Ok(len > 0)
        }
        Err(error) if is_passing(&error) => Ok(true),
        Err(error) => Err(error),
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

fn judge(order: &Task, status: ExitStatus, streams: Streams) -> Result<Vec<u8>, CompileError> {
    if status.success() {
        return Ok(streams.code);
    }
    let text = String::from_utf8_lossy(&streams.reason);
    let is_shown = |c: &char| !c.is_control() || *c == '\n';
    let reason = text.trim().chars().filter(is_shown).collect::<String>();
    if status.signal() == Some(Signal::XCPU.as_raw()) {
        return Err(CompileError::Limit(LimitHit::Cpu(order.limits.cpu_s)));
    }
    if NO_MEMORY.iter().any(|words| reason.contains(words)) {
        let mib = order.limits.memory_bytes >> 20;
        return Err(CompileError::Limit(LimitHit::Memory(mib)));
    }
    match (status.signal(), status.code()) {
        (Some(signal), _) => Err(CompileError::Killed { signal, reason }),
        (None, code) if reason.is_empty() => {
            let code = code.unwrap_or_default();
            Err(CompileError::Refused(format!(
                "the compiler ended with code {code} and said nothing"
            )))
        }
        _ => Err(CompileError::Refused(reason)),
    }
}
