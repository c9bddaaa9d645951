//! Sorts pieces of data with addresses.

use std::fmt;

use super::{IMAGE_BYTES_MAX, ImageError};

/// Bytes that go to consecutive addresses.
#[derive(Clone, PartialEq, Eq)]
pub struct Segment {
    /// Where the first one goes.
    pub address: u32,
    /// The bytes; at least one, none beyond 32-bit addresses.
    pub data: Vec<u8>,
}

impl Segment {
    /// The address after the last byte.
    #[must_use]
    pub fn end(&self) -> u64 {
        u64::from(self.address) + self.data.len() as u64
    }
}

impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}..{:#010x}", self.address, self.end())
    }
}

/// Collects pieces in any order.
#[derive(Debug, Default)]
pub(super) struct Segments {
    pieces: Vec<Segment>,
    bytes: usize,
}

impl Segments {
    pub(super) fn add(&mut self, address: u32, data: &[u8]) -> Result<(), ImageError> {
        if data.is_empty() {
            return Ok(());
        }
        let bytes = data.len();
        if bytes as u64 > (1 << 32) - u64::from(address) {
            return Err(ImageError::Wraps { address, bytes });
        }
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > IMAGE_BYTES_MAX {
            let limit = IMAGE_BYTES_MAX;
            return Err(ImageError::TooLarge { limit });
        }
        match self.pieces.last_mut() {
            Some(last) if last.end() == u64::from(address) => last.data.extend_from_slice(data),
            _ => self.pieces.push(Segment {
                address,
                data: data.to_vec(),
            }),
        }
        Ok(())
    }

    /// Sorts the pieces and joins adjacent ones.
    pub(super) fn finish(mut self) -> Result<Vec<Segment>, ImageError> {
        self.pieces.sort_by_key(|piece| piece.address);
        let mut joined: Vec<Segment> = Vec::new();
        for piece in self.pieces {
            match joined.last_mut() {
                Some(last) if last.end() > u64::from(piece.address) => {
                    let address = piece.address;
                    return Err(ImageError::Overlap { address });
                }
                Some(last) if last.end() == u64::from(piece.address) => {
                    last.data.extend(piece.data);
                }
                _ => joined.push(piece),
            }
        }
        Ok(joined)
    }
}
