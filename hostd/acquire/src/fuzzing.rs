//! Entries that fuzzers and the seeded tests feed with what instruments send.

pub use crate::fx2lafw::fuzzing::fx2lafw;
pub use crate::sigrok::fuzzing::sigrok;
