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

    /// Adds a piece that begins within this one or right after it.
    fn join(&mut self, piece: &Self) -> Result<(), ImageError> {
        let from = (piece.address - self.address) as usize;
        let known = &self.data[from.min(self.data.len())..];
        if let Some(place) = known.iter().zip(&piece.data).position(|(a, b)| a != b) {
            // Within a piece, which ends at 32-bit addresses.
            let address = piece.address + u32::try_from(place).unwrap_or(u32::MAX);
            return Err(ImageError::Overlap { address });
        }
        let added = piece.data.get(known.len()..).unwrap_or_default();
        self.data.extend_from_slice(added);
        Ok(())
    }

    /// Where it goes, how long it is, and its checksum.
    #[must_use]
    pub fn extent(&self) -> Extent {
        Extent {
            address: self.address,
            bytes: self.data.len() as u64,
            crc32: crc32fast::hash(&self.data),
        }
    }
}

/// What is known of a segment without its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Where the first byte goes.
    pub address: u32,
    /// Number of bytes, at least 1.
    pub bytes: u64,
    /// CRC-32 of the bytes, as in zlib and IEEE 802.3 (reflected polynomial 0xedb88320).
    pub crc32: u32,
}

impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}..{:#010x}", self.address, self.end())
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            address,
            bytes,
            crc32,
        } = self;
        let end = u64::from(*address) + bytes;
        write!(
            f,
            "{address:#010x}..{end:#010x} ({bytes} bytes, CRC-32 {crc32:08x})"
        )
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

    /// Sorts the pieces and joins those that touch. Where they overlap, they must agree.
    pub(super) fn finish(mut self) -> Result<Vec<Segment>, ImageError> {
        self.pieces.sort_by_key(|piece| piece.address);
        let mut joined: Vec<Segment> = Vec::new();
        for piece in self.pieces {
            match joined.last_mut() {
                Some(last) if last.end() >= u64::from(piece.address) => last.join(&piece)?,
                _ => joined.push(piece),
            }
        }
        Ok(joined)
    }
}
