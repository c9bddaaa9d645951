//! What a link consists of: a header of eight bytes, then as many bytes as it says.

/// Bytes of a header: channel (16 bits), kind (8 bits), zero (8 bits), length (32 bits), little-endian.
pub(super) const HEADER_BYTES: usize = 8;

/// The least that each side takes in one frame, without the header.
pub const FRAME_BYTES_MIN: u32 = 512;

/// The most that a frame carries, without the header.
pub const FRAME_BYTES_MAX: u32 = 64 * 1024;

/// Bytes of the transfers that a link is best carried in, each way.
pub const TRANSFER_BYTES: usize = 64 * 1024;

/// What a frame is about. Channel 0 is the link itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// On channel 0: the first frame each way.
    Greeting = 1,
    /// From the host: a new connection on this channel.
    Open = 2,
    /// From the pod: the connection is open.
    Accept = 3,
    /// Bytes of the connection.
    Data = 4,
    /// 32 bits: as many more bytes may be sent.
    Credit = 5,
    /// The sender sends no more on this channel.
    End = 6,
    /// The channel is over, both ways. Text that says why may follow. It is answered by the same.
    Reset = 7,
    /// On channel 0: the sender is still there.
    Alive = 8,
}

impl Kind {
    fn of(byte: u8) -> Option<Self> {
        Some(match byte {
            1 => Self::Greeting,
            2 => Self::Open,
            3 => Self::Accept,
            4 => Self::Data,
            5 => Self::Credit,
            6 => Self::End,
            7 => Self::Reset,
            8 => Self::Alive,
            _ => return None,
        })
    }
}

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) channel: u16,
    pub(super) kind: Kind,
    /// Bytes that follow.
    pub(super) length: u32,
}

/// Why bytes are not a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The kind is none that there is.
    #[error("a frame is of the unknown kind {0}")]
    Kind(u8),
    /// It is longer than may be sent.
    #[error("a frame of {0} bytes is longer than agreed")]
    Length(u32),
    /// The reserved byte is set.
    #[error("the fourth byte of a frame is not zero")]
    Reserved,
}

impl Header {
    pub(super) fn new(channel: u16, kind: Kind, length: usize) -> Self {
        let length = u32::try_from(length).expect("a frame is far below 4 GiB");
        Self {
            channel,
            kind,
            length,
        }
    }

    pub(super) fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let [channel_low, channel_high] = self.channel.to_le_bytes();
        let [a, b, c, d] = self.length.to_le_bytes();
        [channel_low, channel_high, self.kind as u8, 0, a, b, c, d]
    }

    /// Reads a header of a frame of at most `length_max` bytes.
    pub(super) fn of(bytes: [u8; HEADER_BYTES], length_max: u32) -> Result<Self, FrameError> {
        let [channel_low, channel_high, kind, reserved, a, b, c, d] = bytes;
        let length = u32::from_le_bytes([a, b, c, d]);
        if length > length_max {
            return Err(FrameError::Length(length));
        }
        if reserved != 0 {
            return Err(FrameError::Reserved);
        }
        Ok(Self {
            channel: u16::from_le_bytes([channel_low, channel_high]),
            kind: Kind::of(kind).ok_or(FrameError::Kind(kind))?,
            length,
        })
    }
}
