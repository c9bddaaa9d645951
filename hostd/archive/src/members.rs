//! The members of a gzip as one stream, as RFC 1952 has it, and zeros behind the last, with which tapes and disks fill a
//! block: gzip itself leaves these out, too.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

use crate::error::ArchiveError;

/// What comes out of all members.
pub(crate) struct Members<R> {
    decoder: GzDecoder<Slot<R>>,
    has_ended: bool,
}

/// A reader, but for the moment in which it goes from one member to the next.
struct Slot<R>(Option<R>);

impl<R: BufRead> Members<R> {
    pub(crate) fn new(from: R) -> Self {
        Self {
            decoder: GzDecoder::new(Slot(Some(from))),
            has_ended: false,
        }
    }

    /// Goes to the next member. False when there is none.
    fn advance(&mut self) -> io::Result<bool> {
        let from = self.decoder.get_mut();
        let is_padded = skip_zeros(from)?;
        if from.fill_buf()?.is_empty() {
            return Ok(false);
        }
        if is_padded {
            return Err(io::Error::other(ArchiveError::TrailingData));
        }
        let from = from.0.take();
        self.decoder.reset(Slot(from));
        Ok(true)
    }
}

/// Whether there were some.
fn skip_zeros(from: &mut impl BufRead) -> io::Result<bool> {
    let mut has_some = false;
    loop {
        let bytes = from.fill_buf()?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        has_some |= zeros > 0;
        let is_last = zeros == 0 || zeros < bytes.len();
        from.consume(zeros);
        if is_last {
            return Ok(has_some);
        }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.has_ended && !buffer.is_empty() {
            match self.decoder.read(buffer)? {
                0 => self.has_ended = !self.advance()?,
                read => return Ok(read),
            }
        }
        Ok(0)
    }
}

impl<R: BufRead> Read for Slot<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Some(from) => from.read(buffer),
            None => Ok(0),
        }
    }
}

impl<R: BufRead> BufRead for Slot<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match &mut self.0 {
            Some(from) => from.fill_buf(),
            None => Ok(&[]),
        }
    }

    fn consume(&mut self, bytes: usize) {
        if let Some(from) = &mut self.0 {
            from.consume(bytes);
        }
    }
}
