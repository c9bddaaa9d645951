//! Which paths an archive may contain.

use crate::Limits;
use crate::error::{ArchiveError, shown};

/// Bytes of one part of a path: what Linux allows (`NAME_MAX`).
const PART_BYTES_MAX: usize = 255;

/// A path inside an archive: relative, without `..`, of plain text and within the bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Name<'a>(&'a str);

impl<'a> Name<'a> {
    /// Checks the path `bytes` from an archive; a leading `./` and a trailing `/` are allowed.
    pub(crate) fn parse(bytes: &'a [u8], limits: &Limits) -> Result<Self, ArchiveError> {
        let name = Self(text(bytes, bytes, limits)?);
        let entry = || shown(bytes);
        if bytes.starts_with(b"/") {
            return Err(ArchiveError::AbsolutePath { entry: entry() });
        }
        if name.parts().any(|part| part == "..") {
            return Err(ArchiveError::PathEscapes { entry: entry() });
        }
        if name.parts().count() > limits.depth_max {
            let max = limits.depth_max;
            return Err(ArchiveError::TooDeep {
                entry: entry(),
                max,
            });
        }
        Ok(name)
    }

    /// The names from the root down; none for the root itself.
    pub(crate) fn parts(self) -> impl Iterator<Item = &'a str> {
        parts(self.0)
    }
}

/// Checks the target of the symbolic link `entry`: relative and plain. Where it leads is checked once the
/// whole archive is known.
pub(crate) fn link_target<'a>(
    target: &'a [u8],
    entry: &[u8],
    limits: &Limits,
) -> Result<&'a str, ArchiveError> {
    let checked = text(target, entry, limits)?;
    if checked.starts_with('/') {
        return Err(ArchiveError::LinkEscapes {
            entry: shown(entry),
            target: shown(target),
        });
    }
    Ok(checked)
}

/// The parts of a path or of a link's target.
pub(crate) fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter(|part| !part.is_empty() && *part != ".")
}

/// `bytes` as plain text of bounded length; `entry` is the name for the message.
fn text<'a>(bytes: &'a [u8], entry: &[u8], limits: &Limits) -> Result<&'a str, ArchiveError> {
    if bytes.is_empty() {
        return Err(ArchiveError::NoName {
            entry: shown(entry),
        });
    }
    let too_long = |max| ArchiveError::NameTooLong {
        entry: shown(entry),
        max,
    };
    if bytes.len() > limits.name_bytes_max {
        return Err(too_long(limits.name_bytes_max));
    }
    let text = std::str::from_utf8(bytes)
        .ok()
        .filter(|text| !text.chars().any(|c| c.is_control() || c == '\\'));
    let text = text.ok_or_else(|| ArchiveError::NameNotPlain {
        entry: shown(entry),
    })?;
    if parts(text).any(|part| part.len() > PART_BYTES_MAX) {
        return Err(too_long(PART_BYTES_MAX));
    }
    Ok(text)
}
