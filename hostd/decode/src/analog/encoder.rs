//! Encodes analog samples as they arrive.

use super::{ANALOG_BLOCK_SAMPLES, fold};
use crate::container::{ContainerWriter, Content};
use crate::pyramid::AnalogPyramid;
use crate::segment::EncoderError;
use zstd::bulk;

/// zstd level: the fastest one that finds repetitions.
const LEVEL: i32 = 1;

/// Encodes one channel.
pub struct AnalogEncoder {
    container: ContainerWriter,
    pyramid: Option<AnalogPyramid>,
    /// Samples of the block being filled.
    waiting: Vec<u16>,
    start: u64,
}

impl AnalogEncoder {
    /// An empty segment.
    ///
    /// # Errors
    /// The sample rate is not a positive number.
    pub fn new(sample_rate_hz: f64) -> Result<Self, EncoderError> {
        if !(sample_rate_hz.is_finite() && sample_rate_hz > 0.0) {
            return Err(EncoderError::SampleRate { sample_rate_hz });
        }
        let container = ContainerWriter::new(Content::Analog, 1, sample_rate_hz);
        Ok(Self {
            container,
            pyramid: None,
            waiting: Vec::new(),
            start: 0,
        })
    }

    /// Also make the capture's pyramid. Call before the first sample.
    #[must_use]
    pub fn with_pyramid(mut self) -> Self {
        self.pyramid = Some(AnalogPyramid::new());
        self
    }

    /// Takes samples.
    pub fn push(&mut self, samples: &[u16]) {
        let mut rest = samples;
        while !rest.is_empty() {
            let room = ANALOG_BLOCK_SAMPLES as usize - self.waiting.len();
            let (now, later) = rest.split_at(rest.len().min(room));
            self.waiting.extend_from_slice(now);
            rest = later;
            if self.waiting.len() == ANALOG_BLOCK_SAMPLES as usize {
                self.seal();
            }
        }
    }

    /// Samples taken so far.
    pub fn samples(&self) -> u64 {
        self.start + self.waiting.len() as u64
    }

    /// The bytes that became final since the last call, to append to the file.
    pub fn take(&mut self) -> Vec<u8> {
        self.container.take()
    }

    /// The bytes of the pyramid that became final since the last call.
    pub fn take_pyramid(&mut self) -> Vec<u8> {
        self.pyramid
            .as_mut()
            .map(AnalogPyramid::take)
            .unwrap_or_default()
    }

    /// Ends the segment and returns the rest of the file.
    pub fn finish(self) -> Vec<u8> {
        self.finish_both().0
    }

    /// Ends the segment and returns the rest of the file and of its pyramid, which is empty if none was made.
    pub fn finish_both(mut self) -> (Vec<u8>, Vec<u8>) {
        self.seal();
        let pyramid = self.pyramid.map(AnalogPyramid::finish);
        (self.container.finish(&[]), pyramid.unwrap_or_default())
    }

    fn seal(&mut self) {
        let (Some(min), Some(max)) = (self.waiting.iter().min(), self.waiting.iter().max()) else {
            return;
        };
        let mut payload = Vec::new();
        payload.extend(min.to_le_bytes());
        payload.extend(max.to_le_bytes());
        let packed = bulk::compress(&fold(&self.waiting), LEVEL);
        payload.extend(packed.expect("memory for one block is all it takes"));
        let samples = u32::try_from(self.waiting.len()).expect("a block is small");
        self.container.push(self.start, samples, &payload);
        if let Some(pyramid) = &mut self.pyramid {
            pyramid.push(&self.waiting);
        }
        self.start += u64::from(samples);
        self.waiting.clear();
    }
}
