//! Analog samples read as logic.

use super::AnalogSegment;
use crate::segment::{Encoder, EncoderError, EncoderSpec, SegmentError};

/// Longest capture that is read so: its edges are kept in memory, an eighth of a byte for each sample at most.
pub const LOGIC_SAMPLES_MAX: u64 = 1 << 28;

/// Why analog samples cannot be read as logic; each fits after "failed to …".
#[derive(Debug, thiserror::Error)]
pub enum ThresholdError {
    /// The capture is damaged.
    #[error("read the analog samples")]
    Damaged(#[from] SegmentError),
    /// There are too many samples.
    #[error("read {samples} analog samples as logic; the limit is {LOGIC_SAMPLES_MAX}")]
    TooLong {
        /// How many there are.
        samples: u64,
    },
    /// The edges cannot be stored.
    #[error("store the edges")]
    Encoder(#[from] EncoderError),
    /// `go_on` ended it.
    #[error("read all analog samples as logic: it was ended")]
    Ended,
}

impl AnalogSegment<'_> {
    /// The samples as a stored logic capture of one channel. `level` says what a count means: high, low, or, between the
    /// thresholds, what it was before; a capture that begins between them begins low. `go_on` is asked before each block.
    ///
    /// # Errors
    /// The capture is too long, or damaged, or `go_on` ended it.
    pub fn as_logic(
        &self,
        level: impl Fn(u16) -> Option<bool>,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Vec<u8>, ThresholdError> {
        let samples = self.samples();
        if LOGIC_SAMPLES_MAX < samples {
            return Err(ThresholdError::TooLong { samples });
        }
        let meaning: Vec<Option<bool>> = (0..=u16::MAX).map(level).collect();
        let mut encoder = Encoder::new(EncoderSpec {
            channels: 1,
            sample_rate_hz: self.sample_rate_hz(),
        })?;
        let (mut bytes, mut counts, mut edges) = (Vec::new(), Vec::new(), Vec::new());
        let mut at = 0;
        let mut last = None;
        for index in 0..self.block_count() {
            if !go_on() {
                return Err(ThresholdError::Ended);
            }
            counts.clear();
            edges.clear();
            self.read_block(index, &mut counts)?;
            for count in &counts {
                let level = meaning[usize::from(*count)].or(last).unwrap_or(false);
                if last != Some(level) {
                    edges.push((at, u64::from(level)));
                    last = Some(level);
                }
                at += 1;
            }
            encoder.push_edges(&edges, at)?;
            bytes.extend(encoder.take());
        }
        bytes.extend(encoder.finish());
        Ok(bytes)
    }
}
