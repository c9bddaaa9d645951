//! The nursery: forks for each jail that the server asks for.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, pidfd_open,
    set_parent_process_death_signal, waitid, waitpid,
};

use super::{At, filter, kernel, leave, outer, tell};
use crate::wire::{self, Asked, Request, Step};

/// Serves until the server is gone.
pub(super) fn run() -> ! {
    let code = match serve() {
        Ok(()) => 0,
        Err(error) => {
            // The server's own standard error, inherited: there is no other way to report anything
            // from here.
            use std::io::Write;
            let _ = writeln!(io::stderr(), "failed to run the nursery of jails: {error}");
            1
        }
    };
    leave(code)
}

fn serve() -> io::Result<()> {
    kernel::close_inherited()?;
    kernel::forget_handlers()?;
    rustix::thread::set_name(c"jail-nursery")?;
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // Away from the server's terminal. All jails share one session: the kernel divides processors among
    // sessions, and a jail with a new one would begin by waiting for its turn.
    rustix::process::setsid()?;
    let filter = filter::compile()?;
    let this = rustix::process::getpid();
    let server = rustix::stdio::stdin();
    let mut running: Vec<OwnedFd> = Vec::new();
    let mut buffer = vec![0; wire::BLUEPRINT_BYTES_MAX];
    loop {
        if !wait(server, &mut running)? {
            continue;
        }
        match wire::receive_request(server, &mut buffer)? {
            Asked::Request(request) => {
                let outer = fork(request, &mut running, &filter, this);
                running.extend(outer);
            }
            Asked::Incomplete => {}
            Asked::End => return Ok(()),
        }
    }
}

/// Waits for a request or for jails to end, and reaps those. True if there is a request.
fn wait(server: BorrowedFd<'_>, running: &mut Vec<OwnedFd>) -> io::Result<bool> {
    let mut watched = vec![PollFd::from_borrowed_fd(server, PollFlags::IN)];
    watched.extend(
        running
            .iter()
            .map(|outer| PollFd::new(outer, PollFlags::IN)),
    );
    match poll(&mut watched, None) {
        Err(rustix::io::Errno::INTR) => return Ok(false),
        other => other?,
    };
    let mut ended = watched.iter().map(|fd| !fd.revents().is_empty());
    let asked = ended.next().unwrap_or_default();
    let ended: Vec<bool> = ended.collect();
    drop(watched);
    let mut ended = ended.into_iter();
    running.retain(|outer| {
        let has_ended = ended.next().unwrap_or_default();
        if has_ended {
            // A child of this process that has ended: this cannot fail.
            let _ = waitid(WaitId::PidFd(outer.as_fd()), WaitIdOptions::EXITED);
        }
        !has_ended
    });
    Ok(asked)
}

/// Starts one jail, and returns a descriptor that shows when it has ended. The forked process never returns
/// from here.
///
/// A failure here affects only this jail, and is reported to its server.
fn fork(
    request: Request,
    others: &mut Vec<OwnedFd>,
    filter: &filter::Filter,
    this: Pid,
) -> Option<OwnedFd> {
    let outer = match kernel::fork() {
        Ok(None) => {
            others.clear();
            outer::run(request, filter, this);
        }
        Ok(Some(child)) => watch(child),
        Err(error) => Err(error),
    };
    let outer = outer.at(Step::Fork);
    outer
        .inspect_err(|failure| tell(request.control.as_fd(), failure))
        .ok()
}

/// A descriptor that shows when the child has ended. Without one a child would never be reaped, so in that
/// case it is not left running.
fn watch(child: Pid) -> io::Result<OwnedFd> {
    pidfd_open(child, PidfdFlags::empty()).map_err(|error| {
        let _ = kill_process(child, Signal::KILL);
        let _ = waitpid(Some(child), WaitOptions::empty());
        error.into()
    })
}
