//! Limits on the cost of a file of another tool.

use crate::segment::SAMPLES_MAX;
use crate::sr;

/// Bounds that are checked before a sample is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of sessions: their entries, and bytes after inflating.
    pub session: sr::Limits,
    /// Logic samples of each channel.
    pub samples_max: u64,
    /// Analog samples.
    pub analog_samples_max: u64,
    /// Channels that a file may name, more than a capture can hold: one chooses among them.
    pub channels_max: usize,
    /// Bytes of a line of text.
    pub line_bytes_max: usize,
}

impl Default for Limits {
    /// 16 GiB of session, as long a capture as the store takes, and 2 GiB of analog samples.
    fn default() -> Self {
        Self {
            session: sr::Limits::default(),
            samples_max: SAMPLES_MAX,
            analog_samples_max: 1 << 30,
            channels_max: 4096,
            line_bytes_max: 64 << 10,
        }
    }
}
