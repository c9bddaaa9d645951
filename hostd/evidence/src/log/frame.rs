//! One frame of a log.

/// Most bytes of output in a frame; more become several.
pub const FRAME_BYTES_MAX: usize = 64 << 10;

/// Bytes of output between two entries of the index.
pub(crate) const INDEX_STEP: u64 = 64 << 10;

/// Bytes of an entry of the index.
pub(crate) const ENTRY_BYTES: usize = 16;

/// Bytes of a header.
pub(crate) const HEADER_BYTES: usize = 28;

/// The part of the header that is the checksum itself.
const CHECKSUM_BYTES: usize = 4;

/// The source of a piece of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output of a step.
    Output,
    /// Standard error of a step.
    Error,
    /// The serial line of the board.
    Uart,
    /// The server, with messages about the steps.
    Server,
}

const STREAMS: [Stream; 4] = [Stream::Output, Stream::Error, Stream::Uart, Stream::Server];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Output,
    Dropped,
}

/// A header that is valid in itself, but has not been compared with its bytes yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) len: usize,
    pub(crate) step: u16,
    pub(crate) stream: Stream,
    pub(crate) kind: Kind,
    /// Microseconds; for [`Kind::Dropped`], a number of bytes.
    pub(crate) time_us: u64,
    pub(crate) offset: u64,
}

impl Header {
    /// The header before `bytes`, as it is stored.
    pub(crate) fn encode(&self, bytes: &[u8]) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        let len = u32::try_from(self.len).unwrap_or(u32::MAX);
        header[0..4].copy_from_slice(&len.to_le_bytes());
        header[4..6].copy_from_slice(&self.step.to_le_bytes());
        header[6] = self.stream as u8;
        header[7] = self.kind as u8;
        header[8..16].copy_from_slice(&self.time_us.to_le_bytes());
        header[16..24].copy_from_slice(&self.offset.to_le_bytes());
        let checksum = checksum(&header, bytes);
        header[24..].copy_from_slice(&checksum.to_le_bytes());
        header
    }

    /// Decodes a header; `None` if no log has one like it.
    pub(crate) fn decode(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let len = u32::from_le_bytes(bytes[0..4].try_into().ok()?) as usize;
        let kind = match bytes[7] {
            0 => Kind::Output,
            1 => Kind::Dropped,
            _ => return None,
        };
        let is_possible = match kind {
            Kind::Output => (1..=FRAME_BYTES_MAX).contains(&len),
            Kind::Dropped => len == 0,
        };
        is_possible.then_some(Self {
            len,
            step: u16::from_le_bytes(bytes[4..6].try_into().ok()?),
            stream: *STREAMS.get(bytes[6] as usize)?,
            kind,
            time_us: u64::from_le_bytes(bytes[8..16].try_into().ok()?),
            offset: u64::from_le_bytes(bytes[16..24].try_into().ok()?),
        })
    }
}

/// Whether `bytes` match the checksum in the header.
pub(crate) fn agrees(header: &[u8; HEADER_BYTES], bytes: &[u8]) -> bool {
    header[HEADER_BYTES - CHECKSUM_BYTES..] == checksum(header, bytes).to_le_bytes()
}

fn checksum(header: &[u8; HEADER_BYTES], bytes: &[u8]) -> u32 {
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&header[..HEADER_BYTES - CHECKSUM_BYTES]);
    checksum.update(bytes);
    checksum.finalize()
}
