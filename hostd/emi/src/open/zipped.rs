//! A zip in memory. The `zip` crate reads the directory and compares it with the headers before the files; here it is
//! bounded first, and what two readers could understand differently is refused. The `zip` crate reads from a slice, and
//! many threads can unpack from copies of its directory.

use std::collections::HashSet;
use std::io::{Cursor, Read};

use rayon::prelude::*;
use zip::CompressionMethod;
use zip::read::{ArchiveOffset, Config, ZipArchive};
use zip::result::ZipError;

use super::error::{OpenError, shown};
use super::kind::{HEAD_BYTES, Kind};
use crate::limits::Limits;
use crate::observer::Observer;

/// Signature and length of the record at the end (APPNOTE.TXT 4.3.16).
const END: &[u8] = b"PK\x05\x06";
const END_BYTES: usize = 22;

/// Signature and length of what stands before it in archives for more than 4 GB (4.3.15).
const LOCATOR: &[u8] = b"PK\x06\x07";
const LOCATOR_BYTES: usize = 20;

/// Bytes for each file that the directory does not account for: its header without the name, sizes after its content,
/// and fields that only the header has.
const SLACK_BYTES: usize = 30 + 128;

/// Longest name of a file.
const NAME_BYTES_MAX: usize = 4096;

/// What kind of file a mode stands for, and those that are plain files (`S_IFMT` and its values, inode(7)).
const KIND_MASK: u32 = 0o170_000;
const PLAIN: [u32; 2] = [0, 0o100_000];

/// A zip.
pub(super) struct Zip<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    pub(super) files: Vec<File>,
}

/// A file in it.
pub(super) struct File {
    /// With `/` between folders.
    pub(super) name: String,
    index: usize,
    size: usize,
}

impl File {
    /// The name without folders.
    pub(super) fn base(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }

    /// The folders, with `/` at the end.
    pub(super) fn folder(&self) -> &str {
        &self.name[..self.name.len() - self.base().len()]
    }
}

impl<'a> Zip<'a> {
    /// Reads the directory.
    pub(super) fn open(bytes: &'a [u8], limits: &Limits) -> Result<Self, OpenError> {
        let count = entries(bytes, limits)?;
        let config = Config {
            archive_offset: ArchiveOffset::Known(0),
        };
        let mut archive = ZipArchive::with_config(config, Cursor::new(bytes)).map_err(damaged)?;
        if archive.len() != count {
            return Err(OpenError::whole(
                "a name is in the zip twice; pack it again",
            ));
        }
        let mut files = Vec::with_capacity(count);
        let (mut unpacked, mut accounted) = (0_u64, 0_u64);
        for index in 0..count {
            let entry = archive.by_index_data(index).map_err(damaged)?;
            let raw = entry.name_raw();
            unpacked = unpacked.saturating_add(entry.size());
            accounted = accounted
                .saturating_add(entry.compressed_size())
                .saturating_add((raw.len() + SLACK_BYTES) as u64);
            let name = name(raw)?;
            let is_plain = PLAIN.contains(&(entry.unix_mode().unwrap_or_default() & KIND_MASK));
            if name.ends_with('/') || !is_plain {
                continue;
            }
            if entry.encrypted() {
                return Err(
                    OpenError::whole("the file is encrypted; pack it without a password")
                        .within(&name),
                );
            }
            if !matches!(
                entry.compression(),
                CompressionMethod::Stored | CompressionMethod::Deflated
            ) {
                return Err(OpenError::whole(
                    "the file is packed by another method than deflate; pack it again",
                )
                .within(&name));
            }
            let size = usize::try_from(entry.size()).unwrap_or(usize::MAX);
            files.push(File { name, index, size });
        }
        let most = limits.unpacked_bytes_max;
        if unpacked > most as u64 {
            return Err(OpenError::whole(format!(
                "the zip has {unpacked} bytes unpacked, more than {most}"
            )));
        }
        // The library searches bytes that belong to no file for hidden ones, which may take long.
        if archive.central_directory_start() > accounted {
            return Err(OpenError::whole(
                "too many bytes of the zip belong to no file; pack it again",
            ));
        }
        let names: HashSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
        if names.len() != files.len() {
            return Err(OpenError::whole(
                "a name is in the zip twice; pack it again",
            ));
        }
        archive.validate_header_consistency().map_err(damaged)?;
        files.sort_by(|x, y| x.name.cmp(&y.name));
        Ok(Self { archive, files })
    }

    /// What each file is.
    pub(super) fn kinds(&self, observer: &dyn Observer) -> Result<Vec<Kind>, OpenError> {
        let kind = |file: &File| {
            if observer.is_over() {
                return Err(OpenError::Cancelled);
            }
            if is_clutter(&file.name) {
                return Ok(Kind::Other);
            }
            Ok(Kind::of(&self.start(file, HEAD_BYTES)?))
        };
        self.files.par_iter().map(kind).collect()
    }

    /// A whole file.
    pub(super) fn unpack(&self, file: &File) -> Result<Vec<u8>, OpenError> {
        let bytes = self.start(file, file.size.saturating_add(1))?;
        if bytes.len() != file.size {
            let message = "the file is not as long as the zip's directory says; pack it again";
            return Err(OpenError::whole(message).within(&file.name));
        }
        Ok(bytes)
    }

    fn start(&self, file: &File, most: usize) -> Result<Vec<u8>, OpenError> {
        let mut archive = self.archive.clone();
        let content = archive.by_index(file.index);
        let content = content.map_err(|error| damaged(error).within(&file.name))?;
        let mut bytes = Vec::new();
        let read = content.take(most as u64).read_to_end(&mut bytes);
        let message = "the file cannot be unpacked: it is damaged; pack it again";
        read.map_err(|_| OpenError::whole(message).within(&file.name))?;
        Ok(bytes)
    }
}

/// What systems and programs leave in zips, none of which is a board.
fn is_clutter(name: &str) -> bool {
    let base = name.rsplit('/').next().unwrap_or_default();
    name.starts_with("__MACOSX/") || base.starts_with("._") || base.starts_with("_autosave-")
}

/// The number of files that the end of a zip announces.
fn entries(bytes: &[u8], limits: &Limits) -> Result<usize, OpenError> {
    let cut_off = || OpenError::whole("the zip has no end: it was cut off");
    let tail_start = bytes
        .len()
        .saturating_sub(END_BYTES + usize::from(u16::MAX));
    let at = memchr::memmem::rfind(&bytes[tail_start..], END).ok_or_else(cut_off)? + tail_start;
    let record = bytes.get(at..at + END_BYTES).ok_or_else(cut_off)?;
    let short = |from: usize| usize::from(u16::from_le_bytes([record[from], record[from + 1]]));
    let long = |from: usize| short(from) + (short(from + 2) << 16);
    if at + END_BYTES + short(20) != bytes.len() {
        return Err(OpenError::whole(
            "something follows the zip, or it was cut off; pack it again",
        ));
    }
    let is_part = short(4) != 0 || short(6) != 0 || short(8) != short(10);
    let before = &bytes[..at];
    let is_large =
        before.len() >= LOCATOR_BYTES && before[at - LOCATOR_BYTES..].starts_with(LOCATOR);
    if is_part || is_large {
        return Err(OpenError::whole(
            "the zip is one of several parts, or of the form for 4 GB and more; pack it again",
        ));
    }
    if long(16).checked_add(long(12)) != Some(at) {
        return Err(OpenError::whole(
            "the zip's directory does not lie before its end; pack it again",
        ));
    }
    let (count, most) = (short(10), limits.entries_max);
    if count > most {
        return Err(OpenError::whole(format!(
            "the zip has {count} files, more than {most}"
        )));
    }
    Ok(count)
}

/// A name, with `/` between folders.
fn name(raw: &[u8]) -> Result<String, OpenError> {
    let name = String::from_utf8_lossy(raw).replace('\\', "/");
    let name = name.strip_prefix("./").unwrap_or(&name).to_owned();
    let has_drive = name.as_bytes().get(1) == Some(&b':');
    let escapes = name.starts_with('/') || has_drive || name.split('/').any(|part| part == "..");
    if escapes {
        let message = format!("`{}` leads out of the zip; pack it again", shown(&name));
        return Err(OpenError::whole(message));
    }
    if name.is_empty() || name.contains('\0') || name.len() > NAME_BYTES_MAX {
        return Err(OpenError::whole(
            "a name in the zip is empty or longer than 4096 bytes; pack it again",
        ));
    }
    Ok(name)
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn damaged(error: ZipError) -> OpenError {
    OpenError::whole(format!(
        "the zip is damaged: {}; pack it again",
        shown(&error.to_string())
    ))
}
