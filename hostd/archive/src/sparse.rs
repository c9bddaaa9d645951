//! Sparse files, which a tar has without their holes: where their pieces belong (GNU tar manual, "Storing Sparse Files"),
//! and their content as it was. A hole costs an archive nothing and the disk its bytes, so holes count as what an archive
//! unpacks to.

use std::io::{self, Read};

use tar::GnuHeader;

use crate::error::{ArchiveError, shown};

/// Pieces of one file: so many that the memory for them is small.
const PIECES_MAX: u64 = 1 << 16;

/// A map in front of a file's content is in whole blocks of a tar.
const BLOCK_BYTES: usize = 512;

/// Digits of the largest number.
const DIGITS_MAX: usize = 20;

/// What an extension says of a sparse file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) major: Option<u64>,
    pub(crate) minor: Option<u64>,
    /// The name, of which the header has another.
    pub(crate) name: Option<Vec<u8>>,
    /// Bytes of the file with its holes.
    pub(crate) size: Option<u64>,
    pub(crate) pieces: Option<u64>,
    /// Offsets and lengths in turn.
    pub(crate) map: Vec<u64>,
}

/// Where the pieces of a file belong.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Map {
    size: u64,
    /// Offset and length of each, in order.
    pieces: Vec<(u64, u64)>,
}

impl Said {
    /// The map of a file, of which version 1.0 has it in front of the `stored` bytes of its content.
    pub(crate) fn map(
        &self,
        name: &[u8],
        stored: u64,
        content: &mut dyn Read,
    ) -> Result<Map, ArchiveError> {
        let wrong = || malformed(name);
        let size = self.size.ok_or_else(wrong)?;
        match (self.major.unwrap_or(0), self.minor.unwrap_or(0)) {
            (0, 0 | 1) => {
                let count = self.map.len() as u64 / 2;
                if !self.map.len().is_multiple_of(2)
                    || self.pieces.is_some_and(|pieces| pieces != count)
                {
                    return Err(wrong());
                }
                let pieces = self.map.chunks_exact(2).map(|pair| (pair[0], pair[1]));
                Map::checked(size, pieces.collect(), stored).ok_or_else(wrong)
            }
            (1, 0) => {
                let mut numbers = Numbers::new(content);
                let mut next = || {
                    numbers
                        .next()
                        .transpose()
                        .ok_or_else(wrong)?
                        .map_err(ArchiveError::of_reading)
                };
                let count = next()?;
                if count > PIECES_MAX {
                    return Err(wrong());
                }
                let mut pieces = Vec::new();
                for _ in 0..count {
                    pieces.push((next()?, next()?));
                }
                let rest = stored.checked_sub(numbers.bytes).ok_or_else(wrong)?;
                Map::checked(size, pieces, rest).ok_or_else(wrong)
            }
            _ => Err(ArchiveError::Sparse { entry: shown(name) }),
        }
    }
}

impl Map {
    /// The map of a file in the old format of GNU tar, if all of it is in the header. More is in blocks of its own, which
    /// only a reader of that format finds.
    pub(crate) fn of_header(
        header: &GnuHeader,
        name: &[u8],
        stored: u64,
    ) -> Result<Self, ArchiveError> {
        if header.is_extended() {
            return Err(ArchiveError::Sparse { entry: shown(name) });
        }
        let size = header.real_size().map_err(ArchiveError::of_reading)?;
        let pieces = header.sparse.iter().filter(|piece| !piece.is_empty());
        let pieces = pieces.map(|piece| Ok((piece.offset()?, piece.length()?)));
        let pieces: io::Result<Vec<_>> = pieces.collect();
        let pieces = pieces.map_err(ArchiveError::of_reading)?;
        Self::checked(size, pieces, stored).ok_or_else(|| malformed(name))
    }

    /// Pieces in order, apart from each other and within the file, that are all `stored` bytes.
    fn checked(size: u64, pieces: Vec<(u64, u64)>, stored: u64) -> Option<Self> {
        if pieces.len() as u64 > PIECES_MAX {
            return None;
        }
        let (mut end, mut sum) = (0_u64, 0_u64);
        for (offset, bytes) in &pieces {
            if *offset < end {
                return None;
            }
            end = offset.checked_add(*bytes)?;
            sum = sum.checked_add(*bytes)?;
        }
        (end <= size && sum == stored).then_some(Self { size, pieces })
    }

    /// Bytes of the file with its holes.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Bytes of its holes.
    pub(crate) fn holes(&self) -> u64 {
        let pieces = self.pieces.iter().map(|(_, bytes)| bytes);
        self.size.saturating_sub(pieces.sum())
    }

    /// The file as it was, of its pieces in `from`.
    pub(crate) fn expand<R: Read>(self, from: R) -> Expanded<R> {
        Expanded {
            from,
            map: self,
            at: 0,
            piece: 0,
        }
    }
}

fn malformed(name: &[u8]) -> ArchiveError {
    ArchiveError::Damaged {
        reason: format!("the map of the sparse file '{}' is malformed", shown(name)),
    }
}

/// Numbers of a line each, in whole blocks.
struct Numbers<'r> {
    from: &'r mut dyn Read,
    block: [u8; BLOCK_BYTES],
    at: usize,
    /// Bytes of all blocks that were read.
    bytes: u64,
}

impl<'r> Numbers<'r> {
    fn new(from: &'r mut dyn Read) -> Self {
        Self {
            from,
            block: [0; BLOCK_BYTES],
            at: BLOCK_BYTES,
            bytes: 0,
        }
    }

    /// None if there is no number here.
    fn next(&mut self) -> io::Result<Option<u64>> {
        let mut digits = String::new();
        loop {
            if self.at == BLOCK_BYTES {
                self.from.read_exact(&mut self.block)?;
                self.bytes += BLOCK_BYTES as u64;
                self.at = 0;
            }
            let byte = self.block[self.at];
            self.at += 1;
            match byte {
                b'\n' => return Ok(digits.parse().ok()),
                b'0'..=b'9' if digits.len() < DIGITS_MAX => digits.push(char::from(byte)),
                _ => return Ok(None),
            }
        }
    }
}

/// The content of a sparse file with zeros in its holes.
pub(crate) struct Expanded<R> {
    from: R,
    map: Map,
    at: u64,
    /// Index of the piece that is here or next.
    piece: usize,
}

impl<R: Read> Read for Expanded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let piece = self.map.pieces.get(self.piece);
            let (offset, bytes) = piece.copied().unwrap_or((self.map.size, 0));
            let (is_hole, until) = match self.at < offset {
                true => (true, offset),
                false => (false, offset + bytes),
            };
            let left = until - self.at;
            if left == 0 && piece.is_some() {
                self.piece += 1;
                continue;
            }
            let len = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
            let part = &mut buffer[..len];
            let read = match is_hole {
                true => {
                    part.fill(0);
                    len
                }
                false => self.from.read(part)?,
            };
            self.at += read as u64;
            return Ok(read);
        }
    }
}
