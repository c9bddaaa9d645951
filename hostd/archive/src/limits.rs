//! How large an archive may be.

/// Bounds of one archive. An archive over a bound is refused, in both passes, before it costs much more than
/// the bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the archive itself.
    pub packed_bytes_max: u64,
    /// Bytes of all files together.
    pub unpacked_bytes_max: u64,
    /// Files, links and folders, including folders that are only part of a path.
    pub entries_max: usize,
    /// Bytes of one path or of a link's target. A part of a path has at most 255, as on every file system.
    pub name_bytes_max: usize,
    /// Bytes of all names and link targets together: it bounds the memory.
    pub names_bytes_max: usize,
    /// Parts of a path.
    pub depth_max: usize,
    /// How many times its own size an archive may unpack to. Deflate reaches 1032.
    pub ratio_max: u64,
    /// Up to this many bytes the ratio does not matter: a flash image of erased memory compresses as well as
    /// a bomb.
    pub ratio_free_bytes: u64,
    /// Bytes of the one file whose text [`inspect`](crate::inspect) returns.
    pub text_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            packed_bytes_max: 256 << 20,
            unpacked_bytes_max: 2 << 30,
            entries_max: 100_000,
            name_bytes_max: 1024,
            names_bytes_max: 32 << 20,
            depth_max: 64,
            ratio_max: 200,
            ratio_free_bytes: 64 << 20,
            text_bytes_max: 1 << 20,
        }
    }
}
