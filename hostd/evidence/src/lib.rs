//! What a job leaves behind, and what is made of it: the log of an attempt, with secrets redacted,
//! JUnit for CI systems, a timeline for Perfetto, and one page for people.
//!
//! The crate works on readers and writers that it is given. It opens no file, reads no clock and
//! starts no thread, and its input may be damaged or untrusted.

pub mod cases;
pub mod fuzzing;
pub mod junit;
pub mod log;
pub mod making;
pub mod measurement;
pub mod plain;
pub mod redact;
pub mod report;
pub mod result;
pub mod trace;
