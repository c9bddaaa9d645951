//! Finished captures as files for other tools, written piece by piece: nothing here holds more than
//! a chunk of the samples.

use std::io::{self, Write};

use decode::SpecError;
use decode::segment::SegmentError;
use serde::{Deserialize, Serialize};
use tables::Kind;

use super::reader::{ReadError, Reader};
pub use cut::Asked;
use cut::Cut;

mod csv;
mod cut;
mod fst;
mod raw;
mod sr;
mod table;
mod timeline;
mod vcd;
mod wav;

/// Samples unpacked at a time.
const CHUNK_SAMPLES: usize = 1 << 20;

/// How far the rate that a file says may be from the capture's, as a part of it: less than clocks differ.
const RATE_ERROR_MAX: f64 = 1e-5;

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Value change dump, IEEE 1364-2005.
    Vcd,
    /// Fast signal trace, of GTKWave and Surfer.
    Fst,
    /// sigrok session, version 2.
    Sr,
    /// A row for each change.
    Csv,
    /// Analog samples as 16-bit PCM.
    Wav,
    /// Bare samples, little-endian.
    Bin,
    /// Arrow IPC file, a row for each change.
    Arrow,
    /// Parquet file, likewise.
    Parquet,
}

/// Which channels a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    Logic,
    Analog,
    Both,
}

/// Why a capture cannot be written as a file.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("the capture has no {0} channels")]
    Lacks(&'static str),
    #[error("find the channel: {0}")]
    Channel(SpecError),
    #[error("the range must lie in the {samples} samples and not be empty")]
    Range { samples: u64 },
    #[error("a WAV file holds at most {max} samples, this capture has {samples}")]
    TooLong { samples: u64, max: u64 },
    #[error(
        "at the rate of its fastest channel this capture has {samples} samples, a session with both kinds of channels \
         holds at most {max}; take them apart, with `content=logic` and `content=analog`"
    )]
    Uneven { samples: u64, max: u64 },
    #[error(
        "a file of this format says a rate in whole hertz, this capture has {rate_hz} Hz; take `vcd` or `csv`"
    )]
    Rate { rate_hz: f64 },
    #[error(
        "this server was built without Arrow and Parquet; build it with `--features arrow`, or take `csv`"
    )]
    NotBuilt,
    #[error("read the capture")]
    Read(#[from] ReadError),
    #[error("send the file")]
    Write(#[from] io::Error),
}

impl From<SegmentError> for ExportError {
    fn from(error: SegmentError) -> Self {
        Self::Read(error.into())
    }
}

/// A file that can be written.
#[derive(Debug, Clone)]
pub struct Export {
    format: Format,
    cut: Cut,
}

impl Export {
    /// Choose the file's content: what was asked for, or else all that the format can hold.
    ///
    /// # Errors
    /// The capture lacks the channels or the samples, or is too long for the format.
    pub fn plan(reader: &Reader, format: Format, asked: &Asked) -> Result<Self, ExportError> {
        let chosen = cut::chosen(reader, &asked.channels)?;
        let channels = &reader.record().channels;
        let logic = chosen.iter().any(|c| channels[*c].la.is_some());
        let analog = chosen.iter().any(|c| channels[*c].la.is_none());
        let content = match (format, asked.content) {
            (Format::Wav, None | Some(Content::Both)) => Content::Analog,
            (Format::Wav, Some(Content::Logic)) => return Err(ExportError::Lacks("analog")),
            // One sample size per file.
            (Format::Bin, None | Some(Content::Both)) if logic => Content::Logic,
            (_, None | Some(Content::Both)) if !logic => Content::Analog,
            (_, None | Some(Content::Both)) if !analog => Content::Logic,
            (_, None) => Content::Both,
            (_, Some(content)) => content,
        };
        if content != Content::Analog && !logic {
            return Err(ExportError::Lacks("logic"));
        }
        if content != Content::Logic && !analog {
            return Err(ExportError::Lacks("analog"));
        }
        let cut = Cut::new(reader, &chosen, content, asked)?;
        match format {
            Format::Wav => wav::check(&cut)?,
            Format::Sr => {
                sr::check(&cut)?;
            }
            Format::Arrow | Format::Parquet => table::check()?,
            Format::Vcd | Format::Fst | Format::Csv | Format::Bin => {}
        }
        Ok(Self { format, cut })
    }

    /// Media type of the file.
    #[must_use]
    pub fn content_type(&self) -> &'static str {
        match self.format {
            Format::Vcd => "text/plain; charset=utf-8",
            Format::Csv => "text/csv; charset=utf-8",
            Format::Wav => "audio/wav",
            Format::Arrow => "application/vnd.apache.arrow.file",
            Format::Parquet => "application/vnd.apache.parquet",
            Format::Fst | Format::Sr | Format::Bin => "application/octet-stream",
        }
    }

    /// Write the file. Blocks on the disk, and on `out`.
    ///
    /// # Errors
    /// The capture is damaged, or `out` fails.
    pub fn write(&self, reader: &Reader, out: &mut dyn Write) -> Result<(), ExportError> {
        let cut = &self.cut;
        match self.format {
            Format::Vcd => vcd::write(reader, cut, out),
            Format::Fst => fst::write(reader, cut, out),
            Format::Csv => csv::write(reader, cut, out),
            Format::Sr => sr::write(reader, cut, out),
            Format::Wav => wav::write(reader, cut, out),
            Format::Arrow => table::write(Kind::Arrow, reader, cut, out),
            Format::Parquet => table::write(Kind::Parquet, reader, cut, out),
            Format::Bin if cut.has_logic() => {
                raw::logic(reader, cut, |bytes| Ok(out.write_all(bytes)?))
            }
            Format::Bin => raw::analog(reader, cut, |counts| {
                Ok(out.write_all(&raw::le_bytes(counts))?)
            }),
        }
    }
}

/// A rate in whole hertz.
///
/// # Errors
/// There is none near it.
fn whole_rate(rate_hz: f64) -> Result<u64, ExportError> {
    let whole = timeline::whole(rate_hz).max(1);
    let is_near = (timeline::float(whole) - rate_hz).abs() <= rate_hz * RATE_ERROR_MAX;
    is_near
        .then_some(whole)
        .ok_or(ExportError::Rate { rate_hz })
}

#[cfg(test)]
mod tests;
