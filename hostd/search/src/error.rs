//! Why a query or a search fails.

use decode::segment::SegmentError;
use decode::{DecodeError, SpecError};

/// A query that cannot be read; fits after "failed to …".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read the query at character {at}: {what}")]
pub struct QueryError {
    /// Where, in characters, from 1; one more than the query has if it ends too early.
    pub at: usize,
    /// What is there and what was expected.
    pub what: String,
}

impl QueryError {
    pub(crate) fn new(at: usize, what: impl Into<String>) -> Self {
        let what = what.into();
        Self { at, what }
    }
}

/// Why a search does not begin or does not go on; each fits after "failed to …".
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The capture has no such channel, or it could be one of two.
    #[error(transparent)]
    Channel(Box<SpecError>),
    /// The decoder does not take the channels or options.
    #[error(
        "set up the decoder: failed to {0}; name channels and options behind `with`, as `with {1}`"
    )]
    Decoder(Box<SpecError>, &'static str),
    /// There are settings of a decoder, and the query needs none.
    #[error("use settings of a decoder: the query looks at signals alone")]
    NoDecoder,
    /// The capture cannot be decoded.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The capture is damaged.
    #[error("read the samples")]
    Damaged(#[from] SegmentError),
}

impl SearchError {
    /// Whether the capture lacks what the query needs, and is sound.
    #[must_use]
    pub fn is_of_capture(&self) -> bool {
        match self {
            Self::Channel(_) | Self::Decoder(..) => true,
            Self::Decode(error) => matches!(
                error,
                DecodeError::NoSampleRate | DecodeError::SampleRateTooLow { .. }
            ),
            Self::NoDecoder | Self::Damaged(_) => false,
        }
    }
}
