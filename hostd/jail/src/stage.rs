//! Everything that happens outside the server: the processes of which a jail consists.
//!
//! ```text
//! server ── nursery ── outer ── init (PID 1 inside) ── the command
//!                          └─── slirp4netns, if there is a network
//! ```
//!
//! *Nursery*: the server's program, executed anew once, with one thread and none of the server's memory. It
//! forks for each jail, which costs a tenth of executing the server's program. *Outer* switches to another
//! user if it may, makes the namespaces, puts init into its groups, and watches the server's end of the
//! control socket, the clock and init. *Init* builds the root, relays connections and reaps. *Exec* gives up
//! every right and becomes the command. *Slirp4netns* stays in the host's network, as the slot's user:
//! init passes it the frames that may leave.
//!
//! Each dies with the one before it, because of the kernel's parent-death signal and because of the end of a
//! socket or pipe that only the one before it holds open.

mod exec;
mod filter;
mod frames;
mod gate;
mod greeting;
mod held;
mod init;
mod interface;
mod kernel;
mod loopback;
mod netlink;
mod nursery;
mod outer;
mod relay;
pub mod relay_fuzz;
mod root;
mod uplink;

pub(crate) use kernel::TUN;

#[cfg(test)]
mod relay_tests;

use std::os::fd::BorrowedFd;

use crate::wire::{self, Event, Step};

/// The argument that tells a program to be a nursery.
pub(crate) const NURSERY: &str = "__jail-nursery";

/// Becomes a nursery, and never returns, if this process was started as one.
///
/// Call it first in `main`: before any thread starts, any descriptor is opened and any argument is read.
pub fn entry() {
    if std::env::args_os()
        .nth(1)
        .is_some_and(|first| first == NURSERY)
    {
        nursery::run();
    }
}

/// Why a stage could not do its part.
#[derive(Debug)]
struct Failure {
    step: Step,
    error: std::io::Error,
}

/// Adds the step at which an error happened.
trait At<T> {
    fn at(self, step: Step) -> Result<T, Failure>;
}

impl<T, E: Into<std::io::Error>> At<T> for Result<T, E> {
    fn at(self, step: Step) -> Result<T, Failure> {
        self.map_err(|error| Failure {
            step,
            error: error.into(),
        })
    }
}

/// Tells the server why there is no jail.
fn tell(control: BorrowedFd<'_>, failure: &Failure) {
    let event = Event::Failed {
        step: failure.step.clone(),
        errno: failure.error.raw_os_error().unwrap_or(libc::EIO),
    };
    // If the server is gone too, there is nobody to tell.
    let _ = wire::send_event(control, &event);
}

/// Ends this process. Nobody reads its exit code: the control socket has reported what happened.
#[expect(clippy::exit, reason = "a stage is a process of its own")]
fn leave(code: i32) -> ! {
    std::process::exit(code)
}
