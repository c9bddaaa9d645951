//! Init, PID 1 of a jail: builds the root, relays connections, reaps orphaned processes, and ends the jail
//! with the command.

use std::io::PipeReader;
use std::os::fd::{AsFd, OwnedFd};

use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, set_dumpable_behavior,
    set_parent_process_death_signal, wait,
};
use rustix::thread::UnshareFlags;

use super::filter::Filter;
use super::relay::Relay;
use super::{At, Failure, exec, kernel, leave, loopback, root, tell};
use crate::wire::{self, Event, Order, Step};

/// Runs until the command has ended. With this process, the kernel kills the rest of the jail.
pub(super) fn run(
    order: &Order,
    control: &OwnedFd,
    relay: Option<OwnedFd>,
    lifeline: PipeReader,
    filter: &Filter,
) -> ! {
    if let Err(failure) = serve(order, control, relay, lifeline, filter) {
        tell(control.as_fd(), &failure);
        leave(1);
    }
    leave(0)
}

fn serve(
    order: &Order,
    control: &OwnedFd,
    relay: Option<OwnedFd>,
    lifeline: PipeReader,
    filter: &Filter,
) -> Result<(), Failure> {
    set_parent_process_death_signal(Some(Signal::KILL)).at(Step::Lifeline)?;
    rustix::thread::set_name(c"jail-init").at(Step::Lifeline)?;
    root::build(order)?;
    loopback::up().at(Step::Loopback)?;
    let mut relay = Relay::listen(relay, lifeline).at(Step::Relay)?;
    relay.wait_for_outer().at(Step::Lifeline)?;
    // After outer has put this process into its groups, so that these appear as the root inside.
    kernel::unshare(UnshareFlags::NEWCGROUP).at(Step::Namespaces)?;
    // Before any code of the job runs: this process has the job's user id, and holds what the job must not
    // have.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).at(Step::Rights)?;
    let Some(command) = kernel::fork().at(Step::Fork)? else {
        drop(relay);
        let failure = exec::run(order, filter);
        tell(control.as_fd(), &failure);
        leave(1);
    };
    exec::give_up_capabilities().at(Step::Rights)?;
    let children = kernel::ended_children().at(Step::Fork)?;
    loop {
        if let Some(event) = reap(command).at(Step::Fork)? {
            return wire::send_event(control.as_fd(), &event).at(Step::Fork);
        }
        relay.serve_until(children.as_fd()).at(Step::Relay)?;
    }
}

/// Reaps every process that has ended, and returns how the command ended if it is among them.
fn reap(command: Pid) -> std::io::Result<Option<Event>> {
    let mut event = None;
    loop {
        let (ended, status) = match wait(WaitOptions::NOHANG) {
            Ok(Some(ended)) => ended,
            Ok(None) | Err(rustix::io::Errno::CHILD) => return Ok(event),
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        };
        if ended == command {
            event = status
                .exit_status()
                .map(Event::Exited)
                .or(status.terminating_signal().map(Event::Signaled));
        }
    }
}
