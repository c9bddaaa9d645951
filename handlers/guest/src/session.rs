//! How long a session that a program asks for lasts, and what is made with the right of one.

use crate::{Shape, integer};

/// Seconds when the caller does not say.
pub const TTL_SECONDS_DEFAULT: u32 = 3600;

/// Shortest life in seconds. Published clients renew below 120 s, so a shorter one is of no use.
const TTL_SECONDS_MIN: u32 = 60;

/// Longest life in seconds: a day.
const TTL_SECONDS_MAX: u32 = 86_400;

/// The life that is asked for, in seconds.
pub fn ttl_seconds() -> impl Shape<Value = u32> {
    integer(TTL_SECONDS_MIN..=TTL_SECONDS_MAX)
}
