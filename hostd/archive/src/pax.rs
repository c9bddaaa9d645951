//! Header extensions of the pax format (POSIX.1-2017, pax, "pax Extended Header"): records of
//! `length key=value
//! ` that replace fields of the header after them.

use crate::error::{ArchiveError, shown};

/// What the extension of one entry replaces. Everything else in it (owners, times, attributes, comments) is
/// dropped.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Extension {
    pub(crate) path: Option<Vec<u8>>,
    pub(crate) link_path: Option<Vec<u8>>,
    pub(crate) size: Option<u64>,
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
                // A size and content other than the header's: how GNU tar writes sparse files.
                _ if key.starts_with(b"GNU.sparse.") => {
                    return Err(ArchiveError::Sparse {
                        entry: shown(extension.path.as_deref().unwrap_or(key)),
                    });
                }
                _ => true,
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
            Self { .. } => return Ok(()),
        };
        Err(ArchiveError::Override {
            key: key.to_owned(),
        })
    }
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
