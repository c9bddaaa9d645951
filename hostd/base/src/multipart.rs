//! Parses `multipart/form-data` (RFC 7578) bodies as they arrive: bytes in, the headers of parts and
//! their contents out. Only the look-ahead is buffered, so a part may be of any size.

use bytes::{Buf as _, Bytes, BytesMut};
use memchr::memmem::Finder;

#[doc(hidden)]
pub mod fuzz;
mod head;

#[cfg(test)]
mod tests;

pub use head::{Head, boundary};

/// Bytes before the first boundary, which are ignored.
const PREAMBLE_BYTES_MAX: usize = 4 << 10;

/// The headers of one part.
const HEAD_BYTES_MAX: usize = 4 << 10;

/// The empty line after a part's headers, with the preceding line break.
const HEAD_END: &[u8] = b"\r\n\r\n";

/// White space that may follow a boundary.
const PADDING_BYTES_MAX: usize = 64;

/// Parts of one body.
pub(crate) const PARTS_MAX: usize = 64;

/// Why a body is not a form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    #[error("it does not begin with its boundary")]
    NoBoundary,
    #[error("a boundary is followed by something else than the end of its line")]
    BoundaryLine,
    #[error("the head of a part is over {HEAD_BYTES_MAX} bytes")]
    HeadTooLong,
    #[error("the head of a part is malformed: {0}")]
    Head(&'static str),
    #[error("it has more than {PARTS_MAX} parts")]
    TooManyParts,
    #[error("it ends before its last boundary")]
    CutOff,
}

/// What comes out of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A part begins.
    Part(Head),
    /// Some of its content; never empty.
    Data(Bytes),
    /// It is over.
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    Preamble,
    /// Just behind a boundary.
    Boundary,
    Head,
    Content,
    /// Behind the last boundary.
    Epilogue,
}

/// A body being parsed.
#[derive(Debug)]
pub struct Form {
    /// Line break, two dashes, and the boundary that the media type names.
    delimiter: Finder<'static>,
    buffer: BytesMut,
    position: Position,
    skipped: usize,
    parts: usize,
}

impl Form {
    /// A form whose parts are separated by `boundary`.
    #[must_use]
    pub fn new(boundary: &str) -> Self {
        let delimiter = format!("\r\n--{boundary}");
        Self {
            delimiter: Finder::new(&delimiter).into_owned(),
            // The body may begin with the first boundary.
            buffer: BytesMut::from(&b"\r\n"[..]),
            position: Position::Preamble,
            skipped: 0,
            parts: 0,
        }
    }

    /// Add what has arrived. Drain it with [`next_event`](Self::next_event) before adding more.
    pub fn push(&mut self, bytes: &[u8]) {
        // Anything after the end is ignored.
        if self.position != Position::Epilogue {
            self.buffer.extend_from_slice(bytes);
        }
    }

    /// The next event; `None` until more arrives.
    ///
    /// # Errors
    /// The body is not a form. Nothing more can be parsed from it.
    pub fn next_event(&mut self) -> Result<Option<Event>, FormError> {
        loop {
            match self.position {
                Position::Preamble => {
                    if !self.skip_preamble()? {
                        return Ok(None);
                    }
                }
                Position::Boundary => {
                    if !self.leave_boundary()? {
                        return Ok(None);
                    }
                }
                Position::Head => return Ok(self.read_head()?.map(Event::Part)),
                Position::Content => return Ok(self.read_content()),
                Position::Epilogue => {
                    self.buffer.clear();
                    return Ok(None);
                }
            }
        }
    }

    /// Call this when nothing more arrives.
    ///
    /// # Errors
    /// Parts are missing.
    pub fn finish(&self) -> Result<(), FormError> {
        match self.position {
            Position::Epilogue => Ok(()),
            Position::Preamble => Err(FormError::NoBoundary),
            _ => Err(FormError::CutOff),
        }
    }

    fn delimiter_len(&self) -> usize {
        self.delimiter.needle().len()
    }

    /// How much of the buffer cannot be the beginning of a delimiter.
    fn surely_content(&self) -> usize {
        (self.buffer.len() + 1).saturating_sub(self.delimiter_len())
    }

    fn skip_preamble(&mut self) -> Result<bool, FormError> {
        let found = self.delimiter.find(&self.buffer);
        let skip = found.unwrap_or_else(|| self.surely_content());
        self.skipped += skip;
        if self.skipped > PREAMBLE_BYTES_MAX {
            return Err(FormError::NoBoundary);
        }
        self.buffer.advance(skip);
        if found.is_some() {
            self.buffer.advance(self.delimiter_len());
            self.position = Position::Boundary;
        }
        Ok(found.is_some())
    }

    fn leave_boundary(&mut self) -> Result<bool, FormError> {
        if self.buffer.starts_with(b"--") {
            self.position = Position::Epilogue;
            return Ok(true);
        }
        let is_padding = |byte: &u8| matches!(byte, b' ' | b'\t');
        let padding = self.buffer.iter().take_while(|b| is_padding(b)).count();
        match &self.buffer[padding..] {
            [b'\r', b'\n', ..] if padding <= PADDING_BYTES_MAX => {
                // Keep the line break: it begins the end of empty headers.
                self.buffer.advance(padding);
                self.position = Position::Head;
                Ok(true)
            }
            [] | [b'\r'] if padding <= PADDING_BYTES_MAX => Ok(false),
            [b'-'] if padding == 0 => Ok(false),
            _ => Err(FormError::BoundaryLine),
        }
    }

    fn read_head(&mut self) -> Result<Option<Head>, FormError> {
        let window = &self.buffer[..self.buffer.len().min(HEAD_BYTES_MAX)];
        let Some(end) = memchr::memmem::find(window, HEAD_END) else {
            return if self.buffer.len() >= HEAD_BYTES_MAX {
                Err(FormError::HeadTooLong)
            } else {
                Ok(None)
            };
        };
        self.parts += 1;
        if self.parts > PARTS_MAX {
            return Err(FormError::TooManyParts);
        }
        let head = Head::parse(&self.buffer[..end])?;
        self.buffer.advance(end + HEAD_END.len());
        self.position = Position::Content;
        Ok(Some(head))
    }

    fn read_content(&mut self) -> Option<Event> {
        match self.delimiter.find(&self.buffer) {
            Some(0) => {
                self.buffer.advance(self.delimiter_len());
                self.position = Position::Boundary;
                Some(Event::End)
            }
            Some(end) => Some(Event::Data(self.buffer.split_to(end).freeze())),
            None => match self.surely_content() {
                0 => None,
                end => Some(Event::Data(self.buffer.split_to(end).freeze())),
            },
        }
    }
}
