//! What stock tools speak to a bench, and nothing of how the bench is reached.
//!
//! ```text
//!   OpenOCD            dap     a probe's packets over TCP        --> frames of a pod's debug session
//!   a terminal         serial  raw bytes, or RFC 2217            --> Line: bytes, rate, break
//!   GDB                gdb     the remote serial protocol        --> Debugger: a halted or running core
//! ```
//!
//! Everything works on byte streams and channels that the caller provides; one client at a time is the caller's
//! rule.
#![forbid(unsafe_code)]

pub mod dap;
#[doc(hidden)]
pub mod fuzz;
pub mod gdb;
pub mod serial;
