//! A running jail.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use rustix::net::Shutdown;

use crate::error::Error;
use crate::gauge::Gauge;
use crate::groups::Group;
use crate::lack::Lack;
use crate::wire::{self, Event, Step};

/// A jail that was started. Dropping it ends the jail, and waits until nothing of it is left.
#[derive(Debug)]
pub struct Child {
    /// Writes to the command's standard input, if that is a [`Stream::Pipe`](crate::Stream::Pipe).
    pub stdin: Option<PipeWriter>,
    /// Reads the command's standard output, if that is a pipe. A full pipe stops the command, as anywhere.
    /// The output ends with the jail.
    pub stdout: Option<PipeReader>,
    /// Reads the command's standard error, if that is a pipe.
    pub stderr: Option<PipeReader>,
    /// Counts what the jail takes of the disk.
    pub gauge: Option<Gauge>,
    jail: Arc<Running>,
    has_ended: bool,
}

#[derive(Debug)]
struct Running {
    control: OwnedFd,
    group: Group,
    is_killed: AtomicBool,
}

/// Ends a jail for which another thread waits.
#[derive(Clone, Debug)]
pub struct Killer(Weak<Running>);

/// How a jail ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// What ended it.
    pub how: How,
    /// How often a process or thread was refused because there were too many. Counted by groups
    /// only.
    pub refused_processes: u64,
    /// Whether the kernel ended a process, not necessarily the command, for lack of memory. Reported by
    /// groups only.
    pub ran_out_of_memory: bool,
}

/// What ended a jail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The command, with this code.
    Exited(i32),
    /// A signal from inside that ended the command.
    Signaled(i32),
    /// It ran out of memory, and the kernel ended the command.
    OutOfMemory,
    /// Its time was up.
    TimedOut,
    /// [`Killer::kill`].
    Killed,
}

impl Child {
    pub(crate) fn new(
        control: OwnedFd,
        gauge: Gauge,
        group: Group,
        (stdin, stdout, stderr): (Option<PipeWriter>, Option<PipeReader>, Option<PipeReader>),
    ) -> Self {
        let jail = Running {
            control,
            group,
            is_killed: AtomicBool::new(false),
        };
        Self {
            stdin,
            stdout,
            stderr,
            gauge: Some(gauge),
            jail: Arc::new(jail),
            has_ended: false,
        }
    }

    /// A way to end the jail from another thread.
    #[must_use]
    pub fn killer(&self) -> Killer {
        Killer(Arc::downgrade(&self.jail))
    }

    /// Waits until nothing of the jail is left, which takes no longer than its wall time and the kernel's
    /// cleaning up. Blocks the thread.
    ///
    /// # Errors
    ///
    /// If the command was never executed, or if nothing reported how it ended.
    pub fn wait(mut self) -> Result<End, Error> {
        // A command that waits for its input would wait for ever.
        self.stdin = None;
        self.outcome()
    }

    fn outcome(&mut self) -> Result<End, Error> {
        let mut first = None;
        loop {
            let event = wire::receive_event(self.jail.control.as_fd());
            match event.map_err(|error| Error::start("hear", error))? {
                Some(event) => first = first.or(Some(event)),
                None => break,
            }
        }
        self.has_ended = true;
        let refused_processes = self.jail.group.refused_processes();
        let ran_out_of_memory = self.jail.group.ran_out_of_memory();
        let end = |how| End {
            how,
            refused_processes,
            ran_out_of_memory,
        };
        let is_killed = self.jail.is_killed.load(Ordering::Acquire);
        match first {
            Some(Event::Exited(code)) => Ok(end(How::Exited(code))),
            Some(Event::TimedOut) => Ok(end(How::TimedOut)),
            Some(Event::Killed) => Ok(end(How::Killed)),
            Some(Event::Signaled(libc::SIGKILL)) if ran_out_of_memory => Ok(end(How::OutOfMemory)),
            Some(Event::Signaled(signal)) => Ok(end(How::Signaled(signal))),
            // What fails while it is ended fails for that.
            Some(Event::Failed { .. }) if is_killed => Ok(end(How::Killed)),
            Some(Event::Failed { step, errno }) => Err(failed(step, errno)),
            // The whole group was killed, and the jail's own processes with it.
            None if ran_out_of_memory => Ok(end(How::OutOfMemory)),
            None if is_killed => Ok(end(How::Killed)),
            None => Err(Error::Lost),
        }
    }
}

impl Running {
    fn kill(&self) {
        self.is_killed.store(true, Ordering::Release);
        // Outer sees the end of the socket, and ends init.
        let _ = rustix::net::shutdown(&self.control, Shutdown::Write);
        self.group.kill();
    }
}

fn failed(step: Step, errno: i32) -> Error {
    let source = io::Error::from_raw_os_error(errno);
    match (Lack::behind(&step, &source), step) {
        (_, Step::Command(program)) => Error::Command { program, source },
        // Its parent was gone before it could notice.
        (_, Step::Lifeline) => Error::Lost,
        (Some(lack), _) => Error::NoIsolation { lack, source },
        (None, step) => Error::start(&step.to_string(), source),
    }
}

impl Killer {
    /// Ends the jail: every process in it, at once. A jail that has ended keeps its result.
    pub fn kill(&self) {
        if let Some(jail) = self.0.upgrade() {
            jail.kill();
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.has_ended {
            self.jail.kill();
            // Nobody will ask how it ended.
            let _ = self.outcome();
        }
    }
}
