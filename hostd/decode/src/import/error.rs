//! What can be wrong with a file that is to be imported.

use crate::segment::CHANNELS_MAX;
use crate::sr::SrError;

/// Why a file was refused; each fits after "failed to …".
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ImportError {
    /// The first bytes are those of no known kind.
    #[error("recognise the file; known are {}", super::kind::KNOWN)]
    Unknown,
    /// The session is damaged or too large.
    #[error(transparent)]
    Session(#[from] SrError),
    /// Text that makes no sense.
    #[error("read line {line}: {what}")]
    Line {
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A binary file that makes no sense.
    #[error("read {what}; the file is truncated or damaged")]
    Damaged {
        /// What was being read.
        what: &'static str,
    },
    /// A variant of a format that is not known.
    #[error("read {what}; it is not supported")]
    Unsupported {
        /// What it has.
        what: &'static str,
    },
    /// It names more channels than any file of use.
    #[error("read a file of {channels} channels or more; the limit is {max}")]
    TooManyChannels {
        /// Channels so far.
        channels: usize,
        /// The limit.
        max: usize,
    },
    /// More logic channels than a capture can hold.
    #[error("store {channels} logic channels; choose up to {CHANNELS_MAX} of them with `channels`")]
    Channels {
        /// How many there are.
        channels: usize,
    },
    /// The file has no such channel.
    #[error("find the channel `{name}`; the file has {valid}")]
    UnknownChannel {
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        valid: String,
    },
    /// Two analog channels were asked for.
    #[error("store two analog channels, `{first}` and `{second}`; a capture holds one")]
    TwoAnalog {
        /// The one.
        first: String,
        /// The other.
        second: String,
    },
    /// It would have too many samples.
    #[error("store {samples} samples; the limit is {max}; a lower `rate` gives fewer")]
    TooLong {
        /// Number of samples there would be.
        samples: u64,
        /// The limit.
        max: u64,
    },
    /// A rate that no capture has.
    #[error("sample {hz} times a second; a rate is above 0 and at most 1e12")]
    Rate {
        /// The rate that was asked for.
        hz: f64,
    },
    /// The file does not say its rate.
    #[error("find its sample rate; the file does not say: give `rate`")]
    NoRate,
    /// There are no samples.
    #[error("find samples; the file has none")]
    Empty,
    /// The store took no more.
    #[error("store its samples")]
    Stopped,
}
