//! What can be wrong with a stored capture.

/// Why a segment was refused; each fits after "failed to …".
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SegmentError {
    /// The file does not begin with the magic bytes.
    #[error("recognise the file: it is no capture segment")]
    NotASegment,
    /// The file was written in another version of the format.
    #[error("read format version {version}; the newest known one is {newest}")]
    Version {
        /// The version in the header.
        version: u32,
        /// The newest version that can be read.
        newest: u32,
    },
    /// The file ends too early.
    #[error("read {what}; the segment is truncated or unfinished")]
    Truncated {
        /// What was being read.
        what: &'static str,
    },
    /// The contents are inconsistent.
    #[error("read {what}; the segment is damaged")]
    Damaged {
        /// What was being read.
        what: &'static str,
    },
    /// The pyramid beside the capture cannot be used; it can be made again.
    #[error("read the pyramid; it is damaged")]
    Pyramid,
    /// A block's checksum is wrong.
    #[error("read the block at sample {start}: its checksum is wrong")]
    Checksum {
        /// First sample of the block.
        start: u64,
    },
    /// A channel the segment does not have.
    #[error("read channel {channel}: the segment has {channels}")]
    NoChannel {
        /// The channel's number.
        channel: usize,
        /// How many there are.
        channels: usize,
    },
}
