//! What rules come to on a capture: for each whether it holds, what was seen, where, and how near it was.
//!
//! The language of rules is `pipeline::rules`. A capture is read as it is stored: from edge to edge, and from block to
//! block of analog samples, never as samples one by one where nothing happens. The crate only computes: it opens no file
//! and reads no clock; who calls it says when its time is over.
//!
//! ```
//! use decode::segment::{Encoder, EncoderSpec, Segment};
//! use rules::{Capture, Goldens, Logic};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A clock of 250 kHz, sampled at 1 MHz.
//! let mut encoder = Encoder::new(EncoderSpec { channels: 1, sample_rate_hz: 1e6 })?;
//! encoder.push_raw(&[0, 0, 1, 1].repeat(100), 1);
//! let stored = encoder.finish();
//! let capture = Capture::of_logic(Logic::new(Segment::open(&stored)?, vec!["clk".to_owned()]));
//!
//! let text = "version: 1\nrules: [{ name: clock, frequency: { channel: clk, value: 250kHz, tolerance: 1% } }]";
//! let file = pipeline::rules::parse(text).map_err(|report| report.render("rules.yaml"))?;
//! let report = rules::evaluate(&capture, file.rules(), &Goldens::default(), &|| false)?;
//! assert!(report.has_passed());
//! assert_eq!(report.rules[0].seen, "250 kHz over 99 periods");
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod analog;
mod capture;
mod evaluate;
mod golden;
mod junit;
mod kinds;
mod lane;
pub mod limits;
mod number;
mod report;
mod svg;
mod words;

pub use capture::{Analog, Capture, Logic};
pub use evaluate::{EvaluateError, evaluate};
pub use golden::{GOLDEN_TIME, Golden, GoldenError, Goldens, Make};
pub use junit::junit;
pub use report::{Judged, Margin, Place, Report, Verdict};
pub use svg::picture;
