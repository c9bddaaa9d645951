//! The beginning of what `sigrok-cli -O wav` writes, which is the one of its formats that has analog samples as they
//! are: 32-bit floats behind a RIFF header, whose lengths mean nothing since nobody knows them yet.

use crate::error::AcquireError;

/// Bytes of a header. Real ones have 46.
const HEADER_BYTES_MAX: usize = 4096;

/// The tag of samples that are floats (WAVE_FORMAT_IEEE_FLOAT).
const IEEE_FLOAT: u16 = 3;

/// A header that came as a whole.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Samples per second.
    pub(crate) rate_hz: u32,
    /// Where the samples begin.
    pub(crate) bytes: usize,
}

impl Header {
    /// Reads the header of a recording of one channel. `None` until enough of it has come.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<Self>, AcquireError> {
        let malformed = |what: &str| {
            Err(AcquireError::Malformed {
                what: what.to_owned(),
            })
        };
        let Some((head, _)) = bytes.split_first_chunk::<12>() else {
            return Ok(None);
        };
        if &head[..4] != b"RIFF" || &head[8..] != b"WAVE" {
            return malformed("its analog samples are no WAV");
        }
        let (mut at, mut rate_hz) = (12, None);
        while let Some((name, length)) = chunk(&bytes[at..]) {
            let body = at + 8;
            if &name == b"data" {
                return match rate_hz {
                    Some(rate_hz) => Ok(Some(Self {
                        rate_hz,
                        bytes: body,
                    })),
                    None => malformed("its WAV does not tell its format"),
                };
            }
            if length > HEADER_BYTES_MAX || body + length > HEADER_BYTES_MAX {
                return malformed("the header of its WAV is too long");
            }
            if &name == b"fmt " {
                let Some(format) = bytes.get(body..body + length) else {
                    return Ok(None);
                };
                rate_hz = one_float(format);
                if rate_hz.is_none() {
                    return malformed("its WAV is not of one channel of 32-bit floats");
                }
            }
            at = body + length;
            if bytes.len() < at {
                return Ok(None);
            }
        }
        Ok(None)
    }
}

/// The name and length of the chunk that begins here.
fn chunk(bytes: &[u8]) -> Option<([u8; 4], usize)> {
    let (name, rest) = bytes.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*rest.first_chunk()?);
    Some((*name, usize::try_from(length).ok()?))
}

/// The rate of a format, if it is of one channel of floats.
fn one_float(format: &[u8]) -> Option<u32> {
    let (format, _) = format.split_first_chunk::<16>()?;
    let word = |at: usize| u16::from_le_bytes([format[at], format[at + 1]]);
    let rate_hz = u32::from_le_bytes([format[4], format[5], format[6], format[7]]);
    let is_float = (word(0), word(2), word(14)) == (IEEE_FLOAT, 1, 32);
    (is_float && rate_hz > 0).then_some(rate_hz)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// As `sigrok-cli` writes it, for a channel at 100 kS/s.
    pub(crate) fn header() -> Vec<u8> {
        let mut bytes = b"RIFF\xFF\xFF\xFF\xFFWAVEfmt \x12\0\0\0\x03\0\x01\0".to_vec();
        bytes.extend(100_000_u32.to_le_bytes());
        bytes.extend(400_000_u32.to_le_bytes());
        bytes.extend(b"\x04\0\x20\0\0\0data\xFF\xFF\xFF\xFF");
        bytes
    }

    #[test]
    fn the_samples_begin_behind_it_however_it_comes() {
        let mut bytes = header();
        assert_eq!(bytes.len(), 46);
        for length in 0..46 {
            assert_eq!(Header::parse(&bytes[..length]).unwrap(), None, "{length}");
        }
        bytes.extend([0; 8]);
        let expected = Header {
            rate_hz: 100_000,
            bytes: 46,
        };
        assert_eq!(Header::parse(&bytes).unwrap(), Some(expected));
    }

    #[test]
    fn what_is_no_such_wav_is_said() {
        let changed = |at: usize, value: u8| {
            let mut bytes = header();
            bytes[at] = value;
            Header::parse(&bytes)
        };
        // The magic, the format, two channels, 16 bits, a length.
        for (at, value) in [(0, b'X'), (8, b'X'), (20, 1), (22, 2), (34, 16), (18, 1)] {
            assert!(changed(at, value).is_err(), "byte {at}");
        }
        assert!(changed(12, b'x').is_err(), "data before its format");
    }
}
