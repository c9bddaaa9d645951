//! Reads JUnit files that tests of a job wrote: every tool writes its own dialect, and whoever
//! controls the tests controls the bytes. Known elements are read, unknown ones are ignored, and
//! everything is bounded. What says that something failed counts wherever it stands.

mod cases;

use std::io::{BufReader, Read};

use quick_xml::Reader;
use thiserror::Error;

use super::encoding::{self, EncodingError};
use crate::cases::Refused;
use crate::result::Case;
use cases::Cases;

/// Bounds of a file.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Bytes of the file.
    pub bytes_max: u64,
    /// Depth of nested elements.
    pub depth_max: usize,
    /// Bytes that are kept of each output, message or name; the rest is dropped.
    pub text_max: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            bytes_max: 16 << 20,
            depth_max: 32,
            text_max: 64 << 10,
        }
    }
}

/// Why a file is refused.
#[derive(Debug, Error)]
pub enum ReadError {
    /// It is too large, or its text is in UTF-8.
    #[error("read the JUnit file: it has more than {0} bytes")]
    Large(u64),
    /// Its cases were not taken.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// It is nested too deep.
    #[error("read the JUnit file: its elements are nested deeper than {0}")]
    Deep(usize),
    /// It ends before its elements do.
    #[error(
        "read the JUnit file: it ends in the middle, within {within}; what writes it did not finish, so cases may be missing"
    )]
    Cut {
        /// The case or the element within which it ends.
        within: String,
    },
    /// It is in an encoding that is not known.
    #[error("read the JUnit file: the encoding `{0}` is not known here; write the file in UTF-8")]
    Encoding(String),
    /// It is not XML.
    #[error("read the JUnit file: it is no XML at byte {at}")]
    Xml {
        /// At this byte of its text in UTF-8.
        at: u64,
        /// The parser's error.
        source: quick_xml::Error,
    },
    /// It is XML, but not JUnit.
    #[error("read the JUnit file: it has neither `testsuites` nor `testsuite` in it")]
    NotJunit,
}

/// Reads the cases of a file, named `class::name`, and gives them to `each` in their order, those before an error too,
/// and as failed the one within which the file ends. A test that reports an error counts as failed: tests cannot tell what
/// the bench did. So does a suite that reports one, or counts some of which it has none. Besides one case, memory holds no
/// more than the longest text of the file, in `buffer`. Returns how many bytes were read.
///
/// # Errors
/// The file is not JUnit, ends in the middle, is in an unknown encoding, exceeds a bound, or a case was not taken.
pub fn read(
    from: impl Read,
    bounds: &Bounds,
    buffer: &mut Vec<u8>,
    each: &mut dyn FnMut(Case) -> Result<(), Refused>,
) -> Result<u64, ReadError> {
    let most = bounds.bytes_max.saturating_add(1);
    let mut file = from.take(most);
    let read = read_bounded(&mut file, bounds, buffer, each);
    let is_large = file.limit() == 0;
    match read {
        // What was cut off is neither XML nor whole.
        Ok(_) | Err(ReadError::Xml { .. } | ReadError::Cut { .. } | ReadError::NotJunit)
            if is_large =>
        {
            Err(ReadError::Large(bounds.bytes_max))
        }
        Ok(()) => Ok(most - file.limit()),
        Err(error) => Err(error),
    }
}

fn read_bounded(
    file: impl Read,
    bounds: &Bounds,
    buffer: &mut Vec<u8>,
    each: &mut dyn FnMut(Case) -> Result<(), Refused>,
) -> Result<(), ReadError> {
    let file = encoding::utf8(file).map_err(|error| match error {
        EncodingError::Unknown(name) => ReadError::Encoding(name),
        EncodingError::Io(error) => ReadError::Xml {
            at: 0,
            source: error.into(),
        },
    })?;
    // Some encodings have three times as many bytes in UTF-8.
    let text = BufReader::new(file).take(bounds.bytes_max.saturating_add(1));
    let mut reader = Reader::from_reader(text);
    let mut cases = Cases::new(bounds, each);
    let read = cases.read(&mut reader, buffer);
    let is_large = reader.get_ref().limit() == 0;
    match read {
        Ok(()) | Err(ReadError::Xml { .. } | ReadError::Cut { .. }) if is_large => {
            Err(ReadError::Large(bounds.bytes_max))
        }
        Err(error @ (ReadError::Xml { .. } | ReadError::Cut { .. })) => {
            cases.give_up()?;
            Err(error)
        }
        Ok(()) if !cases.is_junit() => Err(ReadError::NotJunit),
        read => read,
    }
}

/// Reads the cases of a small file.
///
/// # Errors
/// As [`read`].
pub fn read_all(bytes: &[u8], bounds: &Bounds) -> Result<Vec<Case>, ReadError> {
    let mut cases = Vec::new();
    read(bytes, bounds, &mut Vec::new(), &mut |case| {
        cases.push(case);
        Ok(())
    })?;
    Ok(cases)
}
