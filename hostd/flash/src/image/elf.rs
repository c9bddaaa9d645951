//! ELF files (System V ABI, "Object Files"; ELF for the Arm Architecture): the data to load and its addresses.
//!
//! What is programmed is what sections say, as objcopy and GDB do: linkers put the file's own headers, and padding, into
//! loadable segments too, and those are no part of the program. Segments alone count where a file has no sections.

use std::ops::Range;

use super::segments::Segments;
use super::{Format, ImageError};

pub(super) const MAGIC: &[u8] = b"\x7fELF";
/// Class 32 bits, data little-endian, version 1.
const IDENTITY: &[u8] = b"\x7fELF\x01\x01\x01";
const MACHINE_ARM: u16 = 40;

/// Most loadable segments of a file. Linkers write less than ten.
const SEGMENTS_MAX: usize = 256;

const HEADER: &str = "the header";
const SEGMENT_TABLE: &str = "the table of segments";
const SECTION_TABLE: &str = "the table of sections";

/// Offsets in the file's header.
const MACHINE_AT: usize = 18;
const SEGMENT_TABLE_AT: usize = 28;
const SECTION_TABLE_AT: usize = 32;
const HEADER_BYTES_AT: usize = 40;
const SEGMENT_ENTRY_BYTES_AT: usize = 42;
const SECTION_ENTRY_BYTES_AT: usize = 46;

const SEGMENT_ENTRY_BYTES_MIN: u16 = 32;
const SECTION_ENTRY_BYTES_MIN: u16 = 40;

/// Kinds and flags of segments and sections.
const LOADABLE: u32 = 1;
const UNUSED: u32 = 0;
const WITHOUT_DATA: u32 = 8;
const ALLOCATED: u32 = 2;

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

/// One of the file's two tables.
#[derive(Clone, Copy)]
struct Table<'f> {
    file: &'f [u8],
    what: &'static str,
    at: usize,
    entry_bytes: usize,
    count: usize,
}

impl<'f> Table<'f> {
    /// The table whose place stands at `place` in the header, and the size and number of its entries at `shape`.
    fn of(
        file: &'f [u8],
        what: &'static str,
        place: usize,
        shape: usize,
        entry_bytes_min: u16,
    ) -> Result<Self, ImageError> {
        let at = word(file, place, HEADER)? as usize;
        let (entry_bytes, count) = (half(file, shape, HEADER)?, half(file, shape + 2, HEADER)?);
        if count > 0 && entry_bytes < entry_bytes_min {
            return Err(cut_off(what));
        }
        Ok(Self {
            file,
            what,
            at,
            entry_bytes: entry_bytes.into(),
            count: count.into(),
        })
    }

    fn field(&self, number: usize, at: usize) -> Result<u32, ImageError> {
        let entry = self.at.saturating_add(number * self.entry_bytes);
        word(self.file, entry.saturating_add(at), self.what)
    }

    fn end(&self) -> usize {
        self.at.saturating_add(self.count * self.entry_bytes)
    }
}

/// A part of the file that is loaded.
#[derive(Clone)]
struct Loaded {
    bytes: Range<usize>,
    virtual_address: u32,
    physical_address: u32,
}

impl Loaded {
    fn data<'f>(&self, file: &'f [u8], what: &'static str) -> Result<&'f [u8], ImageError> {
        file.get(self.bytes.clone()).ok_or_else(|| cut_off(what))
    }

    /// Whether a section lies in this segment, in the file and in memory.
    fn contains(&self, section: &Self) -> bool {
        let Range { start, end } = section.bytes;
        self.bytes.start <= start
            && end <= self.bytes.end
            && offset(start - self.bytes.start)
                == Some(section.virtual_address.wrapping_sub(self.virtual_address))
    }
}

fn offset(bytes: usize) -> Option<u32> {
    u32::try_from(bytes).ok()
}

/// Adds the data to load at its physical addresses, where start-up code also expects initial values.
pub(super) fn read(file: &[u8], segments: &mut Segments) -> Result<(), ImageError> {
    if !file.starts_with(IDENTITY) || half(file, MACHINE_AT, HEADER)? != MACHINE_ARM {
        return Err(ImageError::NotForArm);
    }
    let table = Table::of(
        file,
        SEGMENT_TABLE,
        SEGMENT_TABLE_AT,
        SEGMENT_ENTRY_BYTES_AT,
        SEGMENT_ENTRY_BYTES_MIN,
    )?;
    let loaded = loaded(&table)?;
    // Such as an object that was not linked, whose sections have no place yet.
    if loaded.is_empty() {
        return Ok(());
    }
    let sections = sections(file)?;
    if sections.is_empty() {
        return loaded.iter().try_for_each(|segment| {
            segments.add(segment.physical_address, segment.data(file, "a segment")?)
        });
    }
    check(file, &table, &loaded, &sections)?;
    for section in &sections {
        let within = loaded.iter().find(|segment| segment.contains(section));
        let address = within.map_or(section.virtual_address, |segment| {
            let distance = section
                .virtual_address
                .wrapping_sub(segment.virtual_address);
            segment.physical_address.wrapping_add(distance)
        });
        segments.add(address, section.data(file, "a section")?)?;
    }
    Ok(())
}

/// The segments with data in the file.
fn loaded(table: &Table<'_>) -> Result<Vec<Loaded>, ImageError> {
    let mut found = Vec::new();
    for number in 0..table.count {
        let field = |at: usize| table.field(number, at);
        let (kind, first, bytes) = (field(0)?, field(4)? as usize, field(16)? as usize);
        if kind != LOADABLE || bytes == 0 {
            continue;
        }
        if found.len() == SEGMENTS_MAX {
            let limit = SEGMENTS_MAX;
            return Err(ImageError::Segments { limit });
        }
        found.push(Loaded {
            bytes: first..first.saturating_add(bytes),
            virtual_address: field(8)?,
            physical_address: field(12)?,
        });
    }
    Ok(found)
}

/// The sections that are loaded, with the address where they run for both.
fn sections(file: &[u8]) -> Result<Vec<Loaded>, ImageError> {
    let table = Table::of(
        file,
        SECTION_TABLE,
        SECTION_TABLE_AT,
        SECTION_ENTRY_BYTES_AT,
        SECTION_ENTRY_BYTES_MIN,
    )?;
    let mut found = Vec::new();
    for number in 0..table.count {
        let field = |at: usize| table.field(number, at);
        let (kind, flags, address) = (field(4)?, field(8)?, field(12)?);
        let (first, bytes) = (field(16)? as usize, field(20)? as usize);
        if matches!(kind, UNUSED | WITHOUT_DATA) || flags & ALLOCATED == 0 || bytes == 0 {
            continue;
        }
        found.push(Loaded {
            bytes: first..first.saturating_add(bytes),
            virtual_address: address,
            physical_address: address,
        });
    }
    Ok(found)
}

/// Segments that differ about an address make a file that no loader reads as another does. The one with the file's own
/// headers and no section says nothing about memory.
fn check(
    file: &[u8],
    table: &Table<'_>,
    loaded: &[Loaded],
    sections: &[Loaded],
) -> Result<(), ImageError> {
    let headers = usize::from(half(file, HEADER_BYTES_AT, HEADER)?).max(table.end());
    let mut all = Segments::default();
    for segment in loaded {
        let has_section = || sections.iter().any(|section| segment.contains(section));
        if segment.bytes.start < headers && !has_section() {
            continue;
        }
        all.add(segment.physical_address, segment.data(file, "a segment")?)?;
    }
    all.finish().map(drop)
}
