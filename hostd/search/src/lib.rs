//! Search in stored logic captures: a query and a capture in, ranges of samples with a short text out, one by one.
//!
//! The language is in `docs/captures.md`, under Search. A capture is read as it is stored: from edge to edge, past blocks in
//! which a channel rests, and by the decoders of the store; samples are never expanded. The crate only computes: it opens no
//! file and reads no clock; who calls it ends a search when nobody waits for it any more.
//!
//! ```
//! use decode::segment::{Encoder, EncoderSpec, Segment};
//! use search::{Known, Query};
//! use std::ops::ControlFlow;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // One pulse of three samples, sampled at 1 MHz.
//! let mut encoder = Encoder::new(EncoderSpec { channels: 1, sample_rate_hz: 1e6 })?;
//! encoder.push_raw(&[0, 0, 1, 1, 1, 0, 0, 0], 1);
//! let stored = encoder.finish();
//! let segment = Segment::open(&stored)?;
//!
//! let query = Query::parse("pulse on LA3 shorter than 5 us")?;
//! let search = query.bind(&["LA3".to_owned()], &Known::default())?;
//! let mut found = Vec::new();
//! search.run(&segment, 0..segment.samples(), &|| true, &mut |hit| {
//!     found.push(hit);
//!     ControlFlow::Continue(())
//! })?;
//! assert_eq!((found[0].from, found[0].to), (2, 5));
//! assert_eq!(found[0].text, "high pulse on LA3, 3 us");
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod answers;
mod bind;
mod bytes;
mod edges;
mod error;
mod gaps;
mod hit;
mod length;
mod levels;
pub mod limits;
mod marks;
mod near;
mod parse;
mod pulses;
mod query;
mod run;
mod seen;
mod token;
mod words;

pub use bind::Known;
pub use error::{QueryError, SearchError};
pub use hit::Hit;
pub use query::Query;
pub use run::{Ended, Search};
