//! Samples as bytes after the line of their packet: neither text nor base64, so that a link of 480 Mbit/s can be filled.
//!
//! ```text
//! {"status":"chunk","raw":4,"more":true}\n              06 00 06 ff         two counts of the ADC
//! {"status":"chunk","raw":4,"la":true,"more":true}\n    03 00 01 00         two samples of the logic analyzer
//! {"status":"chunk","raw":4,"la":true,"la_runs":true,"more":false}\n  00 01 01 00   256 samples of 0001
//! ```
//!
//! All numbers have 16 bits and are little-endian. A pod chooses for each packet whether runs or samples are shorter.

use super::{Chunk, Payload};

/// Most bytes of samples of one packet.
pub const RAW_BYTES_MAX: usize = 64 * 1024;

/// What `enc` is to be for packets of this kind.
pub const ENCODING: &str = "raw";

/// The feature of a pod that can send them.
pub const CAPABILITY: &str = "capture_raw";

/// Bytes that follow a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Raw {
    /// How many.
    pub bytes: usize,
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Counts,
    Words,
    Runs,
}

impl Raw {
    /// What a line announces, if that is whole samples and not too many.
    pub(super) fn announced(bytes: u64, is_logic: bool, are_runs: bool) -> Option<Self> {
        let (form, item_bytes) = match (is_logic, are_runs) {
            (false, _) => (Form::Counts, 2),
            (true, false) => (Form::Words, 2),
            (true, true) => (Form::Runs, 4),
        };
        let bytes = usize::try_from(bytes).ok()?;
        let is_sound = bytes <= RAW_BYTES_MAX && bytes.is_multiple_of(item_bytes);
        is_sound.then_some(Self { bytes, form })
    }
}

impl Chunk {
    /// How many bytes follow its line.
    pub fn raw_bytes(&self) -> Option<usize> {
        match self.payload {
            Payload::Raw(raw) => Some(raw.bytes),
            _ => None,
        }
    }

    /// The packet with the bytes that followed its line, as many as it announced.
    pub fn take(self, bytes: &[u8]) -> Self {
        let Payload::Raw(raw) = self.payload else {
            return self;
        };
        debug_assert_eq!(bytes.len(), raw.bytes, "as many as announced");
        let number = |pair: &[u8; 2]| u16::from_le_bytes(*pair);
        let numbers = || bytes.as_chunks::<2>().0.iter().map(number).collect();
        let payload = match raw.form {
            Form::Counts => Payload::Dense(numbers()),
            Form::Words => Payload::Words(numbers()),
            Form::Runs => {
                let runs = bytes.as_chunks::<4>().0.iter();
                let run = |[a, b, c, d]: &[u8; 4]| (number(&[*a, *b]), number(&[*c, *d]));
                Payload::Runs(runs.map(run).collect())
            }
        };
        Self { payload, ..self }
    }
}

/// Counts or words as bytes.
pub fn encode(numbers: &[u16]) -> Vec<u8> {
    numbers.iter().flat_map(|one| one.to_le_bytes()).collect()
}

/// Runs of the words of samples `from..upto`, where `edges` has each change after `from`, and `word` is that at `from`.
pub fn encode_runs(word: u16, edges: &[(u64, u16)], from: u64, upto: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 * (edges.len() + 1));
    let (mut at, mut word) = (from, word);
    for (end, next) in edges.iter().copied().chain([(upto, 0)]) {
        while at < end {
            let run = u16::try_from(end - at).unwrap_or(u16::MAX);
            bytes.extend(run.to_le_bytes());
            bytes.extend(word.to_le_bytes());
            at += u64::from(run);
        }
        word = next;
    }
    bytes
}

#[cfg(test)]
mod tests;
