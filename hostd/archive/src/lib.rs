//! Archives that strangers send, and folders that strangers wrote.
//!
//! [`inspect`] reads a gzip tar or a zip once and says whether it may be unpacked; [`unpack`] reads it again,
//! judges it anew (it does not matter what happened to the file in between) and writes below one folder.
//! [`collect`] goes the other way: it takes files out of a folder in which a hostile program could do what it
//! liked. All three work within bounds that the caller gives, in memory that depends on these alone, and touch
//! nothing but what they are handed: they run in the server as well as within a sandbox.
//!
//! What an archive may hold is the same for both formats: files, folders, symbolic links that lead to a place
//! inside, hard links to files before them. Of the mode only "executable" counts (0644 or 0755); owners, times
//! and extended attributes are left behind, as a checkout by git does. What two readers could understand
//! differently is refused: a path twice, a zip whose directory contradicts its entries, a tar that goes on
//! behind its end. Names that differ in case alone are different names, since sources of real projects have them
//! and the folder is on Linux.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod collect;
mod content;
mod error;
#[doc(hidden)]
pub mod fuzz;
mod glob;
mod inspect;
mod limits;
mod meter;
mod name;
mod pax;
mod tape;
mod tree;
mod unpack;
mod walk;
mod zip_end;
mod zipped;

#[cfg(test)]
mod tests;

pub use collect::{
    Artifact, Artifacts, CollectError, CollectLimits, Content, SkipReason, Skipped, collect,
};
pub use error::ArchiveError;
pub use glob::{Pattern, PatternError};
pub use inspect::{Inspected, inspect};
pub use limits::Limits;
pub use unpack::{UnpackError, Unpacked, unpack};
pub use walk::Format;
