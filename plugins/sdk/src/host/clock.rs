//! The time.

#[cfg(target_arch = "wasm32")]
use crate::bindings::handler::hostd::plugin::clock as wit;
#[cfg(not(target_arch = "wasm32"))]
use crate::testing::with;

/// Milliseconds since 1970, UTC.
#[must_use]
pub fn now() -> u64 {
    on!(wit::now(), with(|double| double.now_ms))
}

/// Nanoseconds that never go back.
#[must_use]
pub fn monotonic() -> u64 {
    on!(wit::monotonic(), with(|double| double.now_ms * 1_000_000))
}
