//! One way to read an archive, whatever its format and its reader: each entry is judged before a sink sees
//! it. Both passes use it, so that unpacking refuses everything that inspecting refuses.

use std::io::{Read, Seek, SeekFrom};
use std::rc::Rc;

use crate::content::{Content, PIECE_BYTES};
use crate::error::{ArchiveError, shown};
use crate::name::{Name, link_target};
use crate::tree::{Id, Kind, Tree};
use crate::{Limits, tape, zipped};

/// How gzip files begin (RFC 1952, 2.3.1).
const GZIP: &[u8] = &[0x1f, 0x8b];

/// How zip files begin, with an entry or with their end when they are empty (APPNOTE.TXT 4.3.7 and 4.3.16).
const ZIP: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// Bytes of memory that are asked for at once.
const ROOM_BYTES: u64 = 64 << 10;

/// Says whether there is room for so many more bytes of memory. Names decide how many an archive takes.
pub type Room<'r> = &'r mut dyn FnMut(u64) -> bool;

/// The format of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A tar in gzip.
    TarGz,
    /// A zip, with stored or deflated entries.
    Zip,
}

/// The receiver of an archive: entry by entry, in the archive's order, and symbolic links once everything
/// else is known to be right.
pub(crate) trait Sink {
    type Error: From<ArchiveError>;

    fn folder(&mut self, tree: &Tree, folder: Id) -> Result<(), Self::Error>;

    /// It may leave content unread.
    fn file(
        &mut self,
        tree: &Tree,
        file: Id,
        is_executable: bool,
        content: &mut Content<'_>,
    ) -> Result<(), Self::Error>;

    /// `to` is a file that was shown before.
    fn hard_link(&mut self, tree: &Tree, link: Id, to: Id) -> Result<(), Self::Error>;

    fn symbolic_link(&mut self, tree: &Tree, link: Id, target: &str) -> Result<(), Self::Error>;
}

/// The result of reading an archive.
#[derive(Debug)]
pub(crate) struct Walked {
    pub(crate) format: Format,
    pub(crate) entries: usize,
    pub(crate) bytes: u64,
}

/// Reads the whole archive from its start.
pub(crate) fn walk<S: Sink>(
    mut reader: impl Read + Seek,
    limits: &Limits,
    room: Room<'_>,
    sink: &mut S,
) -> Result<Walked, S::Error> {
    let packed_bytes = reader.seek(SeekFrom::End(0)).map_err(ArchiveError::Read)?;
    let max = limits.packed_bytes_max;
    if packed_bytes > max {
        return Err(ArchiveError::PackedTooLarge { max }.into());
    }
    let mut walk = Walk {
        limits,
        tree: Tree::new(limits),
        bytes: 0,
        room,
        asked: 0,
        sink,
        buffer: vec![0; PIECE_BYTES],
    };
    let format = format(&mut reader)?;
    match format {
        Format::TarGz => tape::walk(reader, &mut walk)?,
        Format::Zip => zipped::walk(reader, packed_bytes, &mut walk)?,
    }
    let Walk {
        tree, bytes, sink, ..
    } = walk;
    tree.check_links()?;
    for (link, target) in tree.links() {
        sink.symbolic_link(&tree, link, target)?;
    }
    Ok(Walked {
        format,
        entries: tree.entries(),
        bytes,
    })
}

/// Looks at the first bytes of the archive, and seeks back to them.
fn format(mut reader: impl Read + Seek) -> Result<Format, ArchiveError> {
    let mut head = Vec::new();
    reader.rewind().map_err(ArchiveError::Read)?;
    let start = reader.by_ref().take(4).read_to_end(&mut head);
    start.map_err(ArchiveError::Read)?;
    reader.rewind().map_err(ArchiveError::Read)?;
    if head.starts_with(GZIP) {
        Ok(Format::TarGz)
    } else if ZIP.contains(&&*head) {
        Ok(Format::Zip)
    } else {
        Err(ArchiveError::UnknownFormat)
    }
}

/// The walk so far. A format's reader calls it for each entry.
pub(crate) struct Walk<'a, S> {
    pub(crate) limits: &'a Limits,
    tree: Tree,
    bytes: u64,
    room: Room<'a>,
    /// Bytes of memory that were asked for, for the tree.
    asked: u64,
    sink: &'a mut S,
    buffer: Vec<u8>,
}

impl<S: Sink> Walk<'_, S> {
    pub(crate) fn folder(&mut self, name: &[u8]) -> Result<(), S::Error> {
        let folder = self.add(name, Kind::Folder)?;
        self.sink.folder(&self.tree, folder)
    }

    /// A file of `size` bytes, which are all of `content`.
    pub(crate) fn file(
        &mut self,
        name: &[u8],
        is_executable: bool,
        size: u64,
        content: &mut dyn Read,
    ) -> Result<(), S::Error> {
        let file = self.add(name, Kind::File)?;
        self.bytes = self.bytes.saturating_add(size);
        let max = self.limits.unpacked_bytes_max;
        if self.bytes > max {
            return Err(ArchiveError::UnpackedTooLarge { max }.into());
        }
        let mut content = Content::new(name, size, content);
        self.sink
            .file(&self.tree, file, is_executable, &mut content)?;
        Ok(content.finish(&mut self.buffer)?)
    }

    pub(crate) fn symbolic_link(&mut self, name: &[u8], target: &[u8]) -> Result<(), S::Error> {
        let target = Rc::from(link_target(target, name, self.limits)?);
        self.add(name, Kind::Link(target))?;
        Ok(())
    }

    pub(crate) fn hard_link(&mut self, name: &[u8], target: &[u8]) -> Result<(), S::Error> {
        let to = Name::parse(target, self.limits)
            .ok()
            .and_then(|target| self.tree.file(target));
        let to = to.ok_or_else(|| ArchiveError::HardLink {
            entry: shown(name),
            target: shown(target),
        })?;
        let link = self.add(name, Kind::File)?;
        self.sink.hard_link(&self.tree, link, to)
    }

    fn add(&mut self, name: &[u8], kind: Kind) -> Result<Id, ArchiveError> {
        let id = self.tree.add(Name::parse(name, self.limits)?, kind)?;
        let needed = self.tree.memory_bytes();
        if needed > self.asked {
            let more = (needed - self.asked).max(ROOM_BYTES);
            self.ask(more)?;
            self.asked += more;
        }
        Ok(id)
    }

    /// Asks for memory.
    pub(crate) fn ask(&mut self, bytes: u64) -> Result<(), ArchiveError> {
        match (self.room)(bytes) {
            true => Ok(()),
            false => Err(ArchiveError::NoRoom),
        }
    }
}
