//! What can go wrong when a guest is loaded or called, and how wasmtime's errors map to it.

use wasmtime::{PoolConcurrencyLimitError, Trap};

use crate::meter::Expired;
use crate::options::GuestOptions;
use crate::reply::BadResponse;
use crate::state::MemoryExceeded;

/// Why a component cannot be used. `title` is `handler devices` or `plugin acme.report 1.4.2`.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("load the precompiled component: it is damaged, or made by another version")]
    Precompiled(#[source] wasmtime::Error),
    /// The source has the numbers.
    #[error("load the component: it has more than an instance may have here")]
    TooLarge(#[source] wasmtime::Error),
    #[error("compile the component")]
    Compile(#[source] wasmtime::Error),
    #[error("link {title}: it asks for what it may not have")]
    Link {
        title: String,
        #[source]
        source: wasmtime::Error,
    },
    #[error("load {title}: it does not export {world}")]
    Export {
        title: String,
        world: &'static str,
        #[source]
        source: wasmtime::Error,
    },
    #[error("load {title}: {asked} instances asked for, {left} left of the engine's")]
    NoRoom {
        title: String,
        asked: u32,
        left: u32,
    },
    #[error("start {title}")]
    Start {
        title: String,
        #[source]
        source: CallError,
    },
    #[error("read the routes of {title}")]
    Routes {
        title: String,
        #[source]
        source: CallError,
    },
    #[error("load {title}: {routes} routes, the limit is {routes_max}")]
    TooManyRoutes {
        title: String,
        routes: usize,
        routes_max: usize,
    },
}

/// How wasmtime words that a component exceeds what the pool has for one instance: such errors have
/// no type.
const TOO_LARGE: [&str; 2] = [
    "exceeds the configured maximum",
    "does not fit in pooling allocator requirements",
];

impl LoadError {
    pub(crate) fn precompiled(error: wasmtime::Error) -> Self {
        if is_too_large(&error) {
            Self::TooLarge(error)
        } else {
            Self::Precompiled(error)
        }
    }

    pub(crate) fn compile(error: wasmtime::Error) -> Self {
        if is_too_large(&error) {
            Self::TooLarge(error)
        } else {
            Self::Compile(error)
        }
    }
}

fn is_too_large(error: &wasmtime::Error) -> bool {
    worded(error, &TOO_LARGE)
}

/// Whether wasmtime says one of these.
fn worded(error: &wasmtime::Error, wordings: &[&str]) -> bool {
    error.chain().any(|cause| {
        let cause = cause.to_string();
        wordings.iter().any(|wording| cause.contains(wording))
    })
}

/// A failure and where in the guest it happened.
pub(crate) struct Failure {
    pub(crate) error: CallError,
    pub(crate) backtrace: Option<String>,
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        Self {
            error,
            backtrace: None,
        }
    }
}

/// Why a call has no answer. Except for overload, the instance is gone and the log has the guest's
/// backtrace.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// No place became free within the time that a request may wait.
    #[error("enter the handler: all places are taken")]
    Overloaded { retry_after_s: u32 },
    #[error("answer within {ms} ms")]
    Deadline { ms: u64 },
    /// The guest was busy, not waiting, for too long.
    #[error("answer with {ms} ms of computing")]
    Compute { ms: u64 },
    #[error("get {asked_bytes} bytes of memory: the limit is {bytes_max}")]
    Memory {
        asked_bytes: usize,
        bytes_max: usize,
    },
    #[error("call deeper: the stack is full")]
    StackOverflow,
    /// A panic shows as an `unreachable` instruction.
    #[error("go on in the handler")]
    Trap {
        #[source]
        trap: Trap,
    },
    /// A host function refused with a trap, or the guest broke the rules of its interface.
    #[error("exchange data with the handler")]
    Fault {
        #[source]
        source: wasmtime::Error,
    },
    #[error("make an instance of the handler")]
    Instantiate {
        #[source]
        source: wasmtime::Error,
    },
    /// An earlier call of this session failed or was cancelled, and its instance is gone.
    #[error("go on in a session that has ended")]
    Ended,
    #[error("send the response")]
    BadResponse(#[from] BadResponse),
    #[error("send a response of {bytes} bytes: the limit is {bytes_max}")]
    ResponseTooLarge { bytes: usize, bytes_max: usize },
    /// All that one call returns, or gives to a function of the host.
    #[error("move data out of the guest: one call may move {bytes_max} bytes")]
    Transfer { bytes_max: usize },
}

/// How wasmtime words that a guest gives or returns more than it may: such errors have no type.
const TOO_MUCH: &str = "fuel allocated for hostcalls has been exhausted";

impl CallError {
    /// An error from a running guest.
    pub(crate) fn from_guest(error: wasmtime::Error, options: &GuestOptions) -> Self {
        if let Some(expired) = error.downcast_ref::<Expired>() {
            return match expired {
                Expired::Deadline => Self::deadline(options),
                Expired::Compute => Self::Compute {
                    ms: options.compute_ms_max,
                },
            };
        }
        if let Some(exceeded) = error.downcast_ref::<MemoryExceeded>() {
            return Self::Memory {
                asked_bytes: exceeded.asked_bytes,
                bytes_max: exceeded.bytes_max,
            };
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::StackOverflow) => Self::StackOverflow,
            Some(trap) => Self::Trap { trap: *trap },
            None if worded(&error, &[TOO_MUCH]) => Self::Transfer {
                bytes_max: options.transfer_bytes_max(),
            },
            None => Self::Fault { source: error },
        }
    }

    /// An error from instantiation.
    pub(crate) fn from_instantiation(error: wasmtime::Error, options: &GuestOptions) -> Self {
        if error.is::<PoolConcurrencyLimitError>() {
            return Self::overloaded(options);
        }
        match Self::from_guest(error, options) {
            Self::Fault { source } => Self::Instantiate { source },
            ran => ran,
        }
    }

    pub(crate) fn deadline(options: &GuestOptions) -> Self {
        Self::Deadline {
            ms: options.deadline_ms,
        }
    }

    pub(crate) fn overloaded(options: &GuestOptions) -> Self {
        let seconds = options.queue_wait_ms_max.div_ceil(1_000).max(1);
        Self::Overloaded {
            retry_after_s: u32::try_from(seconds).unwrap_or(u32::MAX),
        }
    }

    /// The whole chain on one line.
    pub(crate) fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(cause) = source {
            text.push_str(": ");
            text.push_str(&cause.to_string());
            source = cause.source();
        }
        text
    }
}
