//! What can go wrong when a handler is loaded or called, and how wasmtime's errors map to it.

use wasmtime::{PoolConcurrencyLimitError, Trap};

use crate::meter::Expired;
use crate::options::HandlerOptions;
use crate::reply::BadResponse;
use crate::state::MemoryExceeded;

/// Why a component cannot become a handler.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("load the precompiled component: it is damaged, or made by another version")]
    Precompiled(#[source] wasmtime::Error),
    #[error("compile the component")]
    Compile(#[source] wasmtime::Error),
    #[error("link handler {name}: it asks for what it may not have")]
    Link {
        name: String,
        #[source]
        source: wasmtime::Error,
    },
    #[error("load handler {name}: it does not export bench:host/http")]
    Export {
        name: String,
        #[source]
        source: wasmtime::Error,
    },
    #[error("load handler {name}: {asked} instances asked for, {left} left of the engine's")]
    NoRoom { name: String, asked: u32, left: u32 },
    #[error("read the routes of handler {name}")]
    Routes {
        name: String,
        #[source]
        source: CallError,
    },
    #[error("load handler {name}: {routes} routes, the limit is {routes_max}")]
    TooManyRoutes {
        name: String,
        routes: usize,
        routes_max: usize,
    },
}

/// Why a call has no reply. Except for overload, the instance is gone and the log has the guest's
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
    #[error("send the response")]
    BadResponse(#[from] BadResponse),
    #[error("send a response of {bytes} bytes: the limit is {bytes_max}")]
    ResponseTooLarge { bytes: usize, bytes_max: usize },
}

impl CallError {
    /// An error from a running guest.
    pub(crate) fn from_guest(error: wasmtime::Error, options: &HandlerOptions) -> Self {
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
            None => Self::Fault { source: error },
        }
    }

    /// An error from instantiation.
    pub(crate) fn from_instantiation(error: wasmtime::Error, options: &HandlerOptions) -> Self {
        if error.is::<PoolConcurrencyLimitError>() {
            return Self::overloaded(options);
        }
        match Self::from_guest(error, options) {
            Self::Fault { source } => Self::Instantiate { source },
            ran => ran,
        }
    }

    pub(crate) fn deadline(options: &HandlerOptions) -> Self {
        Self::Deadline {
            ms: options.deadline_ms,
        }
    }

    pub(crate) fn overloaded(options: &HandlerOptions) -> Self {
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
