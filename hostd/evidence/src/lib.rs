//! What a job leaves behind, and what is made of it: the log of an attempt, secrets blotted out of it,
//! JUnit for CI systems, a timeline for Perfetto, and one page for people.
//!
//! The crate computes over readers and writers that it is given. It opens no file, knows no clock and
//! starts no thread, and what it reads may be damaged or foreign.

pub mod fuzzing;
pub mod junit;
pub mod log;
pub mod redact;
pub mod report;
pub mod result;
pub mod trace;
