//! Decoders from elsewhere: plugins, for instance. They are described, chosen and shown as the built-in ones; what they
//! say is checked here before anybody sees it, since they may be wrong or mean harm.
//!
//! ```text
//! Segment ─ Changes ─┐                                    ┌─ Check ─> Sink
//!                    ├─ Feeder ─ blocks ─> ForeignDecoding ┘
//! Archive ─ words ───┘
//! ```

mod check;
mod feeder;
mod packing;

pub use check::BadAnnotation;
pub(crate) use feeder::{Feeder, Stop};

use crate::annotation::Annotation;
use crate::decoder::Decoder;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// Changes in one call of [`ForeignDecoding::changes`].
pub const CHANGES_A_CALL_MAX: usize = 32 << 10;

/// Samples in one call of [`ForeignDecoding::samples`].
pub const SAMPLES_A_CALL_MAX: usize = 64 << 10;

/// Channels that such a decoder looks at: what fits beside a distance.
pub const CHANNELS_MAX: usize = 8;

/// The shape in which a decoder takes its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Where levels change.
    Changes,
    /// Every sample.
    Samples,
}

/// What is taken of a decoder's annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// They come in the order of their ends, which lie in the capture; others are refused.
    InOrder,
    /// They come as they come, and end with the capture at the latest.
    Anywhere,
}

/// A decoder that is not of this crate.
pub trait Foreign: fmt::Debug + Send + Sync {
    /// Its description: at most [`CHANNELS_MAX`] channels and 64 classes.
    fn decoder(&self) -> &Arc<Decoder>;

    /// How it wants its samples.
    fn input(&self) -> Input;

    /// Where its annotations may end.
    fn ends(&self) -> Ends {
        Ends::InOrder
    }

    /// Where it comes from, with its version, for errors: `plugin acme.modbus 1.0.0`.
    fn title(&self) -> &str;

    /// Begin to decode a capture. May block.
    ///
    /// # Errors
    /// It does not take these options, or cannot be started.
    fn begin(&self, setup: &Setup<'_>) -> Result<Box<dyn ForeignDecoding>, ForeignError>;
}

/// What a decoder is told before it begins.
#[derive(Clone, Debug)]
pub struct Setup<'a> {
    /// Samples per second, above 0.
    pub sample_rate_hz: f64,
    /// For each of its channels whether the capture has one that plays this role.
    pub connected: Vec<bool>,
    /// Every option with its value.
    pub options: &'a [(String, String)],
}

/// A decoding of one capture. Calls may block. Annotations come in the order of their ends, at the latest from `finish`.
pub trait ForeignDecoding: Send {
    /// At most [`CHANGES_A_CALL_MAX`] changes: `distance << 8 | levels`, the distance in samples from the one before (from
    /// sample 0 for the first), and the level of the decoder's channel `i` from then on in bit `i`. A distance of over 24
    /// bits comes as several entries that repeat the levels.
    ///
    /// # Errors
    /// It failed. No further call follows.
    fn changes(&mut self, data: &[u32]) -> Result<Vec<Annotation>, ForeignError>;

    /// At most [`SAMPLES_A_CALL_MAX`] samples from number `start` on: the level of the decoder's channel `i` in bit `i`.
    ///
    /// # Errors
    /// It failed. No further call follows.
    fn samples(&mut self, start: u64, data: &[u8]) -> Result<Vec<Annotation>, ForeignError>;

    /// The capture ends before sample `end`.
    ///
    /// # Errors
    /// It failed.
    fn finish(&mut self, end: u64) -> Result<Vec<Annotation>, ForeignError>;

    /// What is found after `finish`; asked until there is no more. There may be none yet.
    ///
    /// # Errors
    /// It failed.
    fn rest(&mut self) -> Result<Option<Vec<Annotation>>, ForeignError> {
        Ok(None)
    }
}

/// What an engine of many decoders, such as `sigrok-cli`, has trouble with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineTrouble {
    /// It is not there.
    NotInstalled,
    /// What is asked of it cannot be.
    Unfit,
    /// There is no room for one more.
    Busy,
    /// It takes too long.
    TimedOut,
    /// It failed, or takes too much.
    Failed,
}

/// Why a decoder from elsewhere does not go on. Fits "failed to …".
#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    /// It does not take its options; its own sentence.
    #[error("set up its options: {0}")]
    Refused(String),
    /// There is no room for one more.
    #[error("begin: {0}")]
    Busy(String),
    /// It may not be used any more; a sentence.
    #[error("go on: {0}")]
    Gone(String),
    /// What it returned cannot be.
    #[error(transparent)]
    Bad(#[from] BadAnnotation),
    /// An engine of many decoders does not go on; a sentence.
    #[error("decode: {1}")]
    Engine(EngineTrouble, String),
    /// It trapped, or took too long or too much.
    #[error(transparent)]
    Failed(Box<dyn Error + Send + Sync>),
}

/// A decoding job for such a decoder.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) foreign: Arc<dyn Foreign>,
    /// Channel numbers by the decoder's roles.
    pub(crate) channels: Vec<Option<usize>>,
    pub(crate) options: Vec<(String, String)>,
}

impl Config {
    pub(crate) fn begin(
        &self,
        sample_rate_hz: f64,
    ) -> Result<Box<dyn ForeignDecoding>, ForeignError> {
        self.foreign.begin(&Setup {
            sample_rate_hz,
            connected: self.channels.iter().map(Option::is_some).collect(),
            options: &self.options,
        })
    }
}
