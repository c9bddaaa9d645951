//! Header extensions of the pax format (POSIX.1-2017, pax, "pax Extended Header"): records of
//! `length key=value
//! ` that replace fields of the header after them.

use crate::error::{ArchiveError, shown};
use crate::sparse::Said;

/// What the extension of one entry replaces. Everything else in it (owners, times, attributes, comments) is
/// dropped.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Extension {
    pub(crate) path: Option<Vec<u8>>,
    pub(crate) link_path: Option<Vec<u8>>,
    pub(crate) size: Option<u64>,
    /// It is of a sparse file.
    pub(crate) sparse: Option<Said>,
}

impl Extension {
    /// Reads the records; none may replace the same field twice.
    pub(crate) fn parse(mut bytes: &[u8]) -> Result<Self, ArchiveError> {
        let mut extension = Self::default();
        while !bytes.is_empty() {
            let (key, value, rest) = record(bytes).ok_or_else(malformed)?;
            bytes = rest;
            let is_new = match key {
                b"path" => extension.path.replace(value.to_vec()).is_none(),
                b"linkpath" => extension.link_path.replace(value.to_vec()).is_none(),
                b"size" => {
                    let size = decimal(value).ok_or_else(malformed)?;
                    extension.size.replace(size).is_none()
                }
                _ => match key.strip_prefix(b"GNU.sparse.") {
                    Some(key) => {
                        let said = extension.sparse.get_or_insert_default();
                        sparse(said, key, value).ok_or_else(malformed)?
                    }
                    None => true,
                },
            };
            if !is_new {
                return Err(ArchiveError::Override { key: shown(key) });
            }
        }
        Ok(extension)
    }

    /// Reads an extension for all entries after it, which may replace nothing that matters here. Git writes
    /// one with the commit as a comment.
    pub(crate) fn check_global(bytes: &[u8]) -> Result<(), ArchiveError> {
        let extension = Self::parse(bytes)?;
        let key = match extension {
            Self { path: Some(_), .. } => "path",
            Self {
                link_path: Some(_), ..
            } => "linkpath",
            Self { size: Some(_), .. } => "size",
            Self {
                sparse: Some(_), ..
            } => "GNU.sparse",
            Self { .. } => return Ok(()),
        };
        Err(ArchiveError::Override {
            key: key.to_owned(),
        })
    }
}

/// Takes a record about a sparse file: a size and a content other than the header's. False if it was there before.
fn sparse(said: &mut Said, key: &[u8], value: &[u8]) -> Option<bool> {
    let number = || decimal(value);
    let is_new = match key {
        b"major" => said.major.replace(number()?).is_none(),
        b"minor" => said.minor.replace(number()?).is_none(),
        b"name" => said.name.replace(value.to_vec()).is_none(),
        b"size" | b"realsize" => said.size.replace(number()?).is_none(),
        b"numblocks" => said.pieces.replace(number()?).is_none(),
        b"map" => {
            let is_new = said.map.is_empty();
            let numbers = value.split(|byte| *byte == b',').map(decimal);
            said.map = numbers.collect::<Option<_>>()?;
            is_new
        }
        // One for each piece, in turn.
        b"offset" if said.map.len().is_multiple_of(2) => {
            said.map.push(number()?);
            true
        }
        b"numbytes" if !said.map.len().is_multiple_of(2) => {
            said.map.push(number()?);
            true
        }
        _ => return None,
    };
    Some(is_new)
}

fn malformed() -> ArchiveError {
    ArchiveError::Damaged {
        reason: "a header extension is malformed".to_owned(),
    }
}

/// Key and value of the first record, and the bytes after it. The length counts the whole record.
fn record(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let space = bytes.iter().position(|byte| *byte == b' ')?;
    let length = usize::try_from(decimal(&bytes[..space])?).ok()?;
    let (record, rest) = bytes.split_at_checked(length)?;
    let record = record.get(space + 1..)?.strip_suffix(b"\n")?;
    let equals = record.iter().position(|byte| *byte == b'=')?;
    Some((&record[..equals], &record[equals + 1..], rest))
}

fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}
