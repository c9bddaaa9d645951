//! The first pass: everything is checked, nothing is written, and the text of one file is read.

use std::io::{Read, Seek};

use crate::Limits;
use crate::content::Content;
use crate::error::{ArchiveError, shown};
use crate::name::Name;
use crate::tree::{Id, Tree};
use crate::walk::{Format, Room, Sink, walk};

/// What an acceptable archive contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspected {
    /// What it is.
    pub format: Format,
    /// Files, links and folders, including folders that are only part of a path.
    pub entries: usize,
    /// Bytes of all files.
    pub bytes: u64,
    /// The text of the wanted file; `None` if the archive has no file of that path (it may have a link).
    pub text: Option<String>,
}

/// Reads a whole archive from its start and judges it. `wanted` is the path of a file in it whose text is
/// returned, with or without a leading `./`.
///
/// # Errors
/// The archive may not be unpacked, or the wanted file exceeds its bound, is not UTF-8, or has a path that no
/// archive may have.
pub fn inspect(
    reader: impl Read + Seek,
    limits: &Limits,
    wanted: Option<&str>,
) -> Result<Inspected, ArchiveError> {
    inspect_within(reader, limits, wanted, &mut |_| true)
}

/// As [`inspect`], and asks for the memory that the names take, which is free again when this returns.
///
/// # Errors
/// As there, or there is no room ([`ArchiveError::NoRoom`]).
pub fn inspect_within(
    reader: impl Read + Seek,
    limits: &Limits,
    wanted: Option<&str>,
    room: Room<'_>,
) -> Result<Inspected, ArchiveError> {
    let wanted = wanted.map(|wanted| Name::parse(wanted.as_bytes(), limits));
    let mut reading = Reading {
        limits,
        wanted: wanted
            .transpose()?
            .map(|name| name.parts().collect::<Vec<_>>().join("/")),
        text: None,
    };
    let walked = walk(reader, limits, room, &mut reading)?;
    Ok(Inspected {
        format: walked.format,
        entries: walked.entries,
        bytes: walked.bytes,
        text: reading.text,
    })
}

struct Reading<'a> {
    limits: &'a Limits,
    wanted: Option<String>,
    text: Option<String>,
}

impl Sink for Reading<'_> {
    type Error = ArchiveError;

    fn folder(&mut self, _: &Tree, _: Id) -> Result<(), ArchiveError> {
        Ok(())
    }

    fn file(
        &mut self,
        tree: &Tree,
        file: Id,
        _: bool,
        content: &mut Content<'_>,
    ) -> Result<(), ArchiveError> {
        // The last part is compared first, since a path is assembled anew for each comparison.
        let wanted = self.wanted.as_deref().filter(|wanted| {
            wanted.rsplit('/').next() == Some(tree.name(file)) && *wanted == tree.path(file)
        });
        let Some(wanted) = wanted else {
            return Ok(());
        };
        let entry = || shown(wanted.as_bytes());
        let max = self.limits.text_bytes_max;
        let size = usize::try_from(content.size())
            .ok()
            .filter(|size| *size <= max);
        let size = size.ok_or_else(|| ArchiveError::TextTooLarge {
            entry: entry(),
            max,
        })?;
        let mut bytes = vec![0; size];
        let mut filled = 0;
        while filled < size {
            filled += content.next(&mut bytes[filled..])?;
        }
        let text = String::from_utf8(bytes);
        self.text = Some(text.map_err(|_| ArchiveError::TextNotUtf8 { entry: entry() })?);
        Ok(())
    }

    fn hard_link(&mut self, _: &Tree, _: Id, _: Id) -> Result<(), ArchiveError> {
        Ok(())
    }

    fn symbolic_link(&mut self, _: &Tree, _: Id, _: &str) -> Result<(), ArchiveError> {
        Ok(())
    }
}
