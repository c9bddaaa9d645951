//! What one handler is given: instances, time, memory, response size.

use std::time::Duration;

use admission::Limits;

/// Where the instance that answers a request comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A used one, which answers one request at a time and is replaced after `calls_max` of them.
    /// Whatever a handler leaves in its globals, the handler's next request sees.
    Pooled {
        /// Requests before the instance is replaced.
        calls_max: u32,
    },
    /// A new one for every request.
    Fresh,
}

/// Limits of one handler. The defaults suit a small first-party handler.
#[derive(Debug, Clone)]
pub struct HandlerOptions {
    /// For logs and metrics.
    pub name: String,
    /// Where instances come from.
    pub mode: Mode,
    /// Requests inside the handler at once, and so its share of the engine's instances.
    pub in_flight_max: u32,
    /// Requests that may wait for a free place. Further ones are refused at once.
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
    /// Body bytes of one response; streams are not counted.
    pub response_bytes_max: usize,
}

impl Default for HandlerOptions {
    fn default() -> Self {
        Self {
            name: String::new(),
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

impl HandlerOptions {
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
