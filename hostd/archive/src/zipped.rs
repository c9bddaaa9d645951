//! Reads a zip. The `zip` crate reads the directory and compares it with the headers before the entries;
//! the code here decides what an entry may be.

use std::io::{BufReader, Read, Seek};

use zip::CompressionMethod;
use zip::read::{ArchiveOffset, Config, ZipArchive};
use zip::result::ZipError;

use crate::error::{ArchiveError, shown};
use crate::meter::{Meter, Source, check_ratio};
use crate::walk::{Sink, Walk};
use crate::{Limits, zip_end};

/// Bytes of headers that are read at once. Content bypasses this buffer.
const HEADER_PIECE_BYTES: usize = 4 << 10;

/// Bytes for each entry that the directory does not account for: sizes after the content, and fields that
/// only the header before it has, such as times.
const SLACK_BYTES_MAX: u64 = 128;

/// Bytes of the header before an entry, without its name (APPNOTE.TXT 4.3.7).
const LOCAL_HEADER_BYTES: u64 = 30;

/// Bytes of memory that the library takes for an entry of the directory, and how often it has a name.
const ENTRY_BYTES: u64 = 512;
const NAME_FACTOR: u64 = 3;

/// What kind of file a mode stands for (`S_IFMT` and its values, inode(7)).
const KIND_MASK: u32 = 0o170_000;
const KIND_NONE: u32 = 0;
const KIND_FILE: u32 = 0o100_000;
const KIND_FOLDER: u32 = 0o040_000;
const KIND_LINK: u32 = 0o120_000;
const KIND_FIFO: u32 = 0o010_000;
const KIND_SOCKET: u32 = 0o140_000;

/// What the directory says about an entry.
struct Listed {
    name: Vec<u8>,
    mode: u32,
    size: u64,
}

/// Reads a zip of `length` bytes.
pub(crate) fn walk<S: Sink>(
    reader: impl Read + Seek,
    length: u64,
    walk: &mut Walk<'_, S>,
) -> Result<(), S::Error> {
    let meter = Meter::default();
    let mut reader = BufReader::with_capacity(HEADER_PIECE_BYTES, Source::new(reader, &meter));
    let directory = zip_end::directory(&mut reader, length, walk.limits)?;
    // The library keeps the whole directory while the entries are read.
    let names = directory.bytes.saturating_mul(NAME_FACTOR);
    walk.ask((directory.entries as u64).saturating_mul(ENTRY_BYTES) + names)?;
    let entries = directory.entries;
    let from_the_start = Config {
        archive_offset: ArchiveOffset::Known(0),
    };
    let mut zip = ZipArchive::with_config(from_the_start, reader).map_err(contradiction)?;
    if zip.len() != entries {
        let reason = "a name is there twice".to_owned();
        return Err(ArchiveError::Contradiction { reason }.into());
    }
    check_sizes(&zip, length, walk.limits)?;
    // All entries are checked before the first is read: they must not overlap, and must be what the directory
    // says.
    zip.validate_header_consistency().map_err(contradiction)?;
    for index in 0..entries {
        visit(&mut zip, index, walk)?;
    }
    Ok(())
}

/// Checks all sizes in the directory before anything that they describe is read.
fn check_sizes<R: Read + Seek>(
    zip: &ZipArchive<R>,
    length: u64,
    limits: &Limits,
) -> Result<(), ArchiveError> {
    let (mut unpacked, mut accounted) = (0_u64, 0_u64);
    for index in 0..zip.len() {
        let listed = zip.by_index_data(index).map_err(damaged)?;
        let header = LOCAL_HEADER_BYTES + listed.name_raw().len() as u64 + SLACK_BYTES_MAX;
        unpacked = unpacked.saturating_add(listed.size());
        accounted = accounted.saturating_add(listed.compressed_size().saturating_add(header));
    }
    let max = limits.unpacked_bytes_max;
    if unpacked > max {
        return Err(ArchiveError::UnpackedTooLarge { max });
    }
    // The library searches bytes that belong to no entry for hidden entries, which takes long where many look
    // like one.
    if zip.central_directory_start() > accounted {
        let reason = "too many bytes belong to no entry".to_owned();
        return Err(ArchiveError::Contradiction { reason });
    }
    check_ratio(unpacked, length, limits)
}

fn visit<R: Read + Seek, S: Sink>(
    zip: &mut ZipArchive<R>,
    index: usize,
    walk: &mut Walk<'_, S>,
) -> Result<(), S::Error> {
    let Listed { name, mode, size } = listed(zip, index)?;
    let is_named_folder = name.ends_with(b"/");
    let kind = match mode & KIND_MASK {
        KIND_NONE if is_named_folder => KIND_FOLDER,
        KIND_NONE => KIND_FILE,
        kind => kind,
    };
    // Some readers go by the name and others by the mode.
    if is_named_folder != (kind == KIND_FOLDER) {
        let reason = format!("'{}' is a folder by name or by mode alone", shown(&name));
        return Err(ArchiveError::Contradiction { reason }.into());
    }
    if kind == KIND_FOLDER && size != 0 {
        let entry = shown(&name);
        return Err(ArchiveError::DataOfNoFile { entry }.into());
    }
    let mut content = zip.by_index(index).map_err(damaged)?;
    match kind {
        KIND_FOLDER => walk.folder(&name),
        KIND_FILE => walk.file(&name, mode & 0o111 != 0, size, &mut content),
        KIND_LINK => {
            let target = link(&mut content, &name, walk.limits.name_bytes_max)?;
            walk.symbolic_link(&name, &target)
        }
        other => Err(refused(&name, other).into()),
    }
}

fn listed<R: Read + Seek>(zip: &ZipArchive<R>, index: usize) -> Result<Listed, ArchiveError> {
    let listed = zip.by_index_data(index).map_err(damaged)?;
    let name = listed.name_raw().to_vec();
    if listed.encrypted() {
        let entry = shown(&name);
        return Err(ArchiveError::Encrypted { entry });
    }
    let (CompressionMethod::Stored | CompressionMethod::Deflated) = listed.compression() else {
        let entry = shown(&name);
        return Err(ArchiveError::Method { entry });
    };
    Ok(Listed {
        mode: listed.unix_mode().unwrap_or_default(),
        size: listed.size(),
        name,
    })
}

/// A symbolic link's target is its content.
fn link(content: impl Read, name: &[u8], max: usize) -> Result<Vec<u8>, ArchiveError> {
    let mut target = Vec::new();
    let read = content.take(max as u64 + 1).read_to_end(&mut target);
    read.map_err(ArchiveError::of_reading)?;
    if target.len() > max {
        let entry = shown(name);
        return Err(ArchiveError::NameTooLong { entry, max });
    }
    Ok(target)
}

fn refused(name: &[u8], kind: u32) -> ArchiveError {
    let kind = match kind {
        KIND_FIFO => "a FIFO",
        KIND_SOCKET => "a socket",
        _ => "a device",
    };
    ArchiveError::Kind {
        entry: shown(name),
        kind,
    }
}

/// An error of the directory and the headers.
fn contradiction(error: ZipError) -> ArchiveError {
    match error {
        ZipError::Io(error) => ArchiveError::of_reading(error),
        other => ArchiveError::Contradiction {
            reason: shown(other.to_string().as_bytes()),
        },
    }
}

/// An error of one entry.
fn damaged(error: ZipError) -> ArchiveError {
    match error {
        ZipError::Io(error) => ArchiveError::of_reading(error),
        other => ArchiveError::Damaged {
            reason: shown(other.to_string().as_bytes()),
        },
    }
}
