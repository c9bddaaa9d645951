//! What a worker does before anything else.

use rustix::process::{
    Resource, Rlimit, Signal, getrlimit, set_parent_process_death_signal, setrlimit,
};
use rustix::thread::set_no_new_privs;
use std::io;

/// Confines this process, which was started to do one piece of work: it ends with the thread that started it, can gain no rights,
/// writes no file and leaves no core. Call it first, before any thread starts. Memory, time and files are bounded by
/// whoever started it.
///
/// # Errors
/// The kernel refuses.
pub fn confine() -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // If that has ended already, there is nothing to read, and nobody to write to.
    set_no_new_privs(true)?;
    for resource in [Resource::Core, Resource::Fsize, Resource::Msgqueue] {
        let held = getrlimit(resource);
        let none = Rlimit {
            current: Some(0),
            maximum: held.maximum.map(|_| 0).or(Some(0)),
        };
        setrlimit(resource, none)?;
    }
    Ok(())
}
