//! Reads a gzip tar. Headers are read by the `tar` crate, in its raw mode: extensions, which it would
//! otherwise read into memory whole, are bounded and judged here.

use std::io::{BufReader, Read};

use tar::{Archive, Entry, EntryType, Header};

use crate::error::{ArchiveError, shown};
use crate::members::Members;
use crate::meter::{Inflated, Meter, Source};
use crate::pax::Extension;
use crate::sparse::{Map, Said};
use crate::walk::{Sink, Walk};

/// Bytes of one header extension. It may contain extended attributes, which are dropped.
const EXTENSION_BYTES_MAX: u64 = 256 << 10;

/// The block size of a tar.
const BLOCK_BYTES: u64 = 512;

/// Bytes of the archive that are read at once.
const PACKED_PIECE_BYTES: usize = 64 << 10;

/// What extensions said about the next entry.
#[derive(Default)]
struct Ahead {
    pax: Option<Extension>,
    gnu_name: Option<Vec<u8>>,
    gnu_link: Option<Vec<u8>>,
}

impl Ahead {
    fn is_empty(&self) -> bool {
        self.pax.is_none() && self.gnu_name.is_none() && self.gnu_link.is_none()
    }
}

pub(crate) fn walk<S: Sink>(reader: impl Read, walk: &mut Walk<'_, S>) -> Result<(), S::Error> {
    let meter = Meter::default();
    let limits = walk.limits;
    let source = BufReader::with_capacity(PACKED_PIECE_BYTES, Source::new(reader, &meter));
    let mut archive = Archive::new(Inflated::new(Members::new(source), &meter, limits));
    let mut ahead = Ahead::default();
    let mut end = 0;
    let entries = archive.entries().map_err(ArchiveError::of_reading)?;
    for entry in entries.raw(true) {
        let mut entry = entry.map_err(ArchiveError::of_reading)?;
        end = entry
            .raw_file_position()
            .saturating_add(entry.size().div_ceil(BLOCK_BYTES) * BLOCK_BYTES);
        if !extends(&mut entry, limits.name_bytes_max, &mut ahead)? {
            visit(entry, std::mem::take(&mut ahead), &meter, walk)?;
        }
    }
    if !ahead.is_empty() {
        return Err(ArchiveError::Truncated.into());
    }
    check_end(archive.into_inner())?;
    // The block of zeros that ends a tar.
    if meter.unpacked() < end.saturating_add(BLOCK_BYTES) {
        return Err(ArchiveError::Truncated.into());
    }
    Ok(())
}

/// Takes in an extension; false for an entry that is not one.
fn extends(
    entry: &mut Entry<'_, impl Read>,
    name_bytes_max: usize,
    ahead: &mut Ahead,
) -> Result<bool, ArchiveError> {
    let is_new = match entry.header().entry_type() {
        EntryType::GNULongName => {
            let name = long_name(entry, name_bytes_max)?;
            ahead.gnu_name.replace(name).is_none()
        }
        EntryType::GNULongLink => {
            let link = long_name(entry, name_bytes_max)?;
            ahead.gnu_link.replace(link).is_none()
        }
        EntryType::XHeader => {
            let pax = Extension::parse(&extension(entry, EXTENSION_BYTES_MAX)?)?;
            ahead.pax.replace(pax).is_none()
        }
        EntryType::XGlobalHeader => {
            Extension::check_global(&extension(entry, EXTENSION_BYTES_MAX)?)?;
            true
        }
        _ => return Ok(false),
    };
    if is_new {
        return Ok(true);
    }
    Err(ArchiveError::Override {
        key: shown(&entry.header().path_bytes()),
    })
}

/// The whole content of an extension.
fn extension(entry: &mut Entry<'_, impl Read>, max: u64) -> Result<Vec<u8>, ArchiveError> {
    if entry.size() > max {
        return Err(ArchiveError::ExtensionTooLong { max });
    }
    let size = entry.size();
    let mut bytes = Vec::new();
    entry
        .read_to_end(&mut bytes)
        .map_err(ArchiveError::of_reading)?;
    if bytes.len() as u64 != size {
        return Err(ArchiveError::Truncated);
    }
    Ok(bytes)
}

/// A name that GNU tar writes as an entry of its own, with a zero byte after it.
fn long_name(entry: &mut Entry<'_, impl Read>, max: usize) -> Result<Vec<u8>, ArchiveError> {
    if entry.size() > max as u64 + 1 {
        let entry = shown(&entry.header().path_bytes());
        return Err(ArchiveError::NameTooLong { entry, max });
    }
    let mut name = extension(entry, EXTENSION_BYTES_MAX)?;
    if name.last() == Some(&0) {
        name.pop();
    }
    Ok(name)
}

/// Passes one entry to the walk, under the name that the extensions before it give.
fn visit<S: Sink>(
    mut entry: Entry<'_, impl Read>,
    ahead: Ahead,
    meter: &Meter,
    walk: &mut Walk<'_, S>,
) -> Result<(), S::Error> {
    let header = entry.header().clone();
    let size = entry.size();
    let mut pax = ahead.pax.unwrap_or_default();
    // The header, and a record if that is too short, has another name then.
    let name = pax.sparse.as_mut().and_then(|said| said.name.take());
    let name = one_of("path", name.or(pax.path), ahead.gnu_name)?;
    let name = name.unwrap_or_else(|| header.path_bytes().into_owned());
    let target = one_of("linkpath", pax.link_path, ahead.gnu_link)?;
    let target = || {
        let short = || header.link_name_bytes().map(|link| link.into_owned());
        target.or_else(short).unwrap_or_default()
    };
    // No honest tar within the size limit needs this field, which readers understand differently.
    if pax.size.is_some_and(|replaced| replaced != size) {
        let key = "size".to_owned();
        return Err(ArchiveError::Override { key }.into());
    }
    let is_file = match header.entry_type() {
        // Before there was a type for folders, a name with a trailing slash meant one.
        EntryType::Regular | EntryType::Continuous => !name.ends_with(b"/"),
        EntryType::GNUSparse => true,
        EntryType::Directory | EntryType::Symlink | EntryType::Link => false,
        other => return Err(refused(&name, other).into()),
    };
    if !is_file && (size != 0 || pax.sparse.is_some()) {
        let entry = shown(&name);
        return Err(ArchiveError::DataOfNoFile { entry }.into());
    }
    match header.entry_type() {
        EntryType::Symlink => walk.symbolic_link(&name, &target()),
        EntryType::Link => walk.hard_link(&name, &target()),
        _ if is_file => {
            let mode = header.mode().map_err(ArchiveError::of_reading)?;
            let is_executable = mode & 0o111 != 0;
            let Some(map) = sparse(&header, pax.sparse.as_ref(), &name, &mut entry)? else {
                return walk.file(&name, is_executable, size, &mut entry);
            };
            meter.add_holes(map.holes(), walk.limits)?;
            let size = map.size();
            walk.file(&name, is_executable, size, &mut map.expand(entry))
        }
        _ => walk.folder(&name),
    }
}

/// Where the pieces of a file belong, if it is a sparse one.
fn sparse(
    header: &Header,
    said: Option<&Said>,
    name: &[u8],
    entry: &mut Entry<'_, impl Read>,
) -> Result<Option<Map>, ArchiveError> {
    let stored = entry.size();
    match (header.entry_type(), header.as_gnu(), said) {
        (EntryType::GNUSparse, Some(gnu), None) => Map::of_header(gnu, name, stored).map(Some),
        // With both, it would depend on the reader which one counts.
        (EntryType::GNUSparse, _, _) => Err(ArchiveError::Sparse { entry: shown(name) }),
        (_, _, Some(said)) => said.map(name, stored, entry).map(Some),
        (_, _, None) => Ok(None),
    }
}

/// Whichever of the two kinds of extensions is present; with both, it would depend on the reader
/// which one counts.
fn one_of(
    key: &str,
    pax: Option<Vec<u8>>,
    gnu: Option<Vec<u8>>,
) -> Result<Option<Vec<u8>>, ArchiveError> {
    if pax.is_some() && gnu.is_some() {
        let key = key.to_owned();
        return Err(ArchiveError::Override { key });
    }
    Ok(pax.or(gnu))
}

fn refused(name: &[u8], entry_type: EntryType) -> ArchiveError {
    let entry = shown(name);
    let kind = match entry_type {
        EntryType::Char | EntryType::Block => "a device",
        EntryType::Fifo => "a FIFO",
        _ => "of a kind that is not known here",
    };
    ArchiveError::Kind { entry, kind }
}

/// Reads everything after the last entry, which must be zeros. The gzip's checksum is compared at its
/// end.
fn check_end(mut rest: impl Read) -> Result<(), ArchiveError> {
    let mut buffer = vec![0; PACKED_PIECE_BYTES];
    loop {
        match rest.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) if buffer[..read].iter().all(|byte| *byte == 0) => {}
            Ok(_) => return Err(ArchiveError::TrailingData),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(ArchiveError::of_reading(error)),
        }
    }
}
