//! Firmware images: a file's bytes in, bytes with addresses out.
//!
//! Formats are recognised by their contents; a contradicting file extension is an error, since then the
//! file is not what somebody means. Plain bytes have nothing to be recognised by, so a file is taken for them only
//! if it is named so or an address is given for it.

mod elf;
mod families;
pub mod fuzz;
mod hex;
mod segments;
mod uf2;

#[cfg(test)]
mod tests;

use std::fmt;

pub use families::Family;
use segments::Segments;
pub use segments::{Extent, Segment};
use uf2::Families;

/// Most data bytes of an image: more than the flash of any chip that can be programmed here.
pub const IMAGE_BYTES_MAX: usize = 32 << 20;

/// How a file says where its bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A 32-bit little-endian ELF file for ARM: the sections that are loaded, at their physical addresses.
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

    /// The word for it in the API.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Elf => "elf",
            Self::Hex => "hex",
            Self::Bin => "bin",
            Self::Uf2 => "uf2",
        }
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
    /// An ELF file has more segments than any linker writes.
    #[error("the ELF file has more than {limit} segments to load")]
    Segments {
        /// The limit.
        limit: usize,
    },
    /// A UF2 file has nothing for the chip.
    #[error(
        "the UF2 file is for {families}, not for {chip}; take the one that was built for this chip"
    )]
    OtherFamily {
        /// The families that it is for.
        families: String,
        /// The chip.
        chip: String,
    },
    /// A UF2 file has several families, and the chip's is not in the format's list.
    #[error(
        "the UF2 file is for {families}, and {chip} has no family in UF2; take a .elf, .hex or .bin file"
    )]
    UnknownFamily {
        /// The families that it is for.
        families: String,
        /// The chip.
        chip: String,
    },
    /// Two parts have different values for an address.
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
    /// Of a UF2 file, by family.
    Placed(Families),
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
            Format::Uf2 => return Self::of_families(format, uf2::read(bytes)?),
            Format::Bin if bytes.len() > IMAGE_BYTES_MAX => {
                let limit = IMAGE_BYTES_MAX;
                return Err(ImageError::TooLarge { limit });
            }
            Format::Bin => {
                let contents = Contents::Plain(bytes.to_vec());
                return Ok(Self { format, contents });
            }
        }
        Self::of_families(format, Families::from([(None, segments.finish()?)]))
    }

    fn of_families(format: Format, mut families: Families) -> Result<Self, ImageError> {
        families.retain(|_, segments| !segments.is_empty());
        if families.is_empty() {
            return Err(ImageError::NoData { format });
        }
        let contents = Contents::Placed(families);
        Ok(Self { format, contents })
    }

    /// The format of the file.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Number of data bytes, of all families.
    #[must_use]
    pub fn data_bytes(&self) -> usize {
        match &self.contents {
            Contents::Plain(bytes) => bytes.len(),
            Contents::Placed(families) => families.values().map(|of| bytes(of)).sum(),
        }
    }

    /// Where the data for a chip begins, according to the file itself; none for plain bytes.
    ///
    /// # Errors
    /// As for [`Image::placed`].
    pub fn start(&self, chip: &str) -> Result<Option<u32>, ImageError> {
        match &self.contents {
            Contents::Plain(_) => Ok(None),
            Contents::Placed(families) => {
                let chosen = chosen(families, chip)?;
                let starts = chosen.segments.iter().map(|segment| segment.address);
                Ok(starts.min())
            }
        }
    }

    /// The data for a chip with its addresses. Plain bytes go to `base`; a file with its own addresses keeps them. The name
    /// of the chip counts for files of several families only.
    ///
    /// # Errors
    /// [`ImageError::Wraps`] if plain bytes at `base` extend beyond 32-bit addresses, [`ImageError::OtherFamily`],
    /// [`ImageError::UnknownFamily`], or [`ImageError::Overlap`] of parts that are for the same chip.
    pub fn placed(&self, base: u32, chip: &str) -> Result<Placed, ImageError> {
        match &self.contents {
            Contents::Placed(families) => chosen(families, chip),
            Contents::Plain(bytes) => {
                let mut segments = Segments::default();
                segments.add(base, bytes)?;
                Ok(Placed {
                    segments: segments.finish()?,
                    skipped: Vec::new(),
                })
            }
        }
    }

    /// The parts of the file: for which family (none: for every chip), and what goes where. None for plain bytes, which
    /// have no place yet.
    #[must_use]
    pub fn parts(&self) -> Vec<(Option<Family>, Vec<Extent>)> {
        let Contents::Placed(families) = &self.contents else {
            return Vec::new();
        };
        let part = |(family, segments): (&Option<Family>, &Vec<Segment>)| {
            (*family, segments.iter().map(Segment::extent).collect())
        };
        families.iter().map(part).collect()
    }
}

/// What of an image goes to a chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The data with its addresses, in address order, neither overlapping nor adjacent.
    pub segments: Vec<Segment>,
    /// What is for other chips.
    pub skipped: Vec<Skipped>,
}

/// Data of an image that is not programmed, since it is for other chips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// For which.
    pub family: Family,
    /// How much.
    pub bytes: u64,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes for {}", self.bytes, self.family)
    }
}

fn bytes(segments: &[Segment]) -> usize {
    segments.iter().map(|segment| segment.data.len()).sum()
}

/// What is for every chip, with the part for the narrowest family of this one.
fn chosen(all: &Families, chip: &str) -> Result<Placed, ImageError> {
    let has = |family: &Family| all.contains_key(&Some(*family));
    let named = || {
        let names = all.keys().flatten().map(ToString::to_string);
        names.collect::<Vec<_>>().join(", ")
    };
    let own = families::of_chip(chip);
    let narrowest = own.iter().copied().find(has);
    let present: Vec<Family> = all.keys().copied().flatten().collect();
    let wanted = match (narrowest, present.as_slice()) {
        (Some(family), _) => vec![family],
        (None, []) => Vec::new(),
        (None, _) if !own.is_empty() => {
            return Err(ImageError::OtherFamily {
                families: named(),
                chip: chip.to_owned(),
            });
        }
        (None, [only]) => vec![*only],
        (None, _) => {
            return Err(ImageError::UnknownFamily {
                families: named(),
                chip: chip.to_owned(),
            });
        }
    };
    let is_wanted = |family: &Option<Family>| {
        family.is_none_or(|family| {
            wanted.contains(&family) || family == families::ABSOLUTE && own.contains(&family)
        })
    };
    let mut segments = Segments::default();
    let mut skipped = Vec::new();
    for (family, part) in all {
        match family {
            Some(other) if !is_wanted(family) => skipped.push(Skipped {
                family: *other,
                bytes: bytes(part) as u64,
            }),
            _ => part
                .iter()
                .try_for_each(|segment| segments.add(segment.address, &segment.data))?,
        }
    }
    Ok(Placed {
        segments: segments.finish()?,
        skipped,
    })
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image")
            .field("format", &self.format)
            .field("data_bytes", &self.data_bytes())
            .finish_non_exhaustive()
    }
}
