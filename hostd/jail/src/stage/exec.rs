//! The last stage: gives up every right and becomes the command.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Resource, Rlimit, getrlimit, setpriority_process, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, remove_capability_from_bounding_set, set_capabilities,
    set_no_new_privs,
};

use super::filter::Filter;
use super::{At, Failure};
use crate::spec::OWN_PROCESSES;
use crate::wire::{Blueprint, ProcessBound, Step};

/// The priority of a command whose processor share nothing else bounds: the lowest.
const NICE: i32 = 19;

/// Returns only if the command cannot be started.
pub(super) fn run(blueprint: &Blueprint, filter: &Filter) -> Failure {
    match prepare(blueprint, filter) {
        Ok(()) => become_command(blueprint),
        Err(failure) => failure,
    }
}

fn prepare(blueprint: &Blueprint, filter: &Filter) -> Result<(), Failure> {
    // A process group without members outside: signals to one's own group cross namespaces.
    rustix::process::setpgid(None, None).at(Step::Rights)?;
    limit(blueprint).at(Step::Limits)?;
    for capability in CapabilitySet::all().iter() {
        // A kernel that does not know the capability cannot grant it either.
        let _ = remove_capability_from_bounding_set(capability);
    }
    give_up_capabilities().at(Step::Rights)?;
    set_no_new_privs(true).at(Step::Rights)?;
    seccompiler::apply_filter(filter)
        .map_err(|error| match error {
            seccompiler::Error::Prctl(error) | seccompiler::Error::Seccomp(error) => error,
            other => io::Error::other(other),
        })
        .at(Step::Filter)
}

/// Leaves this thread without any capability.
pub(super) fn give_up_capabilities() -> io::Result<()> {
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    Ok(set_capabilities(None, none)?)
}

fn limit(blueprint: &Blueprint) -> io::Result<()> {
    let limits = &blueprint.limits;
    set(Resource::Nofile, limits.open_files)?;
    set(Resource::Fsize, limits.file_bytes)?;
    // No core dumps, no locked memory, no message queues, which would outlive their makers.
    for resource in [Resource::Core, Resource::Memlock, Resource::Msgqueue] {
        set(resource, 0)?;
    }
    if blueprint.makeshift.memory {
        set(Resource::Data, limits.memory_bytes)?;
    }
    if blueprint.makeshift.processes == Some(ProcessBound::PerUser) {
        set(Resource::Nproc, u64::from(limits.processes + OWN_PROCESSES))?;
    }
    if blueprint.makeshift.cpu {
        setpriority_process(None, NICE)?;
    }
    Ok(())
}

/// Sets a limit, or keeps the server's own limit if that is lower.
pub(super) fn set(resource: Resource, most: u64) -> io::Result<()> {
    let most = getrlimit(resource)
        .maximum
        .map_or(most, |held| held.min(most));
    let limit = Rlimit {
        current: Some(most),
        maximum: Some(most),
    };
    Ok(setrlimit(resource, limit)?)
}

fn become_command(blueprint: &Blueprint) -> Failure {
    let error = Command::new(&blueprint.program)
        .args(&blueprint.arguments)
        .env_clear()
        .envs(
            blueprint
                .environment
                .iter()
                .map(|(name, value)| (name, value)),
        )
        .exec();
    Failure {
        step: Step::Command(blueprint.program.clone()),
        error,
    }
}
