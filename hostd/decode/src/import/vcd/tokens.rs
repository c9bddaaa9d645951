//! Words between blanks.

use super::ImportError;

/// The words of a dump that are left to read.
#[derive(Clone)]
pub(super) struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
    bytes_max: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(bytes: &'a [u8], bytes_max: usize) -> Self {
        Self {
            bytes,
            at: 0,
            bytes_max,
        }
    }

    /// The next word; none at the end.
    pub(super) fn next(&mut self) -> Result<Option<&'a [u8]>, ImportError> {
        let rest = &self.bytes[self.at..];
        let Some(from) = rest.iter().position(|byte| !byte.is_ascii_whitespace()) else {
            self.at = self.bytes.len();
            return Ok(None);
        };
        let rest = &rest[from..];
        let len = rest
            .iter()
            .position(u8::is_ascii_whitespace)
            .unwrap_or(rest.len());
        self.at += from + len;
        if len > self.bytes_max {
            return Err(self.wrong("it is too long"));
        }
        Ok(Some(&rest[..len]))
    }

    /// The words up to `$end`, which is skipped.
    pub(super) fn until_end(&mut self) -> Result<Vec<&'a [u8]>, ImportError> {
        let mut words = Vec::new();
        loop {
            match self.next()? {
                Some(b"$end") => return Ok(words),
                // Of a long comment the beginning is enough.
                Some(word) if words.len() < 256 => words.push(word),
                Some(_) => {}
                None => return Err(self.wrong("`$end` is missing")),
            }
        }
    }

    /// Something is wrong with the word that was read last.
    pub(super) fn wrong(&self, what: &'static str) -> ImportError {
        let before = &self.bytes[..self.at];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count() as u64;
        ImportError::Line { line, what }
    }
}
