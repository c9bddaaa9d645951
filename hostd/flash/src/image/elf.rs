//! ELF files (System V ABI, "Object Files"; ELF for the Arm Architecture): the loadable data and its
//! addresses.

use super::segments::Segments;
use super::{Format, ImageError};

pub(super) const MAGIC: &[u8] = b"\x7fELF";
/// Class 32 bits, data little-endian, version 1.
const IDENTITY: &[u8] = b"\x7fELF\x01\x01\x01";
const MACHINE_ARM: u16 = 40;
const LOADABLE: u32 = 1;

/// Offsets in the file's header.
const MACHINE_AT: usize = 18;
const TABLE_AT: usize = 28;
const ENTRY_BYTES_AT: usize = 42;
const ENTRY_COUNT_AT: usize = 44;
const ENTRY_BYTES_MIN: u16 = 32;

fn cut_off(what: &'static str) -> ImageError {
    let format = Format::Elf;
    ImageError::CutOff { format, what }
}

fn half(file: &[u8], at: usize, what: &'static str) -> Result<u16, ImageError> {
    let bytes = file.get(at..).and_then(|rest| rest.first_chunk());
    bytes
        .map(|bytes| u16::from_le_bytes(*bytes))
        .ok_or_else(|| cut_off(what))
}

fn word(file: &[u8], at: usize, what: &'static str) -> Result<u32, ImageError> {
    let bytes = file.get(at..).and_then(|rest| rest.first_chunk());
    bytes
        .map(|bytes| u32::from_le_bytes(*bytes))
        .ok_or_else(|| cut_off(what))
}

/// Adds the loadable segments at their physical addresses, where start-up code also expects initial
/// values.
pub(super) fn read(file: &[u8], segments: &mut Segments) -> Result<(), ImageError> {
    const HEADER: &str = "the header";
    const TABLE: &str = "the table of segments";
    if !file.starts_with(IDENTITY) || half(file, MACHINE_AT, HEADER)? != MACHINE_ARM {
        return Err(ImageError::NotForArm);
    }
    let table = word(file, TABLE_AT, HEADER)? as usize;
    let entry_bytes = half(file, ENTRY_BYTES_AT, HEADER)?;
    let count = half(file, ENTRY_COUNT_AT, HEADER)?;
    if count > 0 && entry_bytes < ENTRY_BYTES_MIN {
        return Err(cut_off(TABLE));
    }
    for number in 0..usize::from(count) {
        let entry = table.saturating_add(number * usize::from(entry_bytes));
        let field = |at: usize| word(file, entry.saturating_add(at), TABLE);
        let (kind, offset, address, bytes) = (field(0)?, field(4)?, field(12)?, field(16)?);
        if kind != LOADABLE {
            continue;
        }
        let first = offset as usize;
        let data = file.get(first..first.saturating_add(bytes as usize));
        segments.add(address, data.ok_or_else(|| cut_off("a segment"))?)?;
    }
    Ok(())
}
