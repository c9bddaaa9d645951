//! Archives that strangers send, and folders that strangers have written.
//!
//! [`inspect`] reads a gzip tar or a zip once and says whether it may be unpacked; [`unpack`] reads it again,
//! judges it again (so changes of the file in between do no harm) and writes below one folder. [`collect`]
//! goes the other way: it takes files out of a folder that a hostile program has filled as it liked. All
//! three work within bounds that the caller gives, use memory that depends on these alone, and touch nothing
//! but what they are given: they run in the server as well as in a sandbox.
//!
//! What an archive may contain is the same for both formats: files, folders, symbolic links that lead to a
//! place inside, and hard links to files before them; of a tar sparse files too, whose holes become zeros. Only the "executable" bit of the mode counts (0644 or
//! 0755); owners, times and extended attributes are dropped, as in a git checkout. Anything that two readers
//! could understand differently is refused: a repeated path, a zip whose directory contradicts its entries, a
//! tar that continues after its end. Names that differ only in case are different names, since sources of
//! real projects have them and the folder is on Linux.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod collect;
mod content;
mod error;
#[doc(hidden)]
pub mod fuzz;
mod inspect;
mod limits;
mod members;
mod meter;
mod name;
mod pax;
mod sparse;
mod tape;
mod tree;
mod unpack;
mod walk;
mod zip_end;
mod zipped;

#[cfg(test)]
mod tests;

pub use collect::{
    Artifact, Artifacts, CollectError, CollectLimits, Content, PATH_BYTES, SkipReason, Skipped,
    collect, each_file,
};
pub use error::ArchiveError;
pub use inspect::{Inspected, inspect, inspect_within};
pub use limits::Limits;
pub use unpack::{UnpackError, Unpacked, unpack, unpack_within};
pub use walk::{Format, Room};
