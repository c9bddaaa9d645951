//! Limits on the cost of an `.sr` file.

/// Bounds that are checked before anything is inflated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of samples after inflating.
    pub unpacked_bytes_max: u64,
    /// Bytes after inflating per byte of the file. Deflate cannot exceed 1032, so more means that
    /// entries overlap.
    pub ratio_max: u64,
    /// Entries in the archive. sigrok writes one for every 4 or 10 MiB.
    pub entries_max: usize,
    /// Bytes of metadata after inflating.
    pub metadata_bytes_max: u64,
}

impl Default for Limits {
    /// 16 GiB of samples, nine times the largest of the 1015 captures of sigrok-dumps.
    fn default() -> Self {
        Self {
            unpacked_bytes_max: 16 << 30,
            ratio_max: 1040,
            entries_max: 65_536,
            metadata_bytes_max: 1 << 20,
        }
    }
}
