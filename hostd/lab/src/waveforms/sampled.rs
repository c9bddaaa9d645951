//! A waveform to compute with, wherever its samples are. Reading them blocks.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::PathBuf;

use super::signal::{self, Mapping, Span};
use super::{WaveformError, check, decode_codes, invalid};
use store::waveforms::{Kind, Output, Segment, Unit, WaveformRecord};

/// What a sample stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// A level: the highest sample is `full`, and 0 is 0.
    Level { full: f64, unit: Unit },
    /// A code of whatever output it is played on.
    Code,
}

/// Where the samples are.
#[derive(Debug)]
enum Source {
    /// u8 or little-endian u16.
    Memory(Vec<u8>),
    File(PathBuf),
    /// Drawn when they are needed.
    Segments(Vec<Segment>),
}

/// The samples of a waveform, and what they mean.
#[derive(Debug)]
pub struct Sampled {
    source: Source,
    count: usize,
    bits: u8,
    pub(crate) scale: Scale,
    /// 0 = not known.
    pub rate_hz: f64,
}

impl Sampled {
    pub(super) fn kept(record: WaveformRecord, path: PathBuf) -> Self {
        let unit = record.unit;
        let scale = if record.kind == Kind::Codes && record.full_scale <= 0.0 {
            Scale::Code
        } else {
            let full = record.full_scale;
            Scale::Level { full, unit }
        };
        let source = match record.kind {
            Kind::Codes | Kind::Recording => Source::File(path),
            Kind::Segments => Source::Segments(record.segments),
        };
        Self {
            source,
            count: usize::try_from(record.count).unwrap_or(usize::MAX),
            bits: record.bits,
            scale,
            rate_hz: record.sample_rate_hz,
        }
    }

    /// Codes that came with a request, in base64.
    ///
    /// # Errors
    /// What is wrong with them, by field.
    pub fn given(
        samples_b64: &str,
        bits: u8,
        rate_hz: f64,
        full_scale_v: Option<f64>,
    ) -> Result<Self, WaveformError> {
        let bytes = decode_codes(samples_b64, bits)?;
        check::rate("sample_rate_hz", rate_hz)?;
        let scale = match full_scale_v {
            None => Scale::Code,
            Some(full) => {
                check::full_scale(full)?;
                let unit = Unit::Volts;
                Scale::Level { full, unit }
            }
        };
        Ok(Self {
            count: bytes.len() / usize::from(bits / 8),
            source: Source::Memory(bytes),
            bits,
            scale,
            rate_hz,
        })
    }

    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Levels in another unit than the output's can only be stretched.
    ///
    /// # Errors
    /// They cannot be output unchanged.
    pub(crate) fn check_unit(&self, output: Output, mapping: Mapping) -> Result<(), WaveformError> {
        match self.scale {
            Scale::Level { unit, .. } if unit != output.unit() && mapping == Mapping::Faithful => {
                let message = format!(
                    "must be fit: the waveform is in {}, {} in {}",
                    symbol(unit),
                    output.name(),
                    symbol(output.unit())
                );
                Err(invalid("mapping", message))
            }
            Scale::Level { .. } | Scale::Code => Ok(()),
        }
    }

    /// The levels that an output's first and last code stand for: codes are played as they are,
    /// whatever the output's range.
    #[must_use]
    pub fn span(&self, output: Span) -> Span {
        match self.scale {
            Scale::Level { .. } => output,
            Scale::Code => Span {
                low: 0.0,
                high: self.top(),
            },
        }
    }

    /// The mean level of each block of `block` samples of `range`.
    ///
    /// # Errors
    /// The samples cannot be read.
    pub(crate) fn means(
        &self,
        range: Range<usize>,
        block: usize,
    ) -> Result<Vec<f64>, WaveformError> {
        let width = usize::from(self.bits / 8);
        let read;
        let bytes = match &self.source {
            Source::Memory(bytes) => &bytes[range.start * width..range.end * width],
            Source::File(path) => {
                read = part(path, range.start * width..range.end * width).map_err(|source| {
                    let path = path.clone();
                    WaveformError::Blob { path, source }
                })?;
                &read
            }
            Source::Segments(segments) => {
                let levels = signal::levels(segments, self.rate_hz);
                let range = range.start.min(levels.len())..range.end.min(levels.len());
                return Ok(signal::averages(levels[range].iter().copied(), block));
            }
        };
        let unit = match self.scale {
            Scale::Level { full, .. } => full / self.top(),
            Scale::Code => 1.0,
        };
        Ok(if width == 1 {
            let levels = bytes.iter().map(|sample| f64::from(*sample) * unit);
            signal::averages(levels, block)
        } else {
            let (pairs, _odd) = bytes.as_chunks::<2>();
            let levels = (pairs.iter()).map(|pair| f64::from(u16::from_le_bytes(*pair)) * unit);
            signal::averages(levels, block)
        })
    }

    /// The highest sample.
    fn top(&self) -> f64 {
        if self.bits == 8 {
            f64::from(u8::MAX)
        } else {
            f64::from(u16::MAX)
        }
    }
}

fn part(path: &PathBuf, range: Range<usize>) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(range.start as u64))?;
    let mut bytes = vec![0; range.len()];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn symbol(unit: Unit) -> &'static str {
    match unit {
        Unit::Volts => "V",
        Unit::Milliamps => "mA",
    }
}
