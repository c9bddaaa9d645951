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
use super::frames::Frames;
use super::gate::Gate;
use super::relay::Relay;
use super::uplink::Uplink;
use super::{At, Failure, exec, interface, kernel, leave, loopback, root, tell};
use crate::wire::{self, Blueprint, Event, Step};

/// Runs until the command has ended. With this process, the kernel kills the rest of the jail.
pub(super) fn run(
    blueprint: &Blueprint,
    control: &OwnedFd,
    (tree, relay): (Option<OwnedFd>, Option<OwnedFd>),
    uplink: Option<Uplink>,
    lifeline: PipeReader,
    filter: &Filter,
) -> ! {
    let given = (tree, relay);
    if let Err(failure) = serve(blueprint, control, given, uplink, lifeline, filter) {
        tell(control.as_fd(), &failure);
        leave(1);
    }
    leave(0)
}

fn serve(
    blueprint: &Blueprint,
    control: &OwnedFd,
    (tree, relay): (Option<OwnedFd>, Option<OwnedFd>),
    uplink: Option<Uplink>,
    lifeline: PipeReader,
    filter: &Filter,
) -> Result<(), Failure> {
    set_parent_process_death_signal(Some(Signal::KILL)).at(Step::Lifeline)?;
    rustix::thread::set_name(c"jail-init").at(Step::Lifeline)?;
    // While the host's devices are still there.
    let tap = uplink.as_ref().map(|_| interface::make());
    let tap = tap.transpose().at(Step::Tap)?;
    root::build(blueprint, tree, uplink.as_ref())?;
    loopback::up().at(Step::Loopback)?;
    let frames = match (tap, uplink, &blueprint.network) {
        (Some(tap), Some(mut uplink), Some(network)) => {
            let gate = Gate::new(network.reach, std::mem::take(&mut uplink.own));
            let frames = Frames::new(tap, uplink, gate).at(Step::Interface)?;
            Some((frames, network.reach))
        }
        _ => None,
    };
    let mut relay = Relay::listen(relay, lifeline).at(Step::Relay)?;
    relay.wait_for_outer().at(Step::Lifeline)?;
    if let Some((frames, reach)) = frames {
        let families = relay.carry(frames)?;
        interface::configure(families, reach).at(Step::Interface)?;
    }
    // After outer has put this process into its groups, so that these appear as the root inside.
    kernel::unshare(UnshareFlags::NEWCGROUP).at(Step::Namespaces)?;
    // Before any code of the job runs: this process has the job's user id, and holds what the job must not
    // have.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).at(Step::Rights)?;
    let Some(command) = kernel::fork().at(Step::Fork)? else {
        drop(relay);
        let failure = exec::run(blueprint, filter);
        tell(control.as_fd(), &failure);
        leave(1);
    };
    exec::give_up_capabilities().at(Step::Rights)?;
    let children = kernel::ended_children().at(Step::Fork)?;
    loop {
        if let Some(event) = reap(command).at(Step::Fork)? {
            return wire::send_event(control.as_fd(), &event).at(Step::Fork);
        }
        relay.serve_until(children.as_fd())?;
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
