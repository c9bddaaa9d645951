//! `sigrok-cli` as a child process: no shell, a group of its own, and gone with whoever started it.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::sync::OwnedMutexGuard;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::said::SAID_BYTES_MAX;
use crate::error::AcquireError;

/// Bytes that are read at once: what a pipe holds.
const READ_BYTES: usize = 64 * 1024;

/// How long it may take to end once it writes no more.
const END_WITHIN: Duration = Duration::from_secs(2);

/// How often is looked whether it has ended.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);

/// A running program. Dropping it kills the program and all that it started.
pub(crate) struct Child {
    process: Process,
    stdout: Receiver,
    buffer: Box<[u8]>,
    said: Arc<Mutex<Vec<u8>>>,
    listener: JoinHandle<()>,
}

impl Child {
    /// Starts the program, which keeps the instrument as long as it lives.
    ///
    /// # Errors
    /// It is not installed, or the system has no room for it.
    pub(crate) fn start(
        tool: &str,
        arguments: &[String],
        guard: OwnedMutexGuard<()>,
    ) -> Result<Self, AcquireError> {
        let spawned = Command::new(tool)
            .args(arguments)
            .env("LC_ALL", "C")
            .process_group(0)
            // Held open: while it samples without an end, any byte or the end of its input stops it.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = spawned.map_err(|source| match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
                AcquireError::ToolMissing {
                    tool: tool.to_owned(),
                }
            }
            _ => failed("start sigrok-cli", source),
        })?;
        let pipes = (child.stdout.take(), child.stderr.take());
        let process = Process {
            child: Some(child),
            guard: Some(guard),
        };
        let (Some(stdout), Some(stderr)) = pipes else {
            unreachable!("both were asked for")
        };
        let said = Arc::new(Mutex::new(Vec::new()));
        let stderr = receiver(stderr.into())?;
        Ok(Self {
            process,
            stdout: receiver(stdout.into())?,
            buffer: vec![0; READ_BYTES].into(),
            listener: tokio::spawn(listen(stderr, Arc::clone(&said))),
            said,
        })
    }

    /// The next bytes of its standard output. `None` at the end.
    pub(crate) async fn read(&mut self) -> Result<Option<Vec<u8>>, AcquireError> {
        let read = self.stdout.read(&mut self.buffer).await;
        match read.map_err(|source| failed("read from sigrok-cli", source))? {
            0 => Ok(None),
            count => Ok(Some(self.buffer[..count].to_vec())),
        }
    }

    /// Waits for its end after that of its output: how it ended, and the beginning of what it said on standard error.
    /// `None` if it does not end by itself.
    pub(crate) async fn ended(&mut self) -> (Option<ExitStatus>, Vec<u8>) {
        let status = timeout(END_WITHIN, self.process.ended()).await.ok();
        // Something that it started may still hold its standard error.
        let _ = timeout(END_WITHIN, &mut self.listener).await;
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        (status, said.clone())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

/// A process that leads a group.
struct Process {
    child: Option<std::process::Child>,
    /// The instrument is in use until the process has gone.
    guard: Option<OwnedMutexGuard<()>>,
}

impl Process {
    async fn ended(&mut self) -> ExitStatus {
        loop {
            let status = self.child.as_mut().map(std::process::Child::try_wait);
            if let Some(Ok(Some(status))) = status {
                // Nothing is left to kill, and its number may be another's soon.
                self.child = None;
                return status;
            }
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else {
            return;
        };
        let guard = self.guard.take();
        // It is a zombie at most, so the number is still its own.
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
        // A process that a driver of the kernel holds does not die at once.
        let reaper = std::thread::Builder::new().name("reaper".to_owned());
        let _ = reaper.spawn(move || {
            let _ = child.wait();
            drop(guard);
        });
    }
}

fn receiver(pipe: OwnedFd) -> Result<Receiver, AcquireError> {
    Receiver::from_owned_fd(pipe).map_err(|source| failed("read from sigrok-cli", source))
}

/// Keeps the beginning of what is said, and swallows the rest, so that whoever says it does not wait.
async fn listen(mut stderr: Receiver, said: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        let room = SAID_BYTES_MAX - said.len();
        said.extend_from_slice(&buffer[..count.min(room)]);
    }
}

fn failed(what: &str, source: io::Error) -> AcquireError {
    AcquireError::Io {
        what: what.to_owned(),
        source,
    }
}
