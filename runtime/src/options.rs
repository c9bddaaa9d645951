//! What one guest is given: instances, time, memory, answer size.

use std::time::Duration;

use admission::Limits;

/// Bytes that a guest may hand to the host in one call beyond a response body: arguments, headers.
/// Without this limit a list of many pointers to one long string would grow without bound on our
/// side.
const TRANSFER_BYTES_EXTRA: usize = 2 << 20;

/// Where the instance that answers a call comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A used one, which answers one call at a time and is replaced after `calls_max` of them.
    /// Whatever a guest leaves in its globals, its next call sees.
    Pooled {
        /// Calls before the instance is replaced.
        calls_max: u32,
    },
    /// A new one for every call.
    Fresh,
}

/// What a handler is given.
pub type HandlerOptions = GuestOptions;

/// Limits of one guest. The defaults suit a small first-party handler.
#[derive(Debug, Clone)]
pub struct GuestOptions {
    /// For logs, errors and metrics.
    pub name: String,
    /// A plugin's version. None for handlers, which have the program's.
    pub version: Option<String>,
    /// Where instances come from.
    pub mode: Mode,
    /// Calls inside the guest at once, and so its share of the engine's instances.
    pub in_flight_max: u32,
    /// Calls that may wait for a free place. Further ones are refused at once.
    pub queued_max: u32,
    /// Longest wait for a free place.
    pub queue_wait_ms_max: u64,
    /// Longest call from entry to answer, waiting for the host included.
    pub deadline_ms: u64,
    /// Longest time a call may compute, in the guest and in host calls that do not wait. Much
    /// shorter than the deadline: a spinning guest takes a core from everybody.
    pub compute_ms_max: u64,
    /// Linear memory of one instance.
    pub memory_bytes_max: usize,
    /// A pooled instance that grew beyond this is not kept.
    pub memory_kept_bytes_max: usize,
    /// Body bytes of one response; streams are not counted. Other answers may have as many bytes.
    pub response_bytes_max: usize,
}

impl Default for GuestOptions {
    fn default() -> Self {
        Self {
            name: String::new(),
            version: None,
            mode: Mode::Pooled { calls_max: 1_000 },
            in_flight_max: 32,
            queued_max: 512,
            queue_wait_ms_max: 2_000,
            deadline_ms: 30_000,
            compute_ms_max: 2_000,
            memory_bytes_max: 64 << 20,
            memory_kept_bytes_max: 4 << 20,
            response_bytes_max: 8 << 20,
        }
    }
}

impl GuestOptions {
    /// The defaults of a plugin. Interpreters fill their memory once and are then several times
    /// as fast, so an instance is kept whatever it has grown to.
    #[must_use]
    pub fn plugin(name: &str, version: &str) -> Self {
        let memory_bytes_max = 64 << 20;
        Self {
            name: name.to_owned(),
            version: Some(version.to_owned()),
            in_flight_max: 4,
            deadline_ms: 10_000,
            memory_bytes_max,
            memory_kept_bytes_max: memory_bytes_max,
            ..Self::default()
        }
    }

    /// What it is, as errors say it.
    pub(crate) fn title(&self) -> String {
        match &self.version {
            Some(version) => format!("plugin {} {version}", self.name),
            None => format!("handler {}", self.name),
        }
    }

    /// Bytes that a guest may hand to the host in one call: a return, or the arguments of a host function.
    pub(crate) fn transfer_bytes_max(&self) -> usize {
        self.response_bytes_max + TRANSFER_BYTES_EXTRA
    }

    /// Who is let in.
    pub(crate) fn admission(&self) -> Limits {
        Limits {
            permits_max: self.in_flight_max,
            per_user_max: self.in_flight_max,
            per_org_max: self.in_flight_max,
            queued_max: self.queued_max,
            wait_max: Duration::from_millis(self.queue_wait_ms_max),
        }
    }
}
