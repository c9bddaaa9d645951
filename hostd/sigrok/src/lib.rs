//! Decoders of libsigrokdecode, through an installed `sigrok-cli`: a child process for each decoding, which reads samples
//! from a pipe and writes annotations to another one.
//!
//! ```text
//! capture ─ samples ─> Feed ─ stdin ─> sigrok-cli ─ stdout ─> lines ─> annotations
//! ```
//!
//! What a child may take of time, memory and output is bounded, and it ends with whoever waits for it. It is started
//! without a shell, and nothing of its arguments is another's text: names of decoders, roles and options are those that
//! `sigrok-cli` lists, values have no character that separates anything.

#![warn(missing_docs)]

mod decoding;
mod described;
mod error;
mod feed;
mod lines;
mod listed;
mod program;
mod stack;

pub use error::SigrokError;
pub use listed::Listed;
pub use program::{Limits, Sigrok};
pub use stack::{DECODERS_MAX, Stack};
