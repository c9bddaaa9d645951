//! What can be wrong with an `.sr` file.

/// Why a file was refused; each fits after "failed to …".
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SrError {
    /// There is no zip directory at the end of the file.
    #[error("find a zip directory; this is no .sr file, or its end is missing")]
    NotZip,
    /// Something lies outside the file.
    #[error("read {what}; the file is truncated or damaged")]
    Truncated {
        /// What was being read.
        what: &'static str,
    },
    /// A zip feature that sigrok does not use.
    #[error("read entry `{entry}`: {what} is not supported")]
    Unsupported {
        /// Name of the entry.
        entry: String,
        /// The feature.
        what: &'static str,
    },
    /// The archive has too many entries.
    #[error("read an archive of {entries} entries; the limit is {limit}")]
    TooManyEntries {
        /// Entries in the directory.
        entries: u64,
        /// `Limits::entries_max`
        limit: usize,
    },
    /// The archive has too many samples.
    #[error("unpack {bytes} bytes; the limit is {limit}")]
    TooLarge {
        /// Size after inflating.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// A compression ratio that deflate cannot reach.
    #[error(
        "unpack {bytes} bytes from a file of {file_bytes}; the limit is {limit} times its size"
    )]
    Bomb {
        /// Size after inflating.
        bytes: u64,
        /// Size of the file.
        file_bytes: u64,
        /// `Limits::ratio_max`
        limit: u64,
    },
    /// There is no metadata.
    #[error("find the entry `metadata`; this is a zip archive, but no .sr file")]
    NoMetadata,
    /// There are no logic samples.
    #[error("find logic samples; the capture may be analog only")]
    NoLogic,
    /// Two entries have the same number.
    #[error("order the samples: `{entry}` appears twice")]
    RepeatedEntry {
        /// Name of the entry.
        entry: String,
    },
    /// A value in the metadata makes no sense.
    #[error("read the metadata: `{key}` is `{value}`")]
    Metadata {
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
    },
    /// The compressed data is damaged.
    #[error("inflate entry `{entry}`; it is damaged")]
    Inflate {
        /// Name of the entry.
        entry: String,
    },
    /// The directory has a wrong size.
    #[error("inflate entry `{entry}`: it does not unpack to the {size} bytes the directory says")]
    WrongSize {
        /// Name of the entry.
        entry: String,
        /// Size in the directory.
        size: u64,
    },
    /// The inflated bytes differ from those that were packed.
    #[error("inflate entry `{entry}`: its checksum is wrong")]
    Checksum {
        /// Name of the entry.
        entry: String,
    },
    /// More edges than the caller allows.
    #[error("load the recording: it has more than {limit} edges")]
    TooManyEdges {
        /// The limit.
        limit: usize,
    },
    /// The capture does not have this channel.
    #[error("load channel {channel}: the capture has {channels}")]
    NoChannel {
        /// The channel's number.
        channel: usize,
        /// How many there are.
        channels: usize,
    },
}
