//! A child that ends with the thread that starts it, whatever program it is.
#![allow(
    unsafe_code,
    reason = "what a child does before its program runs has no safe wrapper; the use says why it is sound"
)]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

/// Has the kernel end what `command` starts when the thread that starts it has ended, and with it the server. A program that
/// gains rights by being started loses that.
pub(super) fn end_with_parent(command: &mut Command) {
    let parent = getpid();
    let bind = move || -> io::Result<()> {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // Too late for the signal: that has ended already.
        if getppid() != Some(parent) {
            return Err(io::Error::from(io::ErrorKind::BrokenPipe));
        }
        Ok(())
    };
    // SAFETY: the child has one thread and may be a copy taken at any moment, so nothing may be allocated or locked there:
    // this makes two system calls and errors without memory of their own.
    unsafe {
        command.pre_exec(bind);
    }
}
