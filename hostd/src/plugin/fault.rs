//! Whose fault it is that a plugin is not there: its own, or this server's, which must not be held against it.

use std::error::Error;

use plugins::cache::CacheError;
use plugins::compile::CompileError;
use plugins::installed::InstalledError;
use runtime::CallError;
use rustix::process::Signal;
use store::StoreError;
use store::plugins::PluginError;
use tokio::task::JoinError;

use super::ground::GroundError;
use super::loaded::LoadError;

type Cause = dyn Error + 'static;

/// Whether the server itself has failed: its disk, its storage, its processes, its code.
pub(super) fn is_own_fault(error: &anyhow::Error) -> bool {
    error.chain().any(is_own)
}

/// Whether an error says nothing about the plugin, so that the next try may succeed: the server's own fault, or there was
/// too much to do.
pub(super) fn may_pass(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| is_own(cause) || is_busy(cause))
}

fn is_own(cause: &Cause) -> bool {
    let installed = matches!(
        cause.downcast_ref(),
        Some(
            InstalledError::Store(_)
                | InstalledError::Plugin(PluginError::Store(_))
                | InstalledError::File { .. }
        )
    );
    let cached = matches!(
        cause.downcast_ref(),
        Some(
            CacheError::Folder { .. }
                | CacheError::Foreign { .. }
                | CacheError::Key(_)
                | CacheError::Write(_)
        )
    );
    let compiled = matches!(
        cause.downcast_ref(),
        Some(CompileError::Start(_) | CompileError::Pipe(_))
    );
    // This server has made the code itself, so it is the memory for it that is not there.
    let mapped = matches!(
        cause.downcast_ref(),
        Some(LoadError::Runtime(runtime::LoadError::Precompiled(_)))
    );
    installed
        || cached
        || compiled
        || mapped
        || matches!(cause.downcast_ref(), Some(PluginError::Store(_)))
        || cause.is::<StoreError>()
        || cause.is::<GroundError>()
        || cause.is::<JoinError>()
}

fn is_busy(cause: &Cause) -> bool {
    match cause.downcast_ref() {
        Some(CompileError::Busy | CompileError::Cancelled) => return true,
        // So ends what the kernel chooses when the machine has no memory left; the compiler's own bounds end it otherwise.
        Some(CompileError::Killed { signal, .. }) => return *signal == Signal::KILL.as_raw(),
        _ => {}
    }
    matches!(cause.downcast_ref(), Some(CallError::Overloaded { .. }))
        || matches!(cause.downcast_ref(), Some(LoadError::NoRoom { .. }))
}

#[cfg(test)]
mod tests {
    use std::io;

    use plugins::compile::LimitHit;

    use super::*;

    fn full() -> io::Error {
        io::ErrorKind::StorageFull.into()
    }

    fn killed(signal: Signal) -> anyhow::Error {
        let reason = String::new();
        let signal = signal.as_raw();
        CompileError::Killed { signal, reason }.into()
    }

    #[test]
    fn what_the_server_fails_at_is_not_the_plugins_fault() {
        for own in [
            CacheError::Write(full()).into(),
            CompileError::Start(full()).into(),
            InstalledError::Store(StoreError::Panicked).into(),
            InstalledError::Plugin(PluginError::Store(StoreError::Panicked)).into(),
            anyhow::Error::from(StoreError::Panicked),
        ] {
            let own = own.context("load it");
            assert!(is_own_fault(&own) && may_pass(&own), "{own:#}");
        }
    }

    #[test]
    fn what_is_too_much_at_once_may_pass_and_is_told_in_words() {
        let no_room = LoadError::NoRoom { asked: 4, left: 0 };
        for busy in [
            CompileError::Busy.into(),
            killed(Signal::KILL),
            no_room.into(),
        ] {
            assert!(may_pass(&busy) && !is_own_fault(&busy), "{busy:#}");
        }
    }

    #[test]
    fn what_is_wrong_with_the_plugin_stays_wrong() {
        for wrong in [
            CompileError::Refused("no component".to_owned()).into(),
            CompileError::Limit(LimitHit::Memory(1536)).into(),
            killed(Signal::SEGV),
            CacheError::TooLarge.into(),
            InstalledError::NoVersion.into(),
            LoadError::Nothing.into(),
        ] {
            assert!(!may_pass(&wrong), "{wrong:#}");
        }
    }
}
