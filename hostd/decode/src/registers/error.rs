//! Why a description of a part cannot be used.

use super::file::{
    ADDRESS_MAX, BYTES_MAX, FIELDS_MAX, ID_CHARS_MAX, MEMORIES_MAX, NAME_CHARS_MAX, REGISTERS_MAX,
    TEXT_CHARS_MAX, VALUES_MAX,
};

/// What is wrong with the description of a part. Fits "failed to …".
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// It is too long.
    #[error("read a description of {0} bytes; the limit is {BYTES_MAX}")]
    Long(usize),
    /// It is no TOML, or has members that are not known.
    #[error("read the description")]
    Form(#[source] Box<toml::de::Error>),
    /// The name of the file is no id.
    #[error("take `{0}` for a part's id: 1 to {ID_CHARS_MAX} of a to z, 0 to 9, - and _")]
    Id(String),
    /// A name is none.
    #[error("take `{0}` for a name: 1 to {NAME_CHARS_MAX} of letters, digits, and _ - . / + #")]
    Name(String),
    /// A text is none.
    #[error(
        "take `{0}` for a text: 1 to {TEXT_CHARS_MAX} characters, without quotes, backslashes and control characters"
    )]
    Text(String),
    /// There are too many of something.
    #[error(
        "take so many {0}; the limits are {REGISTERS_MAX} registers, {MEMORIES_MAX} memories, \
         {FIELDS_MAX} fields of a register, {VALUES_MAX} values of a field, and 1 to 128 addresses"
    )]
    Many(&'static str),
    /// An address that a device cannot have.
    #[error("take 0x{0:02X} for an address: 0x08 to 0x{ADDRESS_MAX:02X}")]
    Address(u8),
    /// A pointer that cannot be.
    #[error("take the pointer: {0}")]
    Pointer(&'static str),
    /// A register, memory or field that cannot be.
    #[error("take `{name}`: {cause}")]
    Member {
        /// Its name.
        name: String,
        /// Why.
        cause: &'static str,
    },
}
