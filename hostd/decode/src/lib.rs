//! Logic captures: storage, `.sr` files, and protocol decoders.
//!
//! The crate only computes: it reads byte slices, writes to sinks that its callers supply, does not
//! touch files or clocks, and uses rayon for work that can run in parallel.
//!
//! ```
//! use decode::{Format, Spec, sr};
//! use std::ops::ControlFlow;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Two lines, 1 MHz: one START, then nothing.
//! let samples = [3, 3, 3, 1, 1, 1];
//! let file = sr::Writer::new(1_000_000, &["SCL", "SDA"]).push(&samples).finish();
//!
//! let archive = sr::Archive::parse(&file, &sr::Limits::default())?;
//! let map = [("scl", "SCL"), ("sda", "SDA")];
//! let spec = Spec::parse("i2c", &map, &[], Some("addr-data"), archive.channels())?;
//! let mut text = Vec::new();
//! decode::decode_sr(&archive, &spec, &mut |annotations| {
//!     match Format::Sigrok.write(&spec, annotations, &mut text) {
//!         Ok(()) => ControlFlow::Continue(()),
//!         Err(_) => ControlFlow::Break(()),
//!     }
//! })?;
//! assert_eq!(text, b"3-3 i2c-1: Start\n");
//! # Ok(())
//! # }
//! ```
//!
//! No signal makes decoding fail: a broken signal gives other annotations, never an error. Only
//! reading a damaged file can fail.

#![warn(missing_docs)]

pub mod analog;
mod annotation;
mod byte_stream;
mod changes;
mod channel;
mod clocked;
mod container;
mod conversation;
mod decoder;
pub mod density;
mod engine;
pub mod foreign;
mod format;
pub mod gaps;
mod i2c;
pub mod import;
pub mod length;
mod planes;
mod protocol;
pub mod pyramid;
pub mod registers;
mod run;
pub mod segment;
mod spec;
mod spi;
mod split;
pub mod sr;
mod stage;
mod stream;
mod text;
mod uart;
mod varint;

pub use annotation::{Access, Annotation, Value};
pub use byte_stream::ByteStream;
pub use channel::find_channel;
pub use decoder::{Accepts, ByteStreamInfo, Channel, Class, Decoder, OptionInfo, Row};
pub use engine::{Plan, RawDecoder};
pub use format::Format;
pub use planes::CodePath;
pub use run::{DecodeError, Decoding, Sink, Summary, decode_segment, decode_sr, pulse_samples};
pub use spec::{Spec, SpecError, Wanted};
pub use stream::StreamDecoder;

use std::sync::{Arc, LazyLock};

/// Every built-in protocol decoder.
pub static DECODERS: LazyLock<[Arc<Decoder>; 3]> =
    LazyLock::new(|| [i2c::decoder(), spi::decoder(), uart::decoder()].map(Arc::new));

/// Decoders on top of built-in ones, which say what their annotations mean together.
pub static VIEWS: LazyLock<[Arc<Decoder>; 2]> =
    LazyLock::new(|| [registers::decoder(), conversation::decoder()].map(Arc::new));
