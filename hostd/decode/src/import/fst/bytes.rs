//! Numbers of a trace: big-endian, or in groups of seven bits, the lowest first.

use std::io::{self, BufRead};

use super::super::ImportError;

/// Bytes of the longest number in groups of seven bits.
const VARINT_BYTES_MAX: u32 = 10;

pub(super) fn damaged(what: &'static str) -> ImportError {
    ImportError::Damaged { what }
}

/// Bytes that are left to read.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a> {
    pub(super) rest: &'a [u8],
    /// What it is part of, for errors.
    what: &'static str,
}

impl<'a> Bytes<'a> {
    pub(super) fn new(rest: &'a [u8], what: &'static str) -> Self {
        Self { rest, what }
    }

    pub(super) fn wrong(&self) -> ImportError {
        damaged(self.what)
    }

    pub(super) fn take(&mut self, count: u64) -> Result<&'a [u8], ImportError> {
        let count = usize::try_from(count).map_err(|_| self.wrong())?;
        let (now, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or_else(|| damaged(self.what))?;
        self.rest = rest;
        Ok(now)
    }

    pub(super) fn byte(&mut self) -> Result<u8, ImportError> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn u64(&mut self) -> Result<u64, ImportError> {
        let bytes = self.take(8)?;
        let bytes = bytes.try_into().map_err(|_| self.wrong())?;
        Ok(u64::from_be_bytes(bytes))
    }

    /// The last eight bytes, as a number.
    pub(super) fn last_u64(&mut self) -> Result<u64, ImportError> {
        let (rest, last) = self.rest.split_last_chunk().ok_or_else(|| self.wrong())?;
        self.rest = rest;
        Ok(u64::from_be_bytes(*last))
    }

    /// The last bytes.
    pub(super) fn take_last(&mut self, count: u64) -> Result<&'a [u8], ImportError> {
        let left = (self.rest.len() as u64).checked_sub(count);
        let mut last = *self;
        let rest = last.take(left.ok_or_else(|| self.wrong())?)?;
        self.rest = rest;
        Ok(last.rest)
    }

    pub(super) fn varint(&mut self) -> Result<u64, ImportError> {
        let wrong = self.wrong();
        varint(&mut self.rest).map_err(|_| wrong)
    }

    /// A number whose sign is in its last group.
    pub(super) fn signed(&mut self) -> Result<i64, ImportError> {
        let (mut number, mut shift) = (0_i64, 0);
        loop {
            let byte = self.byte()?;
            if shift > 63 {
                return Err(self.wrong());
            }
            number |= i64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                let is_negative = byte & 0x40 != 0 && shift < 64;
                return Ok(if is_negative {
                    number | -1 << shift
                } else {
                    number
                });
            }
        }
    }

    /// Text that ends with a 0.
    pub(super) fn text(&mut self) -> Result<String, ImportError> {
        let end = self.rest.iter().position(|byte| *byte == 0);
        let text = self.take(end.ok_or_else(|| self.wrong())? as u64)?;
        self.byte()?;
        Ok(String::from_utf8_lossy(text).into_owned())
    }
}

/// A number of something that is unpacked on the way.
pub(super) fn varint(input: &mut (impl BufRead + ?Sized)) -> io::Result<u64> {
    let (mut number, mut shift) = (0_u64, 0);
    loop {
        let mut byte = [0];
        input.read_exact(&mut byte)?;
        if shift >= VARINT_BYTES_MAX * 7 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        number |= u64::from(byte[0] & 0x7f).wrapping_shl(shift);
        shift += 7;
        if byte[0] & 0x80 == 0 {
            return Ok(number);
        }
    }
}
