//! Analog channels: a 32-bit float for each sample.

use super::inflate::Source;
use super::metadata::Metadata;
use super::zip::Entry;
use super::{SrError, Visitor, numbered_entries};
use std::ops::ControlFlow;

/// Bytes of a sample.
const BYTES: usize = 4;

/// An analog channel of a file.
#[derive(Debug)]
pub struct AnalogChannel<'a> {
    name: String,
    entries: Vec<Entry<'a>>,
}

impl AnalogChannel<'_> {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its samples, according to the directory.
    pub fn samples(&self) -> u64 {
        let bytes: u64 = self.entries.iter().map(|entry| entry.size).sum();
        bytes / BYTES as u64
    }

    /// Passes all samples to `visitor`, in blocks of whole floats, little-endian.
    ///
    /// # Errors
    /// The compressed samples are damaged. The blocks before the damage have been passed on.
    pub fn visit(&self, visitor: Visitor<'_>) -> Result<ControlFlow<()>, SrError> {
        Source::new(&self.entries, BYTES).visit(&mut |piece| piece.each_block(visitor))
    }
}

/// The channels that have samples, in the order of their numbers.
pub(super) fn channels<'a>(
    entries: &[Entry<'a>],
    metadata: &Metadata,
) -> Result<Vec<AnalogChannel<'a>>, SrError> {
    let mut channels = Vec::new();
    for (number, name) in &metadata.analog {
        let entries = numbered_entries(entries, &format!("analog-1-{number}"))?;
        if !entries.is_empty() {
            let name = name.clone();
            channels.push(AnalogChannel { name, entries });
        }
    }
    Ok(channels)
}
