//! The directory of a zip archive, as far as `.sr` files need it (APPNOTE.TXT 6.3.10): stored and
//! deflated entries, ZIP64 sizes, no encryption, no spanning.

use super::{Limits, SrError};

const END_MAGIC: u32 = 0x0605_4b50;
const END_SIZE: usize = 22;
const COMMENT_MAX: usize = 0xffff;
const END64_MAGIC: u32 = 0x0606_4b50;
const LOCATOR64_MAGIC: u32 = 0x0706_4b50;
const LOCATOR64_SIZE: usize = 20;
const CENTRAL_MAGIC: u32 = 0x0201_4b50;
const CENTRAL_SIZE: usize = 46;
const LOCAL_MAGIC: u32 = 0x0403_4b50;
const LOCAL_SIZE: usize = 30;
const ZIP64_EXTRA: u16 = 1;
const ENCRYPTED: u16 = 1;

/// How an entry is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Stored,
    Deflated,
}

/// One file in the archive.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    pub(super) name: String,
    pub(super) method: Method,
    pub(super) packed: &'a [u8],
    /// Bytes after inflating.
    pub(super) size: u64,
    pub(super) crc32: u32,
}

/// Little-endian fields at fixed offsets of a checked slice.
#[derive(Clone, Copy)]
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn u16(self, at: usize) -> u16 {
        u16::from_le_bytes(self.array(at))
    }

    fn u32(self, at: usize) -> u32 {
        u32::from_le_bytes(self.array(at))
    }

    fn u64(self, at: usize) -> u64 {
        u64::from_le_bytes(self.array(at))
    }

    fn array<const N: usize>(self, at: usize) -> [u8; N] {
        let bytes = self
            .0
            .get(at..at + N)
            .and_then(|bytes| bytes.try_into().ok());
        bytes.expect("callers slice whole headers")
    }
}

fn slice<'a>(bytes: &'a [u8], at: u64, len: u64, what: &'static str) -> Result<&'a [u8], SrError> {
    let range = || {
        let start = usize::try_from(at).ok()?;
        let end = start.checked_add(usize::try_from(len).ok()?)?;
        bytes.get(start..end)
    };
    range().ok_or(SrError::Truncated { what })
}

/// Reads the directory; the entries' data is located but not touched.
pub(super) fn directory<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Vec<Entry<'a>>, SrError> {
    let (count, mut at) = find_directory(bytes)?;
    if count > limits.entries_max as u64 {
        return Err(SrError::TooManyEntries {
            entries: count,
            limit: limits.entries_max,
        });
    }
    let mut entries = Vec::new();
    let mut total: u64 = 0;
    for _ in 0..count {
        let (entry, len) = central_entry(bytes, at)?;
        total = total.saturating_add(entry.size);
        at += len;
        entries.push(entry);
    }
    if total > limits.unpacked_bytes_max {
        return Err(SrError::TooLarge {
            bytes: total,
            limit: limits.unpacked_bytes_max,
        });
    }
    let file_bytes = bytes.len() as u64;
    if total > file_bytes.saturating_mul(limits.ratio_max) {
        return Err(SrError::Bomb {
            bytes: total,
            file_bytes,
            limit: limits.ratio_max,
        });
    }
    Ok(entries)
}

/// Number of entries, and where the first one is.
fn find_directory(bytes: &[u8]) -> Result<(u64, u64), SrError> {
    let latest = bytes.len().checked_sub(END_SIZE).ok_or(SrError::NotZip)?;
    let earliest = latest.saturating_sub(COMMENT_MAX);
    let is_end = |&at: &usize| Fields(&bytes[at..]).u32(0) == END_MAGIC;
    let end = (earliest..=latest)
        .rev()
        .find(is_end)
        .ok_or(SrError::NotZip)?;
    let fields = Fields(&bytes[end..]);
    let (count, at) = (fields.u16(10), fields.u32(16));
    if count != u16::MAX && at != u32::MAX {
        return Ok((count.into(), at.into()));
    }
    let what = "the zip directory";
    let Some(locator) = end
        .checked_sub(LOCATOR64_SIZE)
        .map(|at| Fields(&bytes[at..end]))
    else {
        return Ok((count.into(), at.into()));
    };
    if locator.u32(0) != LOCATOR64_MAGIC {
        return Ok((count.into(), at.into()));
    }
    let end64 = Fields(slice(bytes, locator.u64(8), 56, what)?);
    if end64.u32(0) != END64_MAGIC {
        return Err(SrError::Truncated { what });
    }
    Ok((end64.u64(32), end64.u64(48)))
}

/// The entry whose directory record is at `at`, and the record's length.
fn central_entry(bytes: &[u8], at: u64) -> Result<(Entry<'_>, u64), SrError> {
    let what = "the zip directory";
    let record = Fields(slice(bytes, at, CENTRAL_SIZE as u64, what)?);
    if record.u32(0) != CENTRAL_MAGIC {
        return Err(SrError::Truncated { what });
    }
    let (name_len, extra_len) = (u64::from(record.u16(28)), u64::from(record.u16(30)));
    let name_at = at + CENTRAL_SIZE as u64;
    let name = String::from_utf8_lossy(slice(bytes, name_at, name_len, what)?).into_owned();
    let extra = slice(bytes, name_at + name_len, extra_len, what)?;
    let unsupported = |what| {
        Err(SrError::Unsupported {
            entry: name.clone(),
            what,
        })
    };
    if record.u16(8) & ENCRYPTED != 0 {
        return unsupported("encryption");
    }
    let method = match record.u16(10) {
        0 => Method::Stored,
        8 => Method::Deflated,
        _ => return unsupported("its compression method"),
    };
    let mut wide = wide_sizes(extra).into_iter();
    let mut field = |narrow: u32| match narrow {
        u32::MAX => wide.next().ok_or(SrError::Truncated { what }),
        _ => Ok(narrow.into()),
    };
    let size = field(record.u32(24))?;
    let packed_size = field(record.u32(20))?;
    let local_at = field(record.u32(42))?;
    let packed = entry_data(bytes, local_at, packed_size)?;
    if method == Method::Stored && packed_size != size {
        return Err(SrError::WrongSize { entry: name, size });
    }
    let len = CENTRAL_SIZE as u64 + name_len + extra_len + u64::from(record.u16(32));
    Ok((
        Entry {
            name,
            method,
            packed,
            size,
            crc32: record.u32(16),
        },
        len,
    ))
}

/// The 64-bit values of the ZIP64 field, in the order of the format: size, packed size, offset.
fn wide_sizes(extra: &[u8]) -> Vec<u64> {
    let mut rest = extra;
    while let Some((head, tail)) = rest.split_at_checked(4) {
        let (id, len) = (Fields(head).u16(0), usize::from(Fields(head).u16(2)));
        let Some((field, tail)) = tail.split_at_checked(len) else {
            break;
        };
        if id == ZIP64_EXTRA {
            return field
                .as_chunks::<8>()
                .0
                .iter()
                .map(|word| u64::from_le_bytes(*word))
                .collect();
        }
        rest = tail;
    }
    Vec::new()
}

/// The packed bytes after the local header at `at`.
fn entry_data(bytes: &[u8], at: u64, len: u64) -> Result<&[u8], SrError> {
    let what = "an entry of the archive";
    let header = Fields(slice(bytes, at, LOCAL_SIZE as u64, what)?);
    if header.u32(0) != LOCAL_MAGIC {
        return Err(SrError::Truncated { what });
    }
    let skipped = LOCAL_SIZE as u64 + u64::from(header.u16(26)) + u64::from(header.u16(28));
    slice(bytes, at + skipped, len, what)
}
