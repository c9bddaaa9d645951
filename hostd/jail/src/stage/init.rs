//! Init, PID 1 of a jail: builds the root, relays connections, reaps what is left behind by others, and ends the
//! jail with the command.

use std::io::{PipeReader, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};

use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, set_dumpable_behavior,
    set_parent_process_death_signal, wait,
};

use super::filter::Filter;
use super::relay::Relay;
use super::{At, Failure, exec, kernel, leave, loopback, root, tell};
use crate::wire::{self, Event, Order, Step};

/// Runs until the command has ended. The kernel kills the rest of the jail with this process.
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
    root::build(order)?;
    loopback::up().at(Step::Loopback)?;
    let relay = Relay::listen(relay, lifeline).at(Step::Relay)?;
    // Before anything of the job runs: this process is the job's own user, and holds what the job must not have.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).at(Step::Rights)?;
    let (released, release) = std::io::pipe().at(Step::Fork)?;
    let Some(command) = kernel::fork().at(Step::Fork)? else {
        drop((relay, release));
        let failure = exec::run(order, filter, released);
        tell(control.as_fd(), &failure);
        leave(1);
    };
    drop(released);
    exec::give_up_capabilities().at(Step::Rights)?;
    std::thread::Builder::new()
        .stack_size(RELAY_STACK_BYTES)
        .spawn(move || relay.run())
        .at(Step::Relay)?;
    // While a thread is being made, signals are blocked, and then the kernel does not ignore those to init. So the
    // command, which could send some, begins only now.
    drop::<PipeWriter>(release);
    reap(command, control).at(Step::Fork)
}

/// More than the relay's few frames take.
const RELAY_STACK_BYTES: usize = 256 << 10;

/// Reaps until the command ends, and tells how it did.
fn reap(command: Pid, control: &OwnedFd) -> std::io::Result<()> {
    loop {
        let (ended, status) = match wait(WaitOptions::empty()) {
            Ok(Some(ended)) => ended,
            Ok(None) | Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        };
        if ended != command {
            continue;
        }
        let event = match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Event::Exited(code),
            (None, Some(signal)) => Event::Signaled(signal),
            (None, None) => continue,
        };
        return wire::send_event(control.as_fd(), &event);
    }
}
