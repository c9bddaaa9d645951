//! The lines of a table.

use super::ImportError;

/// The lines that are left to read.
#[derive(Clone)]
pub(super) struct Rows<'a> {
    rest: &'a [u8],
    line: u64,
    bytes_max: usize,
}

impl<'a> Rows<'a> {
    pub(super) fn new(bytes: &'a [u8], bytes_max: usize) -> Self {
        Self {
            rest: bytes,
            line: 0,
            bytes_max,
        }
    }

    /// The next line that is not empty; none at the end.
    pub(super) fn next(&mut self) -> Result<Option<&'a [u8]>, ImportError> {
        while !self.rest.is_empty() {
            self.line += 1;
            let end = self
                .rest
                .iter()
                .position(|byte| *byte == b'\n')
                .unwrap_or(self.rest.len());
            let line = self.rest[..end].trim_ascii_end();
            self.rest = self.rest.get(end + 1..).unwrap_or_default();
            if line.len() > self.bytes_max {
                return Err(self.wrong("it is too long"));
            }
            // sigrok-cli writes this among the rows.
            if !line.is_empty() && !line.starts_with(b"META ") {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    /// Something is wrong with the line that was read last.
    pub(super) fn wrong(&self, what: &'static str) -> ImportError {
        ImportError::Line {
            line: self.line.max(1),
            what,
        }
    }
}
