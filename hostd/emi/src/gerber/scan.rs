//! Commands of a Gerber file: words that end with `*`, and `%…%` around those that are extended. Nothing is copied.

use crate::open::OpenError;

/// Most bytes of a command: of a macro, or of a comment.
const COMMAND_BYTES_MAX: usize = 1 << 20;

/// A command, and where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Command<'a> {
    pub(super) text: &'a [u8],
    pub(super) offset: usize,
    pub(super) is_extended: bool,
}

/// Goes through a file.
pub(super) struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    is_extended: bool,
}

impl<'a> Scan<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let at = if bytes.starts_with(b"\xef\xbb\xbf") {
            3
        } else {
            0
        };
        Self {
            bytes,
            at,
            is_extended: false,
        }
    }

    /// The next command; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Command<'a>>, OpenError> {
        loop {
            let Some(byte) = self.bytes.get(self.at) else {
                if self.is_extended {
                    return Err(
                        self.refuse(self.at, "the file ends between two `%`: it was cut off")
                    );
                }
                return Ok(None);
            };
            match byte {
                b'%' => {
                    self.is_extended = !self.is_extended;
                    self.at += 1;
                }
                // Also 0 and 26, which old programs fill the last block with.
                byte if byte.is_ascii_whitespace() || *byte < b' ' => self.at += 1,
                _ => return self.command().map(Some),
            }
        }
    }

    fn command(&mut self) -> Result<Command<'a>, OpenError> {
        let rest = &self.bytes[self.at..];
        let rest = &rest[..rest.len().min(COMMAND_BYTES_MAX)];
        let Some(length) = memchr::memchr(b'*', rest) else {
            let what = match rest.len() {
                COMMAND_BYTES_MAX => "a command is longer than 1 MB: it has no `*` at its end",
                _ => "the file ends within a command: it was cut off",
            };
            return Err(self.refuse(self.at, what));
        };
        let command = Command {
            text: &rest[..length],
            offset: self.at,
            is_extended: self.is_extended,
        };
        self.at += length + 1;
        Ok(command)
    }

    /// The rest of an extended command that goes on over several `*`, up to its `%`: pieces with their offsets.
    pub(super) fn pieces(&mut self) -> Result<Vec<(usize, &'a [u8])>, OpenError> {
        let start = self.at;
        let rest = &self.bytes[start..];
        let bounded = &rest[..rest.len().min(COMMAND_BYTES_MAX)];
        let Some(length) = memchr::memchr(b'%', bounded) else {
            return Err(self.refuse(start, "a macro does not end with `%`"));
        };
        let body = &rest[..length];
        self.at += length;
        let mut offset = start;
        let pieces = body.split(|byte| *byte == b'*').map(|piece| {
            let here = offset;
            offset += piece.len() + 1;
            (here, piece)
        });
        Ok(pieces
            .filter(|(_, piece)| !piece.trim_ascii().is_empty())
            .collect())
    }

    pub(super) fn refuse(&self, offset: usize, message: impl Into<String>) -> OpenError {
        OpenError::at(self.bytes, offset, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_come_in_order_with_their_places() {
        let mut scan = Scan::new(b"G04 a*\n%FSLAX46Y46*MOMM*%\nX1\nY2D03*\n");
        let mut seen = Vec::new();
        while let Some(command) = scan.next().unwrap() {
            seen.push((command.text, command.offset, command.is_extended));
        }
        assert_eq!(
            seen,
            [
                (&b"G04 a"[..], 0, false),
                (b"FSLAX46Y46", 8, true),
                (b"MOMM", 19, true),
                (b"X1\nY2D03", 26, false)
            ]
        );
    }

    #[test]
    fn what_was_cut_off_is_told_with_its_place() {
        let message = |text: &[u8]| {
            let mut scan = Scan::new(text);
            loop {
                match scan.next() {
                    Ok(Some(_)) => {}
                    Ok(None) => return String::new(),
                    Err(error) => return error.to_string(),
                }
            }
        };
        assert_eq!(
            message(b"G01*\nX1"),
            "line 2, column 1: the file ends within a command: it was cut off"
        );
        assert_eq!(
            message(b"%MOMM*\n"),
            "line 2, column 1: the file ends between two `%`: it was cut off"
        );
    }
}
