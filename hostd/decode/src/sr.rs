//! Reader of sigrok's `.sr` files, versions 1 and 2, and a writer of version 2.
//!
//! An `.sr` file is a zip archive: `metadata` (an ini file with sample rate, channel names and
//! sample size), and the samples in `logic-1` (version 1) or `logic-1-1`, `logic-1-2`, …
//! (version 2). Analog samples are floats, in `analog-1-9-1`, … for the channel with number 9.
//!
//! These files are natural zip bombs: a megabyte of archive often holds a gigabyte of samples. So
//! no code here ever holds a whole capture in memory. Samples are inflated through buffers that are
//! reused while they are still in the cache, and [`Limits`] bounds what is accepted at all.

mod analog;
mod crc;
mod edges;
mod error;
mod inflate;
mod limits;
mod metadata;
mod runs;
mod writer;
mod zip;

pub use analog::AnalogChannel;
pub use edges::{Recording, load_edges};
pub use error::SrError;
pub use limits::Limits;
pub use writer::{Layout, Writer};

use inflate::Source;
use metadata::Metadata;
pub(crate) use metadata::spoken_rate;
use std::ops::ControlFlow;
use zip::Entry;

/// Takes blocks of whole raw samples, in order.
pub type Visitor<'a> = &'a mut (dyn FnMut(&[u8]) -> ControlFlow<()> + Send);

/// Some raw samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Whole samples.
    Samples(&'a [u8]),
    /// Whole samples that are all equal, so many times: a signal rests.
    Repeated {
        /// At least one sample.
        samples: &'a [u8],
        /// At least once.
        times: u64,
    },
}

/// Takes raw samples, in order.
pub type PieceVisitor<'a> = &'a mut (dyn FnMut(Piece<'_>) -> ControlFlow<()> + Send);

/// An `.sr` file whose directory and metadata were read; the samples were not.
#[derive(Debug)]
pub struct Archive<'a> {
    metadata: Metadata,
    /// The entries with samples, in order.
    logic: Vec<Entry<'a>>,
    analog: Vec<AnalogChannel<'a>>,
}

impl<'a> Archive<'a> {
    /// Reads the archive's directory and metadata. `bytes` is the whole file, best memory-mapped.
    ///
    /// # Errors
    /// The file is not an `.sr` archive with logic samples, is damaged, or exceeds a limit.
    pub fn parse(bytes: &'a [u8], limits: &Limits) -> Result<Self, SrError> {
        let archive = Self::parse_any(bytes, limits)?;
        if archive.logic.is_empty() {
            return Err(SrError::NoLogic);
        }
        Ok(archive)
    }

    /// Likewise, of a file that may have analog samples alone.
    ///
    /// # Errors
    /// The file is not an `.sr` archive with samples, is damaged, or exceeds a limit.
    pub fn parse_any(bytes: &'a [u8], limits: &Limits) -> Result<Self, SrError> {
        let entries = zip::directory(bytes, limits)?;
        let metadata = entries.iter().find(|entry| entry.name == "metadata");
        let metadata = metadata.ok_or(SrError::NoMetadata)?;
        let text = inflate::metadata(metadata, limits)?;
        let metadata = Metadata::parse(&String::from_utf8_lossy(&text))?;
        let analog = analog::channels(&entries, &metadata)?;
        let logic = numbered_entries(&entries, &metadata.capture_file)?;
        if logic.is_empty() && analog.is_empty() {
            return Err(SrError::NoLogic);
        }
        Ok(Self {
            metadata,
            logic,
            analog,
        })
    }

    /// Samples per second; old files may not have it.
    pub fn sample_rate_hz(&self) -> Option<f64> {
        self.metadata.sample_rate_hz
    }

    /// Channel names; a channel's number is its bit in a sample. A channel without a name gets its
    /// number as its name. Old files name more channels than a sample has bits; the surplus is low.
    pub fn channels(&self) -> &[String] {
        &self.metadata.channels
    }

    /// Bytes per sample, 1..=8; samples are little-endian.
    pub fn unit_size(&self) -> usize {
        self.metadata.unit_size
    }

    /// Samples in the capture, according to the directory.
    pub fn total_samples(&self) -> u64 {
        let bytes: u64 = self.logic.iter().map(|entry| entry.size).sum();
        bytes / self.unit_size() as u64
    }

    /// Its analog channels, those that have samples.
    pub fn analog(&self) -> &[AnalogChannel<'a>] {
        &self.analog
    }

    /// Passes all logic samples to `visitor`, in blocks of whole samples. While it processes one block,
    /// the next ones are inflated on other threads.
    ///
    /// # Errors
    /// The compressed samples are damaged. The blocks before the damage have been passed on.
    pub fn visit(&self, visitor: Visitor<'_>) -> Result<ControlFlow<()>, SrError> {
        self.visit_pieces(&mut |piece| piece.each_block(visitor))
    }

    /// Likewise, where what rests is said rather than shown.
    ///
    /// # Errors
    /// As of [`Archive::visit`].
    pub fn visit_pieces(&self, visitor: PieceVisitor<'_>) -> Result<ControlFlow<()>, SrError> {
        Source::new(&self.logic, self.unit_size()).visit(visitor)
    }
}

impl Piece<'_> {
    /// Passes all of its samples on.
    fn each_block(self, visitor: Visitor<'_>) -> ControlFlow<()> {
        match self {
            Self::Samples(raw) => visitor(raw),
            Self::Repeated { samples, times } => (0..times).try_for_each(|_| visitor(samples)),
        }
    }
}

/// The entries that hold the samples of `name`, sorted by their number; none if there are none.
fn numbered_entries<'a>(entries: &[Entry<'a>], name: &str) -> Result<Vec<Entry<'a>>, SrError> {
    let mut numbered = Vec::new();
    for entry in entries {
        let Some(rest) = entry.name.strip_prefix(name) else {
            continue;
        };
        if rest.is_empty() {
            numbered.push((0, entry));
        } else if let Some(Ok(number)) = rest.strip_prefix('-').map(str::parse::<u32>) {
            numbered.push((number, entry));
        }
    }
    numbered.sort_by_key(|(number, _)| *number);
    if let Some(pair) = numbered.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(SrError::RepeatedEntry {
            entry: pair[1].1.name.clone(),
        });
    }
    let sorted = numbered.into_iter().map(|(_, entry)| entry.clone());
    Ok(sorted.collect())
}
