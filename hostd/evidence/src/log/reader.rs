//! Reading a log by offset, while it grows or after.

use std::io::{self, Read, Seek, SeekFrom};

use super::frame::{ENTRY_BYTES, HEADER_BYTES, Header, Kind, Stream, agrees};

/// A part of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Something was written.
    Output {
        /// Place of its first byte among all bytes of output.
        offset: u64,
        /// When it was written, in microseconds.
        time_us: u64,
        /// The source of the bytes.
        stream: Stream,
        /// The step that ran.
        step: u16,
        /// The bytes themselves.
        bytes: Vec<u8>,
    },
    /// This many bytes of output are missing here.
    Dropped(u64),
}

/// A log that is read from an offset onwards.
#[derive(Debug)]
pub struct Reader<L> {
    log: L,
    /// Where the next frame begins.
    place: u64,
    /// The first byte of output that has not been read yet.
    offset: u64,
}

/// The part of a log that is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recovered {
    /// Bytes of the file up to the first frame that is not whole; everything after may be cut off.
    pub file_bytes: u64,
    /// Bytes of output.
    pub bytes: u64,
    /// Bytes of output that are missing.
    pub dropped: u64,
}

/// Finds the end of the whole frames, after a crash.
///
/// # Errors
/// The log cannot be read.
pub fn recover(log: &mut (impl Read + Seek)) -> io::Result<Recovered> {
    let mut reader = Reader {
        log,
        place: 0,
        offset: 0,
    };
    let mut dropped = 0;
    reader.log.seek(SeekFrom::Start(0))?;
    while let Some(piece) = reader.next_frame()? {
        if let Piece::Dropped(bytes) = piece {
            dropped += bytes;
        }
    }
    Ok(Recovered {
        file_bytes: reader.place,
        bytes: reader.offset,
        dropped,
    })
}

impl<L: Read + Seek> Reader<L> {
    /// Reads `log` from byte `offset` of its output. `index` is the content of the index, or part of
    /// it, or empty: without it the log is read from its beginning.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn new(log: L, index: &[u8], offset: u64) -> io::Result<Self> {
        let mut reader = Self {
            log,
            place: 0,
            offset: 0,
        };
        if let Some(entry) = entry_before(index, offset)
            && reader.leads_to_frame(entry)?
        {
            (reader.offset, reader.place) = entry;
        }
        // Whole frames are skipped; the one that contains the offset is cut when it is read.
        reader.log.seek(SeekFrom::Start(reader.place))?;
        while let Some((header, _)) = reader.read_header()? {
            let end = header.offset.saturating_add(header.len as u64);
            if header.offset != reader.offset || header.kind == Kind::Dropped || end > offset {
                break;
            }
            reader.offset = end;
            reader.place += (HEADER_BYTES + header.len) as u64;
            reader.log.seek(SeekFrom::Start(reader.place))?;
        }
        reader.log.seek(SeekFrom::Start(reader.place))?;
        reader.skip_to(offset)?;
        Ok(reader)
    }

    /// The next piece; `None` at the end of what there is so far.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn next_piece(&mut self) -> io::Result<Option<Piece>> {
        self.log.seek(SeekFrom::Start(self.place))?;
        let from = self.offset;
        // A reader that began in the middle of a frame lies between the offsets of two frames.
        let piece = self.next_frame()?;
        Ok(piece.map(|piece| match piece {
            Piece::Output {
                offset,
                time_us,
                stream,
                step,
                bytes,
            } if offset < from => {
                let known = usize::try_from(from - offset).unwrap_or(usize::MAX);
                Piece::Output {
                    offset: from,
                    time_us,
                    stream,
                    step,
                    bytes: bytes.get(known..).unwrap_or_default().to_vec(),
                }
            }
            other => other,
        }))
    }

    /// Where the next piece begins: what a follower requests next.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Moves into the frame at the current place, if `offset` is in it.
    fn skip_to(&mut self, offset: u64) -> io::Result<()> {
        if let Some((header, _)) = self.read_header()? {
            let end = header.offset.saturating_add(header.len as u64);
            if (header.offset..end).contains(&offset) {
                self.offset = offset;
            }
        }
        Ok(())
    }

    /// Whether there is a whole frame at the place that an entry of the index gives.
    fn leads_to_frame(&mut self, (offset, place): (u64, u64)) -> io::Result<bool> {
        self.log.seek(SeekFrom::Start(place))?;
        let Some((header, raw)) = self.read_header()? else {
            return Ok(false);
        };
        let mut bytes = vec![0; header.len];
        let is_whole = read_whole(&mut self.log, &mut bytes)? && agrees(&raw, &bytes);
        Ok(is_whole && header.offset == offset && header.kind == Kind::Output)
    }

    /// Reads the frame at the log's current position and moves past it, if it is whole.
    fn next_frame(&mut self) -> io::Result<Option<Piece>> {
        let Some((header, raw)) = self.read_header()? else {
            return Ok(None);
        };
        let mut bytes = vec![0; header.len];
        if !read_whole(&mut self.log, &mut bytes)? || !agrees(&raw, &bytes) {
            return Ok(None);
        }
        let Some(end) = header.offset.checked_add(header.len as u64) else {
            return Ok(None);
        };
        // Frames follow each other without a gap; the reader may be inside one.
        let is_next = header.offset <= self.offset && (self.offset < end || header.len == 0);
        if !is_next {
            return Ok(None);
        }
        self.offset = end;
        self.place += (HEADER_BYTES + header.len) as u64;
        Ok(Some(match header.kind {
            Kind::Dropped => Piece::Dropped(header.time_us),
            Kind::Output => Piece::Output {
                offset: header.offset,
                time_us: header.time_us,
                stream: header.stream,
                step: header.step,
                bytes,
            },
        }))
    }

    fn read_header(&mut self) -> io::Result<Option<(Header, [u8; HEADER_BYTES])>> {
        let mut raw = [0; HEADER_BYTES];
        if !read_whole(&mut self.log, &mut raw)? {
            return Ok(None);
        }
        Ok(Header::decode(&raw).map(|header| (header, raw)))
    }
}

/// The last entry of the index at or before `offset`: offset and place of its frame.
fn entry_before(index: &[u8], offset: u64) -> Option<(u64, u64)> {
    let entries = index.as_chunks::<ENTRY_BYTES>().0;
    let number = |entry: &[u8; ENTRY_BYTES], at: usize| {
        u64::from_le_bytes(std::array::from_fn(|byte| entry[at + byte]))
    };
    let behind = entries.partition_point(|entry| number(entry, 0) <= offset);
    let entry = entries.get(behind.checked_sub(1)?)?;
    (number(entry, 0) <= offset).then(|| (number(entry, 0), number(entry, 8)))
}

/// Fills `bytes`; false if the log ends before.
fn read_whole(log: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match log.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
