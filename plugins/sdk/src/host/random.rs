//! Random numbers.

#[cfg(target_arch = "wasm32")]
use crate::bindings::handler::hostd::plugin::random as wit;
#[cfg(not(target_arch = "wasm32"))]
use crate::testing::with;

/// Bytes that nobody can predict; `count` is at most 65536. A double's are always the same.
#[must_use]
pub fn bytes(count: u32) -> Vec<u8> {
    on!(wit::bytes(count), with(|double| double.random(count)))
}
