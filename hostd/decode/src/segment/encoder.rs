//! Encodes a capture as it arrives, in bounded memory: one block of toggles per channel, and a pack.

use super::facts::Noting;
use super::group::{self, GROUP};
use super::packer::Packer;
use super::{BLOCK_SAMPLES, CHANNELS_MAX};
use crate::changes::{each_change, is_unchanged, word};
use crate::container::{ContainerWriter, Content};
use crate::planes::{Fast, Work, work};
use crate::pyramid::LogicPyramid;
use std::convert::Infallible;

const BLOCK_WORDS: usize = BLOCK_SAMPLES as usize / 64;

/// Longest capture, in samples: a day at 800 kHz, eleven minutes at 100 MHz. It bounds the cost of
/// a single frame that claims a distant end.
pub const SAMPLES_MAX: u64 = 1 << 36;

/// The shape of the capture to store.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EncoderSpec {
    /// Channels, 1..=64: the lowest bits of a sample.
    pub channels: usize,
    /// Samples per second, positive.
    pub sample_rate_hz: f64,
}

/// Why samples were refused; each fits after "failed to …".
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum EncoderError {
    /// The number of channels is out of range.
    #[error("store {channels} channels; 1 to {CHANNELS_MAX} are possible")]
    Channels {
        /// The number requested.
        channels: usize,
    },
    /// The sample rate is not a positive number.
    #[error("store a capture of {sample_rate_hz} samples per second")]
    SampleRate {
        /// The rate requested.
        sample_rate_hz: f64,
    },
    /// An edge lies before samples that are already stored, or past the end of its frame.
    #[error("store an edge at sample {sample}; it must lie in {from}..{to}")]
    OutOfOrder {
        /// The edge.
        sample: u64,
        /// Samples stored so far.
        from: u64,
        /// End of the frame.
        to: u64,
    },
    /// The capture would be too long.
    #[error("store {samples} samples; the limit is {SAMPLES_MAX}")]
    TooLong {
        /// Number of samples there would be.
        samples: u64,
    },
}

/// Encodes one segment.
pub struct Encoder {
    container: ContainerWriter,
    packer: Packer,
    noting: Noting,
    pyramid: Option<LogicPyramid>,
    fast: Option<Fast>,
    mask: u64,
    /// One bitmap per channel.
    toggles: Vec<Vec<u64>>,
    /// First sample of the block being filled.
    start: u64,
    /// Levels before that sample.
    levels: u64,
    /// Samples so far.
    at: u64,
    /// Levels of the last sample; `None` before the first.
    last: Option<u64>,
}

impl Encoder {
    /// An empty segment.
    ///
    /// # Errors
    /// The spec is out of range.
    pub fn new(spec: EncoderSpec) -> Result<Self, EncoderError> {
        let EncoderSpec {
            channels,
            sample_rate_hz,
        } = spec;
        let count = u32::try_from(channels)
            .ok()
            .filter(|_| (1..=CHANNELS_MAX).contains(&channels));
        let count = count.ok_or(EncoderError::Channels { channels })?;
        if !(sample_rate_hz.is_finite() && sample_rate_hz > 0.0) {
            return Err(EncoderError::SampleRate { sample_rate_hz });
        }
        Ok(Self {
            container: ContainerWriter::new(Content::Logic, count, sample_rate_hz),
            packer: Packer::new(channels),
            noting: Noting::default(),
            pyramid: None,
            fast: Fast::detect(),
            mask: u64::MAX >> (CHANNELS_MAX - channels),
            toggles: vec![vec![0; BLOCK_WORDS]; channels],
            start: 0,
            levels: 0,
            at: 0,
            last: None,
        })
    }

    /// Also make the capture's pyramid. Call before the first sample.
    #[must_use]
    pub fn with_pyramid(mut self) -> Self {
        self.pyramid = Some(LogicPyramid::new(self.toggles.len()));
        self
    }

    /// Samples taken so far.
    pub fn samples(&self) -> u64 {
        self.at
    }

    /// Takes an edge frame: pairs of a sample and the levels from there on, ascending by sample.
    /// The levels are known for all samples `..upto`. A capture whose first edge is not at sample 0
    /// begins with all channels low.
    ///
    /// # Errors
    /// The edges are out of order (those before the wrong one are stored), or end too late.
    pub fn push_edges(&mut self, edges: &[(u64, u64)], upto: u64) -> Result<(), EncoderError> {
        if upto > SAMPLES_MAX {
            return Err(EncoderError::TooLong { samples: upto });
        }
        let mut from = self.at;
        for &(sample, word) in edges {
            if sample < from || sample >= upto {
                return Err(EncoderError::OutOfOrder {
                    sample,
                    from,
                    to: upto,
                });
            }
            self.edge(sample, word & self.mask);
            from = sample + 1;
        }
        if upto < self.at {
            return Err(EncoderError::OutOfOrder {
                sample: upto,
                from: self.at,
                to: upto,
            });
        }
        self.hold(upto);
        Ok(())
    }

    /// Takes 16-bit samples.
    pub fn push_words(&mut self, words: &[u16]) {
        let mut bytes = [0; 4096];
        for part in words.chunks(bytes.len() / 2) {
            for (two, word) in bytes.chunks_exact_mut(2).zip(part) {
                two.copy_from_slice(&word.to_le_bytes());
            }
            self.push_raw(&bytes[..part.len() * 2], 2);
        }
    }

    /// Takes raw samples of `unit` bytes (1..=8), little-endian; a remainder is ignored.
    pub fn push_raw(&mut self, raw: &[u8], unit: usize) {
        let raw = &raw[..raw.len() / unit * unit];
        if raw.is_empty() {
            return;
        }
        let first = word(&raw[..unit]) & self.mask;
        self.begin(self.at, first);
        let whole = self.at.next_multiple_of(GROUP as u64) - self.at;
        let samples = usize::try_from(whole).expect("a group is short");
        let (head, rest) = raw.split_at((samples * unit).min(raw.len()));
        self.push_few(head, unit);
        let (groups, tail) = rest.split_at(rest.len() / (GROUP * unit) * (GROUP * unit));
        let fast = self.fast;
        work(
            fast,
            Groups {
                encoder: self,
                raw: groups,
                unit,
            },
        );
        self.push_few(tail, unit);
    }

    /// Takes 64 samples, of which the first one is a multiple of 64.
    #[inline(always)]
    fn push_group(&mut self, group: &[u8], unit: usize) {
        let last = self.last.unwrap_or_default();
        let upto = self.at + GROUP as u64;
        if is_unchanged(group, unit, self.mask, last) {
            return self.hold(upto);
        }
        let mut planes = [0; CHANNELS_MAX];
        group::planes(self.fast, group, unit, &mut planes);
        let index = (self.at - self.start) / GROUP as u64;
        let index = usize::try_from(index).expect("a block is short");
        let channels = self.toggles.iter_mut().zip(&planes).enumerate();
        for (channel, (toggles, plane)) in channels {
            toggles[index] = plane ^ (plane << 1 | last >> channel & 1);
        }
        self.last = Some(word(&group[group.len() - unit..]) & self.mask);
        self.at = upto;
        self.seal_full();
    }

    /// Takes samples one by one.
    fn push_few(&mut self, raw: &[u8], unit: usize) {
        let from = self.at;
        let (mask, last) = (self.mask, self.last.unwrap_or_default());
        let scan = each_change(raw, unit, mask, last, |index, word| {
            self.edge(from + index, word);
            Ok::<(), Infallible>(())
        });
        let Ok(_) = scan;
        self.hold(from + (raw.len() / unit) as u64);
    }

    /// The bytes that became final since the last call, to append to the file.
    pub fn take(&mut self) -> Vec<u8> {
        self.container.take()
    }

    /// The bytes of the pyramid that became final since the last call.
    pub fn take_pyramid(&mut self) -> Vec<u8> {
        self.pyramid
            .as_mut()
            .map(LogicPyramid::take)
            .unwrap_or_default()
    }

    /// Ends the segment and returns the rest of the file.
    pub fn finish(self) -> Vec<u8> {
        self.finish_both().0
    }

    /// Ends the segment and returns the rest of the file and of its pyramid, which is empty if none was made.
    pub fn finish_both(mut self) -> (Vec<u8>, Vec<u8>) {
        if self.at > self.start {
            self.seal(self.at);
        }
        self.packer.close(&mut self.container);
        let pyramid = self.pyramid.map(LogicPyramid::finish);
        let notes = self.noting.finish();
        (self.container.finish(&notes), pyramid.unwrap_or_default())
    }

    /// The levels before a sample. A capture begins with those of its first sample, if it is the one with number 0.
    fn begin(&mut self, sample: u64, word: u64) -> u64 {
        *self.last.get_or_insert_with(|| {
            self.levels = if sample == 0 { word } else { 0 };
            self.levels
        })
    }

    /// The channels have these levels from `sample` on.
    fn edge(&mut self, sample: u64, word: u64) {
        self.hold(sample);
        let last = self.begin(sample, word);
        let offset = sample - self.start;
        let (index, bit) = ((offset / 64) as usize, 1 << (offset % 64));
        let mut moved = word ^ last;
        while moved != 0 {
            self.toggles[moved.trailing_zeros() as usize][index] |= bit;
            moved &= moved - 1;
        }
        self.last = Some(word);
        self.at = sample + 1;
        self.seal_full();
    }

    /// Nothing changes before `upto`.
    fn hold(&mut self, upto: u64) {
        while self.at < upto {
            self.at = upto.min(self.start + u64::from(BLOCK_SAMPLES));
            self.seal_full();
        }
    }

    fn seal_full(&mut self) {
        let end = self.start + u64::from(BLOCK_SAMPLES);
        if self.at >= end {
            self.seal(end);
        }
    }

    fn seal(&mut self, end: u64) {
        let samples = u32::try_from(end - self.start).expect("a block is sealed when it is full");
        let counts = self.packer.push(self.levels, samples, &self.toggles);
        self.noting.add(self.levels, &counts);
        if let Some(pyramid) = &mut self.pyramid {
            pyramid.push(self.levels, samples, &self.toggles, &counts);
        }
        if self.packer.is_full() {
            self.packer.close(&mut self.container);
        }
        for (toggles, count) in self.toggles.iter_mut().zip(counts) {
            if count > 0 {
                toggles.fill(0);
            }
        }
        self.start = end;
        self.levels = self.last.unwrap_or(0);
    }
}

/// Whole groups of 64 samples on their way into an encoder.
struct Groups<'e, 'r> {
    encoder: &'e mut Encoder,
    raw: &'r [u8],
    unit: usize,
}

impl Work for Groups<'_, '_> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        for group in self.raw.chunks_exact(GROUP * self.unit) {
            self.encoder.push_group(group, self.unit);
        }
    }
}
