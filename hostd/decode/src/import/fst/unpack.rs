//! The ways in which parts of a trace are packed, each within a length that is known.

use std::io::{BufRead, BufReader, Cursor, Read};

use flate2::bufread::{DeflateDecoder, ZlibDecoder};

/// Bytes unpacked at a time.
const BLOCK: usize = 4 << 10;

/// How a part is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Deflate,
    Zlib,
    Lz4,
    FastLz,
}

/// All of a part, which has so many bytes; none if it has not.
pub(super) fn whole(packing: Packing, packed: &[u8], length: u64) -> Option<Vec<u8>> {
    let length = usize::try_from(length).ok()?;
    let mut out = Vec::new();
    match packing {
        Packing::Deflate => read(DeflateDecoder::new(packed), length, &mut out)?,
        Packing::Zlib => read(ZlibDecoder::new(packed), length, &mut out)?,
        Packing::Lz4 => lz4(packed, length, &mut out)?,
        Packing::FastLz => fastlz(packed, length, &mut out)?,
    }
    (out.len() == length).then_some(out)
}

/// A part that is read from its beginning; unpacked on the way, where that is possible.
pub(super) fn stream<'a>(
    packing: Packing,
    packed: &'a [u8],
    length: u64,
) -> Option<Box<dyn BufRead + 'a>> {
    if packing == Packing::Zlib {
        let decoder = ZlibDecoder::new(packed).take(length);
        return Some(Box::new(BufReader::with_capacity(BLOCK, decoder)));
    }
    Some(Box::new(Cursor::new(whole(packing, packed, length)?)))
}

fn read(decoder: impl Read, length: usize, out: &mut Vec<u8>) -> Option<()> {
    decoder.take(length as u64).read_to_end(out).ok()?;
    Some(())
}

/// A block of LZ4; what is behind `length` bytes is not looked at.
fn lz4(packed: &[u8], length: usize, out: &mut Vec<u8>) -> Option<()> {
    let mut input = packed.iter();
    while out.len() < length {
        let token = *input.next()?;
        let literals = lz4_length(token >> 4, &mut input)?;
        let now = input.as_slice().get(..literals.min(length - out.len()))?;
        out.extend_from_slice(now);
        if out.len() == length {
            return Some(());
        }
        input = input.as_slice().get(literals..)?.iter();
        let distance = u16::from_le_bytes([*input.next()?, *input.next()?]);
        let count = lz4_length(token & 15, &mut input)?.checked_add(4)?;
        copy(out, distance.into(), count, length)?;
    }
    Some(())
}

fn lz4_length(first: u8, input: &mut std::slice::Iter<'_, u8>) -> Option<usize> {
    let mut length = usize::from(first);
    if first == 15 {
        loop {
            let more = *input.next()?;
            length = length.checked_add(more.into())?;
            if more != 255 {
                break;
            }
        }
    }
    Some(length)
}

/// FastLZ, levels 1 and 2.
fn fastlz(packed: &[u8], length: usize, out: &mut Vec<u8>) -> Option<()> {
    let mut input = packed.iter().copied();
    let first = *packed.first()?;
    let is_second = match first >> 5 {
        0 => false,
        1 => true,
        _ => return None,
    };
    let mut code = Some(input.next()? & 31);
    while let Some(now) = code {
        if now >= 32 {
            let mut count = usize::from(now >> 5) + 2;
            if count == 9 {
                loop {
                    let more = input.next()?;
                    count = count.checked_add(more.into())?;
                    if !is_second || more != 255 {
                        break;
                    }
                }
            }
            let (high, low) = (now & 31, input.next()?);
            let mut distance = usize::from(high) * 256 + usize::from(low) + 1;
            if is_second && (high, low) == (31, 255) {
                let far = u16::from_be_bytes([input.next()?, input.next()?]);
                distance += usize::from(far);
            }
            copy(out, distance, count, length)?;
        } else {
            for _ in 0..=now {
                out.push(input.next()?);
            }
        }
        if out.len() >= length {
            out.truncate(length);
            return Some(());
        }
        code = input.next();
    }
    Some(())
}

/// Appends what is `distance` bytes back, up to `length` bytes in all.
fn copy(out: &mut Vec<u8>, distance: usize, count: usize, length: usize) -> Option<()> {
    let from = out.len().checked_sub(distance).filter(|_| distance > 0)?;
    let count = count.min(length - out.len());
    for at in from..from + count {
        out.push(out[at]);
    }
    Some(())
}
