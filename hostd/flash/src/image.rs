//! Firmware images: a file's bytes in, bytes with addresses out.
//!
//! Formats are recognised by their contents; a contradicting file extension is an error, since then the
//! file is not what somebody means. Plain bytes have nothing to be recognised by, so a file is taken for them only
//! if it is named so or an address is given for it.

mod elf;
pub mod fuzz;
mod hex;
mod segments;
mod uf2;

#[cfg(test)]
mod tests;

use std::fmt;

pub use segments::Segment;
use segments::Segments;

/// Most data bytes of an image: more than the flash of any chip that can be programmed here.
pub const IMAGE_BYTES_MAX: usize = 32 << 20;

/// How a file says where its bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A 32-bit little-endian ELF file for ARM: its loadable segments at their physical addresses.
    Elf,
    /// Intel HEX.
    Hex,
    /// Plain bytes without an address.
    Bin,
    /// UF2 blocks (USB Flashing Format).
    Uf2,
}

impl Format {
    /// The format that a file's extension stands for.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let (_, ending) = name.rsplit_once('.')?;
        let endings = [
            ("elf", Self::Elf),
            ("axf", Self::Elf),
            ("hex", Self::Hex),
            ("ihex", Self::Hex),
            ("bin", Self::Bin),
            ("uf2", Self::Uf2),
        ];
        let found = endings
            .iter()
            .find(|(known, _)| ending.eq_ignore_ascii_case(known));
        found.map(|(_, format)| *format)
    }

    /// What the contents look like. Anything can be plain bytes.
    fn of_contents(bytes: &[u8]) -> Self {
        if bytes.starts_with(elf::MAGIC) {
            Self::Elf
        } else if bytes.starts_with(&uf2::MAGIC) {
            Self::Uf2
        } else if hex::looks_like(bytes) {
            Self::Hex
        } else {
            Self::Bin
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Elf => "ELF",
            Self::Hex => "Intel HEX",
            Self::Bin => "binary",
            Self::Uf2 => "UF2",
        })
    }
}

/// Why a file is not an image.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// There is nothing in it.
    #[error("the firmware file is empty")]
    Empty,
    /// It has nothing that would go to a chip.
    #[error("the {format} file has no data to program")]
    NoData {
        /// What the file is.
        format: Format,
    },
    /// Its name contradicts its contents.
    #[error("the firmware file is named as {named}, but its contents are not")]
    NotAsNamed {
        /// The format that the extension stands for.
        named: Format,
    },
    /// It is named as plain bytes, but its contents have a format, whose header would be programmed too.
    #[error("the firmware file is named .bin, but its contents are {found}; name it as such")]
    NotPlain {
        /// The format of the contents.
        found: Format,
    },
    /// It is text: a source, a linker's map, a page of an error. No program is.
    #[error(
        "the firmware file is text and not Intel HEX; take the .elf, .hex, .bin or .uf2 file of the build"
    )]
    Text,
    /// Nothing says that it is firmware.
    #[error(
        "the firmware file is neither ELF, Intel HEX nor UF2; if it is plain bytes, name it .bin"
    )]
    Unknown,
    /// Too much data.
    #[error("the firmware has more than {limit} bytes of data")]
    TooLarge {
        /// [`IMAGE_BYTES_MAX`].
        limit: usize,
    },
    /// The file ends too early.
    #[error("the {format} file is cut off: {what} lies beyond its end")]
    CutOff {
        /// What the file is.
        format: Format,
        /// What is missing.
        what: &'static str,
    },
    /// The file is for another kind of processor.
    #[error("the ELF file is not a 32-bit little-endian one for ARM")]
    NotForArm,
    /// A line of an Intel HEX file makes no sense.
    #[error("the Intel HEX file is broken in line {line}: {what}")]
    HexLine {
        /// Which line, from 1.
        line: usize,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A block of a UF2 file makes no sense.
    #[error("the UF2 file is broken in block {block}: {what}")]
    Uf2Block {
        /// Which block of the file, from 0.
        block: usize,
        /// What is wrong with it.
        what: &'static str,
    },
    /// Two parts claim the same address.
    #[error("the firmware has more than one value for address {address:#010x}")]
    Overlap {
        /// The first such address.
        address: u32,
    },
    /// Data extends beyond the end of the address space.
    #[error("the firmware's data at {address:#010x} ({bytes} bytes) goes beyond 32-bit addresses")]
    Wraps {
        /// Where the data begins.
        address: u32,
        /// How much it is.
        bytes: usize,
    },
}

/// Whether there is nothing but characters and what separates them.
fn is_text(bytes: &[u8]) -> bool {
    let is_of_text = |c: char| !c.is_control() || c.is_ascii_whitespace();
    std::str::from_utf8(bytes).is_ok_and(|text| text.chars().all(is_of_text))
}

/// A firmware image.
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    format: Format,
    contents: Contents,
}

#[derive(Clone, PartialEq, Eq)]
enum Contents {
    Placed(Vec<Segment>),
    /// Plain bytes, placed where the request says.
    Plain(Vec<u8>),
}

impl Image {
    /// Reads a file. Its name may be empty; a wrong extension is an error.
    ///
    /// Plain bytes are taken from a file named `.bin`, or with the `load_address` (none = the start of the flash) that
    /// the request gives for them. With both, they may look like anything; otherwise they must not be text, or of another
    /// format.
    ///
    /// # Errors
    /// [`ImageError`].
    pub fn parse(bytes: &[u8], name: &str, load_address: Option<u32>) -> Result<Self, ImageError> {
        if bytes.is_empty() {
            return Err(ImageError::Empty);
        }
        let found = Format::of_contents(bytes);
        let is_placed = load_address.is_some();
        match Format::of_name(name) {
            Some(Format::Bin) if is_placed => Self::parse_as(bytes, Format::Bin),
            Some(Format::Bin) if found != Format::Bin => Err(ImageError::NotPlain { found }),
            Some(named) if named != found => Err(ImageError::NotAsNamed { named }),
            _ if found == Format::Bin && is_text(bytes) => Err(ImageError::Text),
            None if found == Format::Bin && !is_placed => Err(ImageError::Unknown),
            _ => Self::parse_as(bytes, found),
        }
    }

    /// Reads a file of a known format.
    ///
    /// # Errors
    /// [`ImageError`].
    pub(crate) fn parse_as(bytes: &[u8], format: Format) -> Result<Self, ImageError> {
        if bytes.is_empty() {
            return Err(ImageError::Empty);
        }
        let mut segments = Segments::default();
        match format {
            Format::Elf => elf::read(bytes, &mut segments)?,
            Format::Hex => hex::read(bytes, &mut segments)?,
            Format::Uf2 => uf2::read(bytes, &mut segments)?,
            Format::Bin if bytes.len() > IMAGE_BYTES_MAX => {
                let limit = IMAGE_BYTES_MAX;
                return Err(ImageError::TooLarge { limit });
            }
            Format::Bin => {
                let contents = Contents::Plain(bytes.to_vec());
                return Ok(Self { format, contents });
            }
        }
        let segments = segments.finish()?;
        if segments.is_empty() {
            return Err(ImageError::NoData { format });
        }
        let contents = Contents::Placed(segments);
        Ok(Self { format, contents })
    }

    /// The format of the file.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Number of data bytes.
    #[must_use]
    pub fn data_bytes(&self) -> usize {
        match &self.contents {
            Contents::Plain(bytes) => bytes.len(),
            Contents::Placed(segments) => segments.iter().map(|segment| segment.data.len()).sum(),
        }
    }

    /// Where the data begins, according to the file itself; none for plain bytes.
    #[must_use]
    pub fn start(&self) -> Option<u32> {
        match &self.contents {
            Contents::Plain(_) => None,
            Contents::Placed(segments) => segments.first().map(|segment| segment.address),
        }
    }

    /// The data with its addresses, in address order, neither overlapping nor adjacent. Plain bytes go
    /// to `base`; a file with its own addresses keeps them.
    ///
    /// # Errors
    /// [`ImageError::Wraps`] if plain bytes at `base` extend beyond 32-bit addresses.
    pub fn placed(&self, base: u32) -> Result<Vec<Segment>, ImageError> {
        match &self.contents {
            Contents::Placed(segments) => Ok(segments.clone()),
            Contents::Plain(bytes) => {
                let mut segments = Segments::default();
                segments.add(base, bytes)?;
                segments.finish()
            }
        }
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image")
            .field("format", &self.format)
            .field("data_bytes", &self.data_bytes())
            .finish_non_exhaustive()
    }
}
