//! The end of a zip (APPNOTE.TXT 4.3.14 to 4.3.16), checked before a library reads what it announces: the
//! number of entries decides how much memory that takes, and readers that search for the end in different
//! ways must all find the same one.

use std::cmp::Ordering;
use std::io::{Read, Seek, SeekFrom};

use crate::Limits;
use crate::error::ArchiveError;

const END: &[u8] = b"PK\x05\x06";
const END_BYTES: usize = 22;
const COMMENT_BYTES_MAX: usize = 0xffff;
const LOCATOR: &[u8] = b"PK\x06\x07";
const LOCATOR_BYTES: usize = 20;
const END64: &[u8] = b"PK\x06\x06";
const END64_BYTES: usize = 56;

/// Fewest bytes of a directory entry without its name.
const ENTRY_BYTES_MIN: u64 = 46;

/// Most bytes to expect in a directory entry besides its name: times, owners, sizes.
const ENTRY_BYTES_MAX: u64 = 256;

/// Where the directory is, as both kinds of end records say it.
#[derive(Debug, PartialEq, Eq)]
struct Directory {
    entries: u64,
    bytes: u64,
    start: u64,
}

/// How large a directory is.
pub(crate) struct Size {
    pub(crate) entries: usize,
    pub(crate) bytes: u64,
}

/// The directory of a zip of `length` bytes, which ends where its end record begins.
pub(crate) fn directory(
    mut reader: impl Read + Seek,
    length: u64,
    limits: &Limits,
) -> Result<Size, ArchiveError> {
    let mut tail = Vec::new();
    let tail_bytes_max = END_BYTES + COMMENT_BYTES_MAX + LOCATOR_BYTES + END64_BYTES;
    let tail_start = length.saturating_sub(tail_bytes_max as u64);
    reader
        .seek(SeekFrom::Start(tail_start))
        .and_then(|_| reader.read_to_end(&mut tail))
        .map_err(ArchiveError::of_reading)?;
    let end = tail.windows(END.len()).rposition(|window| window == END);
    let end = end.ok_or(ArchiveError::Truncated)?;
    let (before, record) = tail.split_at(end);
    let record: &[u8; END_BYTES] = record.first_chunk().ok_or(ArchiveError::Truncated)?;
    match (END_BYTES + short(record, 20) as usize).cmp(&(tail.len() - end)) {
        Ordering::Less => return Err(ArchiveError::TrailingData),
        Ordering::Equal => {}
        Ordering::Greater => return Err(ArchiveError::Truncated),
    }
    if [4, 6].iter().any(|at| short(record, *at) != 0) || short(record, 8) != short(record, 10) {
        return Err(contradiction("it is one part of several"));
    }
    let narrow = Directory {
        entries: short(record, 10).into(),
        bytes: long(record, 12).into(),
        start: long(record, 16).into(),
    };
    let wide = wide(before, tail_start)?;
    let end64_bytes = wide.as_ref().map_or(0, |_| LOCATOR_BYTES + END64_BYTES);
    let directory = match wide {
        Some(wide) if !agree(&narrow, &wide) => {
            return Err(contradiction("its two ends differ"));
        }
        Some(wide) => wide,
        None => narrow,
    };
    check(&directory, limits)?;
    let ends = directory.start.checked_add(directory.bytes);
    if ends != Some(tail_start + (end - end64_bytes) as u64) {
        return Err(contradiction("its directory does not lie before its end"));
    }
    let entries = usize::try_from(directory.entries);
    Ok(Size {
        entries: entries.map_err(|_| contradiction("it has too many entries"))?,
        bytes: directory.bytes,
    })
}

/// The end record for large archives, if there is one: it lies right before its locator, which lies right
/// before the end record to which `tail` leads.
fn wide(tail: &[u8], tail_start: u64) -> Result<Option<Directory>, ArchiveError> {
    let Some((before, locator)) = tail.split_last_chunk::<LOCATOR_BYTES>() else {
        return Ok(None);
    };
    if !locator.starts_with(LOCATOR) {
        return Ok(None);
    }
    let misplaced = || contradiction("the record for large archives is not where it belongs");
    let (before, record) = before
        .split_last_chunk::<END64_BYTES>()
        .ok_or_else(misplaced)?;
    let is_here = quad(locator, 8) == tail_start + before.len() as u64;
    if !is_here || !record.starts_with(END64) || quad(record, 4) != END64_BYTES as u64 - 12 {
        return Err(misplaced());
    }
    if long(record, 16) != 0 || long(record, 20) != 0 || quad(record, 24) != quad(record, 32) {
        return Err(contradiction("it is one part of several"));
    }
    Ok(Some(Directory {
        entries: quad(record, 32),
        bytes: quad(record, 40),
        start: quad(record, 48),
    }))
}

/// Whether each number of the narrow record equals the wide one's, or is all ones, which means "see
/// there".
fn agree(narrow: &Directory, wide: &Directory) -> bool {
    let same = |narrow: u64, wide: u64, all_ones: u64| narrow == wide || narrow == all_ones;
    same(narrow.entries, wide.entries, u16::MAX.into())
        && same(narrow.bytes, wide.bytes, u32::MAX.into())
        && same(narrow.start, wide.start, u32::MAX.into())
}

fn check(directory: &Directory, limits: &Limits) -> Result<(), ArchiveError> {
    let max = limits.entries_max;
    if directory.entries > max as u64 {
        return Err(ArchiveError::TooManyEntries { max });
    }
    if directory.bytes < directory.entries * ENTRY_BYTES_MIN {
        return Err(contradiction("its directory is too short for its entries"));
    }
    let max = limits.names_bytes_max;
    if directory.bytes > max as u64 + directory.entries * ENTRY_BYTES_MAX {
        return Err(ArchiveError::NamesTooLarge { max });
    }
    Ok(())
}

fn contradiction(reason: &str) -> ArchiveError {
    let reason = reason.to_owned();
    ArchiveError::Contradiction { reason }
}

fn short(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn long(bytes: &[u8], at: usize) -> u32 {
    u32::from(short(bytes, at)) | u32::from(short(bytes, at + 2)) << 16
}

fn quad(bytes: &[u8], at: usize) -> u64 {
    u64::from(long(bytes, at)) | u64::from(long(bytes, at + 4)) << 32
}
