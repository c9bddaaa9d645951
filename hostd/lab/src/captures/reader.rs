//! A finished capture, read from its files: frames for the API, annotations for the decoders.

use std::fs::File;
use std::io;
use std::path::Path;

use decode::analog::AnalogSegment;
use decode::pyramid::Pyramid;
use decode::segment::{Segment, SegmentError};
use decode::{DecodeError, Sink, Spec};
use memmap2::Mmap;

use super::files::{ANALOG, ANALOG_PYRAMID, Files, LOGIC, LOGIC_PYRAMID};
use super::layout::{self, Span};
use store::captures::CaptureRecord;

/// Samples of one frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Data {
    /// Little-endian u16 counts.
    Counts(Vec<u8>),
    /// Level of the first run, then run lengths.
    Runs { level: u8, runs: Vec<u32> },
}

impl Data {
    /// Bytes it takes.
    #[must_use]
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Counts(counts) => counts.len(),
            Self::Runs { runs, .. } => size_of_val(runs.as_slice()),
        }
    }
}

/// Why a capture cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("open the samples of capture {id}")]
    Open {
        id: String,
        #[source]
        source: io::Error,
    },
    #[error("read logic samples")]
    Logic(#[from] SegmentError),
    #[error("read analog samples")]
    Analog(#[source] SegmentError),
    #[error("decode the capture")]
    Decode(#[from] DecodeError),
    #[error("find {wanted} samples; the file has {got}")]
    Short { got: u64, wanted: u64 },
    #[error("read a channel that the capture does not have")]
    NoChannel,
}

impl ReadError {
    /// Whether only a pyramid is damaged, which can be made again.
    pub(crate) fn is_of_pyramid(&self) -> bool {
        matches!(
            self,
            Self::Logic(SegmentError::Pyramid) | Self::Analog(SegmentError::Pyramid)
        )
    }
}

/// An open capture. Its files never change, so it can be shared.
#[derive(Debug)]
pub struct Reader {
    record: CaptureRecord,
    logic: Option<Mmap>,
    analog: Option<Mmap>,
    /// Missing where they have not been made yet.
    logic_pyramid: Option<Mmap>,
    analog_pyramid: Option<Mmap>,
}

impl Reader {
    /// Open the files of `record`. Blocks on the disk.
    ///
    /// # Errors
    /// A file is missing.
    pub fn open(files: &Files, record: CaptureRecord) -> Result<Self, ReadError> {
        let map = |kind: &str| {
            self::map(&files.path(&record.id, kind)).map_err(|source| ReadError::Open {
                id: record.id.clone(),
                source,
            })
        };
        let has = |digital: bool| record.channels.iter().any(|c| c.la.is_some() == digital);
        let pyramid = |kind: &str| self::map(&files.path(&record.id, kind)).ok();
        Ok(Self {
            logic_pyramid: pyramid(LOGIC_PYRAMID),
            analog_pyramid: pyramid(ANALOG_PYRAMID),
            logic: has(true).then(|| map(LOGIC)).transpose()?,
            analog: has(false).then(|| map(ANALOG)).transpose()?,
            record,
        })
    }

    /// Samples of each channel.
    #[must_use]
    pub fn samples(&self) -> Vec<u64> {
        self.record.channels.iter().map(|c| c.samples).collect()
    }

    #[must_use]
    pub fn has_logic(&self) -> bool {
        self.logic.is_some()
    }

    #[must_use]
    pub fn has_analog(&self) -> bool {
        self.analog.is_some()
    }

    #[must_use]
    pub fn record(&self) -> &CaptureRecord {
        &self.record
    }

    /// Check that all samples are present and undamaged.
    ///
    /// # Errors
    /// They are not.
    pub fn verify(&self) -> Result<(), ReadError> {
        for channel in &self.record.channels {
            let got = match channel.la {
                Some(_) => self.logic()?.samples(),
                None => self.analog()?.samples(),
            };
            let wanted = channel.samples;
            if got != wanted {
                return Err(ReadError::Short { got, wanted });
            }
        }
        for span in layout::frames(&self.samples(), 0) {
            self.frame(span)?;
        }
        Ok(())
    }

    /// The logic samples.
    ///
    /// # Errors
    /// There are none, or the file is damaged.
    pub fn logic(&self) -> Result<Segment<'_>, ReadError> {
        let bytes = self.logic.as_deref().ok_or(ReadError::NoChannel)?;
        Ok(Segment::open(bytes)?)
    }

    /// The analog samples.
    ///
    /// # Errors
    /// There are none, or the file is damaged.
    pub fn analog(&self) -> Result<AnalogSegment<'_>, ReadError> {
        let bytes = self.analog.as_deref().ok_or(ReadError::NoChannel)?;
        AnalogSegment::open(bytes).map_err(ReadError::Analog)
    }

    /// The pyramid of the logic samples, if there is one that fits them.
    ///
    /// # Errors
    /// There are no such samples, or their file is damaged.
    pub(crate) fn logic_pyramid(&self) -> Result<Option<Pyramid<'_>>, ReadError> {
        let segment = self.logic()?;
        let bytes = self.logic_pyramid.as_deref();
        let pyramid = bytes.and_then(|bytes| Pyramid::open_logic(bytes).ok());
        let fits = |found: &Pyramid<'_>| {
            (found.channels(), found.samples()) == (segment.channels(), segment.samples())
        };
        Ok(pyramid.filter(fits))
    }

    /// The same of the analog samples.
    ///
    /// # Errors
    /// Likewise.
    pub(crate) fn analog_pyramid(&self) -> Result<Option<Pyramid<'_>>, ReadError> {
        let samples = self.analog()?.samples();
        let bytes = self.analog_pyramid.as_deref();
        let pyramid = bytes.and_then(|bytes| Pyramid::open_analog(bytes).ok());
        Ok(pyramid.filter(|found| found.samples() == samples))
    }

    /// Number of a logic channel among those, in the segment's order; none for an analog one.
    ///
    /// # Errors
    /// There is no such channel.
    pub(crate) fn logic_number(&self, channel: usize) -> Result<Option<usize>, ReadError> {
        let channels = &self.record.channels;
        let record = channels.get(channel).ok_or(ReadError::NoChannel)?;
        let before = channels[..channel].iter();
        let number = before.filter(|c| c.la.is_some()).count();
        Ok(record.la.map(|_| number))
    }

    /// Names of the logic channels, in the order of the segment's bits.
    #[must_use]
    pub fn logic_names(&self) -> Vec<String> {
        let logic = self.record.channels.iter().filter(|c| c.la.is_some());
        logic.map(|c| c.name.clone()).collect()
    }

    /// One frame. Blocks on the disk.
    ///
    /// # Errors
    /// The file is damaged, or there is no such frame.
    pub fn frame(&self, span: Span) -> Result<Data, ReadError> {
        let to = span.start_sample + span.count;
        let Some(bit) = self.logic_number(span.channel)? else {
            let segment = self.analog()?;
            let mut counts = Vec::new();
            segment
                .read(span.start_sample, to, &mut counts)
                .map_err(ReadError::Analog)?;
            let bytes = counts.iter().flat_map(|c| c.to_le_bytes()).collect();
            return Ok(Data::Counts(bytes));
        };
        let segment = self.logic()?;
        let level = u8::from(segment.level_at(bit, span.start_sample)?);
        let mut runs = Vec::new();
        let mut from = span.start_sample;
        // `level` already includes a toggle on the first sample.
        for toggle in segment.toggles(bit, span.start_sample + 1, to) {
            let toggle = toggle?;
            runs.push(run_length(from, toggle));
            from = toggle;
        }
        runs.push(run_length(from, to));
        Ok(Data::Runs { level, runs })
    }

    /// Values of an analog channel, in its unit, from sample `start` on, at most `limit`; none behind the end. Blocks on
    /// the disk.
    ///
    /// # Errors
    /// The file is damaged, or there is no such analog channel.
    pub fn values(&self, channel: usize, start: u64, limit: u32) -> Result<Vec<f64>, ReadError> {
        let found = self.record.channels.get(channel);
        let channel = found
            .filter(|c| c.la.is_none())
            .ok_or(ReadError::NoChannel)?;
        let to = start.saturating_add(limit.into()).min(channel.samples);
        let mut counts = Vec::new();
        let segment = self.analog()?;
        segment
            .read(start.min(to), to, &mut counts)
            .map_err(ReadError::Analog)?;
        Ok(counts
            .into_iter()
            .map(|count| channel.value(count))
            .collect())
    }

    /// Run a protocol decoder over the logic samples. Blocks for as long as it takes.
    ///
    /// # Errors
    /// The file is damaged, or the decoder needs more samples per bit.
    pub fn decode(&self, spec: &Spec, sink: Sink<'_>) -> Result<(), ReadError> {
        decode::decode_segment(&self.logic()?, spec, sink)?;
        Ok(())
    }
}

fn run_length(from: u64, to: u64) -> u32 {
    u32::try_from(to - from).expect("a run is within one frame")
}

/// Map a complete file of the data folder: a capture's, or a staged upload.
///
/// # Errors
/// It cannot be opened.
pub(super) fn map(path: &Path) -> io::Result<Mmap> {
    let file = File::open(path)?;
    #[expect(unsafe_code, reason = "captures are read in span, not copied")]
    // SAFETY: such a file is complete before anybody learns of it, and hostd, which owns the data
    // folder, never changes or truncates it afterwards; removing it leaves the mapping intact.
    unsafe {
        Mmap::map(&file)
    }
}

#[cfg(test)]
mod tests;
