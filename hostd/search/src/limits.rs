//! Bounds of the language.

/// Longest query, in characters.
pub const QUERY_CHARS_MAX: usize = 512;

/// Bytes of one sequence.
pub const BYTES_MAX: usize = 64;

/// Settings of a decoder behind `with`.
pub const SETTINGS_MAX: usize = 16;

/// Characters of a query that an error repeats.
pub(crate) const SHOWN_CHARS_MAX: usize = 32;

/// After so many edges or annotations somebody is asked whether to go on.
pub(crate) const STEPS_BETWEEN_LOOKS: u32 = 1 << 12;
